// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users of the well-known hashed wheels rely on, part three: what a timeout
 * runs.  The list is in peers_kunit.c.
 */

#include <linux/slab.h>
#include <linux/workqueue.h>

#include "kunit_util.h"
#include "../module/compat.h"

/**
 * struct peers_work - a work that waits until it is released
 * @w: the timeout with its work
 * @began: completed when it runs
 * @release: what it waits for
 */
struct peers_work {
	struct timewheel_work w;
	struct completion began;
	struct completion release;
};

static void peers_work_fn(struct timewheel_work *w)
{
	struct peers_work *pw = container_of(w, struct peers_work, w);

	complete(&pw->began);
	wait_for_completion(&pw->release);
}

static struct peers_work *peers_works(struct kunit *test, unsigned int nr)
{
	struct peers_work *pw = kunit_kcalloc(test, nr, sizeof(*pw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pw);
	while (nr--) {
		init_completion(&pw[nr].began);
		init_completion(&pw[nr].release);
	}
	return pw;
}

/* The queue given does one thing at a time, the module's own does not. */
static void peers_executor(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 32, 1);
	struct peers_work *pw = peers_works(test, 3);
	struct workqueue_struct *wq;
	unsigned int i;

	wq = alloc_ordered_workqueue("timewheel-kunit", 0);
	KUNIT_ASSERT_NOT_NULL(test, wq);
	for (i = 0; i < 3; i++) {
		timewheel_work_init(&pw[i].w, i < 2 ? wq : NULL, peers_work_fn);
		timewheel_work_add(wheel, &pw[i].w, 5 * TICK);
	}
	wait_for_completion(&pw[0].began);
	wait_for_completion(&pw[2].began);
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&pw[1].began));
	complete(&pw[0].release);
	wait_for_completion(&pw[1].began);
	complete(&pw[1].release);
	complete(&pw[2].release);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
	destroy_workqueue(wq);
}

static void peers_free(struct timewheel_timeout *t)
{
	kfree(t);
}

/*
 * Nothing is thrown here.  What a callback can do to its timeout is free it, and
 * what a task can do is hang: neither touches the others.
 */
static void peers_failing_task(struct kunit *test)
{
	static const struct timewheel_ops free_ops = { .expired = peers_free };
	struct timewheel_timeout *gone = kzalloc(sizeof(*gone), GFP_KERNEL);
	struct timewheel *wheel = env_wheel(test, 32, 1);
	struct peers_work *pw = peers_works(test, 2);
	struct test_timeout *tt = env_timeouts(test, 1);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, gone);
	timewheel_timeout_init(gone, &free_ops);
	timewheel_add(wheel, gone, TICK);
	for (i = 0; i < 2; i++) {
		timewheel_work_init(&pw[i].w, NULL, peers_work_fn);
		timewheel_work_add(wheel, &pw[i].w, 2 * TICK);
		wait_for_completion(&pw[i].began);
	}
	timewheel_add(wheel, &tt->t, 3 * TICK);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired)));
	books_expect(test, wheel, (struct test_books){ .armed = 4, .fired = 4 });
	for (i = 0; i < 2; i++)
		complete(&pw[i].release);
}

/**
 * struct peers_slow - a periodic timeout whose callback takes too long
 * @p: the timeout
 * @first: when it was due first
 * @fired: times it fired
 * @missed: periods it was told to have missed
 * @wrong: times the two did not make up what has passed, or more were pending
 */
struct peers_slow {
	struct timewheel_periodic p;
	u64 first;
	u64 fired;
	u64 missed;
	unsigned int wrong;
};

#define PERIOD	(10 * TICK)

static void peers_slow_expired(struct timewheel_timeout *t)
{
	struct peers_slow *slow = container_of(t, struct peers_slow, p.timeout);
	u64 periods = div64_u64(t->wheel->now_ns - slow->first, PERIOD) + 1;

	slow->fired++;
	slow->missed += timewheel_overruns(t);
	slow->wrong += slow->fired + slow->missed != periods;
	slow->wrong += timewheel_nr_pending(t->wheel) != 1;
	/* Against the rules for callbacks, but what else is slow in virtual time? */
	sleep_ns(3 * PERIOD + PERIOD / 2);
}

/* Three and a half periods each time: what passes meanwhile is only counted. */
static void peers_periodic(struct kunit *test)
{
	static const struct timewheel_ops ops = { .expired = peers_slow_expired };
	struct peers_slow *slow = kunit_kzalloc(test, sizeof(*slow), GFP_KERNEL);
	struct timewheel *wheel = env_wheel(test, 32, 1);

	need_virtual_time(test);
	KUNIT_ASSERT_NOT_NULL(test, slow);
	timewheel_timeout_init(&slow->p.timeout, &ops);
	slow->first = wheel_at(wheel, 20);
	timewheel_periodic_add(wheel, &slow->p, slow->first, PERIOD, 0);
	sleep_until(slow->first + 100 * PERIOD);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel_sync(&slow->p.timeout));
	KUNIT_EXPECT_EQ(test, slow->wrong, 0);
	/* 100 periods in steps of three and a half, and the first. */
	KUNIT_EXPECT_EQ(test, slow->fired, 100 * 2 / 7 + 1);
	KUNIT_EXPECT_EQ(test, wheel->books.overruns, slow->missed);
}

static void peers_add_late(struct test_timeout *tt)
{
	/* As above. */
	sleep_ns(50 * TICK);
	timewheel_add(tt->t.wheel, &tt[1].t, 10 * TICK);
}

/* A delay counts from the call, however long ago the pass read the clock. */
static void peers_fresh_clock(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 32, 1);
	struct test_timeout *tts = env_timeouts(test, 2);

	need_virtual_time(test);
	tts[0].on_expired = peers_add_late;
	timewheel_add(wheel, &tts[0].t, 5 * TICK);
	sleep_ns(200 * TICK);
	KUNIT_EXPECT_EQ(test, tts[1].fired, 1);
	KUNIT_EXPECT_GE(test, tts[1].fired_ns, tts[0].fired_ns + 60 * TICK);
	KUNIT_EXPECT_LE(test, tts[1].fired_ns, tts[0].fired_ns + 61 * TICK + PROMPT);
}

static struct kunit_case peers_work_cases[] = {
	KUNIT_CASE(peers_executor),
	KUNIT_CASE(peers_failing_task),
	KUNIT_CASE(peers_periodic),
	KUNIT_CASE(peers_fresh_clock),
	{}
};

static struct kunit_suite peers_work_suite = {
	.name = "timewheel_peers_work",
	.init = env_init,
	.exit = env_exit,
	.test_cases = peers_work_cases,
};

kunit_test_suite(peers_work_suite);
