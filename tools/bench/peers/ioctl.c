// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel by ioctl, one call for each timeout.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "calls.h"

static void ioctl_arm(void *self, const struct work *work)
{
	struct calls *c = self;
	struct timewheel_op op;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		op = (struct timewheel_op){
			.flags = TIMEWHEEL_ABS,
			.user_data = work->index[i],
			.expires_ns = work->deadline_ns[i],
			.eventfd = -1,
		};
		if (ioctl(c->fd, TIMEWHEEL_IOC_ARM, &op))
			fail("ARM: %s", strerror(errno));
		c->ids[work->index[i]] = op.id;
	}
}

static void ioctl_refresh(void *self, const struct work *work)
{
	struct calls *c = self;
	struct timewheel_op op;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		op = (struct timewheel_op){
			.flags = TIMEWHEEL_ABS,
			.id = c->ids[work->index[i]],
			.expires_ns = work->deadline_ns[i],
		};
		if (ioctl(c->fd, TIMEWHEEL_IOC_REARM, &op))
			fail("REARM: %s", strerror(errno));
	}
}

static void ioctl_cancel(void *self, const struct work *work)
{
	struct calls *c = self;
	struct timewheel_op op;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		op = (struct timewheel_op){ .id = c->ids[work->index[i]] };
		if (ioctl(c->fd, TIMEWHEEL_IOC_CANCEL, &op))
			fail("CANCEL: %s", strerror(errno));
	}
}

const struct peer peer_ioctl = {
	.name = "timewheel-ioctl",
	.missing = timewheel_missing,
	.open = calls_open,
	.arm = ioctl_arm,
	.refresh = ioctl_refresh,
	.cancel = ioctl_cancel,
	.collect = calls_collect,
	.worker = calls_worker,
	.close = calls_close,
};
