// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker: the thread that owns a wheel's core, and the timer that wakes it.
 *
 * The promise.  @wake_ns says when the worker's next pass comes at the latest.
 * A producer pushes, then reads it, and only if that is too late for its
 * deadline does it bring the promise forward, and the timer with it.  It never
 * wakes the thread.
 *
 *   producer                              worker, before it sleeps
 *   push (full barrier)                   set wake_ns (full barrier)
 *   read wake_ns                          read the queues
 *
 * One of them sees the other: either the producer finds the new promise and
 * compares with that, or the worker finds what was pushed.
 *
 * While the worker is awake the promise reads: awake, and the next pass comes
 * within housekeeping_ms.  What is pushed meanwhile and can wait that long, the
 * worker leaves in the queue when it goes to sleep.  So a steady stream of
 * timeouts that are far away costs a pass every housekeeping_ms, and not one
 * for each.  A producer whose deadline comes before that brings the promise
 * forward, as ever, and the worker heeds it when it sets the timer.
 *
 * Programs that fill a ring have the same protocol, see source.c.  The promise
 * they read is no earlier than the first deadline that is in time for this one.
 *
 * Anybody who brought the promise forward starts the timer and then looks
 * whether the promise is earlier still, and starts it again.  So whatever the
 * order of the calls, the timer ends up no later than the promise.
 */

#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/topology.h>

#include "compat.h"
#include "kunit.h"
#include "timeout.h"
#include "trace.h"
#include "wheel.h"

static enum hrtimer_restart worker_timer(struct hrtimer *timer)
{
	struct timewheel *wheel = container_of(timer, struct timewheel, timer);

	wake_up_process(wheel->worker);
	return HRTIMER_NORESTART;
}

/*
 * Whether the timer is set to @ns, by a look at it without its lock.  The caller
 * has made the promise, a full barrier.  Who moves the timer meanwhile, unseen,
 * looks at the promise after that, and sees this one; and if it has just expired,
 * it wakes a worker that will find itself asleep no more.
 */
static bool worker_is_set(struct timewheel *wheel, u64 ns)
{
	if (!hrtimer_is_queued(&wheel->timer))
		return false;
	/* Whatever is read while others move it, they look at the promise. */
	return data_race(hrtimer_get_expires(&wheel->timer)) == ns_to_ktime(ns);
}

/* Set the timer to the promise.  To move it costs more than the rest of a pass. */
static void worker_program(struct timewheel *wheel)
{
	u64 promise = atomic64_read(&wheel->wake_ns);
	u64 set;

	do {
		/* Awake: it will do this itself. */
		if (promise & WAKE_AWAKE)
			return;
		set = promise;
		if (set == WAKE_NEVER)
			hrtimer_try_to_cancel(&wheel->timer);
		else if (!worker_is_set(wheel, set))
			hrtimer_start(&wheel->timer, ns_to_ktime(set),
				      HRTIMER_MODE_ABS_HARD);
		/* Partner: the making of a promise, before worker_is_set(). */
		smp_mb();
		promise = atomic64_read(&wheel->wake_ns);
	} while (promise < set);
}

/* Bring the promise forward to @at_ns; returns whether the worker sleeps. */
static bool worker_promise(struct timewheel *wheel, u64 at_ns)
{
	u64 old = atomic64_read(&wheel->wake_ns);

	do {
		if (at_ns >= (old & ~WAKE_AWAKE))
			return false;
	} while (!atomic64_try_cmpxchg(&wheel->wake_ns, (s64 *)&old,
				       at_ns | (old & WAKE_AWAKE)));
	return !(old & WAKE_AWAKE);
}

/* The slow half of worker_queued(). */
void worker_hasten(struct timewheel *wheel, bool first, u64 deadline_ns)
{
	u64 at = WAKE_NEVER;

	if (deadline_ns < WAKE_NEVER)
		at = wheel_tick_ns(wheel, wheel_tick(wheel, deadline_ns));
	if (first)
		at = min(at, timewheel_now(wheel) + wheel->housekeeping_ns);
	if (worker_promise(wheel, at))
		worker_program(wheel);
}

/**
 * worker_kick - make a pass happen now
 * @wheel: the wheel
 *
 * Context: any in which a task may be woken.
 */
void worker_kick(struct timewheel *wheel)
{
	/* Keeps the task: worker_stop() lets go of it a grace period later. */
	rcu_read_lock();
	if (worker_promise(wheel, 0))
		wake_up_process(wheel->worker);
	rcu_read_unlock();
}

/**
 * worker_is_current - whether the caller runs in a callback of this wheel
 * @wheel: the wheel; may be gone, or NULL
 */
bool worker_is_current(const struct timewheel *wheel)
{
	return wheel && in_task() && (current->flags & PF_KTHREAD) &&
	       kthread_data(current) == wheel;
}

static bool worker_passed(struct timewheel *wheel, u64 begun)
{
	/* Partner: the release in worker_end_pass(). */
	return smp_load_acquire(&wheel->passes_done) > begun;
}

/**
 * worker_flush - wait until passes that began earlier have ended
 * @wheel: the wheel
 *
 * What was queued before is not necessarily done, but no callback and no
 * notifier that ran when this was called still does.
 *
 * Context: process context; sleeps.  Not from a callback.
 */
void worker_flush(struct timewheel *wheel)
{
	u64 begun;

	might_sleep();
	/* Partner: the barrier in wq_has_sleeper(), between two passes. */
	smp_mb();
	begun = READ_ONCE(wheel->books.passes);
	worker_kick(wheel);
	wait_event(wheel->quiesced, worker_passed(wheel, begun) ||
		   READ_ONCE(wheel->stopped));
}
EXPORT_SYMBOL_IF_KUNIT(worker_flush);

/**
 * worker_mark - the round in which what was pushed until now will be looked at
 * @wheel: the wheel
 *
 * Context: any.
 * Return: for worker_await().
 */
u64 worker_mark(struct timewheel *wheel)
{
	/* A push is a full barrier; partner: the one in worker_pass(). */
	return READ_ONCE(wheel->rounds) + 1;
}
EXPORT_SYMBOL_IF_KUNIT(worker_mark);

static bool worker_reached(struct timewheel *wheel, u64 mark)
{
	/* Partner: the release in worker_pass(). */
	return smp_load_acquire(&wheel->rounds_done) >= mark;
}

/**
 * worker_await - have a round come now, and wait until it has ended
 * @wheel: the wheel
 * @mark: which, from worker_mark(); 0 for none
 *
 * If @mark is of some time ago, it only has the next one come.
 *
 * Context: process context; sleeps.  Not from a callback.
 */
void worker_await(struct timewheel *wheel, u64 mark)
{
	might_sleep();
	worker_kick(wheel);
	wait_event(wheel->quiesced, worker_reached(wheel, mark) ||
		   READ_ONCE(wheel->stopped));
}
EXPORT_SYMBOL_IF_KUNIT(worker_await);

/**
 * worker_notify - have a notifier called at the end of this pass
 * @wheel: the wheel, whose callback the caller is
 * @n: the notifier; called once however often this is
 *
 * From a notifier: at the end of the next pass, which comes at once.
 */
void worker_notify(struct timewheel *wheel, struct timewheel_notifier *n)
{
	if (list_empty(&n->link))
		list_add_tail(&n->link, &wheel->notify);
}

static noinline void worker_notify_all(struct timewheel *wheel)
{
	unsigned int budget = WORKER_BUDGET;
	struct timewheel_notifier *n;
	LIST_HEAD(notify);

	list_splice_init(&wheel->notify, &notify);
	while ((n = list_first_entry_or_null(&notify, struct timewheel_notifier,
					     link))) {
		list_del_init(&n->link);
		n->notify(n, &budget);
	}
}

/* What a pass closes with: tell those who asked for it, and those who wait. */
void worker_end_pass(struct timewheel *wheel)
{
	if (!list_empty(&wheel->notify))
		worker_notify_all(wheel);
	/* Partner: the acquire in worker_passed(). */
	smp_store_release(&wheel->passes_done, wheel->books.passes);
	if (wq_has_sleeper(&wheel->quiesced))
		wake_up_all(&wheel->quiesced);
}

/*
 * The promise holds for a round of the queues, which may take several passes:
 * what is pushed after it has begun is for the next one.
 */
static void worker_begin_round(struct timewheel *wheel)
{
	wheel->horizon_ns = wheel->now_ns + wheel->housekeeping_ns;
	/*
	 * Full barrier between the promise and the look at the queues; its
	 * partner is the push in queue_submit().
	 */
	atomic64_xchg(&wheel->wake_ns, wheel->horizon_ns | WAKE_AWAKE);
	sources_promise(&wheel->sources, wheel->horizon_ns);
}

/* One pass over the wheel; returns whether something is left to do at once. */
static bool worker_pass(struct timewheel *wheel)
{
	struct timewheel_books *books = &wheel->books;
	unsigned int budget = WORKER_BUDGET;
	u64 fired = books->fired;
	struct timewheel_node *n;
	bool more = false;

	wheel->now_ns = wheel_now(wheel);
	/*
	 * Both counts after the promise: who finds this pass begun, in
	 * worker_flush() or worker_mark(), has its kick stand until the next one.
	 */
	if (!wheel->queues.in_round) {
		worker_begin_round(wheel);
		WRITE_ONCE(wheel->rounds, wheel->rounds + 1);
	}
	WRITE_ONCE(books->passes, books->passes + 1);
	/*
	 * Both counts before the look at the queues and at what sources_update()
	 * finds.  Partners: the push before worker_mark(), the barrier in
	 * worker_flush().  Who waits for this pass is seen by it.
	 */
	smp_mb();
	sources_update(&wheel->sources);

	if (!queues_empty(&wheel->queues)) {
		more = queue_drain_cancel(wheel, WORKER_BUDGET);
		more |= queue_drain_submit(wheel, WORKER_BUDGET);
	}
	if (!wheel->queues.in_round)
		/* Partner: worker_reached(), woken at the end of the pass. */
		smp_store_release(&wheel->rounds_done, wheel->rounds);
	more |= sources_drain(&wheel->sources, WORKER_BUDGET);

	more |= !core_advance(&wheel->core,
			      div64_u64(wheel->now_ns - wheel->epoch_ns,
					wheel->tick_ns), &budget);

	for (budget = WORKER_BUDGET; budget; budget--) {
		n = core_pop(&wheel->core);
		if (!n)
			break;
		timeout_expire(wheel, container_of(n, struct timewheel_timeout,
						   node));
	}
	more |= !list_empty(&wheel->core.expired);

	trace_timewheel_pass(wheel, books->fired - fired, more);
	worker_end_pass(wheel);
	return more || !list_empty(&wheel->notify);
}

/*
 * Sleep until the next deadline, or until somebody brings the promise forward.
 * Returns whether there is to be another pass.
 */
static bool worker_sleep(struct timewheel *wheel)
{
	u64 next = core_next(&wheel->core);
	u64 horizon = wheel->horizon_ns;
	u64 promise, at;
	bool stop;

	next = next == U64_MAX ? WAKE_NEVER : wheel_tick_ns(wheel, next);

	/* Before the promise: whoever reads that may wake us. */
	set_current_state(TASK_IDLE);
	promise = atomic64_read(&wheel->wake_ns);
	do {
		at = next;
		/* A producer's, who could not wait for the horizon. */
		if ((promise & ~WAKE_AWAKE) < horizon)
			at = min(at, promise & ~WAKE_AWAKE);
	} while (!atomic64_try_cmpxchg(&wheel->wake_ns, (s64 *)&promise, at));

	sources_promise(&wheel->sources, at);
	/* Partners: the push in queue_submit(), and a program's barrier. */
	if (!queues_empty(&wheel->queues) || sources_waiting(&wheel->sources))
		worker_promise(wheel, horizon);

	stop = kthread_should_stop();
	if (at > wheel->now_ns && !stop) {
		worker_program(wheel);
		schedule();
		WRITE_ONCE(wheel->books.wakeups, wheel->books.wakeups + 1);
		stop = kthread_should_stop();
	}
	__set_current_state(TASK_RUNNING);
	return !stop;
}

static int worker_run(void *data)
{
	struct timewheel *wheel = data;

	while (worker_sleep(wheel)) {
		/* Here too: who arms the past again and again leaves no sleep. */
		do
			cond_resched();
		while (worker_pass(wheel) && !kthread_should_stop());
	}
	return 0;
}

/**
 * worker_start - make the worker of a wheel
 * @wheel: the wheel, complete but for this
 * @params: where and how it is to run
 *
 * Context: process context; sleeps.
 * Return: 0 or -errno.
 */
int worker_start(struct timewheel *wheel, const struct timewheel_params *params)
{
	int node = NUMA_NO_NODE;
	struct task_struct *worker;

	if (params->flags & TIMEWHEEL_BIND_NODE)
		node = params->node;
	else if (params->flags & TIMEWHEEL_BIND_CPU)
		node = cpu_to_node(params->cpu);

	wheel->horizon_ns = WAKE_NEVER;
	atomic64_set(&wheel->wake_ns, WAKE_NEVER);
	hrtimer_setup(&wheel->timer, worker_timer, wheel->clockid,
		      HRTIMER_MODE_ABS_HARD);

	worker = kthread_create_on_node(worker_run, wheel, node, "timewheel/%s",
					wheel->name);
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	if (params->flags & TIMEWHEEL_BIND_CPU)
		kthread_bind(worker, params->cpu);
	else if (params->flags & TIMEWHEEL_BIND_NODE)
		set_cpus_allowed_ptr(worker, cpumask_of_node(node));
	if (params->flags & TIMEWHEEL_REALTIME)
		sched_set_fifo_low(worker);
	wheel->worker = get_task_struct(worker);
	wake_up_process(worker);
	return 0;
}

/**
 * worker_stop - end the worker; then the caller owns the core
 * @wheel: the wheel, stopped for producers
 *
 * Context: process context; sleeps.  Not from a callback.
 */
void worker_stop(struct timewheel *wheel)
{
	kthread_stop(wheel->worker);
	/* Nobody can bring this forward, so nobody starts the timer ... */
	atomic64_set(&wheel->wake_ns, 0);
	/* ... but those who just did so. */
	synchronize_rcu();
	hrtimer_cancel(&wheel->timer);
	put_task_struct(wheel->worker);
	wheel->worker = NULL;
}
