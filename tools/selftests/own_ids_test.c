// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ids that the program chooses itself.
 */
#include "module.h"
#include "support.h"

#define OWN	100U

static uint64_t id_of(uint32_t index, uint32_t generation)
{
	return (uint64_t)generation << 32 | index;
}

static int open_own(uint32_t own_ids, uint64_t max_pending)
{
	struct timewheel_setup s = {
		.size = sizeof(s), .own_ids = own_ids, .max_pending = max_pending,
	};
	int fd = tw_open();

	ASSERT_OK(setup(fd, &s));
	return fd;
}

static struct timewheel_op op_own(uint64_t id, uint64_t expires_ns, uint64_t user_data)
{
	struct timewheel_op op = op_arm(expires_ns, user_data);

	op.flags = TIMEWHEEL_OWN_ID;
	op.id = id;
	return op;
}

static int arm_own(int fd, uint64_t id, uint64_t expires_ns)
{
	struct timewheel_op op = op_own(id, expires_ns, id);
	int ret = ioctl(fd, TIMEWHEEL_IOC_ARM, &op);

	EXPECT_EQ(ret ? -errno : 0, op.result);
	EXPECT_TRUE(op.id == id);
	return ret;
}

TEST(the_id_is_the_programs)
{
	static const uint32_t generations[] = { 1, 0, 7, 0x80000000, UINT32_MAX };
	struct timewheel_query q;
	struct timewheel_event ev;
	uint64_t id;
	unsigned int i;
	int fd = open_own(OWN, 0);

	for (i = 0; i < ARRAY_SIZE(generations); i++) {
		id = id_of(i * 20, generations[i]);
		ASSERT_OK(arm_own(fd, id, HOUR));
		ASSERT_OK(query(fd, id, &q));
		EXPECT_TRUE(q.id == id);
		EXPECT_ERR(ENOENT, query(fd, id ^ 1ULL << 32, &q));
		EXPECT_ERR(ENOENT, cancel(fd, id ^ 1ULL << 63));
		ASSERT_OK(rearm(fd, id, 0));
		ev = read_event(fd);
		EXPECT_TRUE(ev.id == id);
		EXPECT_TRUE(ev.user_data == id);
		EXPECT_ERR(ENOENT, query(fd, id, &q));
	}
	expect_balance(fd);
}

TEST(in_use)
{
	uint64_t id = id_of(3, 1), next = id_of(3, 2);
	int fd = open_own(OWN, 0);

	ASSERT_OK(arm_own(fd, id, HOUR));
	EXPECT_ERR(EBUSY, arm_own(fd, id, HOUR));
	EXPECT_ERR(EBUSY, arm_own(fd, next, HOUR));
	ASSERT_OK(rearm(fd, id, 0));
	wait_readable(fd);
	/* It has expired, and the event is its entry. */
	EXPECT_ERR(EBUSY, arm_own(fd, next, HOUR));
	read_event(fd);
	ASSERT_OK(arm_own(fd, next, HOUR));
	EXPECT_ERR(ENOENT, cancel(fd, id));
	ASSERT_OK(cancel(fd, next));
	/* Thrice in use, and a stale id. */
	EXPECT_EQ(4, stats_of(fd).rejected);
	expect_balance(fd);
}

/* A cancelled one can be had again at once, also within a batch. */
TEST(cancel_and_arm)
{
	struct timewheel_op ops[3 * 50];
	unsigned int i;
	int fd = open_own(OWN, 0);

	for (i = 0; i < 50; i++) {
		ASSERT_OK(arm_own(fd, id_of(9, i), HOUR));
		ASSERT_OK(cancel(fd, id_of(9, i)));
	}
	for (i = 0; i < 50; i++) {
		ops[3 * i] = op_own(id_of(8, i), HOUR, i);
		ops[3 * i + 1] = op_cancel(id_of(8, i));
		ops[3 * i + 2] = op_own(id_of(10 + i, 0), 0, 1000 + i);
	}
	ASSERT_EQ(150, submit(fd, ops, 150));
	for (i = 0; i < 150; i++)
		EXPECT_EQ(0, ops[i].result);
	for (i = 0; i < 50; i++)
		EXPECT_LE(1000, read_event(fd).user_data);
	expect_no_event(fd);
	EXPECT_EQ(100, stats_of(fd).cancelled);
	EXPECT_EQ(50, stats_of(fd).fired);
	expect_balance(fd);
}

TEST(out_of_range)
{
	struct timewheel_setup s = { .size = sizeof(s), .own_ids = 3, .max_pending = 2 };
	int fd = tw_open();

	/* None was reserved. */
	EXPECT_ERR(EINVAL, arm_own(fd, id_of(0, 1), HOUR));

	fd = open_own(OWN, 0);
	EXPECT_ERR(EINVAL, arm_own(fd, id_of(OWN, 1), HOUR));
	EXPECT_ERR(EINVAL, arm_own(fd, id_of(UINT32_MAX, 1), HOUR));
	EXPECT_ERR(EINVAL, arm_own(fd, id_of(1U << 31, 0), HOUR));
	ASSERT_OK(arm_own(fd, id_of(OWN - 1, 1), HOUR));
	EXPECT_EQ(1, stats_of(fd).armed);

	fd = tw_open();
	EXPECT_ERR(EINVAL, setup(fd, &s));
	s.max_pending = 0;
	s.own_ids = UINT32_MAX;
	EXPECT_ERR(EINVAL, setup(fd, &s));
	s.own_ids = 3;
	ASSERT_OK(setup(fd, &s));
}

/* The others are chosen by the kernel, elsewhere, and share the limit. */
TEST(beside_the_kernels)
{
	struct timewheel_op op = op_arm(HOUR, 0);
	uint64_t id;
	int i, fd = open_own(OWN, OWN + 5);

	for (i = 0; i < 5; i++) {
		id = arm(fd, HOUR, i);
		EXPECT_LE(OWN, id & UINT32_MAX);
	}
	EXPECT_ERR(ENOSPC, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	for (i = 0; i < (int)OWN; i++)
		ASSERT_OK(arm_own(fd, id_of(i, 1), HOUR));
	EXPECT_EQ(OWN + 5, stats_of(fd).pending);
	ASSERT_OK(cancel(fd, id));
	arm(fd, HOUR, 0);
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
	for (i = 0; i < (int)OWN + 5; i++)
		EXPECT_TRUE(read_event(fd).flags & TIMEWHEEL_EVENT_UNPROCESSED);
	expect_balance(fd);
}

TEST(periodic)
{
	struct timewheel_op op = op_own(id_of(5, 5), 0, 0);
	int fd = open_own(OWN, OWN);

	op.interval_ns = HOUR;
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	wait_readable(fd);
	ASSERT_OK(cancel(fd, op.id));
	/* What ended before is to be read first. */
	EXPECT_ERR(EBUSY, arm_own(fd, id_of(5, 6), HOUR));
	EXPECT_EQ(1, read_any_event(fd).result);
	EXPECT_EQ(0, arm_own(fd, id_of(5, 6), HOUR));
}

/* They are charged when they are reserved, and all come back. */
TEST(charged_at_setup)
{
	struct timewheel_setup s = { .size = sizeof(s), .own_ids = 11 };
	struct timewheel_op op = op_arm(HOUR, 0);
	int a, b;

	need_module();
	module_reload("max_timeouts=20");
	a = tw_open();
	b = tw_open();
	ASSERT_OK(setup(a, &s));
	EXPECT_ERR(ENOSPC, setup(b, &s));
	/* It is as it was: no SETUP has been. */
	s.own_ids = 9;
	ASSERT_OK(setup(b, &s));
	EXPECT_ERR(ENOSPC, ioctl(a, TIMEWHEEL_IOC_ARM, &op));
	ASSERT_OK(arm_own(b, id_of(8, 0), HOUR));
	ASSERT_OK(close(a));
	arm_many(b, 11, HOUR);
	EXPECT_ERR(ENOSPC, ioctl(b, TIMEWHEEL_IOC_ARM, &op));
	ASSERT_OK(close(b));
	module_restore();
}
