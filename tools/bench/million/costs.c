// SPDX-License-Identifier: GPL-2.0-only
/*
 * What operations cost: the rounds of each, and the medians of these.
 */
#include "../common.h"
#include "costs.h"

static struct {
	unsigned int rounds;
	double caller[ROUNDS_MAX], cpu[ROUNDS_MAX];
} costs[MEASURES];

void costs_record(const struct meter *m, enum measure what, unsigned int nr)
{
	unsigned int round = costs[what].rounds++;

	costs[what].caller[round] = (double)m->wall_ns / nr;
	costs[what].cpu[round] = (double)meter_cpu_ns(m) / nr;
}

bool measured(enum measure what)
{
	return costs[what].rounds;
}

double median_caller(enum measure what)
{
	return median(costs[what].caller, costs[what].rounds);
}

double median_cpu(enum measure what)
{
	return median(costs[what].cpu, costs[what].rounds);
}
