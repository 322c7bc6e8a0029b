// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the benches have in common: the clock, chance, and what there is no other
 * place for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

noreturn void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

void sleep_until(uint64_t at_ns)
{
	struct timespec at = { at_ns / SEC, at_ns % SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

/* xorshift64: the same numbers each time, for next to nothing. */
uint64_t random_next(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

uint32_t random_below(uint32_t limit)
{
	return (random_next() >> 32) * limit >> 32;
}

/* Far away; nobody's clock is read for it. */
uint64_t random_deadline(void)
{
	return FAR_NS / 2 + random_next() % (FAR_NS / 2);
}

/* No less than @nr. */
unsigned int power_of_two(unsigned int nr)
{
	unsigned int power = 1;

	while (power < nr)
		power *= 2;
	return power;
}

/* The indices below @nr in random order; the caller frees them. */
uint32_t *shuffled(unsigned int nr)
{
	uint32_t *order = malloc(nr * sizeof(*order)), other, swap;
	unsigned int i;

	if (!order)
		die("memory");
	for (i = 0; i < nr; i++)
		order[i] = i;
	for (i = nr - 1; i; i--) {
		other = random_below(i + 1);
		swap = order[i];
		order[i] = order[other];
		order[other] = swap;
	}
	return order;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of up to ROUNDS_MAX values. */
double median(const double *values, unsigned int nr)
{
	double sorted[ROUNDS_MAX];
	unsigned int i;

	for (i = 0; i < nr; i++)
		sorted[i] = values[i];
	qsort(sorted, nr, sizeof(*sorted), compare);
	return nr % 2 ? sorted[nr / 2] :
			(sorted[nr / 2 - 1] + sorted[nr / 2]) / 2;
}
