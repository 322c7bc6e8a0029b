// SPDX-License-Identifier: GPL-2.0-only
/*
 * STOP: hands back what never fired, and refuses what comes later.
 */
#include "support.h"

static int stop(int fd)
{
	return ioctl(fd, TIMEWHEEL_IOC_STOP);
}

TEST(hands_back_what_is_pending)
{
	const unsigned int nr = 5000;
	unsigned char seen[5000] = { };
	struct timewheel_event ev;
	unsigned int i, wrong = 0;
	struct timewheel_stats st;
	int fd = tw_open();

	arm_many(fd, nr, HOUR);
	ASSERT_OK(stop(fd));
	st = stats_of(fd);
	EXPECT_EQ(nr, st.unprocessed);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(0, st.fired);
	EXPECT_EQ(nr, st.unread);
	for (i = 0; i < nr; i++) {
		ev = read_event(fd);
		EXPECT_TRUE(ev.flags & TIMEWHEEL_EVENT_UNPROCESSED);
		ASSERT_LT(ev.user_data, nr);
		seen[ev.user_data]++;
	}
	for (i = 0; i < nr; i++)
		wrong += seen[i] != 1;
	EXPECT_EQ(0, wrong);
	expect_no_event(fd);
	expect_balance(fd);
}

TEST(deadlines_come_back_too)
{
	struct timewheel_event ev;
	uint64_t due, id;
	int fd = tw_open();

	due = now_ns(CLOCK_MONOTONIC) + HOUR;
	id = arm_at(fd, due, 8);
	ASSERT_OK(stop(fd));
	ev = read_event(fd);
	EXPECT_EQ(id, ev.id);
	EXPECT_EQ(8, ev.user_data);
	EXPECT_EQ(due, ev.deadline_ns);
}

TEST(refuses_what_comes_later)
{
	struct timewheel_setup s = { .size = sizeof(s) };
	struct timewheel_op op = op_arm(0, 1);
	uint64_t id;
	int fd = tw_open();

	id = arm(fd, HOUR, 1);
	ASSERT_OK(stop(fd));
	EXPECT_ERR(ESHUTDOWN, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	EXPECT_ERR(ESHUTDOWN, rearm(fd, id, 0));
	EXPECT_EQ(1, submit(fd, &op, 1));
	EXPECT_EQ(-ESHUTDOWN, op.result);
	EXPECT_ERR(ENOENT, cancel(fd, id));
	EXPECT_ERR(EBUSY, setup(fd, &s));
	/* Malformed comes first. */
	op.pad = 1;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	EXPECT_EQ(1, stats_of(fd).armed);
	info_of(fd);
	expect_balance(fd);
}

TEST(a_second_one_finds_nothing)
{
	int fd = tw_open();

	arm(fd, HOUR, 1);
	ASSERT_OK(stop(fd));
	ASSERT_OK(stop(fd));
	read_event(fd);
	expect_no_event(fd);
	ASSERT_OK(stop(fd));
	expect_no_event(fd);
	EXPECT_EQ(1, stats_of(fd).unprocessed);
}

TEST(before_anything_else)
{
	struct timewheel_op op = op_arm(0, 1);
	int fd = tw_open();

	ASSERT_OK(stop(fd));
	EXPECT_ERR(ESHUTDOWN, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	EXPECT_EQ(0, stats_of(fd).armed);
}

/* Events that were there before stay, and keep what they say. */
TEST(expired_ones_stay_expired)
{
	struct timewheel_event ev;
	uint64_t a;
	int fd = tw_open();

	a = arm(fd, 0, 1);
	wait_readable(fd);
	arm(fd, HOUR, 2);
	ASSERT_OK(stop(fd));
	ev = read_event(fd);
	EXPECT_EQ(a, ev.id);
	EXPECT_TRUE(ev.flags & TIMEWHEEL_EVENT_EXPIRED);
	ev = read_event(fd);
	EXPECT_EQ(2, ev.user_data);
	EXPECT_TRUE(ev.flags & TIMEWHEEL_EVENT_UNPROCESSED);
	EXPECT_EQ(1, stats_of(fd).fired);
	EXPECT_EQ(1, stats_of(fd).unprocessed);
	expect_balance(fd);
}

/* Stopped while they fire: each is the one or the other. */
TEST(races_expiry)
{
	const unsigned int nr = 20000;
	static unsigned char seen[20000];
	unsigned int i, expired = 0, unprocessed = 0, wrong = 0;
	struct timewheel_stats st;
	int fd = own_wheel(MS, CLOCK_MONOTONIC);

	for (i = 0; i < nr; i += 1000) {
		static struct timewheel_op ops[1000];
		unsigned int j;

		for (j = 0; j < 1000; j++)
			ops[j] = op_arm(j % 100 * MS, i + j);
		ASSERT_EQ(1000, submit(fd, ops, 1000));
	}
	ASSERT_OK(stop(fd));
	for (i = 0; i < nr; i++) {
		struct timewheel_event ev = read_event(fd);

		ASSERT_LT(ev.user_data, nr);
		seen[ev.user_data]++;
		if (ev.flags & TIMEWHEEL_EVENT_EXPIRED)
			expired++;
		else
			unprocessed++;
	}
	for (i = 0; i < nr; i++)
		wrong += seen[i] != 1;
	EXPECT_EQ(0, wrong);
	expect_no_event(fd);
	st = stats_of(fd);
	EXPECT_EQ(expired, st.fired);
	EXPECT_EQ(unprocessed, st.unprocessed);
	EXPECT_EQ(0, st.pending);
	expect_balance(fd);
}
