// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many leases, refreshed again and again, and then no more.
 *
 * A machine that is shared, or emulated, may stop this program for so long that
 * it breaks its own promise.  So it looks at the clock before and after each
 * group of stores: a lease whose store may have come later than the deadline
 * before it is one that the kernel was free to expire.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "../common.h"
#include "../rings.h"
#include "../worker.h"
#include "soak.h"

/* Leases refreshed between two looks at the clock. */
#define GROUP		256U
/* Leases armed between two sweeps over those that are. */
#define ARMED_PER_SWEEP	32768U

#define SQ_ENTRIES	4096U
#define CQ_ENTRIES	65536U

/* How long the kernel may take to tell of all, at the slowest. */
#define PATIENCE_NS	(600 * SEC)

/**
 * struct lease - what this program knows of one
 * @alone: it was left alone for too long
 * @expired: how often it expired
 */
struct lease {
	bool alone;
	unsigned char expired;
};

/**
 * struct state - a soak under way
 * @rings: the context
 * @lease: each lease
 * @group_ns: for each group of them, when it was refreshed
 * @armed: so many are armed
 */
struct state {
	struct rings rings;
	struct lease *lease;
	uint64_t *group_ns;
	uint32_t armed;
};

static void refresh_group(struct soak *s, struct state *st, uint32_t first)
{
	uint64_t *last = &st->group_ns[first / GROUP];
	uint64_t now = now_ns(), stored, alone;
	uint32_t end = first + GROUP < st->armed ? first + GROUP : st->armed;
	uint32_t i;

	for (i = first; i < end; i++)
		lease_store(&st->rings, i, now + s->idle_ns);
	stored = now_ns();
	s->refreshes += end - first;
	alone = stored - *last;
	if (alone > s->longest_ns)
		s->longest_ns = alone;
	/* The store may have been as late as this. */
	if (alone >= s->idle_ns)
		for (i = first; i < end; i++)
			st->lease[i].alone = true;
	*last = now;
}

static void take(struct soak *s, struct state *st, const struct timewheel_event *ev,
		 bool refreshing)
{
	uint32_t index = (uint32_t)ev->id;
	struct lease *lease = &st->lease[index];

	if (ev->flags != (TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST) ||
	    index >= st->armed || ev->user_data != index || ev->result != 1) {
		fprintf(stderr, "million: no event of a lease: id %#llx, flags %#x, result %d\n",
			(unsigned long long)ev->id, ev->flags, ev->result);
		exit(1);
	}
	s->early += now_ns() < ev->deadline_ns;
	if (lease->expired++) {
		s->twice++;
	} else if (ev->deadline_ns != st->rings.leases[index]) {
		/* Another has been stored since: before this one had come? */
		if (lease->alone)
			s->excused++;
		else
			s->wrong++;
	} else if (refreshing) {
		lease->alone = true;
		s->excused++;
	} else {
		s->expired++;
	}
}

static void collect(struct soak *s, struct state *st, bool refreshing)
{
	struct rings *r = &st->rings;
	struct timewheel_event ev;

	do {
		while (rings_pop(r, &ev))
			take(s, st, &ev, refreshing);
		if (!(__atomic_load_n(&r->cq->flags, __ATOMIC_RELAXED) &
		      TIMEWHEEL_RING_OVERFLOW))
			return;
		rings_enter(r);
	} while (1);
}

/* Each lease that is armed, once. */
static void sweep(struct soak *s, struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->armed; i += GROUP)
		refresh_group(s, st, i);
	s->sweeps++;
	collect(s, st, true);
}

static void arm(struct soak *s, struct state *st)
{
	uint64_t deadline;
	uint32_t i;

	for (i = 0; i < s->leases; i++) {
		if (i % GROUP == 0)
			st->group_ns[i / GROUP] = now_ns();
		deadline = st->group_ns[i / GROUP] + s->idle_ns;
		lease_store(&st->rings, i, deadline);
		*rings_next(&st->rings) = (struct timewheel_op){
			.opcode = TIMEWHEEL_OP_ARM,
			.flags = TIMEWHEEL_OWN_ID | TIMEWHEEL_LEASE,
			.id = rings_id(i),
			.user_data = i,
			.eventfd = -1,
		};
		rings_ask(&st->rings, deadline);
		st->armed = i + 1;
		if (st->armed % ARMED_PER_SWEEP == 0)
			sweep(s, st);
	}
}

/* No more refreshing: all expire, in a while. */
static void let_expire(struct soak *s, struct state *st)
{
	uint64_t first = UINT64_MAX, end = now_ns() + s->idle_ns + PATIENCE_NS;
	uint32_t i;

	for (i = 0; i < s->leases; i++)
		if (st->rings.leases[i] < first)
			first = st->rings.leases[i];
	sleep_until(first);
	while (s->expired + s->excused + s->wrong < s->leases && now_ns() < end) {
		collect(s, st, false);
		sleep_until(now_ns() + MS);
	}
	s->took_ns = now_ns() - first;
	/* Anything that comes now comes too often. */
	sleep_until(now_ns() + 100 * MS);
	collect(s, st, false);
}

/**
 * soak_run() - refresh leases for a time, and then let them expire
 * @s: in: leases, idle_ns, refresh_ns; out: the rest
 */
void soak_run(struct soak *s)
{
	struct state st = { };
	uint64_t end;
	uint32_t i;

	st.lease = calloc(s->leases, sizeof(*st.lease));
	st.group_ns = calloc(s->leases / GROUP + 1, sizeof(*st.group_ns));
	if (!st.lease || !st.group_ns)
		die("memory");
	rings_open(&st.rings, SQ_ENTRIES, CQ_ENTRIES, s->leases, true);
	arm(s, &st);
	s->refreshes = 0;
	s->sweeps = 0;

	s->worker_ns = worker_ran_ns(st.rings.worker);
	end = now_ns() + s->refresh_ns;
	do
		sweep(s, &st);
	while (now_ns() < end);
	s->worker_ns = worker_ran_ns(st.rings.worker) - s->worker_ns;
	let_expire(s, &st);

	for (i = 0; i < s->leases; i++) {
		s->left_alone += st.lease[i].alone;
		s->missing += !st.lease[i].expired;
	}
	rings_close(&st.rings);
	free(st.lease);
	free(st.group_ns);
}
