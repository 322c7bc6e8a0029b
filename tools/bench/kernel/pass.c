// SPDX-License-Identifier: GPL-2.0-only
/*
 * empty-pass: what the worker does when it is woken and finds one cancelled timeout,
 * with all others pending: a look at the clock, the queues and the wheel.  What is
 * due next was due next before, so that its timer stays as it is set.
 * moved-pass: the same where its timer was moved, and it moves it back.
 *
 * The waking itself is taken off, as much as two threads spend that wake each other
 * by the same means, on the same CPU; so is the call that waits, as much as it
 * spends where there is nothing to wait for.  Each is the least of some rounds,
 * without what came in between.
 */

#include <linux/ktime.h>

#include "bench.h"

#define PASS_TIMES	100U
#define PASS_ROUNDS	10U

/* With passes, or without: then it is what the way there takes. */
static u64 pass_spent_ns(struct bench *b, bool idle)
{
	u64 spent = 0;
	u32 i;

	for (i = 0; i < PASS_TIMES; i++)
		spent += b->peer->pass(b, idle);
	return spent;
}

/* With something due soon, or not. */
static int pass_measure(struct bench *b, enum bench_operation op, bool soon)
{
	u64 least = U64_MAX, least_echo = U64_MAX, least_idle = U64_MAX;
	u32 round;
	u64 echo;
	int ret;

	for (round = 0; round < PASS_ROUNDS; round++) {
		if (soon)
			b->peer->soon(b, true);
		least = min(least, pass_spent_ns(b, false));
		least_idle = min(least_idle, pass_spent_ns(b, true));
		if (soon)
			b->peer->soon(b, false);
		ret = helper_echo(b, PASS_TIMES, &echo) ?: meter_pause();
		if (ret)
			return ret;
		least_echo = min(least_echo, echo);
	}
	/* On a busy machine it may be of something else all the same. */
	least_echo += least_idle;
	result_add(b, op, least > least_echo ? least - least_echo : 0, PASS_TIMES);
	return 0;
}

int measure_pass(struct bench *b)
{
	if (!b->peer->pass)
		return 0;
	return pass_measure(b, BENCH_EMPTY_PASS, true) ?:
	       pass_measure(b, BENCH_MOVED_PASS, false);
}
