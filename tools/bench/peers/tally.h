/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runs of one peer with so many live, and their medians.
 */
#ifndef TALLY_H
#define TALLY_H

#include "../common.h"
#include "report.h"

/**
 * struct tally - the runs of a peer
 * @figures: of each operation, that of the last run
 * @runs: how many there are of it
 * @values: of each run
 * @cpus: the same
 */
struct tally {
	struct figure figures[OPERATIONS];
	unsigned int runs[OPERATIONS];
	double values[OPERATIONS][ROUNDS_MAX];
	double cpus[OPERATIONS][ROUNDS_MAX];
};

void tally_add(struct tally *tally, const bool *wanted, const struct figure *figures);
struct figure tally_figure(const struct tally *tally, enum operation what);

#endif /* TALLY_H */
