// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rounds: all sides take turns, so that what the machine does otherwise is
 * everybody's.
 */
#include <stdio.h>

#include "parts.h"
#include "sides.h"

/* How far it is. */
void progress(const char *what, unsigned int round, unsigned int rounds)
{
	fprintf(stderr, "million: %s, round %u of %u\n", what, round + 1, rounds);
}

void arm_rounds(const struct plan *plan, unsigned int rounds)
{
	bool uring = !uring_missing();
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		progress("arm and cancel", i, rounds);
		wheel_round_ring(plan);
		library_round(plan);
		timerfd_round(plan);
		wheel_round_ioctl(plan);
		if (uring)
			uring_round(plan);
	}
	if (!uring)
		fprintf(stderr, "million: no comparison with io_uring: %s\n",
			uring_missing());
}

void collect_rounds(const struct plan *plan, unsigned int rounds)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		progress("collect", i, rounds);
		wheel_collect(plan);
		library_collect(plan);
		timerfd_collect(plan);
	}
}
