// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: how a program hears of its timeouts.
 *
 * The worker puts the entry itself into the context's ready list, and there it
 * stays until it is read.  So an expiry needs no memory to be reported, and
 * none is lost; a program that does not read runs into its own limit.  A
 * periodic timeout that expires again before that is counted in its entry.
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

static void event_queue(struct context *ctx, struct entry *e)
{
	lockdep_assert_held(&ctx->lock);

	e->next = NULL;
	/* event_waiting() looks without the lock. */
	WRITE_ONCE(*ctx->ready_last, e);
	ctx->ready_last = &e->next;
}

/* Periods have ended, the last of them at @due_ns. */
static void event_add_periods(struct context *ctx, struct entry *e, u64 periods,
			      u64 due_ns)
{
	if (!e->periods) {
		event_queue(ctx, e);
		ctx->books.unread++;
	}
	e->periods += min_t(u64, periods, ENTRY_MAX_PERIODS - e->periods);
	e->due_ns = due_ns;
}

static void event_count_fired(struct context *ctx, bool periodic)
{
	struct timewheel *wheel = ctx->wheel;
	struct timewheel_stats *books = &ctx->books;

	/* A periodic one stays: each expiry is of an arming of its own. */
	if (periodic)
		books->armed++;
	else
		books->pending--;
	books->fired++;
	books->overruns += wheel->overruns;
	books->lateness[lateness_bucket(wheel->now_ns - wheel->due_ns)]++;
}

/*
 * On the worker, holding no lock.  The context can't go: whoever closes it waits
 * for the pass to end.
 */
static void event_expired(struct timewheel_timeout *t)
{
	struct entry *e = entry_of(t);
	struct context *ctx = entry_context(e);
	struct timewheel *wheel = ctx->wheel;
	u64 interval_ns = e->periodic.interval_ns;
	struct eventfd_ctx *eventfd;
	bool closing, queued;

	spin_lock(&ctx->lock);
	/*
	 * A periodic one was cancelled while this waited for the lock: who did
	 * was told that it ended there.
	 */
	if (e->state != ENTRY_PENDING) {
		spin_unlock(&ctx->lock);
		return;
	}
	event_count_fired(ctx, interval_ns);
	eventfd = e->eventfd;
	closing = ctx->closing;
	queued = !closing && !e->no_event;
	if (queued)
		event_add_periods(ctx, e, 1 + wheel->overruns,
				  wheel->due_ns + wheel->overruns * interval_ns);
	if (!interval_ns) {
		e->eventfd = NULL;
		if (queued)
			e->state = ENTRY_EXPIRED;
		else
			entry_free(ctx, e);
	}
	spin_unlock(&ctx->lock);

	/* After the event is there: who is woken by this finds it. */
	if (eventfd) {
		if (!closing)
			eventfd_signal(eventfd);
		/* A periodic one's is let go of by this thread too, later. */
		if (!interval_ns)
			eventfd_ctx_put(eventfd);
	}

	ctx->readable |= queued;
	/* The context's speaks of what there is to read, and for who has none. */
	ctx->signal |= queued || (!eventfd && !closing);
	worker_notify(wheel, &ctx->notifier);
}

/* On the worker, as event_expired(): it has let go of a cancelled timeout. */
static void event_cancelled(struct timewheel_timeout *t)
{
	struct entry *e = entry_of(t);
	struct context *ctx = entry_context(e);
	struct eventfd_ctx *eventfd;
	bool queued;

	spin_lock(&ctx->lock);
	eventfd = e->eventfd;
	e->eventfd = NULL;
	ctx->leaving--;
	WRITE_ONCE(ctx->let_go, ctx->let_go + 1);
	queued = e->state == ENTRY_STOPPED && !ctx->closing && !e->no_event;
	if (queued) {
		e->state = ENTRY_UNPROCESSED;
		ctx->books.unread++;
		/* It may be in the list, with periods that ended before. */
		if (!e->periods)
			event_queue(ctx, e);
	} else if (e->periods) {
		e->state = ENTRY_EXPIRED;
	} else {
		entry_free(ctx, e);
	}
	spin_unlock(&ctx->lock);

	if (eventfd)
		eventfd_ctx_put(eventfd);

	ctx->readable |= queued;
	ctx->signal |= queued;
	worker_notify(ctx->wheel, &ctx->notifier);
}

/* On the worker: the deadline has come that a lease had when it last looked. */
static u64 event_deadline(struct timewheel_timeout *t)
{
	struct entry *e = entry_of(t);

	return lease_deadline(entry_context(e), entry_index(e));
}

/* On the worker: a deadline has come, and the ring may have something to say. */
static struct list_head *event_hold(struct timewheel_timeout *t, u64 due_ns,
				    u64 *now_ns)
{
	return submission_hold(entry_context(entry_of(t)), due_ns, now_ns);
}

const struct timewheel_ops event_ops = {
	.expired = event_expired,
	.cancelled = event_cancelled,
	.hold = event_hold,
};

const struct timewheel_ops event_lease_ops = {
	.expired = event_expired,
	.cancelled = event_cancelled,
	.deadline = event_deadline,
	.hold = event_hold,
};

/* On the worker: an op of the ring failed, and @e is to tell. */
void event_fail(struct context *ctx, struct entry *e, u64 id, u64 user_data,
		int error)
{
	lockdep_assert_held(&ctx->lock);

	e->state = ENTRY_FAILED;
	e->user_data = user_data;
	e->due_ns = id;
	e->periods = -error;
	event_queue(ctx, e);
	ctx->books.unread++;
	ctx->readable = true;
	ctx->signal = true;
}

/* At the end of a pass that ran a callback of the context; holds no lock. */
void event_notify(struct timewheel_notifier *n, unsigned int *budget)
{
	struct context *ctx = container_of(n, struct context, notifier);

	/* Closing: nothing is to be in the list when the pass has ended. */
	bool again = completion_tell(ctx, budget) && !READ_ONCE(ctx->closing);

	/* Stopped: they may wait for what does not come any more. */
	if (ctx->readable || READ_ONCE(ctx->stopped))
		wake_up_interruptible_poll(&ctx->readers,
					   EPOLLIN | EPOLLRDNORM);
	if (ctx->signal && ctx->eventfd)
		eventfd_signal(ctx->eventfd);
	wake_up_all(&ctx->leavers);
	if (again) {
		/* And tell of those, too. */
		worker_notify(ctx->wheel, n);
		return;
	}
	ctx->readable = false;
	ctx->signal = false;
}

/* Pairs with the WRITE_ONCE in event_queue(); the waitqueue orders the two. */
static bool event_waiting(const struct context *ctx)
{
	return READ_ONCE(ctx->ready);
}

static void event_fill_failed(const struct entry *e,
			      struct timewheel_event *event)
{
	*event = (struct timewheel_event) {
		.user_data = e->user_data,
		.id = e->due_ns,
		.result = -(s32)e->periods,
		.flags = TIMEWHEEL_EVENT_FAILED,
	};
}

static void event_fill(const struct context *ctx, const struct entry *e,
		       u32 periods, struct timewheel_event *event)
{
	u64 deadline_ns = periods ? e->due_ns :
				    timewheel_expires(&e->periodic.timeout);
	s64 shift = context_shift(ctx, ctx->wheel);

	event->user_data = e->user_data;
	event->id = entry_id(e);
	event->deadline_ns = timens_to_opener(shift, deadline_ns);
	event->result = periods;
	event->flags = periods ? TIMEWHEEL_EVENT_EXPIRED :
				 TIMEWHEEL_EVENT_UNPROCESSED;
	/* The id finds nothing any more, and nothing comes after this. */
	if (!periods || e->state == ENTRY_EXPIRED || e->state == ENTRY_LEAVING)
		event->flags |= TIMEWHEEL_EVENT_LAST;
}

/*
 * One event for an entry: what else it has to tell comes when it has been at the
 * end of the list.  So however it changes while a reader copies, the n-th event
 * that he peeked at is that of the n-th entry.
 */
static void event_tell(const struct context *ctx, const struct entry *e,
		       struct timewheel_event *event)
{
	if (e->state == ENTRY_FAILED)
		event_fill_failed(e, event);
	else
		event_fill(ctx, e, e->periods, event);
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
		event_tell(ctx, e, &events[nr++]);
	ctx->reading = nr;
	spin_unlock(&ctx->lock);
	return nr;
}

/* The first event, which stays where it is; false if there is none. */
bool event_first(struct context *ctx, struct timewheel_event *event)
{
	lockdep_assert_held(&ctx->lock);

	if (!ctx->ready)
		return false;
	event_tell(ctx, ctx->ready, event);
	return true;
}

/* A failed op has been told: its entry is for the next. */
static void event_drop_failed(struct context *ctx, struct entry *e)
{
	struct submission *sub = &ctx->submission;

	e->state = ENTRY_FREE;
	e->periods = 0;
	e->next = sub->spare;
	sub->spare = e;
	if (!sub->stuck)
		return;
	/* The ring goes on. */
	WRITE_ONCE(sub->stuck, false);
	worker_kick(ctx->wheel);
}

/*
 * The first event in the list has been read.  Its entry may have more to tell:
 * then that stays to be read, behind what is there already.
 */
void event_drop(struct context *ctx, const struct timewheel_event *event)
{
	struct entry *e = ctx->ready;
	bool unprocessed = e->state == ENTRY_UNPROCESSED;
	bool failed = e->state == ENTRY_FAILED;

	lockdep_assert_held(&ctx->lock);

	if (!failed)
		e->periods -= event->result;
	if (failed || !e->periods)
		ctx->books.unread--;

	WRITE_ONCE(ctx->ready, e->next);
	if (!ctx->ready)
		ctx->ready_last = &ctx->ready;
	if (failed)
		event_drop_failed(ctx, e);
	else if (e->periods || (unprocessed && event->result))
		event_queue(ctx, e);
	else if (unprocessed || e->state == ENTRY_EXPIRED)
		entry_free(ctx, e);
}

static void event_drop_all(struct context *ctx,
			   const struct timewheel_event *events, u32 nr)
{
	u32 i;

	lockdep_assert_held(&ctx->read_lock);

	spin_lock(&ctx->lock);
	for (i = 0; i < nr; i++)
		event_drop(ctx, &events[i]);
	ctx->reading = false;
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
		event_drop_all(ctx, events, whole);
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

/*
 * A reader has made room.  What was to go to the completion ring while it copied has
 * been told of, and was not there then.
 */
static void event_refill(struct context *ctx)
{
	bool kept;

	completion_refill(ctx);
	spin_lock(&ctx->lock);
	kept = ctx->kept;
	ctx->kept = false;
	spin_unlock(&ctx->lock);
	if (!kept)
		return;
	wake_up_interruptible_poll(&ctx->readers, EPOLLIN | EPOLLRDNORM);
	if (ctx->eventfd)
		eventfd_signal(ctx->eventfd);
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
		event_refill(ctx);
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
	return event_waiting(ctx) || completion_waiting(ctx) ?
		       EPOLLIN | EPOLLRDNORM : 0;
}
