/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A context of /dev/timewheel with its rings: the bare ABI.
 */
#ifndef RINGS_H
#define RINGS_H

#include <linux/timewheel.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct rings - a context with rings, a lease table and a wheel of its own
 * @fd: the open file
 * @worker: the wheel's thread
 * @own_ids: how many ids, from 0, are its own
 * @sq: submission ring
 * @ops: entries of @sq
 * @sq_mask: their number, less one
 * @cq: completion ring
 * @events: entries of @cq
 * @cq_mask: their number, less one
 * @leases: lease table, NULL without
 */
struct rings {
	int fd;
	pid_t worker;
	uint32_t own_ids;
	struct timewheel_ring *sq;
	struct timewheel_op *ops;
	uint32_t sq_mask;
	struct timewheel_ring *cq;
	struct timewheel_event *events;
	uint32_t cq_mask;
	uint64_t *leases;
};

void rings_open(struct rings *r, uint32_t sq_entries, uint32_t cq_entries,
		uint32_t own_ids, bool leases);
void rings_close(struct rings *r);
void rings_enter(struct rings *r);

/* The first event; false if there is none. */
static inline bool rings_pop(struct rings *r, struct timewheel_event *event)
{
	uint32_t head = r->cq->head;

	/* Partner: the kernel's release, when it has written the entries. */
	if (__atomic_load_n(&r->cq->tail, __ATOMIC_ACQUIRE) == head)
		return false;
	*event = r->events[head & r->cq_mask];
	/* Partner: the kernel's acquire, before it writes there again. */
	__atomic_store_n(&r->cq->head, head + 1, __ATOMIC_RELEASE);
	return true;
}

/* Where the next op goes.  Nobody is called but if there is no room. */
static inline struct timewheel_op *rings_next(struct rings *r)
{
	uint32_t tail = r->sq->tail;

	/* Partner: the kernel's release, when it has read the entries. */
	if (tail - __atomic_load_n(&r->sq->head, __ATOMIC_ACQUIRE) > r->sq_mask)
		rings_enter(r);
	return &r->ops[tail & r->sq_mask];
}

/* It is written.  By the protocol: the kernel is called if it would come too late. */
static inline void rings_ask(struct rings *r, uint64_t deadline_ns)
{
	/* Partner: the kernel's acquire, before it reads the entry. */
	__atomic_store_n(&r->sq->tail, r->sq->tail + 1, __ATOMIC_RELEASE);
	/* Partner: the kernel's, between its store of wake_ns and its look at tail. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (deadline_ns < __atomic_load_n(&r->sq->wake_ns, __ATOMIC_RELAXED))
		rings_enter(r);
}

static inline void lease_store(struct rings *r, uint32_t index, uint64_t deadline_ns)
{
	__atomic_store_n(&r->leases[index], deadline_ns, __ATOMIC_RELAXED);
}

static inline uint64_t rings_id(uint32_t index)
{
	return 1ULL << 32 | index;
}

#endif /* RINGS_H */
