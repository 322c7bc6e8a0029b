/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A million timeouts against the peers: what all parts of the bench have in common.
 */
#ifndef MILLION_H
#define MILLION_H

#include <stdbool.h>
#include <stdint.h>

#include "../common.h"

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

#endif /* MILLION_H */
