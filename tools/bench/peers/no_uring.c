// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the place of a peer that could not be built.
 */
#include "peer.h"

static const char *uring_missing(void)
{
	return "built without liburing (Debian: liburing-dev)";
}

const struct peer peer_uring = {
	.name = "io_uring",
	.missing = uring_missing,
};
