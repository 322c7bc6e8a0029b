/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers, the same on every machine.
 */
#ifndef PARETO_H
#define PARETO_H

#include <stdint.h>

uint64_t pareto_seed(uint64_t seed, uint64_t stream);
uint64_t pareto_random(uint64_t *state);
uint64_t pareto_next(uint64_t *state, uint64_t mean);

#endif /* PARETO_H */
