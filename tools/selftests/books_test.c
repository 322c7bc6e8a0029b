// SPDX-License-Identifier: GPL-2.0-only
/*
 * The books: STATS counts what was done, and what it cost.
 */
#include "support.h"

TEST(a_fresh_context_has_done_nothing)
{
	struct timewheel_stats st;
	int i, fd = tw_open();

	st = stats_of(fd);
	EXPECT_EQ(sizeof(st), st.size);
	EXPECT_EQ(0, st.pad);
	EXPECT_EQ(0, st.armed);
	EXPECT_EQ(0, st.rearmed);
	EXPECT_EQ(0, st.fired);
	EXPECT_EQ(0, st.cancelled);
	EXPECT_EQ(0, st.unprocessed);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(0, st.rejected);
	EXPECT_EQ(0, st.overruns);
	EXPECT_EQ(0, st.unread);
	for (i = 0; i < TIMEWHEEL_LATENESS_BUCKETS; i++)
		EXPECT_EQ(0, st.lateness[i]);
}

TEST(each_op_is_counted)
{
	struct timewheel_stats st;
	uint64_t ids[10];
	int i, fd = tw_open();

	for (i = 0; i < 10; i++)
		ids[i] = arm(fd, HOUR, i);
	for (i = 0; i < 4; i++)
		ASSERT_OK(cancel(fd, ids[i]));
	for (i = 4; i < 7; i++)
		ASSERT_OK(rearm(fd, ids[i], 0));
	wait_readable(fd);
	read_event(fd);
	read_event(fd);
	/* One is left to be read. */
	wait_readable(fd);
	EXPECT_EQ(-1, cancel(fd, ids[0]));
	EXPECT_EQ(-1, rearm(fd, ids[0], 0));
	st = stats_of(fd);
	EXPECT_EQ(10, st.armed);
	EXPECT_EQ(4, st.cancelled);
	EXPECT_EQ(3, st.rearmed);
	EXPECT_EQ(3, st.fired);
	EXPECT_EQ(3, st.pending);
	EXPECT_EQ(1, st.unread);
	EXPECT_EQ(2, st.rejected);
	EXPECT_EQ(0, st.unprocessed);
	expect_balance(fd);
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
	st = stats_of(fd);
	EXPECT_EQ(3, st.unprocessed);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(4, st.unread);
	expect_balance(fd);
}

/* Bucket n is from 2^(n-1) to 2^n - 1 ns: a past deadline has a known place. */
TEST(lateness_is_a_histogram)
{
	struct timewheel_stats st;
	uint64_t late, now;
	int i, first, fd = tw_open();

	now = now_ns(CLOCK_MONOTONIC);
	if (now < 2 * SEC)
		SKIP("the clock has just begun");
	arm_at(fd, now - SEC, 1);
	late = read_event(fd).deadline_ns;
	late = now_ns(CLOCK_MONOTONIC) - late;
	st = stats_of(fd);
	/* 2^29 <= 1 s < 2^30, and it was at most as late as it is now. */
	first = 30;
	for (i = 0; i < first; i++)
		EXPECT_EQ(0, st.lateness[i]);
	for (i = first; i < TIMEWHEEL_LATENESS_BUCKETS; i++)
		if (st.lateness[i])
			EXPECT_LE(1ULL << (i - 1), late);
	expect_balance(fd);
}

/* The worker of an idle context never wakes. */
TEST(idle_costs_no_wakeup)
{
	struct timewheel_stats before, after;
	int fd = own_wheel(MS, CLOCK_MONOTONIC);

	before = stats_of(fd);
	sleep(2);
	after = stats_of(fd);
	EXPECT_EQ(0, before.wakeups);
	EXPECT_EQ(0, after.wakeups);
	EXPECT_EQ(0, after.passes);

	/* The same when it has had work, and has none now. */
	arm(fd, 0, 1);
	read_event(fd);
	usleep(500000);
	before = stats_of(fd);
	sleep(2);
	after = stats_of(fd);
	EXPECT_EQ(before.wakeups, after.wakeups);
	EXPECT_EQ(before.passes, after.passes);
}

/* The start, a housekeeping pass and the expiry; not one for each tick. */
TEST(far_deadline_costs_three_wakeups)
{
	struct timewheel_stats st;
	int fd = own_wheel(MS, CLOCK_MONOTONIC);

	arm(fd, 10 * SEC, 1);
	EXPECT_EQ(1, read_event(fd).user_data);
	st = stats_of(fd);
	EXPECT_GE(3, st.wakeups);
	EXPECT_LE(1, st.wakeups);
}

/* Cancelled before its time: nothing is left to wake for. */
TEST(cancelled_costs_no_wakeup_at_its_deadline)
{
	struct timewheel_stats before, after;
	uint64_t id;
	int fd = own_wheel(MS, CLOCK_MONOTONIC);

	id = arm(fd, 3 * SEC, 1);
	sleep(1);
	ASSERT_OK(cancel(fd, id));
	sleep(1);
	before = stats_of(fd);
	sleep(2);
	after = stats_of(fd);
	EXPECT_EQ(before.wakeups, after.wakeups);
}
