// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker under virtual time: what it costs, and that nothing is late when
 * it has better things to do than to look.
 */

#include "kunit_util.h"

#define HOUR	(3600 * (u64)NSEC_PER_SEC)

/* Fired once, at the tick that its deadline begins. */
static void expect_exact(struct kunit *test, struct test_timeout *tt, u64 at_ns)
{
	KUNIT_EXPECT_EQ_MSG(test, tt->fired, 1, "timeout %u", tt->id);
	KUNIT_EXPECT_GE_MSG(test, tt->fired_ns, at_ns, "timeout %u", tt->id);
	KUNIT_EXPECT_LE_MSG(test, tt->fired_ns, at_ns + PROMPT, "timeout %u", tt->id);
}

static void cost_of_ten_seconds(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	u64 at;

	need_virtual_time(test);
	timewheel_add(wheel, &tt->t, 10 * (u64)NSEC_PER_SEC);
	at = wheel_ceil(wheel, timewheel_expires(&tt->t));
	sleep_ns(11 * (u64)NSEC_PER_SEC);
	expect_exact(test, tt, at);
	/* The start, one housekeeping pass, the expiry. */
	KUNIT_EXPECT_LE(test, wheel->books.wakeups, 3);
	KUNIT_EXPECT_LE(test, wheel->books.passes, 3);
}

/* The same on a wheel that goes round 1,250 times meanwhile. */
static void cost_of_many_rounds(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 8, 1);
	struct test_timeout *tt = env_timeouts(test, 1);
	u64 at;

	need_virtual_time(test);
	timewheel_add(wheel, &tt->t, 10 * (u64)NSEC_PER_SEC);
	at = wheel_ceil(wheel, timewheel_expires(&tt->t));
	sleep_ns(11 * (u64)NSEC_PER_SEC);
	expect_exact(test, tt, at);
	KUNIT_EXPECT_LE(test, wheel->books.wakeups, 3);
}

static void cost_of_idling(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	u64 wakeups;

	need_virtual_time(test);
	sleep_ns(HOUR);
	KUNIT_EXPECT_EQ(test, wheel->books.wakeups, 0);
	KUNIT_EXPECT_EQ(test, wheel->books.passes, 0);

	/* And when it has worked. */
	timewheel_add(wheel, &tt->t, 5 * TICK);
	sleep_ns(NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, tt->fired, 1);
	wakeups = wheel->books.wakeups;
	sleep_ns(HOUR);
	KUNIT_EXPECT_EQ(test, wheel->books.wakeups, wakeups);
}

/* Started, it makes a pass and goes back to sleep. */
static void cost_of_a_start(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);

	need_virtual_time(test);
	KUNIT_EXPECT_EQ(test, timewheel_start(wheel), 0);
	sleep_ns(10 * (u64)NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, wheel->books.passes, 1);
	KUNIT_EXPECT_EQ(test, timewheel_start(wheel), 0);
	sleep_ns(10 * (u64)NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, wheel->books.passes, 1);
	KUNIT_EXPECT_LE(test, wheel->books.wakeups, 1);
}

/* What was cancelled leaves the wheel within housekeeping_ms, then silence. */
static void cost_of_cancelling(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 100);
	unsigned int i;
	u64 wakeups, before;

	need_virtual_time(test);
	for (i = 0; i < 100; i++)
		timewheel_add(wheel, &tts[i].t, HOUR);
	wheel_settle(wheel);
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 100);
	wakeups = wheel->books.wakeups;
	before = timewheel_now(wheel);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[i].t));
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 0);
	sleep_ns(wheel->housekeeping_ns + TICK);
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 0);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, tts[i].cancelled, 1);
		KUNIT_EXPECT_LE(test, tts[i].cancelled_ns,
				before + wheel->housekeeping_ns + PROMPT);
	}
	sleep_ns(2 * HOUR);
	KUNIT_EXPECT_EQ(test, wheel->books.wakeups, wakeups + 1);
}

/* Far adds, each millisecond for ten seconds: a pass each 100 ms. */
static void cost_of_far_traffic(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 10000);
	u64 begin = timewheel_now(wheel);
	unsigned int i;

	need_virtual_time(test);
	for (i = 0; i < 10000; i++) {
		sleep_until(begin + i * TICK);
		timewheel_add(wheel, &tts[i].t, HOUR);
	}
	wheel_settle(wheel);
	KUNIT_EXPECT_EQ(test, wheel->housekeeping_ns, 100 * (u64)NSEC_PER_MSEC);
	KUNIT_EXPECT_LE(test, wheel->books.passes, 10 * 10 + 2);
	KUNIT_EXPECT_LE(test, wheel->books.wakeups, 10 * 10 + 2);
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 10000);
	KUNIT_EXPECT_EQ(test, atomic_read(&((struct test_env *)test->priv)->logged), 0);
}

/* The worker sleeps until much later, and has to be told. */
static void cost_nearer_after_far(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 6);
	unsigned int i;

	need_virtual_time(test);
	timewheel_add_at(wheel, &tts[0].t, wheel_at(wheel, 100000));
	sleep_until(wheel_at(wheel, 1000) + 1);
	/* Each nearer than the one before. */
	for (i = 1; i < 6; i++)
		timewheel_add_at(wheel, &tts[i].t, wheel_at(wheel, 1000 + (6 - i) * 17));
	sleep_until(wheel_at(wheel, 2000));
	for (i = 1; i < 6; i++)
		expect_exact(test, &tts[i], wheel_at(wheel, 1000 + (6 - i) * 17));
	KUNIT_EXPECT_EQ(test, tts[0].fired, 0);
	sleep_until(wheel_at(wheel, 100001));
	expect_exact(test, &tts[0], wheel_at(wheel, 100000));
}

/* The same by moving, and by adding where only cancels were queued. */
static void cost_nearer_after_other(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 3);

	need_virtual_time(test);
	timewheel_add_at(wheel, &tts[0].t, wheel_at(wheel, 100000));
	timewheel_add_at(wheel, &tts[1].t, wheel_at(wheel, 100000));
	sleep_until(wheel_at(wheel, 1000));
	timewheel_cancel(&tts[0].t);
	timewheel_rearm(&tts[1].t, wheel_at(wheel, 1003));
	timewheel_add_at(wheel, &tts[2].t, wheel_at(wheel, 1002));
	sleep_until(wheel_at(wheel, 1500));
	expect_exact(test, &tts[1], wheel_at(wheel, 1003));
	expect_exact(test, &tts[2], wheel_at(wheel, 1002));
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 1);

	/* Twice while it is queued, the second time nearer. */
	timewheel_add_at(wheel, &tts[0].t, wheel_at(wheel, 90000));
	timewheel_rearm(&tts[0].t, wheel_at(wheel, 1507));
	sleep_until(wheel_at(wheel, 2000));
	expect_exact(test, &tts[0], wheel_at(wheel, 1507));
}

/*
 * A callback holds the worker for ten seconds.  What came due meanwhile fires
 * then, in the order of the deadlines, in one pass; nothing else does.
 */
static void cost_of_a_pause(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 9);
	u64 passes, wakeups;
	unsigned int i;

	need_virtual_time(test);
	tts[0].on_expired = env_block;
	timewheel_add_at(wheel, &tts[0].t, wheel_at(wheel, 1000));
	for (i = 1; i < 5; i++)
		timewheel_add_at(wheel, &tts[i].t, wheel_at(wheel, 9000 - 1500 * i));
	timewheel_add_at(wheel, &tts[5].t, wheel_at(wheel, 12000));
	wait_for_completion(&tts[0].reached);
	passes = wheel->books.passes;
	wakeups = wheel->books.wakeups;
	sleep_until(wheel_at(wheel, 6000));
	/* Armed meanwhile: one due long ago, one in time, one later. */
	timewheel_add_at(wheel, &tts[6].t, wheel_at(wheel, 1));
	timewheel_add_at(wheel, &tts[7].t, wheel_at(wheel, 6500));
	timewheel_add_at(wheel, &tts[8].t, wheel_at(wheel, 13000));
	sleep_until(wheel_at(wheel, 11000));
	KUNIT_EXPECT_EQ(test, wheel->books.passes, passes);
	complete(&tts[0].release);
	sleep_until(wheel_at(wheel, 11500));
	KUNIT_EXPECT_EQ(test, wheel->books.wakeups, wakeups);
	log_expect(test, 0, 6, 4, 3, 2, 7, 1);
	for (i = 1; i < 5; i++)
		KUNIT_EXPECT_EQ(test, tts[i].fired_ns, tts[7].fired_ns);
	KUNIT_EXPECT_LE(test, tts[7].fired_ns, wheel_at(wheel, 11000) + PROMPT);
	sleep_until(wheel_at(wheel, 14000));
	expect_exact(test, &tts[5], wheel_at(wheel, 12000));
	expect_exact(test, &tts[8], wheel_at(wheel, 13000));
}

/* More in one tick than a pass looks at: all fire, in order, none later. */
static void cost_of_a_crowd(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	const unsigned int nr = 20000;
	struct test_timeout *tts = env_timeouts(test, nr);
	struct test_env *env = test->priv;
	unsigned int i, wrong = 0;

	need_virtual_time(test);
	for (i = 0; i < nr; i++)
		timewheel_add_at(wheel, &tts[i].t, wheel_at(wheel, 5000));
	sleep_until(wheel_at(wheel, 5001));
	KUNIT_EXPECT_EQ(test, atomic_read(&env->logged), nr);
	for (i = 0; i < nr; i++)
		wrong += env->log[i] != i;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	for (i = 0; i < nr; i += 1000)
		expect_exact(test, &tts[i], wheel_at(wheel, 5000));
	expect_exact(test, &tts[nr - 1], wheel_at(wheel, 5000));
	KUNIT_EXPECT_GT(test, wheel->books.passes, 3);
	KUNIT_EXPECT_LE(test, wheel->books.wakeups, 3);
}

static void cost_meddle_far(struct test_timeout *tt)
{
	timewheel_add(tt->t.wheel, &tt[1].t, 10 * (u64)NSEC_PER_SEC);
	timewheel_cancel(&tt[2].t);
}

/*
 * What a callback arms or cancels is queued when the worker goes to sleep, and
 * may wait for housekeeping, but not for ever.
 */
static void cost_far_from_a_callback(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 3);

	need_virtual_time(test);
	timewheel_add(wheel, &tts[2].t, HOUR);
	wheel_settle(wheel);
	tts[0].on_expired = cost_meddle_far;
	timewheel_add(wheel, &tts[0].t, 5 * TICK);
	sleep_ns(1 * (u64)NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, tts[0].fired, 1);
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 1);
	KUNIT_EXPECT_EQ(test, tts[2].cancelled, 1);
	KUNIT_EXPECT_LE(test, tts[2].cancelled_ns,
			tts[0].fired_ns + wheel->housekeeping_ns + PROMPT);
	sleep_ns(10 * (u64)NSEC_PER_SEC);
	expect_exact(test, &tts[1], wheel_ceil(wheel, timewheel_expires(&tts[1].t)));
}

static void cost_add_nearer(struct test_timeout *tt)
{
	struct test_timeout *next = tt->arg;

	timewheel_add_at(tt->t.wheel, &next->t, tt->t.expires + 3 * TICK);
	timewheel_rearm(&next[1].t, tt->t.expires + 5 * TICK);
}

/*
 * What is armed or moved while the worker needs several passes for what is
 * queued is not late for it.
 */
static void cost_while_draining(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	const unsigned int nr = 20000;
	struct test_timeout *tts = env_timeouts(test, nr + 1);
	u64 at = wheel_at(wheel, 1000);
	unsigned int i;

	need_virtual_time(test);
	tts[0].on_expired = cost_add_nearer;
	tts[0].arg = &tts[nr - 1];
	sleep_until(at - TICK / 2);
	/* No time passes here, so all of them are queued when the first is due. */
	timewheel_add_at(wheel, &tts[0].t, at);
	for (i = 1; i < nr - 1; i++)
		timewheel_add_at(wheel, &tts[i].t, at + HOUR);
	timewheel_add_at(wheel, &tts[nr].t, at + HOUR);
	sleep_until(at + 200 * TICK);
	expect_exact(test, &tts[0], at);
	expect_exact(test, &tts[nr - 1], at + 3 * TICK);
	expect_exact(test, &tts[nr], at + 5 * TICK);
}

static struct kunit_case cost_cases[] = {
	KUNIT_CASE(cost_of_ten_seconds),
	KUNIT_CASE(cost_of_many_rounds),
	KUNIT_CASE(cost_of_idling),
	KUNIT_CASE(cost_of_a_start),
	KUNIT_CASE(cost_of_cancelling),
	KUNIT_CASE(cost_of_far_traffic),
	KUNIT_CASE(cost_nearer_after_far),
	KUNIT_CASE(cost_nearer_after_other),
	KUNIT_CASE(cost_of_a_pause),
	KUNIT_CASE(cost_of_a_crowd),
	KUNIT_CASE(cost_far_from_a_callback),
	KUNIT_CASE(cost_while_draining),
	{}
};

static struct kunit_suite cost_suite = {
	.name = "timewheel_cost",
	.init = env_init,
	.exit = env_exit,
	.test_cases = cost_cases,
};

kunit_test_suite(cost_suite);
