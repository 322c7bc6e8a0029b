// SPDX-License-Identifier: GPL-2.0-only
/*
 * cancel: live ones, at random; the worker's share of it is "unlink".
 * cancel-remote: from another CPU than the one that armed them.
 */

#include "bench.h"

/* Leaves cancelled the first of the shuffled. */
int measure_cancel(struct bench *b)
{
	struct bench_cost cost = {};
	int ret;

	ret = meter_run(b, b->peer->cancel, b->shuffled, b->ops, &cost);
	if (ret)
		return ret;
	result_add_cpu(b, BENCH_CANCEL, cost.caller_ns,
		       cost.caller_ns + cost.settle_ns, b->ops);
	if (b->peer->settle)
		result_add(b, BENCH_UNLINK, cost.settle_ns, b->ops);

	if (helper_cpu(b) < 0) {
		result_refuse(b, BENCH_CANCEL_REMOTE, HELPER_NO_CPU);
		return 0;
	}
	ret = meter_do(b, b->peer->add, b->shuffled, b->ops);
	if (ret)
		return ret;
	cost = (struct bench_cost){};
	ret = helper_run(b, b->peer->cancel, b->shuffled, b->ops, &cost);
	if (!ret)
		result_add_cpu(b, BENCH_CANCEL_REMOTE, cost.caller_ns,
			       cost.caller_ns + cost.settle_ns, b->ops);
	return ret;
}
