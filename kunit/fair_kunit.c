// SPDX-License-Identifier: GPL-2.0-only
/*
 * A million timeouts in one tick: the worker gives way, and none of the others
 * waits for more than it has to.
 *
 * Time does not pass while the worker computes, so what counts is counted in
 * timeouts and passes.  A real-time thread, woken by each callback, runs as soon
 * as whoever called that gives way: what was done since its last turn was done in
 * one go.
 */

#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "kunit_util.h"

#define BURST	1000000U
#define FAR	(3600 * (u64)NSEC_PER_SEC)

struct fair;

/**
 * struct fair_timeout - one of the many
 * @t: the timeout
 * @fair: the case's
 */
struct fair_timeout {
	struct timewheel_timeout t;
	struct fair *fair;
};

/**
 * struct fair - a burst, and who watches it
 * @wheel: its wheel
 * @many: the timeouts of the burst
 * @ended: how many of them have fired or been told
 * @disorder: how many of them did so out of turn
 * @clock: each callback looks at the clock, which takes time
 * @passes: the pass in which the last one fired
 * @first: called by the first one's callback
 * @arg: the case's, for @first
 * @watcher: the watching thread
 * @seen: @ended when it had its last turn
 * @most: the most that ended between two turns
 * @turns: how many it had
 */
struct fair {
	struct timewheel *wheel;
	struct fair_timeout *many;
	unsigned int ended;
	unsigned int disorder;
	bool clock;
	u64 passes;
	void (*first)(struct fair *fair);
	void *arg;
	struct task_struct *watcher;
	unsigned int seen;
	unsigned int most;
	unsigned int turns;
};

static int fair_watch(void *data)
{
	struct fair *fair = data;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		schedule();
		fair->most = max(fair->most, fair->ended - fair->seen);
		fair->seen = fair->ended;
		fair->turns++;
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void fair_one(struct timewheel_timeout *t)
{
	struct fair_timeout *ft = container_of(t, struct fair_timeout, t);
	struct fair *fair = ft->fair;

	fair->disorder += ft != &fair->many[fair->ended];
	fair->passes = fair->wheel->books.passes;
	if (!fair->ended++ && fair->first)
		fair->first(fair);
	if (fair->clock)
		timewheel_now(fair->wheel);
	wake_up_process(fair->watcher);
}

static const struct timewheel_ops fair_ops = {
	.expired = fair_one,
	.cancelled = fair_one,
};

static void fair_free(void *many)
{
	kvfree(many);
}

static void fair_unwatch(void *watcher)
{
	kthread_stop(watcher);
}

/* All of them armed for the same tick, and filed. */
static struct fair *fair_burst_of(struct kunit *test, u64 in_ns)
{
	struct fair *fair = kunit_kzalloc(test, sizeof(*fair), GFP_KERNEL);
	unsigned int i;
	u64 at_ns;

	need_virtual_time(test);
	KUNIT_ASSERT_NOT_NULL(test, fair);
	fair->many = kvcalloc(BURST, sizeof(*fair->many), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fair->many);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fair_free, fair->many), 0);
	fair->watcher = kthread_run(fair_watch, fair, "timewheel-kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fair->watcher);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fair_unwatch,
							fair->watcher), 0);
	sched_set_fifo(fair->watcher);

	fair->wheel = env_wheel(test, 256, 4);
	at_ns = wheel_ceil(fair->wheel, timewheel_now(fair->wheel) + in_ns);
	for (i = 0; i < BURST; i++) {
		fair->many[i].fair = fair;
		timewheel_timeout_init(&fair->many[i].t, &fair_ops);
		timewheel_add_at(fair->wheel, &fair->many[i].t, at_ns);
		if (i % WORKER_BUDGET == 0)
			cond_resched();
	}
	wheel_settle(fair->wheel);
	KUNIT_ASSERT_EQ(test, fair->wheel->core.nr, BURST);
	KUNIT_ASSERT_EQ(test, fair->ended, 0);
	return fair;
}

/* All ended, in the order in which they were armed, some at a time. */
static void fair_expect(struct kunit *test, struct fair *fair, unsigned int ended)
{
	KUNIT_EXPECT_EQ(test, fair->ended, ended);
	KUNIT_EXPECT_EQ(test, fair->disorder, 0);
	KUNIT_EXPECT_LE(test, fair->most, WORKER_BUDGET);
	KUNIT_EXPECT_GE(test, fair->turns, BURST / WORKER_BUDGET);
}

static void fair_burst(struct kunit *test)
{
	struct fair *fair = fair_burst_of(test, NSEC_PER_SEC);
	u64 passes = fair->wheel->books.passes;

	sleep_ns(2 * (u64)NSEC_PER_SEC);
	fair_expect(test, fair, BURST);
	KUNIT_EXPECT_GE(test, fair->passes - passes, BURST / WORKER_BUDGET);
}

static void fair_cancel(struct kunit *test)
{
	struct fair *fair = fair_burst_of(test, FAR);
	unsigned int i, wrong = 0;

	for (i = 0; i < BURST; i++)
		wrong += !timewheel_cancel(&fair->many[i].t);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	wheel_settle(fair->wheel);
	fair_expect(test, fair, BURST);
	KUNIT_EXPECT_EQ(test, fair->wheel->core.nr, 0);
}

/* It takes no longer than they are many, whenever they are due. */
static void fair_stop(struct kunit *test)
{
	struct fair *fair = fair_burst_of(test, FAR);
	u64 begin = timewheel_now(fair->wheel);

	KUNIT_EXPECT_EQ(test, timewheel_stop(fair->wheel, NULL), 0);
	fair_expect(test, fair, BURST);
	KUNIT_EXPECT_LT(test, timewheel_now(fair->wheel), begin + NSEC_PER_SEC);
	books_expect(test, fair->wheel, (struct test_books){
		.armed = BURST, .unprocessed = BURST });
}

/**
 * struct fair_next - a timeout armed while the burst fires
 * @tt: the timeout
 * @ended: how many of the burst had fired when it did
 * @passes: the pass in which it did
 */
struct fair_next {
	struct test_timeout *tt;
	unsigned int ended;
	u64 passes;
};

static void fair_next_fires(struct test_timeout *tt)
{
	struct fair *fair = tt->arg;
	struct fair_next *next = fair->arg;

	next->ended = fair->ended;
	next->passes = fair->wheel->books.passes;
}

static void fair_arm_next(struct fair *fair)
{
	struct fair_next *next = fair->arg;

	timewheel_add_at(fair->wheel, &next->tt->t, fair->many[0].t.expires + TICK);
}

/* The burst takes many ticks; when it is over, the next tick's comes at once. */
static void fair_next_tick(struct kunit *test)
{
	struct fair_next next = { .tt = env_timeouts(test, 1) };
	struct fair *fair = fair_burst_of(test, NSEC_PER_SEC);

	next.tt->on_expired = fair_next_fires;
	next.tt->arg = fair;
	fair->first = fair_arm_next;
	fair->arg = &next;
	fair->clock = true;
	sleep_ns(2 * (u64)NSEC_PER_SEC);
	fair_expect(test, fair, BURST);
	KUNIT_EXPECT_EQ(test, next.tt->fired, 1);
	KUNIT_EXPECT_GT(test, next.tt->fired_ns, next.tt->t.expires + TICK);
	KUNIT_EXPECT_EQ(test, next.ended, BURST);
	KUNIT_EXPECT_LE(test, next.passes, fair->passes + 1);
}

/**
 * struct fair_wait - somebody who waits for the worker while the burst fires
 * @fair: the burst
 * @tt: a timeout far away, for who cancels it
 * @begin: completed by the first of the burst
 * @ended: how many of the burst had fired when he was done
 * @passes: how many passes began meanwhile
 */
struct fair_wait {
	struct fair *fair;
	struct test_timeout *tt;
	struct completion begin;
	unsigned int ended;
	u64 passes;
};

static void fair_waiter(void *arg)
{
	struct fair_wait *wait = arg;
	struct timewheel *wheel = wait->fair->wheel;
	u64 passes;

	sched_set_fifo(current);
	wait_for_completion(&wait->begin);
	passes = wheel->books.passes;
	if (wait->tt)
		timewheel_cancel_sync(&wait->tt->t);
	else
		worker_flush(wheel);
	wait->passes = wheel->books.passes - passes;
	wait->ended = wait->fair->ended;
}

static void fair_let_wait(struct fair *fair)
{
	struct fair_wait *wait = fair->arg;

	complete(&wait->begin);
}

/* Whoever waits for the worker waits for this pass and the next. */
static void fair_wait(struct kunit *test, struct test_timeout *tt)
{
	struct test_thread *thread = kunit_kzalloc(test, sizeof(*thread), GFP_KERNEL);
	struct fair *fair = fair_burst_of(test, NSEC_PER_SEC);
	struct fair_wait wait = { .fair = fair, .tt = tt };

	KUNIT_ASSERT_NOT_NULL(test, thread);
	init_completion(&wait.begin);
	if (tt)
		timewheel_add(fair->wheel, &tt->t, FAR);
	fair->first = fair_let_wait;
	fair->arg = &wait;
	thread_start(test, thread, fair_waiter, &wait);
	sleep_ns(2 * (u64)NSEC_PER_SEC);
	thread_join(thread);
	fair_expect(test, fair, BURST);
	KUNIT_EXPECT_GE(test, wait.passes, 1);
	KUNIT_EXPECT_LE(test, wait.passes, 2);
	KUNIT_EXPECT_LE(test, wait.ended, 2 * WORKER_BUDGET);
}

static void fair_flush(struct kunit *test)
{
	fair_wait(test, NULL);
}

static void fair_cancel_sync(struct kunit *test)
{
	struct test_timeout *tt = env_timeouts(test, 1);

	fair_wait(test, tt);
	KUNIT_EXPECT_EQ(test, tt->cancelled, 1);
	KUNIT_EXPECT_EQ(test, tt->fired, 0);
}

static struct kunit_case fair_cases[] = {
	KUNIT_CASE_SLOW(fair_burst),
	KUNIT_CASE_SLOW(fair_cancel),
	KUNIT_CASE_SLOW(fair_stop),
	KUNIT_CASE_SLOW(fair_next_tick),
	KUNIT_CASE_SLOW(fair_flush),
	KUNIT_CASE_SLOW(fair_cancel_sync),
	{}
};

static struct kunit_suite fair_suite = {
	.name = "timewheel_fair",
	.init = env_init,
	.exit = env_exit,
	.test_cases = fair_cases,
};

kunit_test_suite(fair_suite);
