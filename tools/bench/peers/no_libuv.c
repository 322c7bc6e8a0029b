// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the place of a peer that could not be built.
 */
#include "peer.h"

static const char *libuv_missing(void)
{
	return "built without libuv (Debian: libuv1-dev)";
}

const struct peer peer_libuv = {
	.name = "libuv",
	.missing = libuv_missing,
};
