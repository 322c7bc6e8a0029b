// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random numbers, the same on every machine: SplitMix64, and from it numbers with a
 * Pareto distribution, in integers.
 *
 * With the exponent 3/2 there is a mean, three times the least, and no variance: the
 * sum of many is dominated by a few.  For u uniform in 0 < u <= 1, u^(-2/3) has it.
 */
#include "pareto.h"

/* SplitMix64 adds this to its state, and mixes the sum. */
#define GAMMA		0x9e3779b97f4a7c15ULL

/* No number is greater: two of them can be added. */
#define MOST		(1ULL << 62)

/* Bits of u, and of the fraction of u^(-2/3), of which three are a whole number. */
#define UNIFORM_BITS	32
#define FRACTION_BITS	16

/**
 * pareto_random() - 64 random bits
 * @state: where the stream is
 */
uint64_t pareto_random(uint64_t *state)
{
	uint64_t z = *state += GAMMA;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/**
 * pareto_seed() - the beginning of a stream of random numbers
 * @seed: chosen by the user
 * @stream: one of many under that seed
 */
uint64_t pareto_seed(uint64_t seed, uint64_t stream)
{
	uint64_t state = pareto_random(&seed) ^ stream;

	return pareto_random(&state);
}

/* The greatest whole number whose cube is at most @n, which is below 2^114. */
static uint64_t cube_root(unsigned __int128 n)
{
	unsigned __int128 more;
	uint64_t root = 0;
	int bit;

	for (bit = 37; bit >= 0; bit--) {
		more = root | 1ULL << bit;
		if (more * more * more <= n)
			root = more;
	}
	return root;
}

/**
 * pareto_next() - a random number with a Pareto distribution
 * @state: where the stream is
 * @mean: the mean
 *
 * Return: the number, from a third of the mean up to 870,000 times the mean.
 */
uint64_t pareto_next(uint64_t *state, uint64_t mean)
{
	unsigned __int128 u = (pareto_random(state) >> (64 - UNIFORM_BITS)) + 1;
	unsigned __int128 one = 1, number;

	/* u is in units of 2^-UNIFORM_BITS: (2^32 / u)^2 * 2^(3 * 16) under the root. */
	one <<= 2 * UNIFORM_BITS + 3 * FRACTION_BITS;
	number = (unsigned __int128)cube_root(one / (u * u)) * mean / 3 >> FRACTION_BITS;
	return number < MOST ? number : MOST;
}
