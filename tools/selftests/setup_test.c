// SPDX-License-Identifier: GPL-2.0-only
/*
 * INFO and SETUP.
 */
#include "support.h"

static struct timewheel_setup plain(void)
{
	return (struct timewheel_setup){ .size = sizeof(struct timewheel_setup) };
}

static struct timewheel_setup own(void)
{
	struct timewheel_setup s = plain();

	s.flags = TIMEWHEEL_SETUP_OWN_WHEEL;
	return s;
}

static void expect_refused(int err, struct timewheel_setup s)
{
	int fd = tw_open();

	errno = 0;
	EXPECT_EQ(-1, setup(fd, &s));
	EXPECT_EQ(err, errno);
	/* An error changes nothing: a right one is still the first. */
	s = plain();
	EXPECT_EQ(0, setup(fd, &s));
	close(fd);
}

TEST(info_is_filled)
{
	struct timewheel_info info;
	uint64_t before, after;
	int fd = tw_open();

	before = now_ns(CLOCK_MONOTONIC);
	info = info_of(fd);
	after = now_ns(CLOCK_MONOTONIC);
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(TIMEWHEEL_ABI_VERSION, info.abi_version);
	EXPECT_EQ(CLOCK_MONOTONIC, info.clockid);
	EXPECT_EQ(0, info.pad);
	EXPECT_LE(before, info.now_ns);
	EXPECT_GE(after, info.now_ns);
	EXPECT_LE(info.epoch_ns, info.now_ns);
	EXPECT_LE(info.min_tick_ns, info.tick_ns);
	EXPECT_GE(info.max_tick_ns, info.tick_ns);
	EXPECT_LE(1, info.levels);
	EXPECT_GE(info.max_levels, info.levels);
	EXPECT_GE(info.max_slots, info.slots);
	EXPECT_EQ(0, info.slots & (info.slots - 1));
	EXPECT_LT(0, info.max_pending);
}

TEST(info_leaves_the_context_as_it_is)
{
	struct timewheel_setup s = plain();
	int fd = tw_open();

	info_of(fd);
	stats_of(fd);
	EXPECT_EQ(0, setup(fd, &s));
}

TEST(setup_is_once)
{
	struct timewheel_setup s = plain();
	int fd = tw_open();

	ASSERT_OK(setup(fd, &s));
	EXPECT_ERR(EBUSY, setup(fd, &s));
	s = own();
	EXPECT_ERR(EBUSY, setup(fd, &s));
}

TEST(setup_is_before_the_first_op)
{
	struct timewheel_setup s = own();
	struct timewheel_info before, after;
	int fd = tw_open();

	before = info_of(fd);
	arm(fd, HOUR, 0);
	s.tick_ns = 7 * MS;
	EXPECT_ERR(EBUSY, setup(fd, &s));
	after = info_of(fd);
	EXPECT_EQ(before.tick_ns, after.tick_ns);
	EXPECT_EQ(1, stats_of(fd).pending);
}

TEST(setup_refuses_what_makes_no_sense)
{
	struct timewheel_info info;
	struct timewheel_setup s;
	int fd = tw_open();

	info = info_of(fd);
	close(fd);

	s = plain();
	s.flags = 1U << 31;
	expect_refused(EINVAL, s);
	s = plain();
	s.pad = 1;
	expect_refused(EINVAL, s);

	/* These are of an own wheel only. */
	s = plain();
	s.tick_ns = MS;
	expect_refused(EINVAL, s);
	s = plain();
	s.slots = 256;
	expect_refused(EINVAL, s);
	s = plain();
	s.levels = 1;
	expect_refused(EINVAL, s);
	s = plain();
	s.clockid = CLOCK_BOOTTIME;
	expect_refused(EINVAL, s);

	s = own();
	s.tick_ns = info.min_tick_ns - 1;
	expect_refused(EINVAL, s);
	s = own();
	s.tick_ns = info.max_tick_ns + 1;
	expect_refused(EINVAL, s);
	s = own();
	s.tick_ns = UINT64_MAX;
	expect_refused(EINVAL, s);
	s = own();
	s.slots = info.max_slots + 1;
	expect_refused(EINVAL, s);
	s = own();
	s.slots = UINT32_MAX;
	expect_refused(EINVAL, s);
	s = own();
	s.levels = info.max_levels + 1;
	expect_refused(EINVAL, s);
	s = own();
	s.slots = info.max_slots;
	s.levels = info.max_levels;
	expect_refused(EINVAL, s);
	s = own();
	s.clockid = CLOCK_TAI;
	expect_refused(EINVAL, s);
	s = own();
	s.clockid = -1;
	expect_refused(EINVAL, s);
}

TEST(ring_entries_are_a_power_of_two)
{
	struct timewheel_setup s = plain();

	s.sq_entries = 3;
	expect_refused(EINVAL, s);
	s = plain();
	s.cq_entries = 100;
	expect_refused(EINVAL, s);
	s = plain();
	s.sq_entries = 2 * TIMEWHEEL_RING_MAX;
	expect_refused(EINVAL, s);
	s = plain();
	s.cq_entries = 1U << 31;
	expect_refused(EINVAL, s);
}

TEST(setup_eventfd)
{
	struct timewheel_setup s = plain();
	int fd, efd = eventfd(0, EFD_CLOEXEC);

	ASSERT_OK(efd);
	s.eventfd = 4095;	/* closed */
	expect_refused(EBADF, s);
	s.eventfd = open("/dev/null", O_RDONLY);
	ASSERT_OK(s.eventfd);
	expect_refused(EINVAL, s);

	/* None, in both ways. */
	s.eventfd = -1;
	fd = tw_open();
	EXPECT_EQ(0, setup(fd, &s));
	close(fd);
	s.eventfd = 0;
	fd = tw_open();
	EXPECT_EQ(0, setup(fd, &s));
	close(fd);

	s.eventfd = efd;
	fd = tw_open();
	EXPECT_EQ(0, setup(fd, &s));
	arm(fd, 0, 1);
	wait_readable(efd);
	EXPECT_EQ(1, eventfd_count(efd));
	EXPECT_EQ(1, read_event(fd).user_data);
}

TEST(own_wheel_is_as_asked)
{
	struct timewheel_setup s = own();
	struct timewheel_info info;
	int fd = tw_open();

	s.tick_ns = 5 * MS;
	s.slots = 100;
	s.levels = 2;
	s.clockid = CLOCK_BOOTTIME;
	s.max_pending = 10;
	ASSERT_OK(setup(fd, &s));
	info = info_of(fd);
	EXPECT_EQ(5 * MS, info.tick_ns);
	/* Up to a power of two. */
	EXPECT_EQ(128, info.slots);
	EXPECT_EQ(2, info.levels);
	EXPECT_EQ(CLOCK_BOOTTIME, info.clockid);
	EXPECT_EQ(10, info.max_pending);
}

TEST(own_wheel_fires)
{
	static const uint64_t ticks[] = { 100000, MS, 20 * MS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		int fd = own_wheel(ticks[i], CLOCK_MONOTONIC);
		uint64_t due = now_ns(CLOCK_MONOTONIC) + 30 * MS;

		arm_at(fd, due, i);
		EXPECT_EQ(i, read_event(fd).user_data);
		EXPECT_LE(due, now_ns(CLOCK_MONOTONIC));
		expect_balance(fd);
		close(fd);
	}
}

TEST(own_wheel_of_one_level)
{
	struct timewheel_setup s = own();
	uint64_t due;
	int fd = tw_open();

	/* 64 slots of 1 ms: the deadline is several rounds away. */
	s.tick_ns = MS;
	s.slots = 64;
	s.levels = 1;
	ASSERT_OK(setup(fd, &s));
	due = now_ns(CLOCK_MONOTONIC) + 500 * MS;
	arm_at(fd, due, 1);
	EXPECT_EQ(due, read_event(fd).deadline_ns);
	EXPECT_LE(due, now_ns(CLOCK_MONOTONIC));
	EXPECT_EQ(1, stats_of(fd).fired);
}

TEST(boottime)
{
	int fd = own_wheel(MS, CLOCK_BOOTTIME);
	struct timewheel_info info = info_of(fd);
	struct timewheel_event ev;
	uint64_t due;

	EXPECT_LE(info.now_ns, now_ns(CLOCK_BOOTTIME));
	due = now_ns(CLOCK_BOOTTIME) + 50 * MS;
	arm_at(fd, due, 3);
	ev = read_event(fd);
	EXPECT_LE(due, now_ns(CLOCK_BOOTTIME));
	EXPECT_EQ(due, ev.deadline_ns);
	EXPECT_EQ(3, ev.user_data);
}

TEST(max_pending)
{
	struct timewheel_setup s = plain();
	struct timewheel_op op;
	uint64_t a, b;
	int fd = tw_open();

	s.max_pending = 2;
	ASSERT_OK(setup(fd, &s));
	EXPECT_EQ(2, info_of(fd).max_pending);
	a = arm(fd, HOUR, 1);
	b = arm(fd, HOUR, 2);
	op = op_arm(HOUR, 3);
	EXPECT_ERR(ENOSPC, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));

	/* Cancelled ones make room at once, as does one that fired and was read. */
	ASSERT_OK(cancel(fd, a));
	a = arm(fd, 0, 4);
	EXPECT_EQ(4, read_event(fd).user_data);
	a = arm(fd, HOUR, 5);
	op = op_arm(HOUR, 6);
	EXPECT_ERR(ENOSPC, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	EXPECT_EQ(0, cancel(fd, a));
	EXPECT_EQ(0, cancel(fd, b));
	EXPECT_EQ(0, stats_of(fd).pending);
	EXPECT_EQ(2, stats_of(fd).rejected);
	expect_balance(fd);
}
