// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wheels: made, looked at, stopped and destroyed.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "debugfs.h"
#include "params.h"
#include "timeout.h"
#include "wheel.h"
#include "work.h"

#define WHEEL_FLAGS	(TIMEWHEEL_BIND_CPU | TIMEWHEEL_BIND_NODE | \
			 TIMEWHEEL_REALTIME)

/* How many timeouts a stop looks at before others get the CPU. */
#define WHEEL_BUDGET	8192U

static struct timewheel *system_wheel;
/* Wheels that exist, the system wheel not counted. */
static atomic_t wheels = ATOMIC_INIT(0);

static int wheel_check(const struct timewheel_params *p)
{
	if (!p->name || !*p->name || p->flags & ~WHEEL_FLAGS)
		return -EINVAL;
	if (p->tick_ns && (p->tick_ns < TIMEWHEEL_MIN_TICK_NS ||
			   p->tick_ns > TIMEWHEEL_MAX_TICK_NS))
		return -EINVAL;
	if (p->clockid != CLOCK_REALTIME && p->clockid != CLOCK_MONOTONIC &&
	    p->clockid != CLOCK_BOOTTIME)
		return -EINVAL;
	if (p->max_pending > S64_MAX)
		return -EINVAL;
	if (p->flags & TIMEWHEEL_BIND_CPU &&
	    (p->flags & TIMEWHEEL_BIND_NODE || p->cpu < 0 ||
	     p->cpu >= nr_cpu_ids || !cpu_online(p->cpu)))
		return -EINVAL;
	if (p->flags & TIMEWHEEL_BIND_NODE &&
	    (p->node < 0 || p->node >= MAX_NUMNODES || !node_online(p->node)))
		return -EINVAL;
	return core_check(p->slots ?: param_slots, p->levels ?: param_levels);
}

static struct timewheel *wheel_alloc(const struct timewheel_params *p)
{
	int node = p->flags & TIMEWHEEL_BIND_NODE ? p->node : NUMA_NO_NODE;
	struct timewheel *wheel;
	int ret;

	wheel = kzalloc_node(sizeof(*wheel), GFP_KERNEL_ACCOUNT, node);
	if (!wheel)
		return ERR_PTR(-ENOMEM);
	ret = core_init(&wheel->core, p->slots ?: param_slots,
			p->levels ?: param_levels, node);
	if (ret)
		goto free_wheel;
	ret = books_init(wheel);
	if (ret)
		goto free_core;

	queues_init(&wheel->queues);
	sources_init(&wheel->sources);
	INIT_LIST_HEAD(&wheel->notify);
	init_waitqueue_head(&wheel->quiesced);
	mutex_init(&wheel->stop_lock);
	strscpy(wheel->name, p->name, sizeof(wheel->name));
	wheel->max_pending = p->max_pending;
	wheel->tick_ns = p->tick_ns ?: (u64)param_tick_us * NSEC_PER_USEC;
	wheel->housekeeping_ns = (u64)param_housekeeping_ms * NSEC_PER_MSEC;
	wheel->clockid = p->clockid ?: CLOCK_MONOTONIC;
	wheel->epoch_ns = timewheel_now(wheel);
	wheel->now_ns = wheel->epoch_ns;
	return wheel;

free_core:
	core_destroy(&wheel->core);
free_wheel:
	kfree(wheel);
	return ERR_PTR(ret);
}

static void wheel_free(struct timewheel *wheel)
{
	books_destroy(wheel);
	core_destroy(&wheel->core);
	/* A producer may have found it in a timeout that was armed till now. */
	kfree_rcu(wheel, rcu);
}

static struct timewheel *wheel_make(const struct timewheel_params *params)
{
	struct timewheel *wheel;
	int ret;

	ret = wheel_check(params);
	if (ret)
		return ERR_PTR(ret);
	wheel = wheel_alloc(params);
	if (IS_ERR(wheel))
		return wheel;
	ret = worker_start(wheel, params);
	if (ret) {
		wheel_free(wheel);
		return ERR_PTR(ret);
	}
	debugfs_show_wheel(wheel);
	return wheel;
}

/* A wheel that does not pin the module: its user does that in another way. */
struct timewheel *wheel_create(const struct timewheel_params *params)
{
	struct timewheel *wheel;

	if (atomic_inc_return(&wheels) > param_max_wheels) {
		atomic_dec(&wheels);
		pr_warn_ratelimited("%u wheels exist, which is the limit: see the parameter max_wheels\n",
				    param_max_wheels);
		return ERR_PTR(-ENOSPC);
	}
	wheel = wheel_make(params);
	if (IS_ERR(wheel))
		atomic_dec(&wheels);
	return wheel;
}

/**
 * timewheel_create - make a wheel
 * @params: how it is to be
 *
 * Its worker sleeps until the first timeout is armed.  The module stays loaded
 * until the wheel is destroyed.
 *
 * Context: process context; sleeps.
 *
 * Return: the wheel, or ERR_PTR: -EINVAL for parameters out of range, -ENOSPC if
 * max_wheels wheels exist, -ENOMEM.
 */
struct timewheel *timewheel_create(const struct timewheel_params *params)
{
	struct timewheel *wheel;

	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-ENODEV);
	wheel = wheel_create(params);
	if (IS_ERR(wheel))
		module_put(THIS_MODULE);
	return wheel;
}
EXPORT_SYMBOL_GPL(timewheel_create);

/**
 * timewheel_start - start a wheel now rather than with its first timeout
 * @wheel: the wheel
 *
 * Context: process context.
 * Return: 0, also if it has started; -ESHUTDOWN after a stop.
 */
int timewheel_start(struct timewheel *wheel)
{
	if (READ_ONCE(wheel->stopped))
		return -ESHUTDOWN;
	if (!READ_ONCE(wheel->books.passes))
		worker_kick(wheel);
	return 0;
}
EXPORT_SYMBOL_GPL(timewheel_start);

/* End all that is queued or armed; the caller owns the wheel. */
static void wheel_sweep(struct timewheel *wheel, struct list_head *unprocessed,
			struct list_head *limbo)
{
	struct timewheel_node *n;
	size_t slot = 0;

	while (!queues_empty(&wheel->queues)) {
		queue_drain_cancel(wheel, WHEEL_BUDGET);
		queue_drain_submit(wheel, WHEEL_BUDGET);
		cond_resched();
	}

	while ((n = core_drain(&wheel->core, &slot))) {
		struct timewheel_timeout *t;

		t = container_of(n, struct timewheel_timeout, node);
		if (!timeout_hand_back(wheel, t, unprocessed))
			core_hold(&wheel->core, n, limbo);
		cond_resched();
	}
}

/*
 * Adds and moves are over: a grace period has passed.  Cancels are not, and one
 * may have a timeout in its hands, cancelled and not yet pushed, whether that
 * was found in the wheel (then it is in limbo) or, having just been moved, was
 * nowhere.  After the first sweep nothing is left to cancel, and after another
 * grace period all of them have pushed.
 */
static void wheel_drain(struct timewheel *wheel, struct list_head *unprocessed)
{
	LIST_HEAD(limbo);

	wheel_sweep(wheel, unprocessed, &limbo);
	synchronize_rcu();
	wheel_sweep(wheel, unprocessed, &limbo);
	WARN_ON_ONCE(wheel->core.nr);
}

/**
 * timewheel_stop - end a wheel's work
 * @wheel: the wheel
 * @unprocessed: receives the timeouts that were still armed, linked by
 *	node.link, idle and the caller's again.  Each must be taken off with
 *	list_del_init() before it is armed on another wheel.  If NULL, their
 *	cancelled callbacks are called instead.
 *
 * Later adds are refused with -ESHUTDOWN; one that runs at the same time is
 * either refused or handed back.  When this returns no callback and no work of a
 * struct timewheel_work runs, nor will.
 *
 * Context: process context; sleeps.
 *
 * Return: 0, also for a second stop, which hands nothing back; -EDEADLK from a
 * callback of the wheel, or a work.
 */
int timewheel_stop(struct timewheel *wheel, struct list_head *unprocessed)
{
	if (worker_is_current(wheel) || work_is_current(wheel) ||
	    READ_ONCE(wheel->stopper) == current)
		return -EDEADLK;
	might_sleep();

	mutex_lock(&wheel->stop_lock);
	if (!wheel->stopped) {
		WRITE_ONCE(wheel->stopper, current);
		WRITE_ONCE(wheel->stopped, true);
		worker_stop(wheel);
		wheel_drain(wheel, unprocessed);
		/* A work may wait for what has just been ended. */
		worker_end_pass(wheel);
		work_flush(wheel);
		WRITE_ONCE(wheel->stopper, NULL);
	}
	mutex_unlock(&wheel->stop_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(timewheel_stop);

void wheel_destroy(struct timewheel *wheel)
{
	u64 pending = timewheel_nr_pending(wheel);

	if (WARN_ON_ONCE(timewheel_stop(wheel, NULL)))
		return;
	if (pending)
		pr_warn("wheel %s destroyed while %llu timeouts were pending\n",
			wheel->name, pending);
	debugfs_hide_wheel(wheel);
	if (!wheel->system)
		atomic_dec(&wheels);
	wheel_free(wheel);
}

/**
 * timewheel_destroy - free a wheel
 * @wheel: the wheel, stopped; or NULL
 *
 * One that was not stopped is stopped, as with no list to hand back to, and a
 * warning names it if timeouts were pending.  Nobody may use the wheel any more;
 * its timeouts may still be cancelled or re-armed, which finds them idle, but
 * not with timewheel_cancel_sync().
 *
 * Context: process context; sleeps.  Not from a callback of the wheel.
 */
void timewheel_destroy(struct timewheel *wheel)
{
	if (!wheel)
		return;
	wheel_destroy(wheel);
	module_put(THIS_MODULE);
}
EXPORT_SYMBOL_GPL(timewheel_destroy);

/**
 * timewheel_system - the wheel that all may share
 *
 * Made from the module parameters; never stopped while the module is loaded.
 *
 * Context: any.
 * Return: the wheel.
 */
struct timewheel *timewheel_system(void)
{
	return system_wheel;
}
EXPORT_SYMBOL_GPL(timewheel_system);

int system_wheel_create(void)
{
	const struct timewheel_params params = {
		.name = "system",
		.flags = param_realtime ? TIMEWHEEL_REALTIME : 0,
	};
	struct timewheel *wheel = wheel_make(&params);

	if (IS_ERR(wheel))
		return PTR_ERR(wheel);
	wheel->system = true;
	system_wheel = wheel;
	return 0;
}

void system_wheel_destroy(void)
{
	wheel_destroy(system_wheel);
}

/**
 * timewheel_now - the wheel's clock
 * @wheel: the wheel
 *
 * Context: any.
 * Return: nanoseconds of CLOCK_MONOTONIC or CLOCK_BOOTTIME.
 */
u64 timewheel_now(struct timewheel *wheel)
{
	return wheel_now(wheel);
}
EXPORT_SYMBOL_GPL(timewheel_now);

/**
 * timewheel_nr_pending - how many timeouts are armed
 * @wheel: the wheel
 *
 * Context: any.
 * Return: exact when nothing is under way, else near.
 */
u64 timewheel_nr_pending(struct timewheel *wheel)
{
	struct books_sum sum;

	books_read(wheel, &sum);
	return sum.pending;
}
EXPORT_SYMBOL_GPL(timewheel_nr_pending);
