// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeouts with a work item: for what is slow, or sleeps.
 *
 * The worker of the wheel only queues the work, so a slow one delays nobody.
 * &struct timewheel.works counts those between being queued and having run, and
 * a stop waits until there is none.
 */

#include <linux/export.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "wheel.h"
#include "work.h"

static struct workqueue_struct *work_queue;

/**
 * struct work_runner - a work that runs, on the stack of who runs it
 * @link: place in work_runners
 * @task: who runs it
 * @wheel: whose stop waits for it
 */
struct work_runner {
	struct list_head link;
	struct task_struct *task;
	struct timewheel *wheel;
};

static LIST_HEAD(work_runners);
static DEFINE_SPINLOCK(work_runners_lock);

/* The wheel may be freed as soon as the count is 0: see wheel_free(). */
static void work_end(struct timewheel *wheel)
{
	rcu_read_lock();
	if (atomic_dec_and_test(&wheel->works))
		wake_up_all(&wheel->quiesced);
	rcu_read_unlock();
}

static void work_run(struct work_struct *work)
{
	struct timewheel_work *w = container_of(work, struct timewheel_work, work);
	struct work_runner runner = {
		.task = current,
		.wheel = READ_ONCE(w->wheel),
	};

	spin_lock(&work_runners_lock);
	list_add(&runner.link, &work_runners);
	spin_unlock(&work_runners_lock);

	/* It may free w. */
	w->fn(w);

	spin_lock(&work_runners_lock);
	list_del(&runner.link);
	spin_unlock(&work_runners_lock);
	work_end(runner.wheel);
}

static void work_expired(struct timewheel_timeout *t)
{
	struct timewheel_work *w = container_of(t, struct timewheel_work, timeout);
	/* It is idle: somebody may be arming it anew. */
	struct timewheel *wheel = READ_ONCE(t->wheel);

	WRITE_ONCE(w->wheel, wheel);
	/* Before it is queued: then it may run, and free it. */
	WRITE_ONCE(w->queued, w->queued + 1);
	atomic_inc(&wheel->works);
	/* Still queued from the last time: it runs once for both. */
	if (!queue_work(w->wq, &w->work))
		work_end(wheel);
}

static const struct timewheel_ops work_ops = {
	.expired = work_expired,
};

/*
 * Whether the caller runs in a work that a stop of @wheel would wait for.  The
 * work itself can't be asked: it may have freed itself.
 */
bool work_is_current(const struct timewheel *wheel)
{
	struct work_runner *runner;
	bool ret = false;

	spin_lock(&work_runners_lock);
	list_for_each_entry(runner, &work_runners, link)
		ret |= runner->task == current && runner->wheel == wheel;
	spin_unlock(&work_runners_lock);
	return ret;
}

/* Wait until no work of the wheel is queued or runs. */
void work_flush(struct timewheel *wheel)
{
	wait_event(wheel->quiesced, !atomic_read(&wheel->works));
}

/**
 * timewheel_work_init - make a timeout with a work item ready for use
 * @w: the two of them
 * @wq: where the work is queued; NULL for the module's own, which is unbound
 * @fn: the work; may sleep, arm @w again, or free it
 *
 * Context: any.
 */
void timewheel_work_init(struct timewheel_work *w, struct workqueue_struct *wq,
			 void (*fn)(struct timewheel_work *w))
{
	timewheel_timeout_init(&w->timeout, &work_ops);
	INIT_WORK(&w->work, work_run);
	w->wq = wq ?: work_queue;
	w->wheel = NULL;
	w->queued = 0;
	w->fn = fn;
}
EXPORT_SYMBOL_GPL(timewheel_work_init);

/**
 * timewheel_work_add - arm a timeout with a work item, from now
 * @wheel: the wheel
 * @w: the timeout with its work
 * @delay_ns: nanoseconds from now; zero and less are due at once
 *
 * Context: as timewheel_add_at().
 * Return: as timewheel_add_at().  It may be armed while its work is queued or
 * runs, and then does not run twice at a time; but not on another wheel: -EBUSY.
 */
int timewheel_work_add(struct timewheel *wheel, struct timewheel_work *w,
		       s64 delay_ns)
{
	struct timewheel *last = READ_ONCE(w->wheel);

	/* The last wheel waits for the work, and counts it. */
	if (last && last != wheel && work_busy(&w->work))
		return -EBUSY;
	return timewheel_add(wheel, &w->timeout, delay_ns);
}
EXPORT_SYMBOL_GPL(timewheel_work_add);

/**
 * timewheel_work_rearm - move the deadline of an armed timeout, either way
 * @w: the timeout with its work
 * @deadline_ns: nanoseconds of the wheel's clock
 *
 * Context: as timewheel_add_at().
 * Return: as timewheel_rearm(); -ENOENT also if the work has been queued.
 */
int timewheel_work_rearm(struct timewheel_work *w, u64 deadline_ns)
{
	return timewheel_rearm(&w->timeout, deadline_ns);
}
EXPORT_SYMBOL_GPL(timewheel_work_rearm);

/**
 * timewheel_work_cancel_sync - cancel a timeout and its work, and wait for both
 * @w: the timeout with its work; its wheel must not have been destroyed
 *
 * When it returns the timeout is idle and the work neither queued nor running,
 * also if the work arms the timeout again and again.
 *
 * Context: process context; sleeps.  Not from the work itself, nor from a
 * callback of the wheel.
 *
 * Return: true if a run of the work was prevented.
 */
bool timewheel_work_cancel_sync(struct timewheel_work *w)
{
	bool ret = false;
	u32 queued;

	/*
	 * The work may arm the timeout, and the timeout queue the work, and there
	 * may be no moment at which either is to be seen.  If the timeout queued
	 * nothing from the first wait to the last, all it queued before that was
	 * there to be cancelled; so the work did not run after that, nor arm it.
	 */
	do {
		/* Loaded before all that the waits look at. */
		queued = smp_load_acquire(&w->queued);
		/* A callback that has counted itself, and is about to queue. */
		ret |= timewheel_cancel_sync(&w->timeout);
		if (cancel_work_sync(&w->work)) {
			work_end(READ_ONCE(w->wheel));
			ret = true;
		}
		/* What the work armed while that waited for it. */
		ret |= timewheel_cancel_sync(&w->timeout);
	} while (READ_ONCE(w->queued) != queued);
	return ret;
}
EXPORT_SYMBOL_GPL(timewheel_work_cancel_sync);

int work_init(void)
{
	work_queue = alloc_workqueue("timewheel", WQ_UNBOUND, 0);
	return work_queue ? 0 : -ENOMEM;
}

void work_exit(void)
{
	destroy_workqueue(work_queue);
}
