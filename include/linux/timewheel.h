/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timewheel: millions of coarse timeouts for kernel code.
 *
 * Embed a struct timewheel_timeout, arm it on a wheel, and its callback runs
 * on the wheel's worker thread once the deadline has passed: never early, late
 * by at most one tick and scheduling.  Arming, moving and cancelling take no
 * lock and may be done in any context, hard interrupts included.
 *
 * Times are nanoseconds of the wheel's clock, see timewheel_now().
 */
#ifndef _LINUX_TIMEWHEEL_H
#define _LINUX_TIMEWHEEL_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/linux/timewheel.h>

struct timewheel;
struct timewheel_timeout;

/**
 * struct timewheel_ops - what happens to a timeout
 * @expired: the deadline has passed.  The timeout is idle again when this is
 *	called, so it may be armed anew or freed here; a periodic one is armed
 *	already, for its next period, and may be cancelled or moved.
 * @cancelled: a timewheel_cancel() that returned true has been carried out, or
 *	a wheel was stopped with nobody to hand the timeout back to.  May be
 *	NULL.  Until it has run the timeout can't be armed again.
 * @deadline: the deadline has passed: is there a later one by now?  Returns it,
 *	or anything up to the present one, 0 say, and the timeout expires.  May
 *	be NULL.  For owners who keep their deadlines elsewhere, and would have
 *	to timewheel_touch() the timeout each time.
 * @hold: the deadline @due_ns has passed: is a move or a cancel under way that the
 *	wheel has not seen?  Returns a list for the timeout to wait in, or NULL and
 *	it expires; then *@now_ns may be set back to the time up to which all has
 *	been seen, for later periods wait.  The module's own, for rings; NULL for
 *	all others.
 *
 * Each is the wheel's last use of the timeout (of a periodic one: @cancelled is),
 * and its owner may free it there.
 * All run on the worker (in the caller of timewheel_stop() for what that ends),
 * hold no lock, may arm, move and cancel any timeout, and must not sleep.
 */
struct timewheel_ops {
	void (*expired)(struct timewheel_timeout *t);
	void (*cancelled)(struct timewheel_timeout *t);
	u64 (*deadline)(struct timewheel_timeout *t);
	struct list_head *(*hold)(struct timewheel_timeout *t, u64 due_ns,
				  u64 *now_ns);
};

/**
 * struct timewheel_node - a timeout as the wheel core sees it
 * @link: place in a slot, or in the list of those due; the worker's alone
 * @tick: absolute tick at which the slot it is filed in is to give it up
 */
struct timewheel_node {
	struct list_head link;
	u64 tick;
};

/**
 * struct timewheel_timeout - one timeout, embedded in its owner's structure
 * @node: where the wheel keeps it.  timewheel_stop() hands back a list of
 *	timeouts linked by @node.link; other than that it is the worker's.
 * @queued: link in the submit or the cancel queue
 * @expires: deadline in nanoseconds of the wheel's clock
 * @wheel: the wheel it was last armed on
 * @ops: its callbacks
 * @state: decides every race, see module/timeout.c
 * @seq: its place among those moved while they were queued, see module/queue.c
 *
 * One cache line.  Initialise with timewheel_timeout_init(), then use the
 * functions below only.
 */
struct timewheel_timeout {
	struct timewheel_node node;
	struct llist_node queued;
	u64 expires;
	struct timewheel *wheel;
	const struct timewheel_ops *ops;
	atomic_t state;
	u32 seq;
};

static_assert(sizeof(struct timewheel_timeout) <= 64);

/**
 * struct timewheel_periodic - a timeout that expires again and again
 * @timeout: the timeout; cancelled, moved and looked at like any other
 * @interval_ns: the period; written by timewheel_periodic_add()
 */
struct timewheel_periodic {
	struct timewheel_timeout timeout;
	u64 interval_ns;
};

/**
 * struct timewheel_work - a timeout with a work item
 * @timeout: the timeout
 * @work: queued when @timeout expires
 * @wq: where to
 * @wheel: the wheel whose stop waits for @work
 * @queued: how often @timeout has queued it; goes round
 * @fn: runs in process context and may sleep
 *
 * To timewheel_timeout what delayed_work is to timer_list.
 */
struct timewheel_work {
	struct timewheel_timeout timeout;
	struct work_struct work;
	struct workqueue_struct *wq;
	struct timewheel *wheel;
	u32 queued;
	void (*fn)(struct timewheel_work *w);
};

/* timewheel_params.flags */
#define TIMEWHEEL_BIND_CPU	0x1	/* the worker runs on params.cpu only */
#define TIMEWHEEL_BIND_NODE	0x2	/* wheel and worker live on params.node */
#define TIMEWHEEL_REALTIME	0x4	/* the worker has low real-time priority */

/**
 * struct timewheel_params - how a wheel is to be made; 0 means the default
 * @name: shown as the worker's name and in messages; required
 * @tick_ns: length of a tick, 1 us to 1 h (default: module parameter tick_us)
 * @slots: slots of a level, rounded up to a power of two, at most 2^20
 *	(default: module parameter slots)
 * @levels: levels, at most 8; slots to the power of levels at most 2^62
 *	(default: module parameter levels)
 * @clockid: CLOCK_MONOTONIC or CLOCK_BOOTTIME.  CLOCK_REALTIME, which is 0,
 *	stands for the default, CLOCK_MONOTONIC.
 * @max_pending: timeouts pending at once, 0 for no limit
 * @flags: TIMEWHEEL_BIND_CPU or TIMEWHEEL_BIND_NODE, TIMEWHEEL_REALTIME
 * @cpu: with TIMEWHEEL_BIND_CPU, the CPU
 * @node: with TIMEWHEEL_BIND_NODE, the NUMA node
 */
struct timewheel_params {
	const char *name;
	u64 tick_ns;
	u32 slots;
	u32 levels;
	clockid_t clockid;
	u64 max_pending;
	u32 flags;
	int cpu;
	int node;
};

struct timewheel *timewheel_create(const struct timewheel_params *params);
int timewheel_start(struct timewheel *wheel);
int timewheel_stop(struct timewheel *wheel, struct list_head *unprocessed);
void timewheel_destroy(struct timewheel *wheel);
struct timewheel *timewheel_system(void);

void timewheel_timeout_init(struct timewheel_timeout *t,
			    const struct timewheel_ops *ops);
int timewheel_add(struct timewheel *wheel, struct timewheel_timeout *t,
		  s64 delay_ns);
int timewheel_add_at(struct timewheel *wheel, struct timewheel_timeout *t,
		     u64 deadline_ns);
int timewheel_add_slack(struct timewheel *wheel, struct timewheel_timeout *t,
			u64 deadline_ns, u64 slack_ns);
int timewheel_periodic_add(struct timewheel *wheel,
			   struct timewheel_periodic *p, u64 deadline_ns,
			   u64 interval_ns, u64 slack_ns);
u64 timewheel_overruns(const struct timewheel_timeout *t);
int timewheel_rearm(struct timewheel_timeout *t, u64 deadline_ns);
int timewheel_touch(struct timewheel_timeout *t, u64 deadline_ns);
bool timewheel_cancel(struct timewheel_timeout *t);
bool timewheel_cancel_sync(struct timewheel_timeout *t);

void timewheel_work_init(struct timewheel_work *w, struct workqueue_struct *wq,
			 void (*fn)(struct timewheel_work *w));
int timewheel_work_add(struct timewheel *wheel, struct timewheel_work *w,
		       s64 delay_ns);
int timewheel_work_rearm(struct timewheel_work *w, u64 deadline_ns);
bool timewheel_work_cancel_sync(struct timewheel_work *w);

bool timewheel_pending(const struct timewheel_timeout *t);
u64 timewheel_expires(const struct timewheel_timeout *t);
u64 timewheel_nr_pending(struct timewheel *wheel);
u64 timewheel_now(struct timewheel *wheel);

#endif /* _LINUX_TIMEWHEEL_H */
