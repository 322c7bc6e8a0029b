/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A million timeouts against the peers: what all parts of the bench have in common.
 */
#ifndef MILLION_H
#define MILLION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#define MS	1000000ULL
#define SEC	1000000000ULL

/* Timeouts that are not to expire are due at random in the second half of this. */
#define FAR_NS	(7200 * SEC)

/* How many go to the kernel in one call where a call takes many. */
#define BATCH	1024U

/* Timeouts that are to be collected are armed within this. */
#define COLLECT_IN_NS	(3 * SEC)

/**
 * struct plan - what is to be measured
 * @live: leases, and timerfds, of which one is refreshed
 * @armed: timeouts that are armed, and of which some are cancelled
 * @order: the indices below @armed, in random order
 * @cancels: how many of them are cancelled
 * @collects: how many are due at once, and collected
 */
struct plan {
	unsigned int live;
	unsigned int armed;
	uint32_t *order;
	unsigned int cancels;
	unsigned int collects;
};

/* million.c */
noreturn void die(const char *what);
uint64_t now_ns(void);
void sleep_until(uint64_t at_ns);
uint64_t random_next(void);
uint32_t random_below(uint32_t limit);
uint64_t random_deadline(void);
unsigned int power_of_two(unsigned int nr);
uint32_t *shuffled(unsigned int nr);

#endif /* MILLION_H */
