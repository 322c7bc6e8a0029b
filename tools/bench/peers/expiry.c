// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs that many expire, and to learn which.
 *
 * They are due at once; when the kernel is done they are collected, and that is the
 * caller's time.  All CPU time has the expiry itself in it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include "../meter.h"
#include "session.h"

/* How long an interrupt takes to expire one, and longer; and to come at all. */
#define EXPIRE_EACH_NS	20000U
#define EXPIRE_NS	(50 * MS)
/* Between two looks at the clock: longer is an interrupt. */
#define GAP_NS		20000U

/* Look at the clock until @end; returns how long somebody else had the CPU. */
static uint64_t spin_until(uint64_t end)
{
	uint64_t last = now_ns(), now, lost = 0;

	while (last < end) {
		now = now_ns();
		if (now - last > GAP_NS)
			lost += now - last;
		last = now;
	}
	return lost;
}

/* What expires in an interrupt does so on the CPU it was armed on: it is to be this. */
static void stay_here(cpu_set_t *before)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(*before), before) ||
	    sched_setaffinity(0, sizeof(one), &one))
		fail("the process cannot be kept on one CPU");
}

static void expire(struct session *s)
{
	bool *seen = calloc(s->extra, sizeof(*seen));
	unsigned int done = 0, nr;
	uint64_t due, lost = 0;
	cpu_set_t before;
	struct meter m;

	if (!seen)
		fail("no memory for the bench itself");
	if (s->peer->in_interrupt)
		stay_here(&before);
	due = session_arm_extra(s, s->extra, 0);

	sleep_until(due - MS);
	m = meter_start(s->worker);
	if (s->peer->in_interrupt) {
		lost = spin_until(due + EXPIRE_NS + EXPIRE_EACH_NS * s->extra);
		m = meter_start(0);
	} else {
		sleep_until(due + EXPIRE_NS);
		if (s->worker)
			meter_settled(&m);
	}
	meter_calls(&m);
	while (done < s->extra) {
		nr = s->peer->collect(s->self, s->expired, false);
		session_take(s, seen, nr, due);
		done += nr;
	}
	meter_called(&m);
	report_cost(EXPIRE, (double)m.wall_ns / done,
		    (double)(meter_cpu_ns(&m) + lost) / done);
	if (s->peer->in_interrupt)
		sched_setaffinity(0, sizeof(before), &before);
	free(seen);
}

/**
 * measure_expiry() - expire, and learn which
 * @s: the session, which is full
 */
void measure_expiry(struct session *s)
{
	/* Once for the caches, and for an emulator to have seen the code. */
	expire(s);
	expire(s);
}
