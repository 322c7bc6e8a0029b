/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many leases, refreshed again and again, and then no more.
 */
#ifndef SOAK_H
#define SOAK_H

#include <stdint.h>

/**
 * struct soak - a soak: what is wanted, and what was seen
 * @leases: how many
 * @idle_ns: how long one lives without a refresh
 * @refresh_ns: for how long they are refreshed
 * @refreshes: so many times a lease was refreshed
 * @sweeps: so many times all were
 * @longest_ns: the longest that a lease was left alone meanwhile
 * @left_alone: leases that this program once left alone for longer than @idle_ns:
 *	they may have expired, and the kernel would be right
 * @wrong: leases that expired while they were refreshed in time
 * @excused: leases that expired while they were refreshed, but of @left_alone
 * @expired: leases that expired with the last deadline stored, after the last refresh
 * @early: of all that expired, those told before their deadline
 * @twice: of all that expired, those told more than once
 * @missing: leases that never expired
 * @worker_ns: CPU time of the worker while they were refreshed
 * @took_ns: from the first deadline after the last refresh to the last event
 */
struct soak {
	uint32_t leases;
	uint64_t idle_ns;
	uint64_t refresh_ns;

	uint64_t refreshes;
	uint64_t sweeps;
	uint64_t longest_ns;
	uint32_t left_alone;
	uint32_t wrong;
	uint32_t excused;
	uint32_t expired;
	uint32_t early;
	uint32_t twice;
	uint32_t missing;
	uint64_t worker_ns;
	uint64_t took_ns;
};

void soak_run(struct soak *s);

#endif /* SOAK_H */
