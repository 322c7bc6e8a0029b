// SPDX-License-Identifier: GPL-2.0-only
/*
 * All peers.
 */
#include <stddef.h>

#include "peer.h"

const struct peer *const peers[] = {
	&peer_ioctl,
	&peer_batch,
	&peer_ring,
	&peer_lease,
	&peer_timerfd,
	&peer_timerfd_epoll,
	&peer_posix_timer,
	&peer_uring,
	&peer_user_wheel,
	&peer_libevent,
	&peer_libuv,
	NULL
};
