/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run of one peer with so many live: in processes of its own, so that what it
 * leaves behind, or dies of, is nobody else's.
 */
#ifndef RUN_H
#define RUN_H

#include "report.h"

/**
 * struct run - what is to be run
 * @peer: whose
 * @live: how many timeouts are to be live
 * @wanted: by operation, whether it is to be measured
 * @patience_s: how long arming them all may take
 */
struct run {
	const struct peer *peer;
	unsigned int live;
	bool wanted[OPERATIONS];
	unsigned int patience_s;
};

void run_peer(const struct run *run, struct figure *figures);

#endif /* RUN_H */
