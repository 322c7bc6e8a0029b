// SPDX-License-Identifier: GPL-2.0-only
/*
 * two-producers: two CPUs arm at once, on one wheel or on the timers of one CPU.
 * one-producer: one of them alone does its half, by the same call.
 */

#include "bench.h"

/* Finds the first of the shuffled cancelled, and leaves them pending. */
int measure_producers(struct bench *b)
{
	struct bench_cost cost = {};
	u32 half = b->ops / 2;
	int ret;

	if (!b->peer->add_here) {
		result_refuse(b, BENCH_ONE_PRODUCER, b->peer->no_add_here);
		result_refuse(b, BENCH_TWO_PRODUCERS, b->peer->no_add_here);
		goto refill;
	}
	ret = meter_run(b, b->peer->add_here, b->shuffled, half, &cost);
	if (ret)
		return ret;
	result_add_cpu(b, BENCH_ONE_PRODUCER, cost.caller_ns,
		       cost.caller_ns + cost.settle_ns, half);
	ret = meter_do(b, b->peer->cancel, b->shuffled, half);
	if (ret)
		return ret;

	if (helper_cpu(b) < 0) {
		result_refuse(b, BENCH_TWO_PRODUCERS, HELPER_NO_CPU);
		goto refill;
	}
	cost = (struct bench_cost){};
	ret = helper_run_both(b, b->peer->add_here, b->shuffled,
			      b->shuffled + half, half, &cost);
	if (ret)
		return ret;
	result_add_cpu(b, BENCH_TWO_PRODUCERS, cost.caller_ns,
		       cost.caller_ns + cost.settle_ns, 2 * half);
	ret = meter_do(b, b->peer->cancel, b->shuffled, 2 * half);
	if (ret)
		return ret;
refill:
	return meter_do(b, b->peer->add, b->shuffled, b->ops);
}
