// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ops: what a program wants done with its timeouts.
 *
 * Ops are copied in, checked and done, and their results copied out, a few at a
 * time.  A program can take memory away at any moment.  What can be seen
 * beforehand is: an op whose result can't be written is not begun.  If the
 * memory goes between that and the writing of the results, the timeouts armed
 * under ids that nobody got to know are cancelled again; one that has fired by
 * then leaves its event, with the cookie in it.  CANCEL and REARM stay done.
 */

#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "context.h"
#include "event.h"
#include "handle.h"
#include "op.h"
#include "timeout.h"

/* Ops copied at a time. */
#define OP_CHUNK	32U

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

/* Inline: @here is known where it is called, and this is what there is most of. */
static __always_inline int op_arm_entry(struct context *ctx,
					struct timewheel_op *op, u64 deadline_ns,
					struct eventfd_ctx *eventfd, bool here)
{
	const u8 flags = op->flags;
	struct entry *e;
	int ret;

	lockdep_assert_held(&ctx->lock);

	if (ctx->stopped)
		return -ESHUTDOWN;
	e = flags & TIMEWHEEL_OWN_ID ? handles_claim(&ctx->handles, op->id) :
				       entry_alloc(ctx);
	if (IS_ERR(e))
		return PTR_ERR(e);

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
		return ret;
	}
	if (!(flags & TIMEWHEEL_OWN_ID))
		op->id = entry_id(e);
	ctx->books.armed++;
	ctx->books.pending++;
	if (!here)
		context_count_queued(ctx, 1);
	return 0;
}

static int op_arm(struct context *ctx, struct timewheel_op *op)
{
	u64 deadline_ns = op_deadline(ctx, op);
	struct eventfd_ctx *eventfd = NULL;
	u32 leaving, let_go;
	int ret;

	if (op->eventfd != -1) {
		eventfd = eventfd_ctx_fdget(op->eventfd);
		if (IS_ERR(eventfd))
			return PTR_ERR(eventfd);
	}

	for (;;) {
		spin_lock(&ctx->lock);
		ret = op_arm_entry(ctx, op, deadline_ns, eventfd, false);
		leaving = ctx->leaving;
		let_go = ctx->let_go;
		spin_unlock(&ctx->lock);

		if (ret == -EAGAIN)
			ret = handles_grow(ctx);
		else if (ret == -EALREADY ||
			 ((ret == -ENOSPC || ret == -EDQUOT) && leaving))
			ret = context_wait_let_go(ctx, let_go);
		else
			break;
		if (ret)
			break;
	}
	if (ret && eventfd)
		eventfd_ctx_put(eventfd);
	return ret;
}

static int op_cancel(struct context *ctx, u64 id)
{
	struct entry *e;
	int ret = -ENOENT;

	spin_lock(&ctx->lock);
	e = entry_find(ctx, id);
	if (e && context_cancel(ctx, e, ENTRY_LEAVING))
		ret = 0;
	spin_unlock(&ctx->lock);
	return ret;
}

static int op_rearm_entry(struct context *ctx, const struct timewheel_op *op,
			  u64 deadline_ns, bool here)
{
	struct timewheel_timeout *t;
	struct entry *e;
	int ret;

	lockdep_assert_held(&ctx->lock);

	if (ctx->stopped)
		return -ESHUTDOWN;
	e = entry_find(ctx, op->id);
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

static int op_rearm(struct context *ctx, const struct timewheel_op *op)
{
	u64 deadline_ns = op_deadline(ctx, op);
	int ret;

	spin_lock(&ctx->lock);
	ret = op_rearm_entry(ctx, op, deadline_ns, false);
	spin_unlock(&ctx->lock);
	return ret;
}

/**
 * op_from_ring - do an op that came through the ring
 * @ctx: the context
 * @op: the op
 *
 * Context: the worker; the context's lock is held.
 *
 * Return: 0; an error as of op_single(), -EINVAL also for what a ring can't have: an
 * id that is not the program's own, an eventfd of the timeout's own, which only a
 * call can take, and a deadline from now, for nobody knows when that was; or
 * -EALREADY if the id was cancelled by a call, and the op is to come again.
 */
int op_from_ring(struct context *ctx, struct timewheel_op *op)
{
	struct entry *e;
	int ret;

	lockdep_assert_held(&ctx->lock);

	ret = op_check(ctx, op, op->opcode);
	if (ret)
		return ret;
	if (op->opcode == TIMEWHEEL_OP_CANCEL) {
		e = entry_find(ctx, op->id);
		return e && context_cancel_here(ctx, e) ? 0 : -ENOENT;
	}

	if (!(op->flags & (TIMEWHEEL_ABS | TIMEWHEEL_LEASE)))
		return -EINVAL;
	if (op->opcode == TIMEWHEEL_OP_REARM)
		return op_rearm_entry(ctx, op, op_deadline(ctx, op), true);
	if (!(op->flags & TIMEWHEEL_OWN_ID) || op->eventfd != -1)
		return -EINVAL;
	return op_arm_entry(ctx, op, op_deadline(ctx, op), NULL, true);
}

static int op_do(struct context *ctx, struct timewheel_op *op, u8 opcode)
{
	int ret;

	ret = op_check(ctx, op, opcode);
	if (ret)
		return ret;
	switch (opcode) {
	case TIMEWHEEL_OP_ARM:
		return op_arm(ctx, op);
	case TIMEWHEEL_OP_CANCEL:
		return op_cancel(ctx, op->id);
	default:
		return op_rearm(ctx, op);
	}
}

/*
 * @opcode: what the caller says the op is, 0 if the op itself is to.  Returns
 * false if a signal came before anything was done.
 */
static bool op_run(struct context *ctx, struct timewheel_op *op, u8 opcode)
{
	int ret = op_do(ctx, op, opcode ?: op->opcode);

	if (ret == -ERESTARTSYS)
		return false;
	if (ret) {
		spin_lock(&ctx->lock);
		ctx->books.rejected++;
		spin_unlock(&ctx->lock);
	}
	op->result = ret;
	return true;
}

/* Nobody has heard of the op's result. */
static void op_undo(struct context *ctx, const struct timewheel_op *op,
		    u8 opcode)
{
	if ((opcode ?: op->opcode) == TIMEWHEEL_OP_ARM && !op->result)
		op_cancel(ctx, op->id);
}

/* Only whole ones count. */
static u32 op_copy_in(struct timewheel_op *ops,
		      const struct timewheel_op __user *uops, u32 nr)
{
	unsigned long left = copy_from_user(ops, uops, nr * sizeof(*ops));

	return nr - DIV_ROUND_UP(left, sizeof(*ops));
}

/* What ops give back; the rest of them is the program's.  Returns how many. */
static u32 op_copy_out(struct timewheel_op __user *uops,
		       const struct timewheel_op *ops, u32 nr)
{
	u32 i = 0;

	if (!user_write_access_begin(uops, nr * sizeof(*uops)))
		return 0;
	for (; i < nr; i++) {
		unsafe_put_user(ops[i].result, &uops[i].result, out);
		unsafe_put_user(ops[i].id, &uops[i].id, out);
	}
out:
	user_write_access_end();
	return i;
}

/* Returns how many ops were done and reported, or an error if none was. */
static int op_chunk(struct context *ctx, struct timewheel_op __user *uops,
		    struct timewheel_op *ops, u32 nr, u8 opcode)
{
	u32 done, told;

	nr = op_copy_in(ops, uops, nr);
	/* Can they be written to?  The same values again tell. */
	nr = op_copy_out(uops, ops, nr);
	if (!nr)
		return -EFAULT;

	context_bind(ctx);
	for (done = 0; done < nr; done++)
		if (!op_run(ctx, &ops[done], opcode))
			break;
	if (!done)
		return -ERESTARTSYS;

	told = op_copy_out(uops, ops, done);
	while (done > told)
		op_undo(ctx, &ops[--done], opcode);
	context_pace(ctx);
	return told ?: -EFAULT;
}

/**
 * op_single - TIMEWHEEL_IOC_ARM, _CANCEL, _REARM
 * @ctx: the context
 * @uop: the op
 * @opcode: which of them; the op itself says the same, or nothing
 *
 * Return: the op's result: 0; -EINVAL; -ENOENT for an id that stands
 * for nothing pending; -ESHUTDOWN after STOP; for ARM, -EBUSY for an own id in
 * use, -EBADF or -EINVAL for an eventfd that is none, -ENOSPC, -EDQUOT, -ENOMEM.
 * Or -EFAULT, -ERESTARTSYS, and then nothing was done.
 */
int op_single(struct context *ctx, struct timewheel_op __user *uop, u8 opcode)
{
	struct timewheel_op op;
	int ret;

	ret = op_chunk(ctx, uop, &op, 1, opcode);
	return ret < 0 ? ret : op.result;
}

/**
 * op_submit - TIMEWHEEL_IOC_SUBMIT
 * @ctx: the context
 * @uops: the ops
 * @nr: how many, 1 to TIMEWHEEL_SUBMIT_MAX; 0 to look at the rings
 *
 * Return: how many ops were done, or refused; the results say which.  Fewer than
 * @nr when a signal or a fault came in between.  An error if not even the first
 * was: -EINVAL for a @nr out of range, -EFAULT, -ENOMEM, -ERESTARTSYS.
 */
int op_submit(struct context *ctx, struct timewheel_op __user *uops, u32 nr)
{
	struct timewheel_op *ops;
	u32 done = 0, want;
	int ret = 0;

	if (!nr)
		return submission_enter(ctx);
	if (nr > TIMEWHEEL_SUBMIT_MAX)
		return -EINVAL;
	ops = kmalloc_objs(*ops, min(nr, OP_CHUNK), GFP_KERNEL);
	if (!ops)
		return -ENOMEM;

	do {
		want = min(nr - done, OP_CHUNK);
		ret = op_chunk(ctx, uops + done, ops, want, 0);
		if (ret < 0)
			break;
		done += ret;
		cond_resched();
	} while (done < nr && ret == want && !signal_pending(current));

	kfree(ops);
	return done ?: ret;
}
