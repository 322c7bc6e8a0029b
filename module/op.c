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

static int op_arm(struct context *ctx, struct timewheel_op *op)
{
	u64 deadline_ns = op_deadline(ctx, op);
	struct eventfd_ctx *eventfd = NULL;
	u32 leaving, let_go;
	struct entry *e;
	int ret;

	if (op->eventfd != -1) {
		eventfd = eventfd_ctx_fdget(op->eventfd);
		if (IS_ERR(eventfd))
			return PTR_ERR(eventfd);
	}

	for (;;) {
		spin_lock(&ctx->lock);
		e = op_arm_entry(ctx, op, deadline_ns, eventfd, false);
		ret = PTR_ERR_OR_ZERO(e);
		if (!ret)
			op->id = entry_id(e);
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
	e = handles_find(&ctx->handles, id);
	if (e && context_cancel(ctx, e, ENTRY_LEAVING))
		ret = 0;
	spin_unlock(&ctx->lock);
	return ret;
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
