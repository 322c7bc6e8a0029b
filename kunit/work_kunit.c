// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeouts with a work item: slow ones delay nobody, and a stop or a cancel
 * waits for them.
 */

#include <linux/slab.h>
#include <linux/workqueue.h>

#include "kunit_util.h"
#include "../module/compat.h"

/**
 * struct test_work - a timeout with a work that notes what becomes of it
 * @w: the timeout with its work
 * @wheel: the case's
 * @ran: times it ran to its end
 * @again: arms itself again each time
 * @block: sleeps until released
 * @arg: the case's
 * @stops: tries to stop the wheel
 * @stop_returned: what a stop from within the work returned
 * @began: completed when a run begins
 * @release: what @block waits for
 */
struct test_work {
	struct timewheel_work w;
	struct timewheel *wheel;
	int ran;
	bool again;
	bool block;
	bool stops;
	void *arg;
	int stop_returned;
	struct completion began;
	struct completion release;
};

static void work_fn(struct timewheel_work *w)
{
	struct test_work *tw = container_of(w, struct test_work, w);

	might_sleep();
	complete(&tw->began);
	if (tw->block)
		wait_for_completion(&tw->release);
	if (tw->stops)
		tw->stop_returned = timewheel_stop(tw->wheel, NULL);
	if (tw->again)
		timewheel_work_add(tw->wheel, w, TICK);
	WRITE_ONCE(tw->ran, tw->ran + 1);
}

static struct test_work *test_work(struct kunit *test, struct timewheel *wheel,
				   struct workqueue_struct *wq)
{
	struct test_work *tw = kunit_kzalloc(test, sizeof(*tw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tw);
	timewheel_work_init(&tw->w, wq, work_fn);
	init_completion(&tw->began);
	init_completion(&tw->release);
	tw->wheel = wheel;
	return tw;
}

static void work_runs(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, NULL);

	KUNIT_EXPECT_EQ(test, timewheel_work_add(wheel, &tw->w, 5 * TICK), 0);
	KUNIT_EXPECT_EQ(test, timewheel_work_add(wheel, &tw->w, 5 * TICK), -EBUSY);
	KUNIT_EXPECT_EQ(test, timewheel_work_rearm(&tw->w, timewheel_now(wheel) +
							   20 * TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tw->ran) == 1));
	KUNIT_EXPECT_EQ(test, timewheel_work_rearm(&tw->w, 0), -ENOENT);
	KUNIT_EXPECT_FALSE(test, timewheel_work_cancel_sync(&tw->w));
}

static void work_on_a_given_queue(struct kunit *test)
{
	struct workqueue_struct *wq = alloc_workqueue("timewheel-kunit", WQ_UNBOUND, 0);
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, wq);

	KUNIT_ASSERT_NOT_NULL(test, wq);
	timewheel_work_add(wheel, &tw->w, TICK);
	wait_for_completion(&tw->began);
	/* It is there, so this waits for it. */
	destroy_workqueue(wq);
	KUNIT_EXPECT_EQ(test, tw->ran, 1);
}

/* A work that blocks for as long as it likes: the others are on time. */
static void work_delays_nobody(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *slow = test_work(test, wheel, NULL);
	struct test_timeout *tts = env_timeouts(test, 10);
	unsigned int i;
	u64 at;

	need_virtual_time(test);
	slow->block = true;
	timewheel_work_add(wheel, &slow->w, TICK);
	for (i = 0; i < 10; i++)
		timewheel_add(wheel, &tts[i].t, (i + 2) * 10 * TICK);
	sleep_ns(NSEC_PER_SEC);
	for (i = 0; i < 10; i++) {
		at = wheel_ceil(wheel, timewheel_expires(&tts[i].t));
		KUNIT_EXPECT_EQ_MSG(test, tts[i].fired, 1, "timeout %u", i);
		KUNIT_EXPECT_LE_MSG(test, tts[i].fired_ns, at + PROMPT, "timeout %u", i);
	}
	KUNIT_EXPECT_EQ(test, slow->ran, 0);
	complete(&slow->release);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(slow->ran) == 1));
}

static void cancel_thread(void *arg)
{
	struct test_work *tw = arg;

	timewheel_work_cancel_sync(&tw->w);
}

static void work_cancel_waits(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, NULL);
	struct test_thread thread;

	tw->block = true;
	timewheel_work_add(wheel, &tw->w, TICK);
	wait_for_completion(&tw->began);
	thread_start(test, &thread, cancel_thread, tw);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, completion_done(&thread.done));
	complete(&tw->release);
	thread_join(&thread);
	KUNIT_EXPECT_EQ(test, tw->ran, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&wheel->works), 0);
}

/* Before its time: it does not run. */
static void work_cancel_prevents(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, NULL);

	timewheel_work_add(wheel, &tw->w, 3600 * (s64)NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, timewheel_work_cancel_sync(&tw->w));
	KUNIT_EXPECT_FALSE(test, timewheel_work_cancel_sync(&tw->w));
	KUNIT_EXPECT_EQ(test, tw->ran, 0);
	books_expect(test, wheel, (struct test_books){ .armed = 1, .cancelled = 1 });
}

static void work_cancel_defeats(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, NULL);
	int ran;

	tw->again = true;
	timewheel_work_add(wheel, &tw->w, TICK);
	KUNIT_ASSERT_TRUE(test, wait_for(READ_ONCE(tw->ran) >= 3));
	timewheel_work_cancel_sync(&tw->w);
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tw->w.timeout));
	ran = READ_ONCE(tw->ran);
	msleep(50);
	KUNIT_EXPECT_EQ(test, READ_ONCE(tw->ran), ran);
	KUNIT_EXPECT_EQ(test, atomic_read(&wheel->works), 0);
}

static void work_again_at_once(struct timewheel_work *w)
{
	struct test_work *tw = container_of(w, struct test_work, w);

	timewheel_work_add(tw->wheel, w, 0);
	WRITE_ONCE(tw->ran, tw->ran + 1);
}

/* Its timeout may fire and be about to queue the work, just as the work ended. */
static void work_cancel_at_any_moment(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, NULL);
	unsigned int i;
	int ran;

	timewheel_work_init(&tw->w, NULL, work_again_at_once);
	for (i = 0; i < 2000; i++) {
		ran = READ_ONCE(tw->ran);
		KUNIT_ASSERT_EQ(test, timewheel_work_add(wheel, &tw->w, 0), 0);
		while (READ_ONCE(tw->ran) == ran)
			usleep_range(1, 20);
		timewheel_work_cancel_sync(&tw->w);
		KUNIT_ASSERT_FALSE(test, timewheel_pending(&tw->w.timeout));
		KUNIT_ASSERT_FALSE(test, work_busy(&tw->w.work));
		KUNIT_ASSERT_EQ(test, atomic_read(&wheel->works), 0);
	}
}

static void stop_thread(void *arg)
{
	timewheel_stop(arg, NULL);
}

static void work_stop_flushes(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, NULL);
	struct test_thread thread;

	tw->block = true;
	/* Which is refused then. */
	tw->again = true;
	timewheel_work_add(wheel, &tw->w, TICK);
	wait_for_completion(&tw->began);
	thread_start(test, &thread, stop_thread, wheel);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, completion_done(&thread.done));
	complete(&tw->release);
	thread_join(&thread);
	KUNIT_EXPECT_EQ(test, tw->ran, 1);
	books_expect(test, wheel, (struct test_books){
		     .armed = 1, .fired = 1, .rejected = 1 });
}

static void work_must_not_stop(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, NULL);

	tw->stops = true;
	timewheel_work_add(wheel, &tw->w, TICK);
	KUNIT_ASSERT_TRUE(test, wait_for(READ_ONCE(tw->ran) == 1));
	KUNIT_EXPECT_EQ(test, tw->stop_returned, -EDEADLK);
}

/* A work that waits for what the stop is just ending. */
static void work_cancels(struct timewheel_work *w)
{
	struct test_work *tw = container_of(w, struct test_work, w);
	struct test_timeout *other = tw->arg;

	complete(&tw->began);
	while (timewheel_add(tw->wheel, &other->t, NSEC_PER_SEC) != -ESHUTDOWN)
		timewheel_cancel_sync(&other->t);
	WRITE_ONCE(tw->ran, tw->ran + 1);
}

static void work_cancels_within_stop(struct kunit *test)
{
	struct test_timeout *other = env_timeouts(test, 1);
	unsigned int i;

	env_timeout_init(test, other, 0, &test_quiet_ops);
	for (i = 0; i < ENV_WHEELS; i++) {
		struct timewheel *wheel = env_wheel(test, 64, 3);
		struct test_work *tw = test_work(test, wheel, NULL);

		timewheel_work_init(&tw->w, NULL, work_cancels);
		tw->arg = other;
		timewheel_work_add(wheel, &tw->w, TICK);
		wait_for_completion(&tw->began);
		msleep(20);
		KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
		KUNIT_EXPECT_EQ(test, tw->ran, 1);
	}
}

/* A stop from a work that has freed itself, of a wheel that is not its own. */
struct stopping_work {
	struct timewheel_work w;
	struct timewheel *other;
	struct completion *done;
	int *returned;
};

static void work_frees_and_stops(struct timewheel_work *w)
{
	struct stopping_work *sw = container_of(w, struct stopping_work, w);
	struct timewheel *other = sw->other;
	struct completion *done = sw->done;
	int *returned = sw->returned;

	kfree(sw);
	*returned = timewheel_stop(other, NULL);
	complete(done);
}

static void work_stops_another(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct timewheel *other = env_wheel(test, 64, 3);
	DECLARE_COMPLETION_ONSTACK(done);
	struct stopping_work *sw = kzalloc_obj(*sw, GFP_KERNEL);
	int returned = -1;

	KUNIT_ASSERT_NOT_NULL(test, sw);
	sw->other = other;
	sw->done = &done;
	sw->returned = &returned;
	timewheel_work_init(&sw->w, NULL, work_frees_and_stops);
	timewheel_work_add(wheel, &sw->w, TICK);
	wait_for_completion(&done);
	KUNIT_EXPECT_EQ(test, returned, 0);
}

/* While its work is queued or runs, it is the first wheel's. */
static void work_keeps_its_wheel(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct timewheel *other = env_wheel(test, 64, 3);
	struct test_work *tw = test_work(test, wheel, NULL);

	tw->block = true;
	timewheel_work_add(wheel, &tw->w, TICK);
	wait_for_completion(&tw->began);
	KUNIT_EXPECT_EQ(test, timewheel_work_add(other, &tw->w, TICK), -EBUSY);
	complete(&tw->release);
	timewheel_work_cancel_sync(&tw->w);
	tw->block = false;
	KUNIT_EXPECT_EQ(test, timewheel_work_add(other, &tw->w, TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tw->ran) == 2));
}

static atomic_t freed;

static void work_free(struct timewheel_work *w)
{
	kfree(w);
	atomic_inc(&freed);
}

static void work_frees_itself(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct timewheel_work *w;
	unsigned int i;

	atomic_set(&freed, 0);
	for (i = 0; i < 100; i++) {
		w = kzalloc_obj(*w, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, w);
		timewheel_work_init(w, NULL, work_free);
		timewheel_work_add(wheel, w, i % 7 * TICK);
	}
	KUNIT_EXPECT_TRUE(test, wait_for(atomic_read(&freed) == 100));
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wheel->works), 0);
}

static struct kunit_case work_cases[] = {
	KUNIT_CASE(work_runs),
	KUNIT_CASE(work_on_a_given_queue),
	KUNIT_CASE(work_delays_nobody),
	KUNIT_CASE(work_cancel_waits),
	KUNIT_CASE(work_cancel_prevents),
	KUNIT_CASE(work_cancel_defeats),
	KUNIT_CASE(work_cancel_at_any_moment),
	KUNIT_CASE(work_stop_flushes),
	KUNIT_CASE(work_must_not_stop),
	KUNIT_CASE(work_frees_itself),
	KUNIT_CASE(work_cancels_within_stop),
	KUNIT_CASE(work_stops_another),
	KUNIT_CASE(work_keeps_its_wheel),
	{}
};

static struct kunit_suite work_suite = {
	.name = "timewheel_work",
	.init = env_init,
	.exit = env_exit,
	.test_cases = work_cases,
};

kunit_test_suite(work_suite);
