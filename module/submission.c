// SPDX-License-Identifier: GPL-2.0-only
/*
 * The submission ring: ops that a program asks for without a call.
 *
 *   program                               worker
 *   write an entry                        acquire the tail
 *   release the tail                      read entries
 *   full barrier                          release the head
 *   read wake_ns
 *
 * It calls SUBMIT only if the worker would come too late for it.  The worker's
 * side of that is in source.c.
 *
 * A pass does so many ops and no more, and then lets expire what is due; but an op
 * further back may move or cancel just that, and was there in time.  So it is noted
 * how many ops a pass finds.  Until they are done, timeouts of this context that
 * are due since wait; no other's do.
 *
 * Each entry is read once, and then what was read is checked.  An op that fails is
 * told as an event.  For that there are a few spare entries; when a program has
 * left all of them unread, its next op that fails waits in the ring, and what is due
 * waits behind it until events have been read.
 */

#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "context.h"
#include "event.h"
#include "op.h"
#include "ring.h"

/* Ops done while the lock is held, and in a row for one ring. */
#define SUBMISSION_BATCH	32U
#define SUBMISSION_BUDGET	2048U

static struct context *submission_context(struct timewheel_source *source)
{
	return container_of(source, struct context, submission.source);
}

/* What the ring holds, if that makes sense. */
static u32 submission_nr(const struct ring *ring)
{
	/* No less than the program knows of: submission_drain() tells it later. */
	u32 at = READ_ONCE(ring->at);
	/* Partner: the program's release, when it has written the entries. */
	u32 nr = smp_load_acquire(&ring->head->tail) - at;

	return nr > ring->entries ? 0 : nr;
}

/*
 * Each field once: the program may be writing to it.  Inline, as is all that is done
 * with it, so that an op stays in registers.
 */
static __always_inline struct timewheel_op submission_read(const struct ring *ring,
							   u32 at)
{
	const struct timewheel_op *ops = (void *)(ring->head + 1);
	const struct timewheel_op *from = &ops[at & (ring->entries - 1)];

	return (struct timewheel_op){
		.opcode = READ_ONCE(from->opcode),
		.flags = READ_ONCE(from->flags),
		.pad = READ_ONCE(from->pad),
		.id = READ_ONCE(from->id),
		.user_data = READ_ONCE(from->user_data),
		.expires_ns = READ_ONCE(from->expires_ns),
		.interval_ns = READ_ONCE(from->interval_ns),
		.slack_ns = READ_ONCE(from->slack_ns),
		.eventfd = READ_ONCE(from->eventfd),
		.pad2 = READ_ONCE(from->pad2),
		.reserved = READ_ONCE(from->reserved),
	};
}

/* Tell of an op that failed; false if there is nothing to do so with. */
static bool submission_fail(struct context *ctx, u64 id, u64 user_data,
			    int error)
{
	struct submission *sub = &ctx->submission;
	struct entry *e = sub->spare;

	if (!e) {
		WRITE_ONCE(sub->stuck, true);
		return false;
	}
	sub->spare = e->next;
	ctx->books.rejected++;
	event_fail(ctx, e, id, user_data, error);
	return true;
}

/*
 * Returns 0; an error as of op_single(), -EINVAL also for what a ring can't have: an id
 * that is not the program's own, an eventfd of the timeout's own, which only a call can
 * take, and a deadline from now, for nobody knows when that was; or -EALREADY if the id
 * was cancelled by a call, and the op is to come again.
 */
static __always_inline int submission_do_op(struct context *ctx,
					    const struct timewheel_op *op,
					    bool here)
{
	struct entry *e;
	int ret;

	lockdep_assert_held(&ctx->lock);

	ret = op_check(ctx, op, op->opcode);
	if (ret)
		return ret;
	if (op->opcode == TIMEWHEEL_OP_CANCEL) {
		e = handles_find(&ctx->handles, op->id);
		return e && context_cancel_here(ctx, e) ? 0 : -ENOENT;
	}

	if (!(op->flags & (TIMEWHEEL_ABS | TIMEWHEEL_LEASE)))
		return -EINVAL;
	if (op->opcode == TIMEWHEEL_OP_REARM)
		return op_rearm_entry(ctx, op, op_deadline(ctx, op), here);
	if (!(op->flags & TIMEWHEEL_OWN_ID) || op->eventfd != -1)
		return -EINVAL;
	e = op_arm_entry(ctx, op, op_deadline(ctx, op), NULL, here);
	return PTR_ERR_OR_ZERO(e);
}

/*
 * Up to @nr ops.  Returns how many were done; fewer if one has to wait: for room
 * to tell that it failed, or for the worker to let go of a cancelled timeout, and
 * then @again is set.
 */
static u32 submission_do(struct context *ctx, u32 nr, bool *again)
{
	struct ring *ring = &ctx->submission.ring;
	/*
	 * What was armed or moved by a call before these ops were put in may still be
	 * queued, and expires first where all are due in one tick: then these go by
	 * the queue, too.  Partner of the acquire that the tail was read with: the
	 * program's release, after the call.
	 */
	bool here = queues_empty(&ctx->wheel->queues);
	u32 done;

	lockdep_assert_held(&ctx->lock);

	for (done = 0; done < nr; done++) {
		const struct timewheel_op op = submission_read(ring, ring->at + done);
		int ret = submission_do_op(ctx, &op, here);

		if (ret == -EALREADY) {
			*again = true;
			break;
		}
		if (ret && !submission_fail(ctx, op.id, op.user_data, ret))
			break;
	}
	return done;
}

static bool submission_waiting(struct timewheel_source *source)
{
	struct context *ctx = submission_context(source);

	return submission_nr(&ctx->submission.ring) &&
	       !READ_ONCE(ctx->submission.stuck) && !READ_ONCE(ctx->closing);
}

/* Up to @nr ops; returns whether one has to wait for the worker to let go. */
static bool submission_take(struct context *ctx, u32 nr, unsigned int *budget)
{
	struct submission *sub = &ctx->submission;
	struct ring *ring = &sub->ring;
	bool again = false;
	u32 done, want;

	/* Somebody may wait for room, or to be told that there is none. */
	worker_notify(ctx->wheel, &ctx->notifier);
	do {
		want = min(nr, SUBMISSION_BATCH);
		spin_lock(&ctx->lock);
		done = submission_do(ctx, want, &again);
		spin_unlock(&ctx->lock);
		WRITE_ONCE(ring->at, ring->at + done);
		/* Partner: the program's acquire, before it writes there again. */
		smp_store_release(&ring->head->head, ring->at);
		/* After that: who waits for room finds it in the ring, too. */
		smp_store_release(&ring->told, ring->at);
		sub->owed -= min(sub->owed, done);
		*budget -= done;
		nr -= done;
	} while (nr && done == want);
	return again;
}

/*
 * What waited for the ops of an earlier count expires when they are done.  All does
 * when no op is left, or the program has turned its tail back.
 */
static void submission_settle(struct context *ctx)
{
	struct submission *sub = &ctx->submission;

	if (!submission_nr(&sub->ring)) {
		sub->owed = 0;
		sub->owed_ns = ctx->wheel->now_ns;
	}
	if (sub->owed)
		return;
	sub->seen_ns = sub->owed_ns;
	core_release(&ctx->wheel->core, &sub->held);
}

static bool submission_drain(struct timewheel_source *source,
			     unsigned int *budget)
{
	struct context *ctx = submission_context(source);
	struct submission *sub = &ctx->submission;
	u32 there = submission_nr(&sub->ring);
	u32 nr = min3(there, *budget, SUBMISSION_BUDGET);
	bool more = false;

	if (!sub->owed) {
		sub->owed = there;
		sub->owed_ns = ctx->wheel->now_ns;
	}
	/* The first look: from now on what is due waits for the next. */
	if (sub->seen_ns == U64_MAX)
		sub->seen_ns = 0;
	if (nr && submission_waiting(source))
		more = submission_take(ctx, nr, budget);
	/* First: if the tail is turned back now, none waits for a pass to come. */
	more |= submission_waiting(source);
	submission_settle(ctx);
	return more;
}

/**
 * submission_hold - whether an op in the ring may speak of a timeout that is due
 * @ctx: the context
 * @due_ns: the deadline of the timeout
 * @now_ns: set back to the time up to which the ring has been seen
 *
 * One that is due waits also behind others that do, for in one tick they are to
 * expire in the order in which they were armed.
 *
 * Context: the worker.
 * Return: NULL; or, if ops that were put in before the deadline came are still to
 * be done, a list for core_hold() to keep the timeout in until they are.
 */
struct list_head *submission_hold(struct context *ctx, u64 due_ns, u64 *now_ns)
{
	struct submission *sub = &ctx->submission;

	if (!sub->ring.entries)
		return NULL;
	if (due_ns > sub->seen_ns || !list_empty(&sub->held))
		return &sub->held;
	*now_ns = min(*now_ns, sub->seen_ns);
	return NULL;
}

static void submission_promise(struct timewheel_source *source, u64 wake_ns)
{
	struct context *ctx = submission_context(source);
	s64 shift = context_shift(ctx, ctx->wheel);
	u64 in_time = ctx->wheel->tick_ns - 1;

	/* What falls into the tick that ends with the pass is in time for it. */
	if (wake_ns >= WAKE_NEVER)
		wake_ns = U64_MAX;
	else
		wake_ns -= min(wake_ns, in_time);
	WRITE_ONCE(ctx->submission.ring.head->wake_ns,
		   timens_to_opener(shift, wake_ns));
}

static const struct source_ops submission_ops = {
	.promise = submission_promise,
	.waiting = submission_waiting,
	.drain = submission_drain,
};

/* As the program sees it, if its tail makes sense. */
static bool submission_full(const struct ring *ring)
{
	/* Partner: submission_drain(), which has told the program by then. */
	u32 told = smp_load_acquire(&ring->told);
	u32 tail = READ_ONCE(ring->head->tail);

	return tail - READ_ONCE(ring->at) <= ring->entries &&
	       tail - told >= ring->entries;
}

/*
 * A pass comes now: what is put in until it looks takes no call of its own.  The
 * program is told so before the kick, so that whatever the worker tells from that
 * pass on stands.
 */
static void submission_kick(struct context *ctx)
{
	WRITE_ONCE(ctx->submission.ring.head->wake_ns, 0);
	/*
	 * For a kick that finds another one under way, and does nothing.  Partner:
	 * the barrier in worker_begin_round(), before the worker tells the program.
	 */
	smp_mb();
	worker_kick(ctx->wheel);
}

/**
 * submission_enter - TIMEWHEEL_IOC_SUBMIT with no ops: look at the rings
 * @ctx: the context
 *
 * Events that the completion ring had no room for are moved there.  The worker is
 * told to drain the submission ring, and if that is full this waits until it is not.
 *
 * Return: 0; -EINVAL if there are no rings; -EAGAIN if the submission ring does
 * not move until events have been read; -ERESTARTSYS.
 */
int submission_enter(struct context *ctx)
{
	struct submission *sub = &ctx->submission;
	int ret;

	if (!context_bound(ctx) ||
	    (!sub->ring.entries && !ctx->completion.entries))
		return -EINVAL;
	completion_refill(ctx);
	if (!sub->ring.entries)
		return 0;
	if (READ_ONCE(sub->stuck))
		return -EAGAIN;
	if (submission_waiting(&sub->source))
		submission_kick(ctx);
	ret = wait_event_interruptible(ctx->leavers,
				       !submission_full(&sub->ring) ||
				       READ_ONCE(sub->stuck));
	if (ret)
		return ret;
	return READ_ONCE(sub->stuck) ? -EAGAIN : 0;
}

/* The context has its wheel: have the worker look into the ring, if there is one. */
void submission_attach(struct context *ctx)
{
	struct timewheel_source *source = &ctx->submission.source;

	if (!ctx->submission.ring.entries)
		return;
	source_attach(ctx->wheel, source);
	/*
	 * Another thread may have found the wheel chosen, filled the ring and called,
	 * and the pass came too early.  The attaching is a full barrier, as is its
	 * kick: either that pass sees the source, or this the op.
	 */
	if (submission_waiting(source))
		worker_kick(ctx->wheel);
}

/* The memory is the active memory cgroup's. */
int submission_create(struct context *ctx, u32 entries)
{
	struct submission *sub = &ctx->submission;
	u32 i;
	int ret;

	if (!entries)
		return 0;
	sub->spares = chunk_create(ctx, 0);
	if (!sub->spares)
		return -ENOMEM;
	for (i = CHUNK_ENTRIES; i--;) {
		sub->spares->entries[i].next = sub->spare;
		sub->spare = &sub->spares->entries[i];
	}
	sub->source.ops = &submission_ops;
	sub->seen_ns = U64_MAX;
	INIT_LIST_HEAD(&sub->held);
	ret = ring_create(&sub->ring, entries, sizeof(struct timewheel_op));
	if (ret)
		submission_destroy(ctx);
	return ret;
}

/* Also if there is none. */
void submission_destroy(struct context *ctx)
{
	struct submission *sub = &ctx->submission;

	ring_destroy(&sub->ring);
	free_page((unsigned long)sub->spares);
	sub->spares = NULL;
	sub->spare = NULL;
}
