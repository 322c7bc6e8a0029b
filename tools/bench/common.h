/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the benches have in common: the clock, chance, and what there is no other
 * place for.
 */
#ifndef COMMON_H
#define COMMON_H

#include <stdint.h>
#include <stdnoreturn.h>

#define MS	1000000ULL
#define SEC	1000000000ULL

/* Timeouts that are not to expire are due at random in the second half of this. */
#define FAR_NS	(7200 * SEC)

/* How many go to the kernel in one call where a call takes many. */
#define BATCH	1024U

/* A figure is the median of so many at most. */
#define ROUNDS_MAX	99U

static inline unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

noreturn void die(const char *what);
uint64_t now_ns(void);
void sleep_until(uint64_t at_ns);
uint64_t random_next(void);
uint32_t random_below(uint32_t limit);
uint64_t random_deadline(void);
unsigned int power_of_two(unsigned int nr);
uint32_t *shuffled(unsigned int nr);
double median(const double *values, unsigned int nr);

#endif /* COMMON_H */
