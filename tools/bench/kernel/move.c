// SPDX-License-Identifier: GPL-2.0-only
/*
 * rearm: move live ones, at random, 30 s away from where they were.
 * touch: the same by a store, where there is such a thing.  What the worker spends
 * on it some time later is "refile", in expire.c.
 */

#include <linux/time64.h>

#include "bench.h"

#define MOVE_US		(30U * USEC_PER_SEC)

int measure_move(struct bench *b)
{
	struct bench_cost cost = {};
	int ret;

	b->later_us = MOVE_US;
	ret = meter_run(b, b->peer->rearm, b->shuffled, b->ops, &cost);
	if (ret)
		return ret;
	result_add_cpu(b, BENCH_REARM, cost.caller_ns,
		       cost.caller_ns + cost.settle_ns, b->ops);

	/* Others than those just moved have not come near the caches. */
	cost = (struct bench_cost){};
	b->later_us = 2 * MOVE_US;
	ret = meter_run(b, b->peer->touch ?: b->peer->rearm,
			b->shuffled + b->live - b->ops, b->ops, &cost);
	if (!ret)
		result_add_cpu(b, BENCH_TOUCH, cost.caller_ns,
			       cost.caller_ns +
			       (b->peer->touch ? 0 : cost.settle_ns), b->ops);
	return ret;
}
