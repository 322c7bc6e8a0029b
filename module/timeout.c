// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a timeout.
 *
 *         add               worker           worker: expired
 *   idle -----> submitted ---------> armed ------------------> firing --> idle
 *                   |                |   ^
 *                   | cancel         |   | rearm, touch
 *                   v         cancel v---+
 *               cancelled <----------+
 *                   |
 *                   +--> idle, by the worker: cancelled
 *
 * One atomic word decides every race.  An arming ends when ACTIVE is cleared,
 * and whoever clears it says how: the worker (fired), a canceller (cancelled)
 * or a stop (unprocessed).
 *
 * A timeout that the worker is to look at is in one queue, once: whoever sets
 * QUEUED pushes it.  The worker takes it out of its slot first and clears QUEUED
 * then, with a full barrier; only what it finds in the word at that moment
 * counts.  A producer writes expires and seq before it sets QUEUED or MOVED.  So
 * either the worker sees what the producer wrote, or the producer sees QUEUED
 * cleared and pushes again.
 *
 * After the step that makes it idle, the wheel does not touch it: its owner may
 * free it.  A producer touches it last where it pushes it, or where it leaves it
 * to a push that is already there.
 *
 * Producers hold the RCU read lock, that of the scheduler, from the look at @stopped
 * to their last use of the wheel.  That is what timewheel_stop() waits for.
 */

#include <linux/export.h>
#include <linux/rcupdate.h>

#include "kunit.h"
#include "timeout.h"
#include "trace.h"
#include "wheel.h"

/**
 * timewheel_timeout_init - make a timeout ready for use
 * @t: the timeout
 * @ops: its callbacks; must live as long as @t
 *
 * Context: any.
 */
void timewheel_timeout_init(struct timewheel_timeout *t,
			    const struct timewheel_ops *ops)
{
	memset(t, 0, sizeof(*t));
	INIT_LIST_HEAD(&t->node.link);
	t->ops = ops;
}
EXPORT_SYMBOL_GPL(timewheel_timeout_init);

static struct timewheel_periodic *timeout_periodic(struct timewheel_timeout *t)
{
	return container_of(t, struct timewheel_periodic, timeout);
}

static inline bool timeout_charge(struct timewheel *wheel)
{
	if (!wheel->max_pending)
		return true;
	if (atomic64_inc_return(&wheel->pending) <= wheel->max_pending)
		return true;
	atomic64_dec(&wheel->pending);
	return false;
}

static inline void timeout_uncharge(struct timewheel *wheel)
{
	if (wheel->max_pending)
		atomic64_dec(&wheel->pending);
}

/*
 * The timeout is CLAIMED by the caller: give it its deadline and its place in
 * the order, and see that the worker looks at it.
 */
static void timeout_submit(struct timewheel *wheel, struct timewheel_timeout *t,
			   u64 deadline_ns, int set)
{
	int old = atomic_read(&t->state);
	int new;

	WRITE_ONCE(t->expires, deadline_ns);
	/*
	 * While it is CLAIMED only a cancel sets QUEUED, and then it does not
	 * matter: who finds it cleared now does not have to mark it MOVED.
	 */
	WRITE_ONCE(t->seq, old & TIMEOUT_QUEUED ?
			   atomic_inc_return(&wheel->queues.seq) :
			   atomic_read(&wheel->queues.seq));

	do {
		new = (old & ~TIMEOUT_CLAIMED) | set;
		/* Cancelled while it was being moved. */
		if (!(new & TIMEOUT_ACTIVE))
			continue;
		new |= TIMEOUT_QUEUED;
		if (old & TIMEOUT_QUEUED)
			new |= TIMEOUT_MOVED;
	} while (!atomic_try_cmpxchg(&t->state, &old, new));

	if ((new & ~old) & TIMEOUT_QUEUED)
		worker_queued(wheel, queue_submit(&wheel->queues, t), deadline_ns);
	else if (new & TIMEOUT_ACTIVE)
		worker_queued(wheel, false, deadline_ns);
}

/*
 * The same for one that was idle: until the claim ends nobody else changes its
 * @state.
 */
static __always_inline void timeout_submit_idle(struct timewheel *wheel,
						struct timewheel_timeout *t,
						u64 deadline_ns, int state)
{
	WRITE_ONCE(t->expires, deadline_ns);
	WRITE_ONCE(t->seq, atomic_read(&wheel->queues.seq));
	state &= ~TIMEOUT_CLAIMED;
	atomic_set_release(&t->state, state | TIMEOUT_ACTIVE | TIMEOUT_QUEUED);
	worker_queued(wheel, queue_submit(&wheel->queues, t), deadline_ns);
}

/*
 * The wheel of a timeout whose state was just read: to be relied on if the state
 * is then changed from that very value, because of TIMEOUT_TURN.  The RCU lock
 * keeps the wheel, and 2^16 changes of wheels take longer than it is held.
 */
static struct timewheel *timeout_wheel(const struct timewheel_timeout *t)
{
	/* Partner: the change of state in timeout_submit*(), after the wheel is set. */
	smp_rmb();
	return READ_ONCE(t->wheel);
}

/* Whether a timeout's callback, which @last is to answer for, has not ended. */
static bool timeout_answers(const struct timewheel *last,
			    const struct timewheel_timeout *t)
{
	return worker_is_current(last) && last->firing == t;
}

/* The @state of a timeout, with its turn as it is armed on @wheel. */
static int timeout_turn(int state, const struct timewheel *last,
			const struct timewheel *wheel)
{
	return last && last != wheel ? (u32)state + TIMEOUT_TURN_ONE : state;
}

/*
 * Arm a timeout as what @how says: TIMEOUT_PERIODIC, TIMEOUT_SLACK; and with what
 * interval, if it is periodic.  Inline: most are neither.
 */
static __always_inline int timeout_arm(struct timewheel *wheel,
				       struct timewheel_timeout *t,
				       u64 deadline_ns, int how, u64 interval_ns)
{
	const int busy = TIMEOUT_ACTIVE | TIMEOUT_CLAIMED | TIMEOUT_CANCELLED;
	struct timewheel *last;
	int old, new, ret;

	rcu_read_lock_sched();
	if (unlikely(READ_ONCE(wheel->stopped))) {
		ret = -ESHUTDOWN;
		goto reject;
	}
	old = atomic_read(&t->state);
	do {
		if (unlikely(old & busy)) {
			ret = -EBUSY;
			goto reject;
		}
		new = (old & (TIMEOUT_STATE | TIMEOUT_TURN)) | TIMEOUT_CLAIMED | how;
		last = timeout_wheel(t);
		if (unlikely(last && last != wheel)) {
			if (old & TIMEOUT_STATE || timeout_answers(last, t)) {
				ret = -EBUSY;
				goto reject;
			}
			new = timeout_turn(new, last, wheel);
		}
	} while (unlikely(!atomic_try_cmpxchg(&t->state, &old, new)));

	if (unlikely(!timeout_charge(wheel))) {
		atomic_fetch_andnot(TIMEOUT_CLAIMED, &t->state);
		ret = -ENOSPC;
		goto reject;
	}

	WRITE_ONCE(t->wheel, wheel);
	if (how & TIMEOUT_PERIODIC)
		WRITE_ONCE(timeout_periodic(t)->interval_ns, interval_ns);
	books_count(&wheel->producer->armed);
	trace_timewheel_arm(wheel, t, deadline_ns);
	if (likely(!(new & TIMEOUT_QUEUED)))
		timeout_submit_idle(wheel, t, deadline_ns, new);
	else
		timeout_submit(wheel, t, deadline_ns, TIMEOUT_ACTIVE);
	rcu_read_unlock_sched();
	return 0;

reject:
	books_count(&wheel->producer->rejected);
	rcu_read_unlock_sched();
	return ret;
}

/**
 * timewheel_add_at - arm a timeout, at an absolute time
 * @wheel: the wheel
 * @t: the timeout; belongs to the wheel until a callback has it, a stop hands
 *	it back, or timewheel_cancel_sync() has returned
 * @deadline_ns: nanoseconds of the wheel's clock; the past is due at once, a
 *	deadline beyond what the clock can show never comes
 *
 * Context: any, hard interrupt included; takes no lock of the wheel's.  Not
 * NMI, and not with a run queue or an hrtimer base locked, for it may have to
 * set the timer that wakes the worker.
 *
 * It stays with a wheel until timewheel_cancel_sync() has returned or that wheel
 * was stopped; only then may it be armed on another one.
 *
 * Return: 0; -EBUSY if it is armed already or just being moved, if its cancelled
 * callback is still to come, or if another wheel has not let go of it; -ENOSPC if max_pending
 * timeouts are pending; -ESHUTDOWN if the wheel was stopped.
 */
int timewheel_add_at(struct timewheel *wheel, struct timewheel_timeout *t,
		     u64 deadline_ns)
{
	return timeout_arm(wheel, t, deadline_ns, 0, 0);
}
EXPORT_SYMBOL_GPL(timewheel_add_at);

/* Rounded down to a power of two, so that a byte of the state can say it. */
static __always_inline int timeout_slack(u64 slack_ns)
{
	return slack_ns ? FIELD_PREP(TIMEOUT_SLACK, ilog2(slack_ns)) : 0;
}

/**
 * timewheel_add_slack - arm a timeout that may be late
 * @wheel: the wheel
 * @t: the timeout
 * @deadline_ns: nanoseconds of the wheel's clock
 * @slack_ns: how late it may be, beyond the tick that any may be late
 *
 * It rests in the coarsest slot that the slack allows, and fires from there:
 * never early, together with others, and without cascading further.
 *
 * Context: as timewheel_add_at().
 * Return: as timewheel_add_at().
 */
int timewheel_add_slack(struct timewheel *wheel, struct timewheel_timeout *t,
			u64 deadline_ns, u64 slack_ns)
{
	return timeout_arm(wheel, t, deadline_ns, timeout_slack(slack_ns), 0);
}
EXPORT_SYMBOL_GPL(timewheel_add_slack);

/**
 * timewheel_periodic_add - arm a timeout that expires again and again
 * @wheel: the wheel
 * @p: the timeout, its @timeout initialised
 * @deadline_ns: when it expires first, in nanoseconds of the wheel's clock
 * @interval_ns: the period, 1 to S64_MAX
 * @slack_ns: how late each expiry may be
 *
 * The n-th expiry is due at @deadline_ns + n * @interval_ns.  Periods that pass
 * while nothing could run are counted, see timewheel_overruns(), and not made up
 * for.  In the books each expiry is that of an arming of its own.
 * timewheel_rearm() moves the next expiry, and those after it with it.
 *
 * Context: as timewheel_add_at().
 * Return: as timewheel_add_at(); -EINVAL for an interval out of range.
 */
int timewheel_periodic_add(struct timewheel *wheel,
			   struct timewheel_periodic *p, u64 deadline_ns,
			   u64 interval_ns, u64 slack_ns)
{
	if (!interval_ns || interval_ns > S64_MAX)
		return -EINVAL;
	return timeout_arm(wheel, &p->timeout, deadline_ns,
			   TIMEOUT_PERIODIC | timeout_slack(slack_ns),
			   interval_ns);
}
EXPORT_SYMBOL_GPL(timewheel_periodic_add);

/**
 * timewheel_overruns - periods that passed without an expiry of their own
 * @t: a periodic timeout, whose expired callback the caller is
 *
 * Context: the expired callback of @t.
 * Return: how many since the expiry before; 0 if all is on time.
 */
u64 timewheel_overruns(const struct timewheel_timeout *t)
{
	return READ_ONCE(t->wheel)->overruns;
}
EXPORT_SYMBOL_GPL(timewheel_overruns);

/**
 * timewheel_add - arm a timeout, from now
 * @wheel: the wheel
 * @t: the timeout
 * @delay_ns: nanoseconds from now; zero and less are due at once
 *
 * Context: as timewheel_add_at().
 * Return: as timewheel_add_at().
 */
int timewheel_add(struct timewheel *wheel, struct timewheel_timeout *t,
		  s64 delay_ns)
{
	u64 now = wheel_now(wheel);

	/* Both below 2^63: no wrap. */
	return timewheel_add_at(wheel, t, now + max_t(s64, delay_ns, 0));
}
EXPORT_SYMBOL_GPL(timewheel_add);

/**
 * timewheel_rearm - move the deadline of an armed timeout, either way
 * @t: the timeout
 * @deadline_ns: nanoseconds of the wheel's clock
 *
 * Among the timeouts of its tick, it comes after those armed or moved before.
 * From its own expired callback it arms the timeout anew, as timewheel_add_at().
 *
 * Context: as timewheel_add_at().
 *
 * Return: 0; -ENOENT if it is not armed: it fired, was cancelled or never
 * armed; -ESHUTDOWN if the wheel was stopped.
 */
int timewheel_rearm(struct timewheel_timeout *t, u64 deadline_ns)
{
	struct timewheel *wheel;
	int old, ret = 0;

	rcu_read_lock_sched();
	old = atomic_read(&t->state);
	do {
		if (!(old & TIMEOUT_ACTIVE)) {
			ret = -ENOENT;
			goto idle;
		}
		/*
		 * Somebody else is moving it right now.  Call this move the
		 * first of the two: it leaves no trace.
		 */
		if (old & TIMEOUT_CLAIMED)
			goto out;
		/* Before the claim, which must end in a push. */
		wheel = timeout_wheel(t);
		if (READ_ONCE(wheel->stopped)) {
			ret = -ESHUTDOWN;
			goto out;
		}
	} while (!atomic_try_cmpxchg(&t->state, &old, old | TIMEOUT_CLAIMED));

	books_count(&wheel->producer->rearmed);
	trace_timewheel_rearm(wheel, t, deadline_ns);
	timeout_submit(wheel, t, deadline_ns, 0);
out:
	rcu_read_unlock_sched();
	return ret;

idle:
	rcu_read_unlock_sched();
	wheel = READ_ONCE(t->wheel);
	if (worker_is_current(wheel) && wheel->firing == t)
		return timewheel_add_at(wheel, t, deadline_ns);
	return ret;
}
EXPORT_SYMBOL_GPL(timewheel_rearm);

/**
 * timewheel_touch - put the deadline of an armed timeout off, by one store
 * @t: the timeout
 * @deadline_ns: nanoseconds of the wheel's clock, not before the present
 *	deadline
 *
 * The worker sees the new deadline when the old one comes, and files the
 * timeout anew, at least one tick ahead.  An earlier deadline than the present
 * one takes timewheel_rearm().
 *
 * Context: any.
 *
 * Return: 0; -ENOENT if it is not armed; -EINVAL if it would come earlier.  If
 * the old deadline is passing just now, 0 may be returned and the timeout
 * expires all the same, as if it had been touched a moment later.
 */
int timewheel_touch(struct timewheel_timeout *t, u64 deadline_ns)
{
	if (!(atomic_read(&t->state) & TIMEOUT_ACTIVE))
		return -ENOENT;
	if (deadline_ns < READ_ONCE(t->expires))
		return -EINVAL;
	WRITE_ONCE(t->expires, deadline_ns);
	return 0;
}
EXPORT_SYMBOL_GPL(timewheel_touch);

/**
 * timewheel_cancel - see that a timeout does not fire
 * @t: the timeout
 *
 * The worker takes it out of the wheel some time later and calls its cancelled
 * callback, if it has one.  Until then, or until timewheel_cancel_sync()
 * returns, it must not be freed.  A timeout without a cancelled callback may be
 * armed again, on the same wheel, at once.
 *
 * Context: as timewheel_add_at().
 *
 * Return: true exactly if this call prevented the firing.
 */
bool timewheel_cancel(struct timewheel_timeout *t)
{
	struct timewheel *wheel;
	int old, new, owed;

	rcu_read_lock_sched();
	owed = t->ops->cancelled ? TIMEOUT_CANCELLED : 0;
	old = atomic_read(&t->state);
	do {
		if (!(old & TIMEOUT_ACTIVE)) {
			rcu_read_unlock_sched();
			return false;
		}
		wheel = timeout_wheel(t);
		new = old & ~(TIMEOUT_ACTIVE | TIMEOUT_MOVED);
		new |= TIMEOUT_QUEUED | owed;
	} while (!atomic_try_cmpxchg(&t->state, &old, new));

	/* In a queue already: the worker finds it there, or has done so now. */
	books_count(&wheel->producer->cancelled);
	trace_timewheel_cancel(wheel, t);
	timeout_uncharge(wheel);
	if (!(old & TIMEOUT_QUEUED))
		worker_queued(wheel, queue_cancel(&wheel->queues, t), U64_MAX);
	rcu_read_unlock_sched();
	return true;
}
EXPORT_SYMBOL_GPL(timewheel_cancel);

/*
 * Acquires what the worker wrote before it let go of the timeout.  CLAIMED does
 * not count: it is somebody else's, who is still inside a call.
 *
 * No two looks are at the same moment: between them its callback may begin, or arm
 * it again and end.  So they count only if no callback of the wheel began from the
 * first to the last.  Then none of this timeout ran after the look at firing, and
 * what that one did is in the state.
 */
static bool timeout_quiescent(struct timewheel *wheel,
			      struct timewheel_timeout *t)
{
	unsigned long begun;

	do {
		/* Partner: timeout_begin(): who sees it counted sees it firing. */
		begun = smp_load_acquire(&wheel->begun);
		/* Partner: timeout_end(). */
		if (smp_load_acquire(&wheel->firing) == t)
			return false;
		/* A full barrier where the state becomes idle: it is counted. */
		if (atomic_read_acquire(&t->state) & TIMEOUT_STATE & ~TIMEOUT_CLAIMED)
			return false;
	} while (READ_ONCE(wheel->begun) != begun);
	return true;
}

/**
 * timewheel_cancel_sync - cancel a timeout and wait until the wheel is done with it
 * @t: the timeout; its wheel must not have been destroyed
 *
 * When it returns the timeout is in no queue and no slot, no callback of it
 * runs, and it may be freed, provided that nobody else arms it.  A timeout that
 * its callback arms again and again is cancelled all the same.
 *
 * Context: process context; sleeps.  Not from a callback of the same wheel,
 * which would wait for itself: there it warns, and only cancels.
 *
 * Return: true if this call prevented a firing.
 */
bool timewheel_cancel_sync(struct timewheel_timeout *t)
{
	struct timewheel *wheel = READ_ONCE(t->wheel);
	bool ret = false;

	if (!wheel)
		return false;
	if (WARN_ON_ONCE(worker_is_current(wheel) ||
			 READ_ONCE(wheel->stopper) == current))
		return timewheel_cancel(t);
	might_sleep();

	for (;;) {
		ret |= timewheel_cancel(t);
		if (timeout_quiescent(wheel, t))
			return ret;
		worker_kick(wheel);
		/* Each pass that ends wakes us; ACTIVE: armed anew meanwhile. */
		wait_event(wheel->quiesced, timeout_quiescent(wheel, t) ||
			   timewheel_pending(t));
	}
}
EXPORT_SYMBOL_GPL(timewheel_cancel_sync);

/**
 * timewheel_pending - whether a timeout is armed
 * @t: the timeout
 *
 * Context: any.
 * Return: true from the add on until it fires, is cancelled or handed back.
 */
bool timewheel_pending(const struct timewheel_timeout *t)
{
	return atomic_read(&t->state) & TIMEOUT_ACTIVE;
}
EXPORT_SYMBOL_GPL(timewheel_pending);

/**
 * timewheel_expires - the deadline of a timeout
 * @t: the timeout
 *
 * Context: any.
 * Return: nanoseconds of the wheel's clock; of the last arming if it is idle.
 */
u64 timewheel_expires(const struct timewheel_timeout *t)
{
	return READ_ONCE(t->expires);
}
EXPORT_SYMBOL_GPL(timewheel_expires);

/*
 * Before the state becomes idle: whoever finds it idle finds the timeout firing
 * until its callback has returned, or finds that one more has begun.
 */
static void timeout_begin(struct timewheel *wheel, struct timewheel_timeout *t)
{
	WRITE_ONCE(wheel->firing, t);
	/* Partner: timeout_quiescent(). */
	smp_store_release(&wheel->begun, wheel->begun + 1);
}

static void timeout_end(struct timewheel *wheel)
{
	/* Partner: timeout_quiescent(), which sees what the callback did. */
	smp_store_release(&wheel->firing, NULL);
}

/*
 * Put an active timeout, in @state, into the slot of its deadline, or into a later
 * and coarser one that its slack allows; no earlier than @earliest.
 */
static __always_inline void timeout_place(struct timewheel *wheel,
					  struct timewheel_timeout *t,
					  int state, u64 earliest)
{
	u64 tick = max(wheel_tick(wheel, READ_ONCE(t->expires)), earliest);

	if (unlikely(state & TIMEOUT_SLACK))
		tick = core_coarsen(&wheel->core, tick,
				    div64_u64(timeout_slack_ns(state),
					      wheel->tick_ns));
	core_file(&wheel->core, &t->node, tick);
}

/* The same in full, where it is not the loop over a queue that does it. */
void timeout_file(struct timewheel *wheel, struct timewheel_timeout *t)
{
	timeout_place(wheel, t, atomic_read(&t->state), 0);
}

static void timeout_cancelled(struct timewheel *wheel,
			      struct timewheel_timeout *t)
{
	const struct timewheel_ops *ops = t->ops;

	timeout_begin(wheel, t);
	atomic_fetch_andnot(TIMEOUT_CANCELLED, &t->state);
	ops->cancelled(t);
	timeout_end(wheel);
}

/*
 * The worker is done with a timeout that was QUEUED: do what its @state says, as
 * it was when QUEUED was cleared.  A timeout that was moved, or comes after one,
 * is kept aside where the queues want it; so is any with @in_order, which has its
 * place in node.tick.  Returns whether it is.
 */
static bool timeout_settle(struct timewheel *wheel, struct timewheel_timeout *t,
			   int state, bool in_order)
{
	struct timewheel_queues *q = &wheel->queues;

	if (state & TIMEOUT_CANCELLED) {
		timeout_cancelled(wheel, t);
		return false;
	}
	/* Cancelled, may be gone; or being moved, comes again. */
	if ((state & (TIMEOUT_ACTIVE | TIMEOUT_CLAIMED)) != TIMEOUT_ACTIVE)
		return false;
	if (!(state & TIMEOUT_MOVED) && !in_order) {
		timeout_file(wheel, t);
		return false;
	}
	if (state & TIMEOUT_MOVED)
		/* Of that move, or of one that has it queued and filed anew. */
		t->node.tick = READ_ONCE(t->seq);
	core_hold(&wheel->core, &t->node,
		  state & TIMEOUT_MOVED ? &q->moved : &q->fresh);
	return true;
}

/* Only what it finds here counts, see above. */
static __always_inline int timeout_unqueue(struct timewheel_timeout *t)
{
	return atomic_fetch_andnot(TIMEOUT_QUEUED | TIMEOUT_MOVED, &t->state);
}

/* The first that came out of a queue, off the wheel; what comes after it goes to @rest. */
static __always_inline struct timewheel_timeout *
timeout_first(struct timewheel *wheel, struct llist_node *queued,
	      struct llist_node **rest)
{
	struct timewheel_timeout *t;

	t = llist_entry(queued, struct timewheel_timeout, queued);
	/* Read before the timeout may be pushed, or freed. */
	*rest = queued->next;
	if (!list_empty(&t->node.link))
		core_unlink(&wheel->core, &t->node);
	return t;
}

/* timeout_take(), when some are kept aside. */
static struct llist_node *timeout_take_in_order(struct timewheel *wheel,
						struct llist_node *queued,
						unsigned int budget)
{
	for (; queued && budget; budget--) {
		struct timewheel_timeout *t = timeout_first(wheel, queued, &queued);

		/*
		 * As it is while it is QUEUED: who moves it from then on is to have
		 * it queued anew, and has another place in mind.
		 */
		t->node.tick = READ_ONCE(t->seq);
		timeout_settle(wheel, t, timeout_unqueue(t), true);
	}
	return queued;
}

/*
 * Look at timeouts that came out of a queue, oldest first, at most @budget.
 * Returns what is left of them.
 */
struct llist_node *timeout_take(struct timewheel *wheel,
				struct llist_node *queued, unsigned int budget)
{
	const int plain = TIMEOUT_ACTIVE | TIMEOUT_MOVED | TIMEOUT_CLAIMED |
			  TIMEOUT_CANCELLED;
	struct timewheel_queues *q = &wheel->queues;

	if (!list_empty(&q->moved) || !list_empty(&q->fresh))
		return timeout_take_in_order(wheel, queued, budget);

	for (; queued && budget; budget--) {
		struct timewheel_timeout *t = timeout_first(wheel, queued, &queued);
		int state = timeout_unqueue(t);

		if (likely((state & plain) == TIMEOUT_ACTIVE))
			timeout_place(wheel, t, state, 0);
		else if (timeout_settle(wheel, t, state, false))
			return timeout_take_in_order(wheel, queued, budget - 1);
	}
	return queued;
}

/* It fires; what its callback may want to know is set. */
static __always_inline void timeout_fired(struct timewheel *wheel,
					  struct timewheel_timeout *t,
					  u64 expires)
{
	struct timewheel_books *books = &wheel->books;
	u64 *late = &books->lateness[lateness_bucket(wheel->now_ns - expires)];

	wheel->due_ns = expires;
	WRITE_ONCE(books->fired, books->fired + 1);
	WRITE_ONCE(*late, *late + 1);
	trace_timewheel_expire(wheel, t, expires);
}

/* It fires, unless it was cancelled or moved since it was found in @state. */
static __always_inline void timeout_fire(struct timewheel *wheel,
					 struct timewheel_timeout *t, int state,
					 u64 expires)
{
	const struct timewheel_ops *ops = t->ops;

	timeout_begin(wheel, t);
	if (likely(atomic_try_cmpxchg(&t->state, &state, state & ~TIMEOUT_STATE))) {
		timeout_uncharge(wheel);
		timeout_fired(wheel, t, expires);
		ops->expired(t);
	}
	timeout_end(wheel);
}

/*
 * A periodic timeout stays armed.  While its callback runs it is QUEUED, but in
 * no queue: whoever cancels or moves it leaves it to the worker, which looks at
 * it as though it had come from there.
 */
static void timeout_expire_periodic(struct timewheel *wheel,
				    struct timewheel_timeout *t, int state,
				    u64 expires, u64 now_ns)
{
	u64 interval = READ_ONCE(timeout_periodic(t)->interval_ns);
	u64 missed = div64_u64(now_ns - expires, interval);
	u64 next = expires + (missed + 1) * interval;

	if (!atomic_try_cmpxchg(&t->state, &state, state | TIMEOUT_QUEUED))
		return;
	/* Unless it was moved since: then what it was moved to stands. */
	cmpxchg64(&t->expires, expires, next);

	books_count_here(&wheel->producer->armed);
	WRITE_ONCE(wheel->books.overruns, wheel->books.overruns + missed);
	timeout_fired(wheel, t, expires);

	wheel->overruns = missed;
	timeout_begin(wheel, t);
	t->ops->expired(t);
	timeout_end(wheel);
	wheel->overruns = 0;
	timeout_settle(wheel, t, timeout_unqueue(t), false);
}

/* The same where there is more to look at than the deadline. */
static noinline void timeout_expire_unless(struct timewheel *wheel,
					   struct timewheel_timeout *t,
					   int state, u64 expires)
{
	const struct timewheel_ops *ops = t->ops;
	u64 now_ns = wheel->now_ns;
	struct list_head *list;

	/* Whoever cancelled or is moving it has queued it, or will. */
	if ((state & TIMEOUT_STATE) != TIMEOUT_ACTIVE)
		return;

	/* The owner keeps the deadline elsewhere, and it may be later by now. */
	if (expires <= now_ns && ops->deadline) {
		u64 deadline_ns = ops->deadline(t);

		if (deadline_ns > expires) {
			/* Unless it was moved since, as in timeout_expire_periodic(). */
			cmpxchg64(&t->expires, expires, deadline_ns);
			expires = deadline_ns;
		}
	}

	/* Touched: at least one tick ahead, so that this ends. */
	if (expires > now_ns) {
		timeout_place(wheel, t, state, wheel->core.now + 1);
		return;
	}

	list = ops->hold ? ops->hold(t, expires, &now_ns) : NULL;
	if (list)
		core_hold(&wheel->core, &t->node, list);
	else if (state & TIMEOUT_PERIODIC)
		timeout_expire_periodic(wheel, t, state, expires, now_ns);
	else
		timeout_fire(wheel, t, state, expires);
}

/* A timeout's tick has come: fire it, unless it was cancelled or moved. */
void timeout_expire(struct timewheel *wheel, struct timewheel_timeout *t)
{
	const struct timewheel_ops *ops = t->ops;
	u64 expires = READ_ONCE(t->expires);
	int state = atomic_read(&t->state);

	if (likely((state & (TIMEOUT_STATE | TIMEOUT_PERIODIC)) == TIMEOUT_ACTIVE &&
		   expires <= wheel->now_ns && !ops->deadline && !ops->hold))
		timeout_fire(wheel, t, state, expires);
	else
		timeout_expire_unless(wheel, t, state, expires);
}
EXPORT_SYMBOL_IF_KUNIT(timeout_expire);

/*
 * The three that follow are the worker's own add, cancel and rearm: they go by no
 * queue and take effect at once.  The caller sees that nobody else does anything
 * with the timeout meanwhile.
 */

/* An idle timeout.  0, or -ENOSPC if max_pending are pending. */
int timeout_arm_here(struct timewheel *wheel, struct timewheel_timeout *t,
		     u64 deadline_ns, u64 slack_ns, u64 interval_ns)
{
	int how = timeout_slack(slack_ns) |
		  timeout_turn(atomic_read(&t->state) & TIMEOUT_TURN, t->wheel,
			       wheel);

	if (!timeout_charge(wheel)) {
		books_count_here(&wheel->producer->rejected);
		return -ENOSPC;
	}
	if (interval_ns) {
		how |= TIMEOUT_PERIODIC;
		WRITE_ONCE(timeout_periodic(t)->interval_ns, interval_ns);
	}
	WRITE_ONCE(t->expires, deadline_ns);
	WRITE_ONCE(t->wheel, wheel);
	atomic_set_release(&t->state, TIMEOUT_ACTIVE | how);
	books_count_here(&wheel->producer->armed);
	trace_timewheel_arm(wheel, t, deadline_ns);
	timeout_place(wheel, t, how, 0);
	return 0;
}

/*
 * True if the timeout is idle, and the wheel done with it; no callback is called.
 * False if it is queued, or not armed: then timewheel_cancel() knows what to do.
 */
bool timeout_cancel_here(struct timewheel *wheel, struct timewheel_timeout *t)
{
	int state = atomic_read(&t->state);

	if ((state & TIMEOUT_STATE) != TIMEOUT_ACTIVE ||
	    !atomic_try_cmpxchg(&t->state, &state, state & ~TIMEOUT_STATE))
		return false;
	core_unlink(&wheel->core, &t->node);
	timeout_uncharge(wheel);
	books_count_here(&wheel->producer->cancelled);
	trace_timewheel_cancel(wheel, t);
	return true;
}

/* The same for timewheel_rearm(). */
bool timeout_rearm_here(struct timewheel *wheel, struct timewheel_timeout *t,
			u64 deadline_ns)
{
	if ((atomic_read(&t->state) & TIMEOUT_STATE) != TIMEOUT_ACTIVE)
		return false;
	core_unlink(&wheel->core, &t->node);
	WRITE_ONCE(t->expires, deadline_ns);
	books_count_here(&wheel->producer->rearmed);
	trace_timewheel_rearm(wheel, t, deadline_ns);
	timeout_file(wheel, t);
	return true;
}

/*
 * The wheel is being stopped, by the caller, who owns it now.  Returns false if
 * somebody is cancelling or moving the timeout: he is about to queue it.
 */
bool timeout_hand_back(struct timewheel *wheel, struct timewheel_timeout *t,
		       struct list_head *unprocessed)
{
	const struct timewheel_ops *ops = t->ops;
	int state = atomic_read(&t->state);

	if ((state & TIMEOUT_STATE) != TIMEOUT_ACTIVE)
		return false;
	timeout_begin(wheel, t);
	if (!atomic_try_cmpxchg(&t->state, &state, state & ~TIMEOUT_STATE)) {
		timeout_end(wheel);
		return false;
	}
	timeout_uncharge(wheel);
	WRITE_ONCE(wheel->books.unprocessed, wheel->books.unprocessed + 1);
	if (unprocessed)
		list_add_tail(&t->node.link, unprocessed);
	else if (ops->cancelled)
		ops->cancelled(t);
	timeout_end(wheel);
	return true;
}
