// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stopping a wheel: what was armed is handed back, each once, and nothing runs
 * any more.
 */

#include "kunit_util.h"

#define FAR	(3600 * (u64)NSEC_PER_SEC)

/* Take what a stop handed back: bit by number, and each must be idle. */
static u64 stop_take(struct kunit *test, struct list_head *unprocessed)
{
	struct timewheel_timeout *t, *next;
	u64 seen = 0;

	list_for_each_entry_safe(t, next, unprocessed, node.link) {
		u64 bit = BIT_ULL(container_of(t, struct test_timeout, t)->id);

		KUNIT_EXPECT_FALSE(test, timewheel_pending(t));
		KUNIT_EXPECT_EQ(test, seen & bit, 0);
		seen |= bit;
		list_del_init(&t->node.link);
	}
	return seen;
}

/* From everywhere that a timeout may be. */
static void stop_hands_back(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 16, 2);
	struct test_timeout *tts = env_timeouts(test, 64);
	LIST_HEAD(unprocessed);
	unsigned int i;

	/* Filed on each level, and in later revolutions. */
	for (i = 0; i < 40; i++)
		timewheel_add(wheel, &tts[i].t, 20 * (u64)NSEC_PER_SEC + (TICK << i % 20));
	wheel_settle(wheel);
	/* Moved, touched, cancelled; the last not yet taken out. */
	for (i = 0; i < 5; i++)
		timewheel_rearm(&tts[i].t, timewheel_now(wheel) + FAR + i);
	for (i = 5; i < 10; i++)
		timewheel_touch(&tts[i].t, U64_MAX);
	for (i = 10; i < 15; i++)
		KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[i].t));
	/* Just submitted; of these too one moved and one cancelled. */
	for (i = 40; i < 64; i++)
		timewheel_add(wheel, &tts[i].t, FAR);
	timewheel_rearm(&tts[40].t, timewheel_now(wheel) + 2 * FAR);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[41].t));

	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_EQ(test, stop_take(test, &unprocessed),
			U64_MAX & ~GENMASK_ULL(14, 10) & ~BIT_ULL(41));
	for (i = 0; i < 64; i++) {
		bool cancelled = i == 41 || (i >= 10 && i < 15);

		KUNIT_EXPECT_EQ(test, tts[i].fired, 0);
		KUNIT_EXPECT_EQ(test, tts[i].cancelled, cancelled);
		KUNIT_EXPECT_FALSE(test, timewheel_cancel(&tts[i].t));
	}
	books_expect(test, wheel, (struct test_books){
		.armed = 64, .cancelled = 6, .unprocessed = 58 });
}

/* What is handed back is its owner's, who may arm it on another wheel. */
static void stop_and_go_on(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct timewheel *other = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	LIST_HEAD(unprocessed);

	timewheel_add(wheel, &tt->t, FAR);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_EQ(test, stop_take(test, &unprocessed), 1);
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tt->t, 0), -ENOENT);
	KUNIT_EXPECT_FALSE(test, timewheel_cancel_sync(&tt->t));
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, 0), -ESHUTDOWN);
	env_forget(test, wheel);
	timewheel_destroy(wheel);
	KUNIT_EXPECT_EQ(test, timewheel_add(other, &tt->t, 0), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired)));
}

/* With nobody to hand back to, they are told. */
static void stop_tells(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 4);
	unsigned int i;

	env_timeout_init(test, &tts[3], 3, &test_quiet_ops);
	timewheel_add(wheel, &tts[0].t, FAR);
	timewheel_add(wheel, &tts[1].t, FAR);
	timewheel_add(wheel, &tts[3].t, FAR);
	timewheel_cancel(&tts[1].t);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 1);
	KUNIT_EXPECT_EQ(test, tts[1].cancelled, 1);
	KUNIT_EXPECT_EQ(test, tts[2].cancelled, 0);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, tts[i].fired, 0);
		KUNIT_EXPECT_FALSE(test, timewheel_pending(&tts[i].t));
	}
	books_expect(test, wheel, (struct test_books){
		.armed = 3, .cancelled = 1, .unprocessed = 2 });
}

static void stop_twice(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	LIST_HEAD(unprocessed);
	LIST_HEAD(more);

	timewheel_add(wheel, &tt->t, FAR);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &more), 0);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&more));
	KUNIT_EXPECT_EQ(test, tt->cancelled, 0);
	KUNIT_EXPECT_EQ(test, stop_take(test, &unprocessed), 1);
}

static void stop_before_start(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	LIST_HEAD(unprocessed);

	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&unprocessed));
	KUNIT_EXPECT_EQ(test, timewheel_start(wheel), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, 0), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tt->t, U64_MAX), -ESHUTDOWN);
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tt->t));
	books_expect(test, wheel, (struct test_books){ .rejected = 2 });
}

static void stop_from_callback(struct test_timeout *tt)
{
	*(int *)tt->arg = timewheel_stop(tt->t.wheel, NULL);
}

/* Refused, and the wheel goes on as if it had not been asked. */
static void stop_in_callback(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 3);
	int ret[2] = { 1, 1 };

	tts[0].on_expired = stop_from_callback;
	tts[0].arg = &ret[0];
	timewheel_add(wheel, &tts[0].t, 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(ret[0]) != 1));
	KUNIT_EXPECT_EQ(test, ret[0], -EDEADLK);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[1].t, 0), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[1].fired)));

	/* Nor from a callback that a stop calls. */
	tts[2].on_cancelled = stop_from_callback;
	tts[2].arg = &ret[1];
	timewheel_add(wheel, &tts[2].t, FAR);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
	KUNIT_EXPECT_EQ(test, ret[1], -EDEADLK);
}

/**
 * struct stop_call - a stop by another thread
 * @wheel: the wheel
 * @unprocessed: what it was handed back
 * @ret: what it returned
 */
struct stop_call {
	struct timewheel *wheel;
	struct list_head unprocessed;
	int ret;
};

static void stop_other(void *arg)
{
	struct stop_call *call = arg;

	call->ret = timewheel_stop(call->wheel, &call->unprocessed);
}

/* It waits for the callback that runs; two stops are as one. */
static void stop_waits(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 2);
	struct test_thread *threads;
	struct stop_call calls[2];
	unsigned int i;

	threads = kunit_kcalloc(test, 2, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	tts[0].on_expired = env_block;
	timewheel_add(wheel, &tts[0].t, 0);
	timewheel_add(wheel, &tts[1].t, FAR);
	wait_for_completion(&tts[0].reached);
	for (i = 0; i < 2; i++) {
		calls[i].wheel = wheel;
		calls[i].ret = 1;
		INIT_LIST_HEAD(&calls[i].unprocessed);
		thread_start(test, &threads[i], stop_other, &calls[i]);
	}
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&threads[0].done));
	KUNIT_EXPECT_FALSE(test, completion_done(&threads[1].done));
	complete(&tts[0].release);
	thread_join(&threads[0]);
	thread_join(&threads[1]);
	KUNIT_EXPECT_EQ(test, calls[0].ret, 0);
	KUNIT_EXPECT_EQ(test, calls[1].ret, 0);
	/* One of them has it. */
	KUNIT_EXPECT_EQ(test, stop_take(test, &calls[0].unprocessed) +
			      stop_take(test, &calls[1].unprocessed), BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, tts[0].fired, 1);
}

/* Destroyed as it is: stopped, with nobody to hand back to. */
static void stop_by_destroying(struct kunit *test)
{
	const struct timewheel_params params = { .name = "kunit-destroyed" };
	struct timewheel *wheel = timewheel_create(&params);
	struct test_timeout *tts = env_timeouts(test, 2);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, wheel);
	timewheel_add(wheel, &tts[0].t, FAR);
	timewheel_add(wheel, &tts[1].t, FAR);
	timewheel_cancel(&tts[1].t);
	timewheel_destroy(wheel);
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 1);
	KUNIT_EXPECT_EQ(test, tts[1].cancelled, 1);
	/* Idle, whatever has become of the wheel. */
	KUNIT_EXPECT_FALSE(test, timewheel_cancel(&tts[0].t));
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[0].t, 0), -ENOENT);
}

#define RACE_ADDS	2000

/**
 * struct stop_race - a thread that arms until it is refused
 * @wheel: the wheel
 * @tts: its timeouts
 * @armed: how many it armed
 * @odd: errors other than -ESHUTDOWN
 * @begun: it has armed one
 */
struct stop_race {
	struct timewheel *wheel;
	struct test_timeout *tts;
	unsigned int armed;
	unsigned int odd;
	struct completion begun;
};

static void stop_race_add(void *arg)
{
	struct stop_race *race = arg;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < RACE_ADDS && !ret; i++) {
		/* Some of them due before the stop, some never. */
		ret = timewheel_add(race->wheel, &race->tts[i].t, i % 3 ? FAR : 0);
		race->armed += !ret;
		if (!i)
			complete(&race->begun);
		if (i % 64 == 0)
			usleep_range(10, 20);
	}
	race->odd = ret && ret != -ESHUTDOWN;
}

/* An add that races a stop is refused, or handed back, or has fired: one of them. */
static void stop_races_add(struct kunit *test)
{
	struct test_timeout *tts[2] = {
		env_timeouts(test, RACE_ADDS), env_timeouts(test, RACE_ADDS),
	};
	struct test_thread *threads;
	struct stop_race races[2];
	unsigned int round, i, j;

	threads = kunit_kcalloc(test, 2, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	for (round = 0; round < 8; round++) {
		struct timewheel *wheel = env_wheel(test, 256, 4);
		unsigned int armed = 0, fired = 0, back = 0, twice = 0;
		struct timewheel_timeout *t, *next;
		LIST_HEAD(unprocessed);

		for (i = 0; i < 2; i++) {
			for (j = 0; j < RACE_ADDS; j++)
				env_timeout_init(test, &tts[i][j], j, &test_ops);
			races[i] = (struct stop_race){ .wheel = wheel, .tts = tts[i] };
			init_completion(&races[i].begun);
			thread_start(test, &threads[i], stop_race_add, &races[i]);
		}
		wait_for_completion(&races[0].begun);
		wait_for_completion(&races[1].begun);
		usleep_range(100 * round, 100 * round + 50);
		KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
		list_for_each_entry_safe(t, next, &unprocessed, node.link) {
			twice += container_of(t, struct test_timeout, t)->fired;
			list_del_init(&t->node.link);
			back++;
		}
		for (i = 0; i < 2; i++) {
			thread_join(&threads[i]);
			KUNIT_EXPECT_EQ(test, races[i].odd, 0);
			armed += races[i].armed;
			for (j = 0; j < RACE_ADDS; j++)
				fired += tts[i][j].fired;
		}
		KUNIT_EXPECT_EQ(test, armed, fired + back);
		KUNIT_EXPECT_EQ(test, twice, 0);
		KUNIT_EXPECT_EQ(test, wheel->books.unprocessed, back);
		books_expect_balance(test, wheel);
		env_forget(test, wheel);
		timewheel_destroy(wheel);
	}
}

static struct kunit_case stop_cases[] = {
	KUNIT_CASE(stop_hands_back),
	KUNIT_CASE(stop_and_go_on),
	KUNIT_CASE(stop_tells),
	KUNIT_CASE(stop_twice),
	KUNIT_CASE(stop_before_start),
	KUNIT_CASE(stop_in_callback),
	KUNIT_CASE(stop_waits),
	KUNIT_CASE(stop_by_destroying),
	KUNIT_CASE(stop_races_add),
	{}
};

static struct kunit_suite stop_suite = {
	.name = "timewheel_stop",
	.init = env_init,
	.exit = env_exit,
	.test_cases = stop_cases,
};

kunit_test_suite(stop_suite);
