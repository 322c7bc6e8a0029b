// SPDX-License-Identifier: GPL-2.0-only
/*
 * empty-pass: what the worker does when it is woken and finds one cancelled timeout,
 * with all others pending: a look at the clock, the queues and the wheel, and
 * setting its timer before it sleeps.  The waking itself is taken off: as much as
 * two threads spend that wake each other, on the same CPU.  Each is the least of some
 * rounds, without what came in between.
 */

#include <linux/ktime.h>

#include "bench.h"

#define PASS_TIMES	100U
#define PASS_ROUNDS	10U

/* What is spent on looking at the clock so often. */
static u64 pass_clock_ns(void)
{
	u64 begun = ktime_get_ns();
	u32 i;

	for (i = 0; i < PASS_TIMES; i++)
		ktime_get_ns();
	return ktime_get_ns() - begun;
}

int measure_pass(struct bench *b)
{
	u64 least = U64_MAX, least_echo = U64_MAX, least_clock = U64_MAX;
	u64 echo, passes;
	u32 i, round;
	int ret;

	if (!b->peer->pass)
		return 0;
	for (round = 0; round < PASS_ROUNDS; round++) {
		passes = 0;
		for (i = 0; i < PASS_TIMES; i++)
			passes += b->peer->pass(b);
		ret = helper_echo(b, PASS_TIMES, &echo) ?: meter_pause();
		if (ret)
			return ret;
		least = min(least, passes);
		least_echo = min(least_echo, echo);
		least_clock = min(least_clock, pass_clock_ns());
	}
	/* On a busy machine it may be of something else all the same. */
	least_echo += least_clock;
	result_add(b, BENCH_EMPTY_PASS,
		   least > least_echo ? least - least_echo : 0, PASS_TIMES);
	return 0;
}
