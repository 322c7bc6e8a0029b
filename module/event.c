// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: how a program hears of its timeouts.
 *
 * The worker puts the entry itself into the context's ready list, and there it
 * stays until it is read.  So an expiry needs no memory to be reported, and
 * none is lost; a program that does not read runs into its own limit.
 *
 * What the worker does for each expiry is little.  Waking readers and signalling
 * the context's eventfd is done once a pass, in event_notify().
 */

#include <linux/eventfd.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "compat.h"
#include "context.h"
#include "event.h"

/* Events copied at a time; they are on the stack. */
#define EVENT_BATCH	16U

static void event_queue(struct context *ctx, struct entry *e,
			enum entry_state state)
{
	lockdep_assert_held(&ctx->lock);

	e->state = state;
	e->next = NULL;
	/* event_waiting() looks without the lock. */
	WRITE_ONCE(*ctx->ready_last, e);
	ctx->ready_last = &e->next;
	ctx->books.unread++;
}

/*
 * On the worker, holding no lock.  The context can't go: whoever closes it waits
 * for the pass to end.
 */
static void event_expired(struct timewheel_timeout *t)
{
	struct entry *e = container_of(t, struct entry, timeout);
	struct context *ctx = entry_context(e);
	struct timewheel *wheel = ctx->wheel;
	u64 expires = timewheel_expires(t);
	u64 late = wheel->now_ns - min(wheel->now_ns, expires);
	struct eventfd_ctx *eventfd;
	bool closing, queued;

	spin_lock(&ctx->lock);
	eventfd = e->eventfd;
	e->eventfd = NULL;
	ctx->books.fired++;
	ctx->books.pending--;
	ctx->books.lateness[lateness_bucket(late)]++;
	closing = ctx->closing;
	queued = !closing && !(e->flags & TIMEWHEEL_NO_EVENT);
	if (queued)
		event_queue(ctx, e, ENTRY_EXPIRED);
	else
		entry_free(ctx, e);
	spin_unlock(&ctx->lock);

	/* After the event is there: who is woken by this finds it. */
	if (eventfd) {
		if (!closing)
			eventfd_signal(eventfd);
		eventfd_ctx_put(eventfd);
	}

	ctx->readable |= queued;
	/* The context's speaks of what there is to read, and for who has none. */
	ctx->ring |= queued || (!eventfd && !closing);
	worker_notify(wheel, &ctx->notifier);
}

/* On the worker, as event_expired(): it has let go of a cancelled timeout. */
static void event_cancelled(struct timewheel_timeout *t)
{
	struct entry *e = container_of(t, struct entry, timeout);
	struct context *ctx = entry_context(e);
	struct eventfd_ctx *eventfd;
	bool queued;

	spin_lock(&ctx->lock);
	eventfd = e->eventfd;
	e->eventfd = NULL;
	ctx->leaving--;
	WRITE_ONCE(ctx->let_go, ctx->let_go + 1);
	queued = e->state == ENTRY_STOPPED && !ctx->closing &&
		 !(e->flags & TIMEWHEEL_NO_EVENT);
	if (queued)
		event_queue(ctx, e, ENTRY_UNPROCESSED);
	else
		entry_free(ctx, e);
	spin_unlock(&ctx->lock);

	if (eventfd)
		eventfd_ctx_put(eventfd);

	ctx->readable |= queued;
	ctx->ring |= queued;
	worker_notify(ctx->wheel, &ctx->notifier);
}

const struct timewheel_ops event_ops = {
	.expired = event_expired,
	.cancelled = event_cancelled,
};

/* At the end of a pass that ran a callback of the context; holds no lock. */
void event_notify(struct timewheel_notifier *n)
{
	struct context *ctx = container_of(n, struct context, notifier);

	/* Stopped: they may wait for what does not come any more. */
	if (ctx->readable || READ_ONCE(ctx->stopped))
		wake_up_interruptible_poll(&ctx->readers,
					   EPOLLIN | EPOLLRDNORM);
	if (ctx->ring && ctx->eventfd)
		eventfd_signal(ctx->eventfd);
	ctx->readable = false;
	ctx->ring = false;
	wake_up_all(&ctx->leavers);
}

/* Pairs with the WRITE_ONCE in event_queue(); the waitqueue orders the two. */
static bool event_waiting(const struct context *ctx)
{
	return READ_ONCE(ctx->ready);
}

static void event_fill(const struct context *ctx, const struct entry *e,
		       struct timewheel_event *event)
{
	s64 shift = context_shift(ctx, ctx->wheel);
	bool expired = e->state == ENTRY_EXPIRED;

	event->user_data = e->user_data;
	event->id = entry_id(e);
	event->deadline_ns = timens_to_opener(shift,
					      timewheel_expires(&e->timeout));
	event->result = expired ? 1 : 0;
	event->flags = TIMEWHEEL_EVENT_LAST |
		       (expired ? TIMEWHEEL_EVENT_EXPIRED :
				  TIMEWHEEL_EVENT_UNPROCESSED);
}

/* The first events, at most @max; they stay where they are. */
static u32 event_peek(struct context *ctx, struct timewheel_event *events,
		      u32 max)
{
	struct entry *e;
	u32 nr = 0;

	lockdep_assert_held(&ctx->read_lock);

	spin_lock(&ctx->lock);
	for (e = ctx->ready; e && nr < max; e = e->next)
		event_fill(ctx, e, &events[nr++]);
	spin_unlock(&ctx->lock);
	return nr;
}

/* The first @nr events have been read: their entries are free. */
static void event_drop(struct context *ctx, u32 nr)
{
	struct entry *e;

	lockdep_assert_held(&ctx->read_lock);

	spin_lock(&ctx->lock);
	while (nr--) {
		e = ctx->ready;
		WRITE_ONCE(ctx->ready, e->next);
		if (!ctx->ready)
			ctx->ready_last = &ctx->ready;
		ctx->books.unread--;
		entry_free(ctx, e);
	}
	spin_unlock(&ctx->lock);
}

/*
 * Copies first and takes the events off the list then, so that what can't be
 * copied stays, in its place.  The read lock keeps other readers out meanwhile.
 */
static ssize_t event_copy(struct context *ctx, struct iov_iter *to)
{
	struct timewheel_event events[EVENT_BATCH];
	size_t room, copied;
	ssize_t ret = 0;
	u32 nr, whole;

	while ((room = iov_iter_count(to) / sizeof(events[0]))) {
		nr = event_peek(ctx, events, min_t(size_t, room, EVENT_BATCH));
		if (!nr)
			break;
		copied = copy_to_iter(events, nr * sizeof(events[0]), to);
		whole = copied / sizeof(events[0]);
		event_drop(ctx, whole);
		ret += whole * sizeof(events[0]);
		if (whole < nr) {
			iov_iter_revert(to, copied % sizeof(events[0]));
			return ret ?: -EFAULT;
		}
		if (signal_pending(current))
			break;
		cond_resched();
	}
	return ret;
}

/**
 * event_read - read() of /dev/timewheel
 * @iocb: how to read
 * @to: where to
 *
 * Return: bytes read, whole events only; -EINVAL if not even one fits; -EAGAIN
 * with O_NONBLOCK when there is none; -ERESTARTSYS; -EFAULT if not even one could
 * be copied, and then it is still there.  Without O_NONBLOCK, 0 after STOP once
 * all has been read, for nothing will come to end the wait.
 */
ssize_t event_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct context *ctx = iocb->ki_filp->private_data;
	bool nowait = iocb->ki_flags & IOCB_NOWAIT;
	bool ended;
	ssize_t ret;

	if (iov_iter_count(to) < sizeof(struct timewheel_event))
		return -EINVAL;

	for (;;) {
		/* Before the look at the list: then it was complete. */
		ended = context_ended(ctx);

		if (nowait && !mutex_trylock(&ctx->read_lock))
			return -EAGAIN;
		if (!nowait && mutex_lock_interruptible(&ctx->read_lock))
			return -ERESTARTSYS;
		ret = event_copy(ctx, to);
		mutex_unlock(&ctx->read_lock);
		if (ret)
			return ret;

		if (nowait || iocb->ki_filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (ended)
			return 0;
		ret = wait_event_interruptible(ctx->readers,
					       event_waiting(ctx) ||
					       context_ended(ctx));
		if (ret)
			return ret;
	}
}

__poll_t event_poll(struct file *file, poll_table *wait)
{
	struct context *ctx = file->private_data;

	poll_wait(file, &ctx->readers, wait);
	/* Of the end after STOP it says nothing, or a loop would spin on it. */
	return event_waiting(ctx) ? EPOLLIN | EPOLLRDNORM : 0;
}
