// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker under virtual time: when timeouts fire, to the tick.
 */

#include <linux/prandom.h>

#include "kunit_util.h"

#define WORKER_SEED	0x776f726b

/* It fired once, when the first tick began that is not before its deadline. */
static void expect_fired_at(struct kunit *test, struct test_timeout *tt, u64 at_ns)
{
	KUNIT_EXPECT_EQ_MSG(test, tt->fired, 1, "timeout %u", tt->id);
	KUNIT_EXPECT_GE_MSG(test, tt->fired_ns, at_ns, "timeout %u", tt->id);
	KUNIT_EXPECT_LE_MSG(test, tt->fired_ns, at_ns + PROMPT, "timeout %u", tt->id);
}

/* The arithmetic between deadlines and ticks, at its ends. */
static void worker_ticks(struct kunit *test)
{
	struct timewheel *wheel = kunit_kzalloc(test, sizeof(*wheel), GFP_KERNEL);
	const u64 epoch = 1000000007, century = 36525 * 86400ULL;

	KUNIT_ASSERT_NOT_NULL(test, wheel);
	wheel->epoch_ns = epoch;
	wheel->tick_ns = NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, 0), 0);
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, epoch - 1), 0);
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, epoch), 0);
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, epoch + 1), 1);
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, epoch + NSEC_PER_SEC - 1), 1);
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, epoch + NSEC_PER_SEC), 1);
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, epoch + NSEC_PER_SEC + 1), 2);
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, epoch + century * NSEC_PER_SEC), century);
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, epoch + century * NSEC_PER_SEC + 1),
			century + 1);
	KUNIT_EXPECT_EQ(test, wheel_tick_ns(wheel, 0), epoch);
	KUNIT_EXPECT_EQ(test, wheel_tick_ns(wheel, century),
			epoch + century * NSEC_PER_SEC);
	/* 2^63 ns are 9223372036.85 s. */
	KUNIT_EXPECT_EQ(test, wheel_tick_ns(wheel, 9223372035),
			epoch + 9223372035 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, wheel_tick_ns(wheel, 9223372036), KTIME_MAX);
	KUNIT_EXPECT_EQ(test, wheel_tick_ns(wheel, U64_MAX), KTIME_MAX);
	/* 2^64 ns are 18446744073.71 s; the epoch takes one off, and a part. */
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, U64_MAX), 18446744073);
	wheel->tick_ns = 1000;
	KUNIT_EXPECT_EQ(test, wheel_tick(wheel, U64_MAX),
			div_u64(U64_MAX - epoch, 1000) + 1);
	KUNIT_EXPECT_EQ(test, wheel_tick_ns(wheel, wheel_tick(wheel, U64_MAX)),
			KTIME_MAX);
}

static void worker_on_a_tick(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	static const u64 ticks[] = { 1, 2, 255, 256, 257, 5000, 65536, 100000 };
	struct test_timeout *tts = env_timeouts(test, ARRAY_SIZE(ticks));
	unsigned int i;

	need_virtual_time(test);
	for (i = 0; i < ARRAY_SIZE(ticks); i++)
		timewheel_add_at(wheel, &tts[i].t, wheel_at(wheel, 100 + ticks[i]));
	sleep_until(wheel_at(wheel, 200000));
	for (i = 0; i < ARRAY_SIZE(ticks); i++)
		expect_fired_at(test, &tts[i], wheel_at(wheel, 100 + ticks[i]));
}

static void worker_between_ticks(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	static const u64 past[] = { 1, 2, TICK / 2, TICK - 2, TICK - 1 };
	struct test_timeout *tts = env_timeouts(test, ARRAY_SIZE(past));
	unsigned int i;

	need_virtual_time(test);
	for (i = 0; i < ARRAY_SIZE(past); i++)
		timewheel_add_at(wheel, &tts[i].t,
				 wheel_at(wheel, 1000 * (i + 1)) + past[i]);
	sleep_until(wheel_at(wheel, 6000));
	for (i = 0; i < ARRAY_SIZE(past); i++)
		expect_fired_at(test, &tts[i], wheel_at(wheel, 1000 * (i + 1) + 1));
}

/* A delay counts from the call, not from the last pass. */
static void worker_delay_from_now(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 2);
	u64 before, after;

	need_virtual_time(test);
	timewheel_add(wheel, &tts[0].t, 0);
	sleep_ns(1234567890);
	before = timewheel_now(wheel);
	timewheel_add(wheel, &tts[1].t, 5 * TICK);
	after = timewheel_now(wheel);
	KUNIT_EXPECT_GE(test, timewheel_expires(&tts[1].t), before + 5 * TICK);
	KUNIT_EXPECT_LE(test, timewheel_expires(&tts[1].t), after + 5 * TICK);
	sleep_ns(7 * TICK);
	expect_fired_at(test, &tts[1], wheel_ceil(wheel, timewheel_expires(&tts[1].t)));
}

/* Anywhere in ten seconds, on any wheel: at its tick and not at another. */
static void worker_random(struct kunit *test)
{
	struct timewheel *wheels[] = {
		env_wheel(test, 256, 4), env_wheel(test, 16, 1), env_wheel(test, 2, 8),
	};
	const unsigned int nr = 3000;
	struct test_timeout *tts = env_timeouts(test, nr);
	struct rnd_state rnd;
	unsigned int i;
	u64 now;

	need_virtual_time(test);
	kunit_info(test, "seed %#x\n", WORKER_SEED);
	prandom_seed_state(&rnd, WORKER_SEED);
	now = timewheel_now(wheels[0]) + TICK;
	for (i = 0; i < nr; i++)
		timewheel_add_at(wheels[i % 3], &tts[i].t, now + TICK +
				 ((u64)prandom_u32_state(&rnd) * 10 * NSEC_PER_SEC >> 32));
	sleep_until(now + 11 * (u64)NSEC_PER_SEC);
	for (i = 0; i < nr; i++) {
		u64 at = wheel_ceil(wheels[i % 3], timewheel_expires(&tts[i].t));

		/* The other two wheels have their passes at the same time. */
		KUNIT_EXPECT_EQ(test, tts[i].fired, 1);
		KUNIT_EXPECT_GE(test, tts[i].fired_ns, at);
		KUNIT_EXPECT_LE(test, tts[i].fired_ns, at + 3 * PROMPT);
	}
}

static void worker_due_at_once(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 7);
	unsigned int i;
	u64 now;

	need_virtual_time(test);
	sleep_ns(10 * TICK + 1);
	for (i = 0; i < 7; i++) {
		now = timewheel_now(wheel);
		switch (i) {
		case 0:
			timewheel_add_at(wheel, &tts[i].t, 0);
			break;
		case 1:
			timewheel_add_at(wheel, &tts[i].t, wheel->epoch_ns);
			break;
		case 2:
			timewheel_add_at(wheel, &tts[i].t, wheel->epoch_ns - 1);
			break;
		case 3:
			timewheel_add_at(wheel, &tts[i].t, now - 5 * TICK);
			break;
		case 4:
			timewheel_add(wheel, &tts[i].t, -1);
			break;
		case 5:
			timewheel_add(wheel, &tts[i].t, S64_MIN);
			break;
		case 6:
			timewheel_add(wheel, &tts[i].t, 0);
			break;
		}
		sleep_ns(2 * TICK);
		/* Now is past as soon as its tick has begun. */
		expect_fired_at(test, &tts[i], i < 4 ? now :
				wheel_ceil(wheel, timewheel_expires(&tts[i].t)));
	}
}

/* Too far for the clock: pending, and costs nothing. */
static void worker_never(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 4);
	unsigned int i;

	need_virtual_time(test);
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[0].t, U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[1].t, S64_MAX), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[2].t, S64_MAX), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[3].t, BIT_ULL(63) + 1), 0);
	sleep_ns(3600 * (u64)NSEC_PER_SEC);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, tts[i].fired, 0);
		KUNIT_EXPECT_TRUE(test, timewheel_pending(&tts[i].t));
	}
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 4);
	KUNIT_EXPECT_LE(test, wheel->books.wakeups, 2);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_TRUE(test, timewheel_cancel_sync(&tts[i].t));
}

static void worker_boottime(struct kunit *test)
{
	const struct timewheel_params params = {
		.name = "kunit-boot",
		.tick_ns = TICK,
		.clockid = CLOCK_BOOTTIME,
	};
	struct timewheel *wheel = env_wheel_of(test, &params);
	struct test_timeout *tts = env_timeouts(test, 2);
	u64 boot = ktime_get_boottime_ns();

	need_virtual_time(test);
	KUNIT_EXPECT_GE(test, timewheel_now(wheel), boot);
	KUNIT_EXPECT_LE(test, timewheel_now(wheel), boot + PROMPT);
	timewheel_add_at(wheel, &tts[0].t, wheel_at(wheel, 1000));
	timewheel_add_at(wheel, &tts[1].t, wheel_at(wheel, 2000) + 1);
	sleep_ns(3 * (u64)NSEC_PER_SEC);
	expect_fired_at(test, &tts[0], wheel_at(wheel, 1000));
	expect_fired_at(test, &tts[1], wheel_at(wheel, 2001));
}

/* The shortest tick, and the longest. */
static void worker_tick_lengths(struct kunit *test)
{
	struct timewheel_params params = { .name = "kunit-tick" };
	struct test_timeout *tts = env_timeouts(test, 2);
	struct timewheel *wheel;

	need_virtual_time(test);
	params.tick_ns = TIMEWHEEL_MIN_TICK_NS;
	wheel = env_wheel_of(test, &params);
	timewheel_add_at(wheel, &tts[0].t, wheel_at(wheel, 12345678) - 999);
	params.tick_ns = TIMEWHEEL_MAX_TICK_NS;
	wheel = env_wheel_of(test, &params);
	timewheel_add_at(wheel, &tts[1].t, wheel_at(wheel, 1) + 1);
	sleep_until(wheel_at(wheel, 3));
	expect_fired_at(test, &tts[0],
			wheel_at(((struct test_env *)test->priv)->wheels[0], 12345678));
	expect_fired_at(test, &tts[1], wheel_at(wheel, 2));
}

static void worker_rearm_both_ways(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 3);
	unsigned int i;

	need_virtual_time(test);
	for (i = 0; i < 3; i++)
		timewheel_add_at(wheel, &tts[i].t, wheel_at(wheel, 5000));
	sleep_until(wheel_at(wheel, 1000) + 1);
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[0].t, wheel_at(wheel, 1010)), 0);
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[1].t, wheel_at(wheel, 9000)), 0);
	/* Nearer, and away again, before the worker has seen either. */
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[2].t, wheel_at(wheel, 1020)), 0);
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[2].t, wheel_at(wheel, 7000)), 0);
	sleep_until(wheel_at(wheel, 10000));
	expect_fired_at(test, &tts[0], wheel_at(wheel, 1010));
	expect_fired_at(test, &tts[1], wheel_at(wheel, 9000));
	expect_fired_at(test, &tts[2], wheel_at(wheel, 7000));
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[0].t, 0), -ENOENT);
}

/* One store a millisecond for a second: fires once, where the last one said. */
static void worker_touch(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	unsigned int i;
	u64 passes;

	need_virtual_time(test);
	KUNIT_EXPECT_EQ(test, timewheel_touch(&tt->t, 0), -ENOENT);
	timewheel_add_at(wheel, &tt->t, wheel_at(wheel, 500));
	KUNIT_EXPECT_EQ(test, timewheel_touch(&tt->t, wheel_at(wheel, 500) - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tt->t), wheel_at(wheel, 500));
	KUNIT_EXPECT_EQ(test, timewheel_touch(&tt->t, wheel_at(wheel, 500)), 0);
	sleep_until(wheel_at(wheel, 200));
	passes = wheel->books.passes;
	for (i = 201; i < 1200; i++) {
		KUNIT_EXPECT_EQ(test, timewheel_touch(&tt->t, wheel_at(wheel, i + 300) - 7), 0);
		sleep_until(wheel_at(wheel, i + 1));
	}
	KUNIT_EXPECT_EQ(test, tt->fired, 0);
	sleep_until(wheel_at(wheel, 3000));
	expect_fired_at(test, tt, wheel_at(wheel, 1499));
	/* At 500, then each 300 ms at most three more times, and the last. */
	KUNIT_EXPECT_LE(test, wheel->books.passes - passes, 5);
	KUNIT_EXPECT_EQ(test, timewheel_touch(&tt->t, U64_MAX), -ENOENT);
}

/* Touched just now, when its tick has come: goes at least a tick ahead. */
static void worker_touch_within_a_tick(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);

	need_virtual_time(test);
	timewheel_add_at(wheel, &tt->t, wheel_at(wheel, 500));
	sleep_until(wheel_at(wheel, 300));
	timewheel_touch(&tt->t, wheel_at(wheel, 500) + TICK / 2);
	sleep_until(wheel_at(wheel, 600));
	expect_fired_at(test, tt, wheel_at(wheel, 501));
}

static struct kunit_case worker_cases[] = {
	KUNIT_CASE(worker_ticks),
	KUNIT_CASE(worker_on_a_tick),
	KUNIT_CASE(worker_between_ticks),
	KUNIT_CASE(worker_delay_from_now),
	KUNIT_CASE(worker_random),
	KUNIT_CASE(worker_due_at_once),
	KUNIT_CASE(worker_never),
	KUNIT_CASE(worker_boottime),
	KUNIT_CASE(worker_tick_lengths),
	KUNIT_CASE(worker_rearm_both_ways),
	KUNIT_CASE(worker_touch),
	KUNIT_CASE(worker_touch_within_a_tick),
	{}
};

static struct kunit_suite worker_suite = {
	.name = "timewheel_worker",
	.init = env_init,
	.exit = env_exit,
	.test_cases = worker_cases,
};

kunit_test_suite(worker_suite);
