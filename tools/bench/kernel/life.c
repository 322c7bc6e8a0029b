// SPDX-License-Identifier: GPL-2.0-only
/*
 * life: all are armed, half of them are put off ten times, 99 of 100 are cancelled
 * and one expires, not long after it was armed.  Counted is what all CPUs did until
 * it was over and nothing was left to do; the wheel is as anybody would make it.
 */

#include <linux/time64.h>

#include "bench.h"

#define LIFE_REFRESHES	10U
#define LIFE_STEP_US	(30U * USEC_PER_SEC)

/* Caller only: what the worker does, it does when it comes to it. */
static int life_step(struct bench *b, bench_step step, const u32 *which, u32 nr)
{
	int ret = 0;
	u32 n;

	for (; nr && !ret; nr -= n, which += n) {
		n = min(nr, METER_BATCH);
		step(b, which, n);
		ret = meter_pause();
	}
	return ret;
}

static int life_live(struct bench *b)
{
	u32 cancelled = b->live - load_doomed(b);
	unsigned int i;
	int ret;

	ret = life_step(b, b->peer->add, b->in_order, b->live);
	for (i = 1; i <= LIFE_REFRESHES && !ret; i++) {
		b->later_us = i * LIFE_STEP_US;
		ret = life_step(b, b->peer->touch ?: b->peer->rearm, b->shuffled,
				b->live / 2);
	}
	if (!ret)
		ret = life_step(b, b->peer->cancel, b->shuffled, cancelled);
	if (!ret)
		ret = meter_await();
	if (!ret && b->peer->settle)
		b->peer->settle(b);
	return ret;
}

int measure_life(struct bench *b)
{
	struct soak_mark mark;
	int ret;

	ret = soak_begin();
	if (ret)
		return ret;
	load_doom(b, true);
	meter_expect(load_doomed(b));
	soak_mark(&mark);
	ret = life_live(b);
	if (!ret)
		result_spent(b, BENCH_LIFE, soak_spent_ns(&mark), b->live);
	load_doom(b, false);
	soak_end();
	return ret;
}
