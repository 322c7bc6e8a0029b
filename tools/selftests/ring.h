/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program's side of the rings and of the lease table.
 */
#ifndef SELFTEST_RING_H
#define SELFTEST_RING_H

#include "support.h"

/**
 * struct rings - a context with rings, as mapped
 * @fd: the open file
 * @sq: submission ring
 * @cq: completion ring
 * @ops: entries of @sq
 * @events: entries of @cq
 * @sq_entries: how many
 * @cq_entries: how many
 * @leases: lease table, or NULL
 * @own_ids: entries of @leases
 * @calls: SUBMIT with no ops, so far
 */
struct rings {
	int fd;
	struct timewheel_ring *sq, *cq;
	struct timewheel_op *ops;
	struct timewheel_event *events;
	uint32_t sq_entries, cq_entries, own_ids;
	uint64_t *leases;
	unsigned long calls;
};

void rings_open(struct rings *r, uint32_t sq_entries, uint32_t cq_entries,
		uint32_t own_ids, uint64_t own_tick_ns);
void rings_map_leases(struct rings *r);
void rings_close(struct rings *r);

bool ring_room(const struct rings *r);
void ring_push(struct rings *r, struct timewheel_op op);
void ring_ask(struct rings *r, struct timewheel_op op);
int ring_enter(struct rings *r);
bool ring_pop(struct rings *r, struct timewheel_event *ev);
struct timewheel_event ring_wait(struct rings *r);

uint64_t id_of(uint32_t index, uint32_t generation);
struct timewheel_op op_own(uint64_t id, uint64_t expires_ns, uint64_t user_data);
struct timewheel_op op_lease(uint64_t id, uint64_t user_data);
void lease_store(struct rings *r, uint32_t index, uint64_t deadline_ns);

#endif /* SELFTEST_RING_H */
