// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a context.
 *
 *    open ──► no wheel yet ──► in use ──────► stopped ──► release
 *                 SETUP or          STOP
 *                 the first op
 *
 * Its timeouts are on one wheel from the first to the last, so all its callbacks
 * run on one worker, one after the other.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "context.h"
#include "event.h"
#include "params.h"
#include "timeout.h"

/* How many entries a context may queue before it looks after the worker. */
#define CONTEXT_BURST	WORKER_BUDGET

/* Own wheels made so far; they are named by number. */
static atomic_t own_wheels = ATOMIC_INIT(0);

struct context *context_open(void)
{
	struct context *ctx;

	ctx = kzalloc_obj(*ctx, GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->account = account_get(current_uid());
	if (!ctx->account) {
		kfree(ctx);
		return ERR_PTR(-ENOMEM);
	}
	ctx->exempt = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	timens_shift_take(&ctx->shift);
	handles_init(&ctx->handles, param_max_timeouts);

	spin_lock_init(&ctx->lock);
	ctx->ready_last = &ctx->ready;
	INIT_LIST_HEAD(&ctx->notifier.link);
	ctx->notifier.notify = event_notify;
	init_waitqueue_head(&ctx->readers);
	init_waitqueue_head(&ctx->leavers);
	mutex_init(&ctx->setup_lock);
	mutex_init(&ctx->read_lock);
	return ctx;
}

/* The wheel the context uses, or would. */
struct timewheel *context_wheel(struct context *ctx)
{
	/* Pairs with the releases in context_bind() and context_setup(). */
	return smp_load_acquire(&ctx->wheel) ?: timewheel_system();
}

/* An op is about to be done: without SETUP before, on the system wheel. */
void context_bind(struct context *ctx)
{
	/* Pairs with the releases below and in context_setup(). */
	if (smp_load_acquire(&ctx->wheel))
		return;

	mutex_lock(&ctx->setup_lock);
	if (!ctx->wheel)
		/* Pairs with the acquires above and in context_wheel(). */
		smp_store_release(&ctx->wheel, timewheel_system());
	mutex_unlock(&ctx->setup_lock);
}

static int setup_check(const struct timewheel_setup *s)
{
	bool own = s->flags & TIMEWHEEL_SETUP_OWN_WHEEL;

	if (s->flags & ~TIMEWHEEL_SETUP_OWN_WHEEL || s->pad)
		return -EINVAL;
	if (!own && (s->tick_ns || s->slots || s->levels || s->clockid))
		return -EINVAL;
	if (s->tick_ns && (s->tick_ns < TIMEWHEEL_MIN_TICK_NS ||
			   s->tick_ns > TIMEWHEEL_MAX_TICK_NS))
		return -EINVAL;
	if (own && core_check(s->slots ?: param_slots,
			      s->levels ?: param_levels))
		return -EINVAL;
	if (s->clockid && s->clockid != CLOCK_MONOTONIC &&
	    s->clockid != CLOCK_BOOTTIME)
		return -EINVAL;
	if (s->max_pending > param_max_timeouts)
		return -EINVAL;
	/* Rings have a power of two of entries, or none. */
	if (s->sq_entries & (s->sq_entries - 1) ||
	    s->cq_entries & (s->cq_entries - 1))
		return -EINVAL;

	if (s->sq_entries > TIMEWHEEL_RING_MAX ||
	    s->cq_entries > TIMEWHEEL_RING_MAX)
		return -EINVAL;
	if (s->own_ids > (s->max_pending ?: param_max_timeouts))
		return -EINVAL;
	return 0;
}

static struct timewheel *setup_own_wheel(const struct timewheel_setup *s)
{
	char name[TIMEWHEEL_NAME_LEN];
	struct timewheel_params params = {
		.name = name,
		.tick_ns = s->tick_ns,
		.slots = s->slots,
		.levels = s->levels,
		.clockid = s->clockid,
	};

	/* All can see the name of a thread: it must not tell whose it is. */
	snprintf(name, sizeof(name), "own%u", atomic_inc_return(&own_wheels));
	return wheel_create(&params);
}

/* What of it is counted for the user, the context has from here on. */
static struct timewheel *setup_wheel(struct context *ctx,
				     const struct timewheel_setup *s)
{
	struct timewheel *wheel = timewheel_system();
	int ret = 0;

	if (s->flags & TIMEWHEEL_SETUP_OWN_WHEEL) {
		ret = account_take_wheel(ctx->account, ctx->exempt);
		if (ret)
			return ERR_PTR(ret);
		wheel = setup_own_wheel(s);
		if (IS_ERR(wheel))
			account_give_wheel(ctx->account);
	} else if (s->sq_entries) {
		ret = account_take_ring(ctx->account, ctx->exempt);
	}
	return ret ? ERR_PTR(ret) : wheel;
}

static void context_put_wheel(struct context *ctx)
{
	if (ctx->own_wheel) {
		wheel_destroy(ctx->wheel);
		account_give_wheel(ctx->account);
	} else if (ctx->submission.ring.entries) {
		account_give_ring(ctx->account);
	}
}

static void setup_rings_undo(struct context *ctx)
{
	submission_destroy(ctx);
	ring_destroy(&ctx->completion);
}

static int setup_rings(struct context *ctx, const struct timewheel_setup *s)
{
	struct mem_cgroup *memcg = set_active_memcg(ctx->handles.memcg);
	int ret;

	ret = submission_create(ctx, s->sq_entries);
	if (!ret)
		ret = ring_create(&ctx->completion, s->cq_entries,
				  sizeof(struct timewheel_event));
	set_active_memcg(memcg);
	if (ret)
		setup_rings_undo(ctx);
	return ret;
}

/**
 * context_setup - TIMEWHEEL_IOC_SETUP
 * @ctx: the context
 * @s: how it is to be
 *
 * Return: 0; -EINVAL for what makes no sense; -EBUSY after another SETUP, the
 * first op or STOP; -EBADF or -EINVAL for an eventfd that is none; -ENOSPC for
 * more wheels than max_wheels; -EDQUOT for more wheels or rings than the user may
 * have; -EDQUOT, -ENOSPC for more own ids than the limits leave; -ENOMEM,
 * -ERESTARTSYS.
 * After an error the context is as it was.
 */
int context_setup(struct context *ctx, const struct timewheel_setup *s)
{
	struct eventfd_ctx *eventfd = NULL;
	struct timewheel *wheel;
	u32 max;
	int ret;

	ret = setup_check(s);
	if (ret)
		return ret;

	mutex_lock(&ctx->setup_lock);
	ret = -EBUSY;
	if (ctx->wheel)
		goto out;

	/* 0 is none here: a zeroed structure asks for nothing. */
	if (s->eventfd && s->eventfd != -1) {
		eventfd = eventfd_ctx_fdget(s->eventfd);
		ret = PTR_ERR_OR_ZERO(eventfd);
		if (ret)
			goto out;
	}
	max = ctx->handles.max;
	ret = handles_reserve(ctx, s->max_pending ?: max, s->own_ids);
	if (ret)
		goto put_eventfd;
	ret = setup_rings(ctx, s);
	if (ret)
		goto clear_handles;
	wheel = setup_wheel(ctx, s);
	ret = PTR_ERR_OR_ZERO(wheel);
	if (ret)
		goto undo_rings;
	ctx->eventfd = eventfd;
	ctx->own_wheel = s->flags & TIMEWHEEL_SETUP_OWN_WHEEL;
	/* Pairs with the acquires in context_bind() and context_wheel(). */
	smp_store_release(&ctx->wheel, wheel);
	submission_attach(ctx);
	goto out;

undo_rings:
	setup_rings_undo(ctx);
clear_handles:
	handles_clear(ctx);
put_eventfd:
	WRITE_ONCE(ctx->handles.max, max);
	if (eventfd)
		eventfd_ctx_put(eventfd);
out:
	mutex_unlock(&ctx->setup_lock);
	return ret;
}

/*
 * Cancel a timeout; what becomes of the entry when the worker lets go of it is
 * @to: ENTRY_LEAVING or ENTRY_STOPPED.  False if it is too late.
 */
bool context_cancel(struct context *ctx, struct entry *e, enum entry_state to)
{
	lockdep_assert_held(&ctx->lock);

	/* False also when its expired callback is waiting for this lock. */
	if (e->state != ENTRY_PENDING || !timewheel_cancel(&e->periodic.timeout))
		return false;
	e->state = to;
	if (to == ENTRY_STOPPED)
		ctx->books.unprocessed++;
	else
		ctx->books.cancelled++;
	ctx->books.pending--;
	ctx->leaving++;
	context_count_queued(ctx, timeout_pushed(&e->periodic.timeout));
	return true;
}

/**
 * context_pace - wait for the worker, if the context is far ahead of it
 * @ctx: the context, which holds no lock
 *
 * The queues are one line for all contexts of a wheel, and whoever closes or
 * stops one waits for the end of it.  So none may put a million in at once: each
 * CONTEXT_BURST have the worker come, and wait until the burst before has been
 * looked at.  A program that is no faster than the worker never waits.
 */
void context_pace(struct context *ctx)
{
	struct timewheel *wheel = ctx->wheel;
	u64 mark;

	if (READ_ONCE(ctx->queued) < CONTEXT_BURST)
		return;

	spin_lock(&ctx->lock);
	mark = ctx->mark;
	ctx->mark = worker_mark(wheel);
	WRITE_ONCE(ctx->queued, 0);
	spin_unlock(&ctx->lock);
	worker_await(wheel, mark);
}

/* The same for the worker, who lets go of it at once. */
bool context_cancel_here(struct context *ctx, struct entry *e)
{
	lockdep_assert_held(&ctx->lock);

	/* A call armed or moved it just now, or it has something to be put. */
	if (e->state != ENTRY_PENDING || e->eventfd ||
	    !timeout_cancel_here(ctx->wheel, &e->periodic.timeout))
		return context_cancel(ctx, e, ENTRY_LEAVING);
	ctx->books.cancelled++;
	ctx->books.pending--;
	if (e->periods)
		e->state = ENTRY_EXPIRED;
	else
		entry_free(ctx, e);
	return true;
}

/* No timeout of the context is on the wheel. */
static bool context_at_rest(struct context *ctx)
{
	bool ret;

	spin_lock(&ctx->lock);
	ret = !ctx->books.pending && !ctx->leaving;
	spin_unlock(&ctx->lock);
	return ret;
}

/* All events there will ever be are in the ready list, or have been read. */
bool context_ended(struct context *ctx)
{
	return READ_ONCE(ctx->stopped) && context_at_rest(ctx);
}

/*
 * An arm found no entry, and the worker is yet to let go of some: have it do so
 * now, rather than at the next housekeeping.  @seen is the let_go of that time.
 */
int context_wait_let_go(struct context *ctx, u32 seen)
{
	worker_kick(ctx->wheel);
	return wait_event_interruptible(ctx->leavers,
					READ_ONCE(ctx->let_go) != seen);
}

/*
 * Cancel all that is pending.  Arming is refused by now, so there will be no
 * chunks but those there are, and what is left pending fires any moment.
 */
static void context_sweep(struct context *ctx, enum entry_state to)
{
	struct handles *h = &ctx->handles;
	u32 nr, i, more = true;

	for (nr = 0; more; nr++) {
		spin_lock(&ctx->lock);
		more = nr < h->nr_chunks && ctx->books.pending;
		for (i = 0; more && i < CHUNK_ENTRIES; i++)
			context_cancel(ctx, &h->chunks[nr]->entries[i], to);
		spin_unlock(&ctx->lock);
		context_pace(ctx);
		cond_resched();
	}
}

/**
 * context_stop - TIMEWHEEL_IOC_STOP
 * @ctx: the context
 *
 * When it returns, each timeout that was pending has an event, as unprocessed or
 * because it expired meanwhile; one with TIMEWHEEL_NO_EVENT has none, and is
 * only counted.  No eventfd of a timeout is signalled for what did not expire;
 * the context's is, as for any event.  A second STOP finds nothing to do, and
 * waits for the first.
 *
 * Return: 0; -ERESTARTSYS if the caller was killed while the worker was still
 * at it, which it goes on to be.
 */
int context_stop(struct context *ctx)
{
	bool first, used;
	int ret;

	context_bind(ctx);

	spin_lock(&ctx->lock);
	first = !ctx->stopped;
	used = ctx->books.armed;
	WRITE_ONCE(ctx->stopped, true);
	spin_unlock(&ctx->lock);

	if (first)
		context_sweep(ctx, ENTRY_STOPPED);
	if (!context_at_rest(ctx)) {
		worker_kick(ctx->wheel);
		ret = wait_event_killable(ctx->leavers, context_at_rest(ctx));
		if (ret)
			return ret;
	}
	/* An eventfd may be about to be signalled. */
	if (first && used)
		worker_flush(ctx->wheel);
	/* What the worker has not come to yet. */
	completion_refill(ctx);
	/* They may wait for what does not come any more. */
	wake_up_interruptible(&ctx->readers);
	return 0;
}

/* Cancel all, and wait until the worker has nothing of the context in hand. */
static void context_empty(struct context *ctx)
{
	spin_lock(&ctx->lock);
	WRITE_ONCE(ctx->stopped, true);
	WRITE_ONCE(ctx->closing, true);
	spin_unlock(&ctx->lock);

	if (ctx->submission.ring.entries)
		source_detach(ctx->wheel, &ctx->submission.source);
	context_sweep(ctx, ENTRY_LEAVING);
	if (!context_at_rest(ctx)) {
		worker_kick(ctx->wheel);
		wait_event(ctx->leavers, context_at_rest(ctx));
	}
	/* The last callback may be about to return, or a look at the ring. */
	worker_flush(ctx->wheel);
}

/**
 * context_close - the last of the file's descriptors was closed
 * @ctx: the context, which goes
 *
 * No call of a program is under way here, and none will come.  When this
 * returns, nothing of the context fires any more.
 */
void context_close(struct context *ctx)
{
	/* Armed nothing: don't wake the worker for it. */
	if (ctx->books.armed || ctx->submission.ring.entries)
		context_empty(ctx);

	/* Events that nobody read hold their entries. */
	account_uncharge(ctx->account, ctx->handles.held);
	context_put_wheel(ctx);
	setup_rings_undo(ctx);
	shared_destroy(&ctx->leases.memory);
	handles_destroy(&ctx->handles);
	if (ctx->eventfd)
		eventfd_ctx_put(ctx->eventfd);
	account_put(ctx->account);
	kfree(ctx);
}
