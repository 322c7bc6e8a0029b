// SPDX-License-Identifier: GPL-2.0-only
/*
 * A histogram of how late things were.
 */
#include "lateness.h"

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < LATENESS_STEPS)
		return ns;
	shift = 63 - __builtin_clzll(ns) - LATENESS_BITS;
	return (shift + 1) * LATENESS_STEPS + (ns >> shift) % LATENESS_STEPS;
}

/* The greatest value that falls into it. */
static uint64_t top_of(unsigned int bucket)
{
	unsigned int shift = bucket / LATENESS_STEPS;
	uint64_t steps = bucket % LATENESS_STEPS;

	if (!shift)
		return steps;
	shift--;
	return ((steps + LATENESS_STEPS) << shift) + ((1ULL << shift) - 1);
}

/**
 * lateness_add() - count a value
 * @late: the histogram
 * @ns: the value
 */
void lateness_add(struct lateness *late, uint64_t ns)
{
	late->nr++;
	if (ns > late->max)
		late->max = ns;
	late->buckets[bucket_of(ns)]++;
}

/**
 * lateness_permille() - what so many of a thousand do not exceed
 * @late: the histogram
 * @permille: how many
 *
 * Return: nanoseconds, up to 1/32 too much and never more than the greatest; 0 if
 * there is no value.
 */
uint64_t lateness_permille(const struct lateness *late, unsigned int permille)
{
	uint64_t rank = (late->nr / 1000) * permille + (late->nr % 1000 * permille + 999) / 1000;
	uint64_t sum = 0, top = 0;
	unsigned int i;

	for (i = 0; sum < rank; i++) {
		sum += late->buckets[i];
		top = top_of(i);
	}
	return top < late->max ? top : late->max;
}
