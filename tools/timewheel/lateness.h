/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram of how late things were.
 */
#ifndef LATENESS_H
#define LATENESS_H

#include <stdint.h>

/* A bucket is at most 1/32 wide of what is in it. */
#define LATENESS_BITS	5
#define LATENESS_STEPS	(1U << LATENESS_BITS)

/**
 * struct lateness - any number of values, in memory that does not grow
 * @nr: how many
 * @max: the greatest, exactly
 * @buckets: up to the power of two 2^LATENESS_BITS one for each value; above it, as
 *	many for each power of two
 */
struct lateness {
	uint64_t nr;
	uint64_t max;
	uint64_t buckets[(64 - LATENESS_BITS + 1) * LATENESS_STEPS];
};

void lateness_add(struct lateness *late, uint64_t ns);
uint64_t lateness_permille(const struct lateness *late, unsigned int permille);

static inline uint64_t lateness_percentile(const struct lateness *late, unsigned int percent)
{
	return lateness_permille(late, percent * 10);
}

#endif /* LATENESS_H */
