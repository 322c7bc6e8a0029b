// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel by ioctl, many timeouts in a call.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "calls.h"

static void submit(struct calls *c, unsigned int nr)
{
	struct timewheel_submit submit = { .ops = (uintptr_t)c->ops, .nr = nr };
	unsigned int i;

	if (ioctl(c->fd, TIMEWHEEL_IOC_SUBMIT, &submit) != (int)nr)
		fail("SUBMIT: %s", strerror(errno));
	for (i = 0; i < nr; i++)
		if (c->ops[i].result)
			fail("an op of SUBMIT: %s", strerror(-c->ops[i].result));
}

static void batch_arm(void *self, const struct work *work)
{
	struct calls *c = self;
	unsigned int done, nr, i;

	for (done = 0; done < work->nr; done += nr) {
		nr = batch_at(work, done);
		for (i = 0; i < nr; i++)
			c->ops[i] = (struct timewheel_op){
				.opcode = TIMEWHEEL_OP_ARM,
				.flags = TIMEWHEEL_ABS,
				.user_data = work->index[done + i],
				.expires_ns = work->deadline_ns[done + i],
				.eventfd = -1,
			};
		submit(c, nr);
		for (i = 0; i < nr; i++)
			c->ids[work->index[done + i]] = c->ops[i].id;
	}
}

static void batch_refresh(void *self, const struct work *work)
{
	struct calls *c = self;
	unsigned int done, nr, i;

	for (done = 0; done < work->nr; done += nr) {
		nr = batch_at(work, done);
		for (i = 0; i < nr; i++)
			c->ops[i] = (struct timewheel_op){
				.opcode = TIMEWHEEL_OP_REARM,
				.flags = TIMEWHEEL_ABS,
				.id = c->ids[work->index[done + i]],
				.expires_ns = work->deadline_ns[done + i],
			};
		submit(c, nr);
	}
}

static void batch_cancel(void *self, const struct work *work)
{
	struct calls *c = self;
	unsigned int done, nr, i;

	for (done = 0; done < work->nr; done += nr) {
		nr = batch_at(work, done);
		for (i = 0; i < nr; i++)
			c->ops[i] = (struct timewheel_op){
				.opcode = TIMEWHEEL_OP_CANCEL,
				.id = c->ids[work->index[done + i]],
			};
		submit(c, nr);
	}
}

const struct peer peer_batch = {
	.name = "timewheel-batch",
	.missing = timewheel_missing,
	.open = calls_open,
	.arm = batch_arm,
	.refresh = batch_refresh,
	.cancel = batch_cancel,
	.collect = calls_collect,
	.worker = calls_worker,
	.close = calls_close,
};
