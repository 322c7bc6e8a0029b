// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the place of a peer that could not be built.
 */
#include "peer.h"

static const char *libevent_missing(void)
{
	return "built without libevent (Debian: libevent-dev)";
}

const struct peer peer_libevent = {
	.name = "libevent",
	.missing = libevent_missing,
};
