// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel_cancel_sync(): when it returns, the wheel is done with the timeout.
 */

#include <linux/slab.h>

#include "kunit_util.h"

#define FAR	(3600 * (u64)NSEC_PER_SEC)

static void sync_idle(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);

	KUNIT_EXPECT_FALSE(test, timewheel_cancel_sync(&tt->t));
	timewheel_add(wheel, &tt->t, 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired)));
	KUNIT_EXPECT_FALSE(test, timewheel_cancel_sync(&tt->t));
	KUNIT_EXPECT_EQ(test, tt->cancelled, 0);
}

/* Submitted, filed, or moving: told when it returns, and out of the wheel. */
static void sync_pending(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 3);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		timewheel_add(wheel, &tts[i].t, FAR);
		if (i)
			wheel_settle(wheel);
		if (i == 2)
			timewheel_rearm(&tts[i].t, U64_MAX);
		KUNIT_EXPECT_TRUE(test, timewheel_cancel_sync(&tts[i].t));
		KUNIT_EXPECT_EQ(test, tts[i].cancelled, 1);
		KUNIT_EXPECT_TRUE(test, list_empty(&tts[i].t.node.link));
		KUNIT_EXPECT_EQ(test, atomic_read(&tts[i].t.state), 0);
		KUNIT_EXPECT_FALSE(test, timewheel_cancel_sync(&tts[i].t));
	}
	books_expect(test, wheel, (struct test_books){ .armed = 3, .cancelled = 3 });
}

/* It does not wait for housekeeping. */
static void sync_is_prompt(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	u64 before;

	need_virtual_time(test);
	timewheel_add(wheel, &tt->t, FAR);
	wheel_settle(wheel);
	before = timewheel_now(wheel);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel_sync(&tt->t));
	KUNIT_EXPECT_LE(test, timewheel_now(wheel), before + PROMPT);
}

/* Freed at once; KASAN sees to it that nobody looks at it afterwards. */
static void sync_and_free(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	unsigned int i, fired = 0, cancelled = 0;

	for (i = 0; i < 300; i++) {
		struct test_timeout *tt = kzalloc(sizeof(*tt), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, tt);
		env_timeout_init(test, tt, i, i % 2 ? &test_ops : &test_quiet_ops);
		timewheel_add(wheel, &tt->t, i % 3 ? FAR : 0);
		if (i % 5 == 0)
			timewheel_rearm(&tt->t, timewheel_now(wheel) + TICK);
		if (i % 7 == 0)
			usleep_range(500, 1500);
		if (i % 11 == 0)
			cancelled += timewheel_cancel(&tt->t);
		cancelled += timewheel_cancel_sync(&tt->t);
		fired += tt->fired;
		kfree(tt);
	}
	KUNIT_EXPECT_EQ(test, fired + cancelled, 300);
	wheel_settle(wheel);
	books_expect(test, wheel, (struct test_books){
		.armed = 300, .fired = fired, .cancelled = cancelled });
}

/**
 * struct sync_call - a cancel by another thread
 * @tt: the timeout
 * @ret: what it returned
 * @told: times the timeout had been told when it returned
 */
struct sync_call {
	struct test_timeout *tt;
	bool ret;
	unsigned int told;
};

static void sync_other(void *arg)
{
	struct sync_call *call = arg;

	call->ret = timewheel_cancel_sync(&call->tt->t);
	call->told = call->tt->cancelled;
}

/* It waits for the callback that runs, which it could not prevent. */
static void sync_waits(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 1);
	struct test_thread *thread = kunit_kzalloc(test, sizeof(*thread), GFP_KERNEL);
	struct sync_call call = { .tt = tts, .ret = true };

	KUNIT_ASSERT_NOT_NULL(test, thread);
	tts[0].on_expired = env_block;
	timewheel_add(wheel, &tts[0].t, 0);
	wait_for_completion(&tts[0].reached);
	thread_start(test, thread, sync_other, &call);
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
	complete(&tts[0].release);
	thread_join(thread);
	KUNIT_EXPECT_FALSE(test, call.ret);
	KUNIT_EXPECT_EQ(test, tts[0].fired, 1);
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 0);
}

/* And for a cancelled callback, that it did not bring about itself. */
static void sync_waits_for_cancelled(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 1);
	struct test_thread *thread = kunit_kzalloc(test, sizeof(*thread), GFP_KERNEL);
	struct sync_call call = { .tt = tts, .ret = true };

	KUNIT_ASSERT_NOT_NULL(test, thread);
	tts[0].on_cancelled = env_block;
	timewheel_add(wheel, &tts[0].t, FAR);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[0].t));
	wait_for_completion(&tts[0].reached);
	thread_start(test, thread, sync_other, &call);
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
	complete(&tts[0].release);
	thread_join(thread);
	KUNIT_EXPECT_FALSE(test, call.ret);
	KUNIT_EXPECT_EQ(test, call.told, 1);
}

/* Another one's callback holds the worker: it waits for that too. */
static void sync_behind_another(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 2);
	struct test_thread *thread = kunit_kzalloc(test, sizeof(*thread), GFP_KERNEL);
	struct sync_call call = { .tt = &tts[1] };

	KUNIT_ASSERT_NOT_NULL(test, thread);
	tts[0].on_expired = env_block;
	timewheel_add(wheel, &tts[1].t, FAR);
	timewheel_add(wheel, &tts[0].t, 0);
	wait_for_completion(&tts[0].reached);
	thread_start(test, thread, sync_other, &call);
	msleep(200);
	/* Prevented already, but still in the wheel. */
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tts[1].t));
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
	complete(&tts[0].release);
	thread_join(thread);
	KUNIT_EXPECT_TRUE(test, call.ret);
	KUNIT_EXPECT_EQ(test, call.told, 1);
}

static void sync_arm_again(struct test_timeout *tt)
{
	timewheel_add(tt->t.wheel, &tt->t, TICK);
}

static void sync_move_again(struct test_timeout *tt)
{
	timewheel_rearm(&tt->t, 0);
}

/* One that arms itself for ever comes to an end, at any moment. */
static void sync_defeats(struct kunit *test, void (*again)(struct test_timeout *tt))
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	unsigned int i, fired = 0, cancelled = 0;

	tt->on_expired = again;
	for (i = 0; i < 50; i++) {
		KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, 0), 0);
		usleep_range(3000 + 37 * i, 3000 + 40 * i);
		/* A slow machine may not have come to it. */
		KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired) > fired));
		cancelled += timewheel_cancel_sync(&tt->t);
		KUNIT_EXPECT_FALSE(test, timewheel_pending(&tt->t));
		KUNIT_EXPECT_EQ(test, atomic_read(&tt->t.state), 0);
		fired = READ_ONCE(tt->fired);
		usleep_range(3000, 4000);
		KUNIT_EXPECT_EQ(test, READ_ONCE(tt->fired), fired);
	}
	KUNIT_EXPECT_EQ(test, cancelled, 50);
	KUNIT_EXPECT_EQ(test, tt->cancelled, 50);
	KUNIT_EXPECT_GE(test, tt->fired, 50);
}

/* However the looks of the canceller lie to what the worker does just then. */
static void sync_at_any_moment(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	unsigned int i, fired, cancelled = 0;

	tt->on_expired = sync_move_again;
	for (i = 0; i < 5000; i++) {
		fired = READ_ONCE(tt->fired);
		KUNIT_ASSERT_EQ(test, timewheel_add(wheel, &tt->t, 0), 0);
		while (READ_ONCE(tt->fired) == fired)
			usleep_range(1, 20);
		cancelled += timewheel_cancel_sync(&tt->t);
		KUNIT_ASSERT_EQ(test, atomic_read(&tt->t.state), 0);
		KUNIT_ASSERT_PTR_EQ(test, READ_ONCE(wheel->firing), NULL);
	}
	KUNIT_EXPECT_EQ(test, cancelled, 5000);
}

static void sync_defeats_arming(struct kunit *test)
{
	sync_defeats(test, sync_arm_again);
}

static void sync_defeats_moving(struct kunit *test)
{
	sync_defeats(test, sync_move_again);
}

/* One of them prevents it, and all of them wait. */
static void sync_from_many(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 50);
	struct sync_call calls[4];
	struct test_thread *threads;
	unsigned int round, i, prevented;

	threads = kunit_kcalloc(test, 4, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	for (round = 0; round < 50; round++) {
		struct test_timeout *tt = &tts[round];

		timewheel_add(wheel, &tt->t, round % 2 ? FAR : 1);
		for (i = 0; i < 4; i++) {
			calls[i] = (struct sync_call){ .tt = tt };
			thread_start(test, &threads[i], sync_other, &calls[i]);
		}
		for (i = 0, prevented = 0; i < 4; i++) {
			thread_join(&threads[i]);
			prevented += calls[i].ret;
			KUNIT_EXPECT_EQ(test, calls[i].told + tt->fired, 1);
		}
		KUNIT_EXPECT_EQ(test, prevented + tt->fired, 1);
		KUNIT_EXPECT_EQ(test, tt->cancelled, prevented);
	}
}

static void sync_after_stop(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 2);

	timewheel_add(wheel, &tts[0].t, FAR);
	timewheel_add(wheel, &tts[1].t, FAR);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[1].t));
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
	KUNIT_EXPECT_FALSE(test, timewheel_cancel_sync(&tts[0].t));
	KUNIT_EXPECT_FALSE(test, timewheel_cancel_sync(&tts[1].t));
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 1);
	KUNIT_EXPECT_EQ(test, tts[1].cancelled, 1);
}

/* Its callback is the first wheel's to answer for, until it has returned. */
static void sync_other_from_callback(struct test_timeout *tt)
{
	struct timewheel *other = tt->arg;

	tt->arg = ERR_PTR(timewheel_add(other, &tt->t, TICK));
}

static void sync_keeps_its_wheel(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct timewheel *other = env_wheel(test, 64, 3);
	struct test_timeout *tt = env_timeouts(test, 1);

	tt->arg = other;
	tt->on_expired = sync_other_from_callback;
	timewheel_add(wheel, &tt->t, TICK);
	KUNIT_ASSERT_TRUE(test, wait_for(READ_ONCE(tt->fired) == 1));
	timewheel_cancel_sync(&tt->t);
	KUNIT_EXPECT_PTR_EQ(test, tt->arg, ERR_PTR(-EBUSY));
	tt->on_expired = NULL;
	KUNIT_EXPECT_EQ(test, timewheel_add(other, &tt->t, TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired) == 2));
	timewheel_cancel_sync(&tt->t);
}

static struct kunit_case sync_cases[] = {
	KUNIT_CASE(sync_keeps_its_wheel),
	KUNIT_CASE(sync_idle),
	KUNIT_CASE(sync_pending),
	KUNIT_CASE(sync_is_prompt),
	KUNIT_CASE(sync_and_free),
	KUNIT_CASE(sync_waits),
	KUNIT_CASE(sync_waits_for_cancelled),
	KUNIT_CASE(sync_behind_another),
	KUNIT_CASE(sync_defeats_arming),
	KUNIT_CASE(sync_defeats_moving),
	KUNIT_CASE(sync_at_any_moment),
	KUNIT_CASE(sync_from_many),
	KUNIT_CASE(sync_after_stop),
	{}
};

static struct kunit_suite sync_suite = {
	.name = "timewheel_sync",
	.init = env_init,
	.exit = env_exit,
	.test_cases = sync_cases,
};

kunit_test_suite(sync_suite);
