/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A wheel: the core, its queues, its worker, its books.
 */
#ifndef TIMEWHEEL_WHEEL_H
#define TIMEWHEEL_WHEEL_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timewheel.h>
#include <linux/wait.h>

#include "core.h"
#include "queue.h"
#include "source.h"
#include "stats.h"

#define TIMEWHEEL_NAME_LEN	32

#define TIMEWHEEL_MIN_TICK_NS	1000ULL
#define TIMEWHEEL_MAX_TICK_NS	(3600ULL * NSEC_PER_SEC)

/**
 * struct timewheel_notifier - called once at the end of a worker's pass
 * @link: place in &struct timewheel.notify; the worker's alone
 * @notify: what to call, with no lock held; lower the budget by what it moves
 */
struct timewheel_notifier {
	struct list_head link;
	void (*notify)(struct timewheel_notifier *n, unsigned int *budget);
};

/*
 * The default shape is 256 slots on 4 levels, with a tick of 1 ms:
 *
 *   level   a slot lasts   the level spans
 *   0       1 ms           256 ms
 *   1       256 ms         65.5 s
 *   2       65.5 s         4.7 hours
 *   3       4.7 hours      49.7 days, and then it goes round
 *
 * This is by measurement.  scripts/levels counts the worker's instructions for
 * each timeout: filing, cascading, expiring, and its share of the passes.  Of 10^4,
 * 10^5 and 10^6 that are due at random within 100 s:
 *
 *   slots x levels    10^4   10^5   10^6   the slots take
 *   64 x 5            5320   3390    860   8 KiB
 *   256 x 4           5270   3370    840   24 KiB
 *   512 x 3           5250   3350    830   36 KiB
 *   1024 x 3          5250   3350    830   72 KiB
 *   4096 x 2          5250   3360    840   192 KiB
 *   65536 x 1         5380   3410    840   1536 KiB
 *   512 x 1           5670   4580   2710   12 KiB
 *
 * Waking up for a pass and going over the wheel is most of it where a pass finds
 * one timeout or none to share it.  Where each finds ten (10^4 in 1 s, 10^5 in
 * 10 s, 10^6 in 100 s) it is 830, 830, 840: it does not grow with their number.
 * A small wheel of one level looks at each timeout once a revolution, and that
 * does grow.  Levels do away with it for a few per cent.  Among these the default
 * is small enough for the nearest cache, and spans the longest without going round.
 *
 * A longer tick saves passes: 10^5 within 100 s cost 3370 at 1 ms, 1640 at 4 ms and
 * 890 at 10 ms.  But a tick is how late a timeout may be, and a wheel that has
 * nothing due makes no pass at any tick.  Who has many and no hurry takes a
 * longer one.
 */

/**
 * struct timewheel - a wheel
 * @queues: what producers push to
 * @wake_ns: the promise: the worker's next pass is at or before this time, see
 *	worker.c.  Written by producers and the worker.
 * @producer: the producers' part of @books
 * @stopped: no more adds; set once by timewheel_stop()
 * @clockid: CLOCK_MONOTONIC or CLOCK_BOOTTIME
 * @max_pending: limit of @pending, 0 for none
 * @epoch_ns: the time of tick 0
 * @tick_ns: length of a tick
 * @housekeeping_ns: how long a queued timeout may lie there
 * @sources: queues outside the kernel that the worker looks into
 * @notify: worker: notifiers to call at the end of the pass
 * @passes_done: passes that have ended; written by the worker
 * @rounds: rounds of the queues that have begun, see queue.c; the worker's too
 * @rounds_done: those that have ended
 * @horizon_ns: worker: what it promised at the start of the round
 * @core: the wheel itself; the worker's alone
 * @firing: the timeout whose callback runs; written by the worker
 * @begun: callbacks that have begun; goes round; written by the worker
 * @now_ns: worker: the clock as read at the start of the pass
 * @due_ns: worker: the deadline whose expired callback runs
 * @overruns: worker: of the periodic timeout whose callback runs
 * @books: counters, those of the worker
 * @pending: timeouts pending; kept only where @max_pending is set
 * @timer: wakes the worker
 * @worker: the thread that owns @core; NULL when stopped
 * @quiesced: waiters for a pass to end, or for a work to end
 * @works: work items queued by struct timewheel_work and not ended
 * @stop_lock: makes a stop one
 * @stopper: the task that stops it, and so runs callbacks
 * @system: made for the module itself, does not pin it
 * @debugfs: its directory there
 * @rcu: frees it when no producer looks at it any more
 * @name: as in the parameters
 *
 * What every producer reads stands apart from what the worker writes with each
 * timeout, or they would pull the cache line to and fro; between them is what it
 * writes once a pass, for some processors fetch lines in pairs.
 */
struct timewheel {
	struct timewheel_queues queues;

	atomic64_t wake_ns ____cacheline_aligned_in_smp;
	struct books_producer __percpu *producer;
	bool stopped;
	clockid_t clockid;
	u64 max_pending;
	u64 epoch_ns;
	u64 tick_ns;
	u64 housekeeping_ns;

	struct timewheel_sources sources ____cacheline_aligned_in_smp;
	struct list_head notify;
	u64 passes_done;
	u64 rounds;
	u64 rounds_done;
	u64 horizon_ns;

	struct wheel_core core ____cacheline_aligned_in_smp;
	struct timewheel_timeout *firing;
	unsigned long begun;
	u64 now_ns;
	u64 due_ns;
	u64 overruns;
	struct timewheel_books books;
	atomic64_t pending;

	struct hrtimer timer ____cacheline_aligned_in_smp;
	struct task_struct *worker;
	wait_queue_head_t quiesced;
	atomic_t works;
	struct mutex stop_lock;	/* one stop at a time */
	struct task_struct *stopper;
	bool system;
	struct dentry *debugfs;
	struct rcu_head rcu;
	char name[TIMEWHEEL_NAME_LEN];
};

/* wheel.c: for the module's own wheels, which do not pin the module */
struct timewheel *wheel_create(const struct timewheel_params *params);
void wheel_destroy(struct timewheel *wheel);
int system_wheel_create(void);
void system_wheel_destroy(void);

/* How many timeouts each stage of a pass looks at before others get the CPU. */
#define WORKER_BUDGET	8192U

/* worker.c */
int worker_start(struct timewheel *wheel, const struct timewheel_params *params);
void worker_stop(struct timewheel *wheel);
bool worker_is_current(const struct timewheel *wheel);
void worker_hasten(struct timewheel *wheel, bool first, u64 deadline_ns);
void worker_kick(struct timewheel *wheel);
void worker_flush(struct timewheel *wheel);
u64 worker_mark(struct timewheel *wheel);
void worker_await(struct timewheel *wheel, u64 mark);
void worker_notify(struct timewheel *wheel, struct timewheel_notifier *n);
void worker_end_pass(struct timewheel *wheel);

/* In &struct timewheel.wake_ns: the worker is awake, and sets the timer itself. */
#define WAKE_AWAKE	BIT_ULL(63)
#define WAKE_NEVER	((u64)KTIME_MAX)

/*
 * A producer has pushed: see that the worker's pass comes early enough, for the
 * deadline, and for the queue if it was empty (@first).  Most often it does.
 */
static inline void worker_queued(struct timewheel *wheel, bool first,
				 u64 deadline_ns)
{
	u64 promise = atomic64_read(&wheel->wake_ns) & ~WAKE_AWAKE;

	if (first || deadline_ns < promise)
		worker_hasten(wheel, first, deadline_ns);
}

static inline u64 wheel_now(const struct timewheel *wheel)
{
	if (unlikely(wheel->clockid == CLOCK_BOOTTIME))
		return ktime_get_boottime_ns();
	return ktime_get_ns();
}

/* The tick of a deadline: the first that does not begin before it. */
static inline u64 wheel_tick(const struct timewheel *wheel, u64 deadline_ns)
{
	if (deadline_ns <= wheel->epoch_ns)
		return 0;
	return div64_u64(deadline_ns - wheel->epoch_ns - 1, wheel->tick_ns) + 1;
}

/* When a tick begins, or WAKE_NEVER if the clock can't show it. */
static inline u64 wheel_tick_ns(const struct timewheel *wheel, u64 tick)
{
	u64 ns;

	if (check_mul_overflow(tick, wheel->tick_ns, &ns) ||
	    check_add_overflow(ns, wheel->epoch_ns, &ns))
		return WAKE_NEVER;
	return min(ns, WAKE_NEVER);
}

#endif /* TIMEWHEEL_WHEEL_H */
