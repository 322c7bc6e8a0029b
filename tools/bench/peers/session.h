/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A peer at work, with so many timeouts live.
 */
#ifndef SESSION_H
#define SESSION_H

#include "../common.h"
#include "report.h"

/* The most that an operation is done for one figure. */
#define WORK_MAX	100000U
/* The most that are due at once, or within some seconds; they come on top. */
#define EXTRA_MAX	10000U

/**
 * struct session - a peer at work
 * @peer: which
 * @self: what it opened
 * @worker: thread of the kernel that works for it, or 0
 * @live: timeouts that are far from expiring: those below it
 * @extra: further ones that do expire
 * @patience_s: how long filling may take
 * @arm_ns: what arming one takes, roughly
 * @order: the indices below @live, in random order
 * @index: room for work of WORK_MAX
 * @deadline: the same
 * @expired: what was collected, with room for all
 */
struct session {
	const struct peer *peer;
	void *self;
	pid_t worker;
	unsigned int live;
	unsigned int extra;
	unsigned int patience_s;
	uint64_t arm_ns;
	uint32_t *order;
	uint32_t *index;
	uint64_t *deadline;
	uint32_t *expired;
};

typedef void work_fn(void *self, const struct work *work);

void session_open(struct session *s, const struct peer *peer, unsigned int live,
		  unsigned int extra, unsigned int patience_s);
void session_fill(struct session *s);
void session_flush(const struct session *s);
void session_settle(const struct session *s);
unsigned int session_affordable(const struct session *s, work_fn *fn);
void session_work_refresh(const struct session *s, struct work *work, unsigned int nr);
void session_work_order(const struct session *s, struct work *work, unsigned int nr);
uint64_t session_arm_extra(const struct session *s, unsigned int nr, uint64_t span_ns);
void session_take(const struct session *s, bool *seen, unsigned int nr, uint64_t from_ns);

/* costs.c */
void measure_costs(struct session *s, const bool *wanted);
/* expiry.c */
void measure_expiry(struct session *s);
/* counted.c */
void measure_syscalls(struct session *s);
/* lateness.c */
void measure_lateness(struct session *s);
/* idle.c: it is the last thing that a process does */
void measure_idle(struct session *s);
/* threads.c */
void measure_threads(const struct peer *peer, unsigned int live, unsigned int patience_s);
/* memory.c: in the parent, as it forks itself */
void measure_memory(const struct peer *peer, unsigned int live, unsigned int patience_s);

#endif /* SESSION_H */
