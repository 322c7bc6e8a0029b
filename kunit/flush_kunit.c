// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for the worker: for a pass, and for all that was queued.
 */

#include "kunit_util.h"

#define FAR	(3600 * (u64)NSEC_PER_SEC)

/**
 * struct flush_call - somebody who waits for the worker
 * @wheel: whose worker
 * @await: waits for what is queued, else for a pass
 * @core_nr: how many timeouts were filed when he was done
 */
struct flush_call {
	struct timewheel *wheel;
	bool await;
	u64 core_nr;
};

static void flush_other(void *arg)
{
	struct flush_call *call = arg;

	if (call->await)
		worker_await(call->wheel, worker_mark(call->wheel));
	else
		worker_flush(call->wheel);
	call->core_nr = call->wheel->core.nr;
}

/* It ends, whatever it takes that somebody else does. */
static void flush_join(struct kunit *test, struct test_thread *thread,
		       struct timewheel *wheel)
{
	KUNIT_EXPECT_TRUE(test, wait_for(completion_done(&thread->done)));
	/* A stop lets go of whoever waits. */
	if (!completion_done(&thread->done))
		timewheel_stop(wheel, NULL);
	thread_join(thread);
}

static struct test_thread *flush_threads(struct kunit *test, unsigned int nr)
{
	struct test_thread *threads;

	threads = kunit_kcalloc(test, nr, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	return threads;
}

/* Nothing would wake the worker, now or ever: who waits for a pass makes one. */
static void flush_asleep(struct kunit *test)
{
	struct test_thread *thread = flush_threads(test, 1);
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct flush_call call = { .wheel = wheel };
	unsigned int i;

	for (i = 0; i < 6; i++) {
		u64 passes = wheel->books.passes;

		call.await = i % 2;
		thread_start(test, thread, flush_other, &call);
		flush_join(test, thread, wheel);
		/*
		 * A kick is a promise and then a wake-up: a worker that finds the
		 * first by itself is woken by the second once more.
		 */
		KUNIT_EXPECT_GT(test, wheel->books.passes, passes);
		KUNIT_EXPECT_LE(test, wheel->books.passes,
				passes + (time_is_virtual() ? 1 : 2));
	}
}

/* The pass that runs when it is called does not do, nor does it wait for two. */
static void flush_in_a_pass(struct kunit *test)
{
	struct test_thread *thread = flush_threads(test, 1);
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 2);
	struct flush_call call = { .wheel = wheel };

	tts[0].on_expired = env_block;
	tts[1].on_expired = env_block;
	timewheel_add(wheel, &tts[0].t, 0);
	wait_for_completion(&tts[0].reached);
	thread_start(test, thread, flush_other, &call);
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
	timewheel_add_at(wheel, &tts[1].t, 0);
	complete(&tts[0].release);
	/* In the pass that it waits for. */
	wait_for_completion(&tts[1].reached);
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
	complete(&tts[1].release);
	flush_join(test, thread, wheel);
}

/* All that was queued before is filed after, however many passes that takes. */
static void flush_await(struct kunit *test)
{
	const unsigned int nr = 5 * WORKER_BUDGET / 2;
	struct test_thread *thread = flush_threads(test, 1);
	struct test_timeout *tts = env_timeouts(test, nr + 1);
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct flush_call call = { .wheel = wheel, .await = true };
	unsigned int i;
	u64 passes;

	tts[nr].on_expired = env_block;
	timewheel_add(wheel, &tts[nr].t, 0);
	wait_for_completion(&tts[nr].reached);
	for (i = 0; i < nr; i++)
		timewheel_add(wheel, &tts[i].t, FAR);
	passes = wheel->books.passes;
	thread_start(test, thread, flush_other, &call);
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
	complete(&tts[nr].release);
	flush_join(test, thread, wheel);
	KUNIT_EXPECT_EQ(test, call.core_nr, nr);
	KUNIT_EXPECT_GE(test, wheel->books.passes - passes, 3);
}

/* From several threads at once, while others keep the worker busy or let it sleep. */
static void flush_crowd_fn(void *arg)
{
	struct flush_call *call = arg;
	unsigned int i;

	for (i = 0; i < 300; i++) {
		flush_other(call);
		call->await = !call->await;
		if (i % 16 == 0)
			usleep_range(50, 300);
	}
}

static void flush_crowd(struct kunit *test)
{
	struct test_thread *threads = flush_threads(test, 4);
	struct test_timeout *tts = env_timeouts(test, 1000);
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct flush_call calls[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		calls[i] = (struct flush_call){ .wheel = wheel, .await = i % 2 };
		thread_start(test, &threads[i], flush_crowd_fn, &calls[i]);
	}
	for (i = 0; i < 1000; i++) {
		timewheel_add(wheel, &tts[i].t, i % 2 ? FAR : 0);
		if (i % 10 == 0)
			usleep_range(50, 300);
	}
	for (i = 0; i < 4; i++)
		flush_join(test, &threads[i], wheel);
	/* 1,200 waits: the passes of some served others too. */
	KUNIT_EXPECT_GE(test, wheel->books.passes, 300);
}

static struct kunit_case flush_cases[] = {
	KUNIT_CASE(flush_asleep),
	KUNIT_CASE(flush_in_a_pass),
	KUNIT_CASE(flush_await),
	KUNIT_CASE(flush_crowd),
	{}
};

static struct kunit_suite flush_suite = {
	.name = "timewheel_flush",
	.init = env_init,
	.exit = env_exit,
	.test_cases = flush_cases,
};

kunit_test_suite(flush_suite);
