// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the place of a peer that could not be built.
 */
#include <stddef.h>

#include "sides.h"

const char *uring_missing(void)
{
	return "built without liburing (Debian: liburing-dev)";
}

void uring_round(const struct plan *plan)
{
	(void)plan;
}
