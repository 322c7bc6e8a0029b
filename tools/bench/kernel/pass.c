// SPDX-License-Identifier: GPL-2.0-only
/*
 * empty-pass: what the worker does when it is woken and finds one cancelled timeout,
 * with all others pending: a look at the clock, the queues and the wheel, and
 * setting its timer before it sleeps.  The waking itself is taken off: as much as
 * two threads spend that wake each other, on the same CPU.
 */

#include <linux/ktime.h>

#include "bench.h"

#define PASS_TIMES	1000U

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
	u64 echo, spent, passes = 0;
	u32 i;
	int ret;

	if (!b->peer->pass)
		return 0;
	for (i = 0; i < PASS_TIMES; i++)
		passes += b->peer->pass(b);
	ret = helper_echo(b, PASS_TIMES, &echo);
	if (ret)
		return ret;
	spent = echo + pass_clock_ns();
	/* On a busy machine the measurement may be of something else. */
	result_add(b, BENCH_EMPTY_PASS, passes > spent ? passes - spent : 0,
		   PASS_TIMES);
	return meter_pause();
}
