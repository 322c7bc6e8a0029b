// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slack: never early, never later than allowed, and fewer wake-ups.
 */

#include "kunit_util.h"

/* 64 slots, 3 levels: slots of 1, 64 and 4,096 ticks. */
static void slack_chooses_a_slot(struct kunit *test)
{
	static const struct {
		u64 tick, slack, want;
	} cases[] = {
		{ 1000, 0, 1000 },
		{ 1000, 62, 1000 },	/* a slot of 64 may be 63 late */
		{ 1000, 63, 1024 },
		{ 1024, 63, 1024 },
		{ 1025, 4094, 1088 },
		{ 1025, 4095, 4096 },
		{ 4097, 100000, 8192 },
		{ 0, 4095, 0 },
		/* Nothing after the end of time. */
		{ U64_MAX - 5, 4095, U64_MAX - 5 },
	};
	struct timewheel *wheel = env_wheel(test, 64, 3);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, core_coarsen(&wheel->core, cases[i].tick,
						       cases[i].slack),
				    cases[i].want, "case %u", i);
}

/* With one level there is no coarser slot. */
static void slack_on_one_level(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 1);

	KUNIT_EXPECT_EQ(test, core_coarsen(&wheel->core, 77, 1000000), 77);
}

#define NR	200U

static void slack_bounds_lateness(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_timeout *tts = env_timeouts(test, NR);
	u64 slack[NR], due, base;
	unsigned int i;

	need_virtual_time(test);
	base = timewheel_now(wheel);
	for (i = 0; i < NR; i++) {
		/* 0, 1, 2, 4 ... ms less one ns, to some 8 s. */
		slack[i] = (1ULL << (i % 14)) * TICK - 1;
		KUNIT_ASSERT_EQ(test, timewheel_add_slack(wheel, &tts[i].t,
							  base + i * 37 * TICK + i,
							  slack[i]), 0);
	}
	sleep_ns(20 * (u64)NSEC_PER_SEC);
	for (i = 0; i < NR; i++) {
		due = base + i * 37 * TICK + i;
		KUNIT_EXPECT_EQ_MSG(test, tts[i].fired, 1, "timeout %u", i);
		KUNIT_EXPECT_GE_MSG(test, tts[i].fired_ns, due, "timeout %u", i);
		KUNIT_EXPECT_LE_MSG(test, tts[i].fired_ns,
				    due + slack[i] + TICK + PROMPT, "timeout %u", i);
	}
}

/* 60 timeouts a tick apart, all allowed 128 ticks: at most two slots of 64. */
static void slack_gathers(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_timeout *tts = env_timeouts(test, 60);
	u64 base, wakeups;
	unsigned int i;

	need_virtual_time(test);
	base = wheel_at(wheel, 1000);
	for (i = 0; i < 60; i++)
		timewheel_add_slack(wheel, &tts[i].t, base + i * TICK, 128 * TICK);
	wheel_settle(wheel);
	wakeups = wheel->books.wakeups;
	sleep_until(base + 300 * TICK);
	for (i = 0; i < 60; i++)
		KUNIT_EXPECT_EQ_MSG(test, tts[i].fired, 1, "timeout %u", i);
	KUNIT_EXPECT_LE(test, wheel->books.wakeups - wakeups, 2);
}

/* Armed again without slack it has none. */
static void slack_ends_with_the_arming(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tt = env_timeouts(test, 1);

	timewheel_add_slack(wheel, &tt->t, 65 * TICK, 1000 * TICK);
	bare_drain(wheel);
	bare_fire(wheel, 127 * TICK);
	KUNIT_EXPECT_EQ(test, tt->fired, 0);
	/* A move keeps it. */
	timewheel_rearm(&tt->t, 129 * TICK);
	bare_drain(wheel);
	bare_fire(wheel, 191 * TICK);
	KUNIT_EXPECT_EQ(test, tt->fired, 0);
	bare_fire(wheel, 192 * TICK);
	KUNIT_EXPECT_EQ(test, tt->fired, 1);

	timewheel_add_at(wheel, &tt->t, 193 * TICK);
	bare_drain(wheel);
	bare_fire(wheel, 193 * TICK);
	KUNIT_EXPECT_EQ(test, tt->fired, 2);
}

static struct kunit_case slack_cases[] = {
	KUNIT_CASE(slack_chooses_a_slot),
	KUNIT_CASE(slack_on_one_level),
	KUNIT_CASE(slack_bounds_lateness),
	KUNIT_CASE(slack_gathers),
	KUNIT_CASE(slack_ends_with_the_arming),
	{}
};

static struct kunit_suite slack_suite = {
	.name = "timewheel_slack",
	.init = env_init,
	.exit = env_exit,
	.test_cases = slack_cases,
};

kunit_test_suite(slack_suite);
