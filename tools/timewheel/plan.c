// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of saved timeouts on a clock that may have begun after them.
 *
 * An overdue one-shot fires at once.  So does an overdue periodic timeout, once:
 * it is armed for the last of its instants, and the next comes a period later,
 * in phase.  What lies before the clock began can't be said on it: such a
 * one-shot is armed for 0.  So is such a periodic timeout, and when it has fired
 * for that, it is moved to its next instant: until then it has the phase of 0.
 */
#include <stdlib.h>

#include "plan.h"
#include "walltime.h"

/* The context's clock at a time of the wall clock, or at the nearer end of it. */
static uint64_t on_clock(uint64_t wall_ns, int64_t ahead)
{
	__int128 ns = (__int128)wall_ns - ahead;

	if (wall_ns == WALLTIME_NEVER || ns > UINT64_MAX)
		return UINT64_MAX;
	return ns < 0 ? 0 : ns;
}

static void plan(struct planned *p, uint64_t wall_now, int64_t ahead)
{
	uint64_t interval = p->timeout->interval_ns;
	__int128 wall;

	p->wall_ns = p->timeout->wall_ns;
	p->overdue = p->wall_ns <= wall_now;
	if (p->overdue && interval) {
		p->missed = (wall_now - p->wall_ns) / interval;
		p->wall_ns += p->missed * interval;
	}
	p->deadline_ns = on_clock(p->wall_ns, ahead);

	wall = p->wall_ns;
	if (interval && wall < ahead)
		/* Later than now, for it is the first after it. */
		p->next_ns = wall + interval - ahead;
}

static int compare(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;

	if (x->wall_ns != y->wall_ns)
		return x->wall_ns < y->wall_ns ? -1 : 1;
	return x->timeout < y->timeout ? -1 : x->timeout > y->timeout;
}

/**
 * plan_make() - how to arm what was saved, in order
 * @saved: what was saved
 * @wall_now: the wall clock, in nanoseconds since 1970
 * @ahead: how far it is ahead of the context's clock
 *
 * Armed in this order, those overdue fire in it: by the instant they are armed
 * for, and those of one instant as they stand in the file.
 *
 * Return: as many as were saved, or NULL if there is no memory.
 */
struct planned *plan_make(const struct savefile *saved, uint64_t wall_now, int64_t ahead)
{
	struct planned *p = calloc(saved->nr + 1, sizeof(*p));
	size_t i;

	if (!p)
		return NULL;
	for (i = 0; i < saved->nr; i++) {
		p[i].timeout = &saved->timeouts[i];
		plan(&p[i], wall_now, ahead);
	}
	qsort(p, saved->nr, sizeof(*p), compare);
	return p;
}
