/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ops: what a program wants done with its timeouts, by a call or through its ring.
 *
 * What both share is inline: with a ring it is most of what the worker does.
 */
#ifndef TIMEWHEEL_OP_H
#define TIMEWHEEL_OP_H

#include <linux/err.h>
#include <linux/timewheel.h>
#include <linux/types.h>

#include "context.h"
#include "event.h"
#include "handle.h"
#include "timeout.h"

#define OP_FLAGS	(TIMEWHEEL_ABS | TIMEWHEEL_OWN_ID | TIMEWHEEL_LEASE | \
			 TIMEWHEEL_NO_EVENT)

/*
 * Fields that an op has no use for are ignored, but for what may get a meaning:
 * so a program may cancel or move a timeout with the structure that it armed it
 * with.
 */
static inline int op_check(const struct context *ctx,
			   const struct timewheel_op *op, u8 opcode)
{
	bool arm = opcode == TIMEWHEEL_OP_ARM;

	if (op->pad || op->pad2 || op->reserved || op->flags & ~OP_FLAGS)
		return -EINVAL;
	if (op->opcode && op->opcode != opcode)
		return -EINVAL;
	if (!arm && opcode != TIMEWHEEL_OP_CANCEL &&
	    opcode != TIMEWHEEL_OP_REARM)
		return -EINVAL;
	/* A timeout that nobody hears of. */
	if (arm && op->flags & TIMEWHEEL_NO_EVENT && op->eventfd == -1 &&
	    !ctx->eventfd)
		return -EINVAL;

	/* Longer than any clock runs. */
	if (arm && op->interval_ns > S64_MAX)
		return -EINVAL;
	/* The table has a deadline for each own id, and no more than that. */
	if (op->flags & TIMEWHEEL_LEASE && opcode != TIMEWHEEL_OP_CANCEL &&
	    !lease_exists(ctx, lower_32_bits(op->id)))
		return -EINVAL;
	if (arm && op->flags & TIMEWHEEL_LEASE &&
	    (!(op->flags & TIMEWHEEL_OWN_ID) || op->interval_ns))
		return -EINVAL;
	return 0;
}

/* The deadline on the wheel's clock; later than it can show is never. */
static inline u64 op_deadline(const struct context *ctx,
			      const struct timewheel_op *op)
{
	u64 now;

	if (op->flags & TIMEWHEEL_LEASE)
		return lease_deadline(ctx, lower_32_bits(op->id));
	if (op->flags & TIMEWHEEL_ABS)
		return timens_to_wheel(context_shift(ctx, ctx->wheel),
				       op->expires_ns);
	now = timewheel_now(ctx->wheel);
	return op->expires_ns > U64_MAX - now ? U64_MAX : now + op->expires_ns;
}

/* @here: the caller is the worker, and needs no queue. */
static inline int op_add(struct timewheel *wheel, struct entry *e,
			 const struct timewheel_op *op, u64 deadline_ns,
			 bool here)
{
	if (here)
		return timeout_arm_here(wheel, &e->periodic.timeout, deadline_ns,
					op->slack_ns, op->interval_ns);
	if (op->interval_ns)
		return timewheel_periodic_add(wheel, &e->periodic, deadline_ns,
					      op->interval_ns, op->slack_ns);
	return timewheel_add_slack(wheel, &e->periodic.timeout, deadline_ns,
				   op->slack_ns);
}

/* The entry, or an error.  @here as for op_add(). */
static __always_inline struct entry *
op_arm_entry(struct context *ctx, const struct timewheel_op *op, u64 deadline_ns,
	     struct eventfd_ctx *eventfd, bool here)
{
	const u8 flags = op->flags;
	struct entry *e;
	int ret;

	lockdep_assert_held(&ctx->lock);

	if (ctx->stopped)
		return ERR_PTR(-ESHUTDOWN);
	e = flags & TIMEWHEEL_OWN_ID ? handles_claim(&ctx->handles, op->id) :
				       entry_alloc(ctx);
	if (IS_ERR(e))
		return e;

	e->state = ENTRY_PENDING;
	e->no_event = !!(flags & TIMEWHEEL_NO_EVENT);
	e->lease = !!(flags & TIMEWHEEL_LEASE);
	e->periodic.timeout.ops = flags & TIMEWHEEL_LEASE ? &event_lease_ops :
							    &event_ops;
	e->periodic.interval_ns = op->interval_ns;
	e->user_data = op->user_data;
	e->eventfd = eventfd;
	/* It may fire at once: the callback waits for the lock. */
	ret = op_add(ctx->wheel, e, op, deadline_ns, here);
	if (ret) {
		e->eventfd = NULL;
		entry_free(ctx, e);
		return ERR_PTR(ret);
	}
	ctx->books.armed++;
	ctx->books.pending++;
	if (!here)
		context_count_queued(ctx, 1);
	return e;
}

static __always_inline int op_rearm_entry(struct context *ctx,
					  const struct timewheel_op *op,
					  u64 deadline_ns, bool here)
{
	struct timewheel_timeout *t;
	struct entry *e;
	int ret;

	lockdep_assert_held(&ctx->lock);

	if (ctx->stopped)
		return -ESHUTDOWN;
	e = handles_find(&ctx->handles, op->id);
	if (!e || e->state != ENTRY_PENDING)
		return -ENOENT;
	if (op->flags & TIMEWHEEL_LEASE && !e->lease)
		return -EINVAL;
	t = &e->periodic.timeout;
	if (!here || !timeout_rearm_here(ctx->wheel, t, deadline_ns)) {
		/* Not if the callback of its only expiry waits for the lock. */
		ret = timewheel_rearm(t, deadline_ns);
		if (ret)
			return ret;
		context_count_queued(ctx, timeout_pushed(t));
	}
	ctx->books.rearmed++;
	return 0;
}

int op_single(struct context *ctx, struct timewheel_op __user *uop, u8 opcode);
int op_submit(struct context *ctx, struct timewheel_op __user *uops, u32 nr);

#endif /* TIMEWHEEL_OP_H */
