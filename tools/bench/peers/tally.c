// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runs of one peer with so many live, and their medians.
 */
#include "tally.h"

void tally_add(struct tally *tally, const bool *wanted, const struct figure *figures)
{
	unsigned int i, run;

	for (i = 0; i < OPERATIONS; i++) {
		if (!wanted[i])
			continue;
		if (!tally->figures[i].there)
			tally->figures[i] = figures[i];
		if (!figures[i].there)
			continue;
		run = tally->runs[i]++;
		tally->values[i][run] = figures[i].value;
		tally->cpus[i][run] = figures[i].cpu;
	}
}

/* The medians; quantiles are of the first run, as there is but one that has them. */
struct figure tally_figure(const struct tally *tally, enum operation what)
{
	struct figure figure = tally->figures[what];

	if (figure.there) {
		figure.value = median(tally->values[what], tally->runs[what]);
		figure.cpu = median(tally->cpus[what], tally->runs[what]);
	}
	return figure;
}
