// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeouts in a wheel of the replay's own: by calls, by rings, by leases.
 *
 * What is asked for is gathered, and handed over in a batch; a lease is refreshed by a
 * store, at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/worker.h"
#include "backend.h"
#include "device.h"
#include "error.h"

#define BATCH	256U

/* No id of the library's: the ARM is still in the batch. */
#define NO_ID	0

/* A context with a wheel of its own, and the @nr ops of the batch. */
struct wheel {
	struct timewheel *tw;
	unsigned int nr;
	struct timewheel_op batch[BATCH];
};

static void wheel_open(struct backend *b, unsigned int flags)
{
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_OWN_WHEEL | flags,
		.capacity = flags ? b->capacity : 0,
	};
	struct wheel *wheel = calloc(1, sizeof(*wheel));
	struct timewheel_info info;
	int err;

	if (!wheel)
		fail("no memory");
	err = timewheel_open(&wheel->tw, &options);
	if (err == -ENOSPC || err == -EDQUOT)
		fail("the module has no room for a wheel with %u timeouts for you:\n"
		     "end other programs that use it ('timewheel stat' names them), or raise\n"
		     "max_wheels, max_timeouts and their max_user_... of the module.",
		     b->capacity);
	if (err)
		device_fail_open(-err);
	err = timewheel_info(wheel->tw, &info);
	if (err)
		fail_errno(-err, "cannot ask the module what it is (INFO)");
	if (!flags)
		b->capacity = UINT32_MAX;
	b->tick_ns = info.tick_ns;
	b->fd = timewheel_fd(wheel->tw);
	b->worker = worker_of(b->fd);
	b->own = wheel;
}

static void batch_open(struct backend *b)
{
	wheel_open(b, 0);
}

static void ring_open(struct backend *b)
{
	wheel_open(b, TIMEWHEEL_OPEN_RINGS);
}

static void lease_open(struct backend *b)
{
	wheel_open(b, TIMEWHEEL_OPEN_RINGS | TIMEWHEEL_OPEN_LEASES);
}

/* What became of an op of the batch. */
static void op_done(struct backend *b, const struct timewheel_op *op)
{
	struct timeout *t = &b->timeouts->all[(uint32_t)op->user_data];

	switch (op->opcode) {
	case TIMEWHEEL_OP_ARM:
		if (op->result)
			fail_arm(-op->result);
		t->id = op->id;
		return;
	case TIMEWHEEL_OP_REARM:
		/* Not there: it has expired, and its event is on the way. */
		if (op->result && op->result != -ENOENT)
			fail_errno(-op->result, "cannot move a timeout");
		return;
	default:
		if (op->result && op->result != -ENOENT)
			fail_errno(-op->result, "cannot cancel a timeout");
		b->lost += op->result && t->state == TIMEOUT_CANCELLED;
	}
}

static int wheel_flush(struct backend *b)
{
	struct wheel *wheel = b->own;
	int i, done;

	if (!wheel->nr)
		return 0;
	done = timewheel_batch(wheel->tw, wheel->batch, wheel->nr);
	if (done == -EAGAIN)
		return done;
	if (done < 0)
		fail_errno(-done, "cannot hand over a batch");
	for (i = 0; i < done; i++)
		op_done(b, &wheel->batch[i]);
	wheel->nr -= done;
	memmove(wheel->batch, wheel->batch + done, wheel->nr * sizeof(*wheel->batch));
	return wheel->nr ? -EAGAIN : 0;
}

static int put(struct backend *b, uint32_t index, struct timewheel_op op)
{
	struct wheel *wheel = b->own;
	struct timeout *t = &b->timeouts->all[index];
	int err;

	if (wheel->nr == BATCH || (op.opcode != TIMEWHEEL_OP_ARM && t->id == NO_ID)) {
		err = wheel_flush(b);
		if (err)
			return err;
	}
	op.id = op.opcode == TIMEWHEEL_OP_ARM ? 0 : t->id;
	op.user_data = timeouts_cookie(b->timeouts, index);
	op.eventfd = -1;
	wheel->batch[wheel->nr++] = op;
	return 0;
}

static int arm(struct backend *b, uint32_t index, unsigned int flags)
{
	struct timeout *t = &b->timeouts->all[index];
	int err;

	err = put(b, index, (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = flags,
		.expires_ns = t->deadline_ns,
	});
	if (!err)
		t->id = NO_ID;
	return err;
}

static int wheel_arm(struct backend *b, uint32_t index)
{
	return arm(b, index, TIMEWHEEL_ABS);
}

static int lease_arm(struct backend *b, uint32_t index)
{
	return arm(b, index, TIMEWHEEL_LEASE);
}

static int wheel_refresh(struct backend *b, uint32_t index)
{
	return put(b, index, (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_REARM,
		.flags = TIMEWHEEL_ABS,
		.expires_ns = b->timeouts->all[index].deadline_ns,
	});
}

static int lease_refresh(struct backend *b, uint32_t index)
{
	struct timeout *t = &b->timeouts->all[index];
	struct wheel *wheel = b->own;
	int err = 0;

	if (t->id == NO_ID)
		err = wheel_flush(b);
	if (err)
		return err;
	err = timewheel_touch(wheel->tw, t->id, t->deadline_ns);
	if (err)
		fail_errno(-err, "cannot refresh a lease");
	return 0;
}

static int wheel_cancel(struct backend *b, uint32_t index)
{
	return put(b, index, (struct timewheel_op){ .opcode = TIMEWHEEL_OP_CANCEL });
}

static void expired(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct backend *b = data;

	(void)tw;
	if (event->flags & TIMEWHEEL_EVENT_FAILED)
		fail_arm(-event->result);
	b->expired(b->data, event->user_data);
}

static void wheel_collect(struct backend *b)
{
	struct wheel *wheel = b->own;
	int nr = timewheel_drain(wheel->tw, 0, expired, b);

	if (nr < 0)
		fail_errno(-nr, "cannot read events");
}

static void wheel_close(struct backend *b)
{
	struct wheel *wheel = b->own;

	timewheel_close(wheel->tw);
	free(wheel);
}

const struct backend_ops backend_batch = {
	.name = "timewheel-batch",
	.open = batch_open,
	.arm = wheel_arm,
	.refresh = wheel_refresh,
	.cancel = wheel_cancel,
	.flush = wheel_flush,
	.collect = wheel_collect,
	.close = wheel_close,
};

const struct backend_ops backend_ring = {
	.name = "timewheel-ring",
	.open = ring_open,
	.arm = wheel_arm,
	.refresh = wheel_refresh,
	.cancel = wheel_cancel,
	.flush = wheel_flush,
	.collect = wheel_collect,
	.close = wheel_close,
};

const struct backend_ops backend_lease = {
	.name = "timewheel-lease",
	.open = lease_open,
	.arm = lease_arm,
	.refresh = lease_refresh,
	.cancel = wheel_cancel,
	.flush = wheel_flush,
	.collect = wheel_collect,
	.close = wheel_close,
};
