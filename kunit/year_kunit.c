// SPDX-License-Identifier: GPL-2.0-only
/*
 * A year of virtual time, with the real thread and the real hrtimer: a timeout of
 * a year and 100,000 before it.  How often each of them moves is counted in
 * volume_year and volume_year_alone.
 *
 * An idle guest comes round every 4.3 s, for its clock can be set no further
 * ahead, and a year has 7 million of those.  Lockdep would make them half as slow
 * again, and has seen every lock by now: it ends with this suite, the last.
 */

#include <linux/debug_locks.h>

#include "kunit_util.h"

#define YEAR	(365 * 86400 * (u64)NSEC_PER_SEC)
#define NR	100000U
/* Prime to NR, so that they are armed in no order. */
#define STEP	61803ULL

/* Spread over the year, none on a tick. */
static u64 year_deadline(const struct timewheel *wheel, unsigned int i)
{
	return wheel->epoch_ns + YEAR / NR * (i * STEP % NR) + 10 * TICK + 1 + i;
}

static void year_passes(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, NR);
	struct test_timeout *last = env_timeouts(test, 1);
	struct test_timeout *never = env_timeouts(test, 1);
	unsigned int i, lost = 0, early = 0, late = 0;

	need_virtual_time(test);
	debug_locks_off();
	timewheel_add_at(wheel, &last->t, wheel->epoch_ns + YEAR + 1);
	timewheel_add_at(wheel, &never->t, wheel->epoch_ns + YEAR + TICK + 1);
	for (i = 0; i < NR; i++)
		timewheel_add_at(wheel, &tts[i].t, year_deadline(wheel, i));

	sleep_until(wheel->epoch_ns + YEAR);
	KUNIT_EXPECT_EQ(test, last->fired, 0);
	sleep_until(wheel->epoch_ns + YEAR + TICK + 2 * PROMPT);
	KUNIT_EXPECT_EQ(test, last->fired, 1);
	KUNIT_EXPECT_GE(test, last->fired_ns, wheel->epoch_ns + YEAR + TICK);
	KUNIT_EXPECT_LE(test, last->fired_ns, wheel->epoch_ns + YEAR + TICK + PROMPT);
	KUNIT_EXPECT_EQ(test, never->fired, 0);

	for (i = 0; i < NR; i++) {
		u64 deadline = year_deadline(wheel, i);

		lost += tts[i].fired != 1;
		early += tts[i].fired_ns < deadline;
		late += tts[i].fired_ns > wheel_ceil(wheel, deadline) + PROMPT;
	}
	KUNIT_EXPECT_EQ(test, lost, 0);
	KUNIT_EXPECT_EQ(test, early, 0);
	KUNIT_EXPECT_EQ(test, late, 0);
	/*
	 * The start, housekeeping, the last, and one for each: what moves down
	 * does so when it is due.
	 */
	KUNIT_EXPECT_LE(test, wheel->books.wakeups, 3 + NR);
}

static struct kunit_case year_cases[] = {
	KUNIT_CASE_SLOW(year_passes),
	{}
};

static struct kunit_suite year_suite = {
	.name = "timewheel_year",
	.init = env_init,
	.exit = env_exit,
	.test_cases = year_cases,
};

kunit_test_suite(year_suite);
