// SPDX-License-Identifier: GPL-2.0-only
/*
 * add: fill an empty peer; the worker's share of it is "transfer".
 * add-at: the same on top of what is live, with the time read once a batch.
 * add-cancel: arm and cancel at once, on top of what is live.
 */

#include "bench.h"

/* Leaves all that are to be live pending. */
int measure_add(struct bench *b)
{
	struct bench_cost cost = {};
	u32 nr = min(b->live, b->extra);
	int ret;

	ret = meter_run(b, b->peer->add, b->in_order, b->live, &cost);
	if (ret)
		return ret;
	result_add_cpu(b, BENCH_ADD, cost.caller_ns,
		       cost.caller_ns + cost.settle_ns, b->live);
	if (b->peer->settle)
		result_add(b, BENCH_TRANSFER, cost.settle_ns, b->live);

	if (!b->peer->add_at)
		return 0;
	cost = (struct bench_cost){};
	ret = meter_run(b, b->peer->add_at, b->in_order + b->live, nr, &cost);
	if (ret)
		return ret;
	result_add_cpu(b, BENCH_ADD_AT, cost.caller_ns,
		       cost.caller_ns + cost.settle_ns, nr);
	return meter_do(b, b->peer->cancel, b->in_order + b->live, nr);
}

int measure_add_cancel(struct bench *b)
{
	struct bench_cost cost = {};
	u32 nr = min(b->live, b->extra);
	int ret;

	ret = meter_run(b, b->peer->add_cancel, b->in_order + b->live, nr, &cost);
	if (!ret)
		result_add_cpu(b, BENCH_ADD_CANCEL, cost.caller_ns,
			       cost.caller_ns + cost.settle_ns, nr);
	return ret;
}
