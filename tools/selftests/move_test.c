// SPDX-License-Identifier: GPL-2.0-only
/*
 * CANCEL, REARM and QUERY, and the ids they take.
 */
#include "support.h"

TEST(cancel_prevents)
{
	uint64_t id;
	int fd = tw_open();

	id = arm(fd, 100 * MS, 1);
	EXPECT_EQ(0, cancel(fd, id));
	EXPECT_EQ(1, stats_of(fd).cancelled);
	EXPECT_EQ(0, stats_of(fd).pending);
	/* A later one fires, and the cancelled one has not. */
	arm(fd, 200 * MS, 2);
	EXPECT_EQ(2, read_event(fd).user_data);
	expect_no_event(fd);
	EXPECT_EQ(1, stats_of(fd).fired);
	expect_balance(fd);
}

TEST(stale_and_invented_ids)
{
	struct timewheel_query q;
	uint64_t id, ids[8];
	unsigned int i, nr = 0;
	int fd = tw_open();

	id = arm(fd, HOUR, 1);
	ids[nr++] = id ^ 1ULL << 32;		/* another generation */
	ids[nr++] = id ^ 1ULL << 63;
	ids[nr++] = id + 1;			/* an index nothing is at */
	ids[nr++] = id | 0xffffffffULL;		/* one beyond all */
	ids[nr++] = id & 0xffffffffULL;		/* no generation */
	ids[nr++] = 0;
	ids[nr++] = UINT64_MAX;
	ids[nr++] = 1ULL << 31;
	for (i = 0; i < nr; i++) {
		EXPECT_ERR(ENOENT, cancel(fd, ids[i]));
		EXPECT_ERR(ENOENT, rearm(fd, ids[i], 0));
		EXPECT_ERR(ENOENT, query(fd, ids[i], &q));
	}
	EXPECT_EQ(1, stats_of(fd).pending);

	/* The id of one that was cancelled, when its place is used again. */
	EXPECT_EQ(0, cancel(fd, id));
	EXPECT_ERR(ENOENT, cancel(fd, id));
	EXPECT_ERR(ENOENT, rearm(fd, id, 0));
	EXPECT_ERR(ENOENT, query(fd, id, &q));
	for (i = 0; i < 100; i++)
		arm(fd, HOUR, i);
	EXPECT_ERR(ENOENT, cancel(fd, id));
	EXPECT_ERR(ENOENT, rearm(fd, id, 0));
	EXPECT_EQ(100, stats_of(fd).pending);
}

/* An expired one can't be moved or cancelled, be its event read or not. */
TEST(too_late)
{
	struct timewheel_query q;
	uint64_t id;
	int fd = tw_open();

	id = arm(fd, 0, 5);
	wait_readable(fd);
	EXPECT_ERR(ENOENT, cancel(fd, id));
	EXPECT_ERR(ENOENT, rearm(fd, id, HOUR));
	ASSERT_OK(query(fd, id, &q));
	EXPECT_EQ(TIMEWHEEL_STATE_EXPIRED, q.state);
	EXPECT_EQ(5, q.user_data);

	EXPECT_EQ(id, read_event(fd).id);
	EXPECT_ERR(ENOENT, cancel(fd, id));
	EXPECT_ERR(ENOENT, rearm(fd, id, HOUR));
	EXPECT_ERR(ENOENT, query(fd, id, &q));
	expect_balance(fd);
}

TEST(rearm_later_and_sooner)
{
	struct timewheel_query q;
	struct timewheel_event ev;
	uint64_t id, before, after, due;
	int fd = tw_open();

	/* Later: at its old deadline nothing happens. */
	id = arm(fd, 100 * MS, 1);
	before = now_ns(CLOCK_MONOTONIC);
	ASSERT_OK(rearm(fd, id, HOUR));
	after = now_ns(CLOCK_MONOTONIC);
	ASSERT_OK(query(fd, id, &q));
	EXPECT_LE(before + HOUR, q.deadline_ns);
	EXPECT_GE(after + HOUR, q.deadline_ns);
	EXPECT_EQ(TIMEWHEEL_STATE_PENDING, q.state);
	arm(fd, 200 * MS, 2);
	EXPECT_EQ(2, read_event(fd).user_data);
	expect_no_event(fd);

	/* Sooner. */
	due = now_ns(CLOCK_MONOTONIC) + 10 * MS;
	ASSERT_OK(rearm(fd, id, 10 * MS));
	ev = read_event(fd);
	EXPECT_EQ(id, ev.id);
	EXPECT_EQ(1, ev.user_data);
	EXPECT_LE(due, ev.deadline_ns);
	EXPECT_LE(ev.deadline_ns, now_ns(CLOCK_MONOTONIC));
	EXPECT_EQ(2, stats_of(fd).rearmed);
	EXPECT_EQ(2, stats_of(fd).fired);
	expect_balance(fd);
}

TEST(rearm_absolute)
{
	struct timewheel_op op;
	uint64_t id, due;
	int fd = tw_open();

	id = arm(fd, HOUR, 1);
	due = now_ns(CLOCK_MONOTONIC) + 30 * MS;
	op = op_rearm(id, due);
	op.flags = TIMEWHEEL_ABS;
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_REARM, &op));
	EXPECT_EQ(due, read_event(fd).deadline_ns);
	EXPECT_LE(due, now_ns(CLOCK_MONOTONIC));
}

/* Moved again and again, it fires once, at the last deadline. */
TEST(rearm_many_times)
{
	uint64_t id, due = 0;
	int i, fd = tw_open();

	id = arm(fd, HOUR, 1);
	for (i = 0; i < 2000; i++) {
		struct timewheel_op op;

		due = now_ns(CLOCK_MONOTONIC) + (i % 2 ? 2 * HOUR : HOUR);
		if (i == 1999)
			due = now_ns(CLOCK_MONOTONIC) + 20 * MS;
		op = op_rearm(id, due);
		op.flags = TIMEWHEEL_ABS;
		ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_REARM, &op));
	}
	EXPECT_EQ(due, read_event(fd).deadline_ns);
	EXPECT_LE(due, now_ns(CLOCK_MONOTONIC));
	expect_no_event(fd);
	EXPECT_EQ(2000, stats_of(fd).rearmed);
	EXPECT_EQ(1, stats_of(fd).fired);
	expect_balance(fd);
}

TEST(malformed)
{
	struct timewheel_op op;
	uint64_t id;
	int fd = tw_open();

	id = arm(fd, HOUR, 0);
	op = op_cancel(id);
	op.pad = 1;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_CANCEL, &op));
	op = op_cancel(id);
	op.flags = 1 << 7;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_CANCEL, &op));
	op = op_cancel(id);
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_REARM, &op));
	op = op_rearm(id, 0);
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_CANCEL, &op));
	op.reserved = 1;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_REARM, &op));
	op = op_rearm(id, 0);
	op.pad2 = 1;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_REARM, &op));
	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_CANCEL, NULL));
	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_REARM, NULL));

	/* Malformed comes before unknown. */
	op = op_cancel(0);
	op.pad = 1;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_CANCEL, &op));
	EXPECT_EQ(1, stats_of(fd).pending);
	EXPECT_EQ(0, stats_of(fd).cancelled);
	EXPECT_EQ(0, stats_of(fd).rearmed);
}

TEST(query_fields)
{
	struct timewheel_query q;
	uint64_t id, due;
	int fd = tw_open();

	due = now_ns(CLOCK_MONOTONIC) + HOUR;
	id = arm_at(fd, due, 0xabcdef);
	ASSERT_OK(query(fd, id, &q));
	EXPECT_EQ(id, q.id);
	EXPECT_EQ(0xabcdef, q.user_data);
	EXPECT_EQ(due, q.deadline_ns);
	EXPECT_EQ(0, q.interval_ns);
	EXPECT_EQ(TIMEWHEEL_STATE_PENDING, q.state);

	q.flags = 1;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_QUERY, &q));
	q.flags = 0;
	q.reserved[1] = 1;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_QUERY, &q));
	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_QUERY, NULL));
}

/* Exactly one of cancelled and fired happens, however close the race. */
TEST(cancel_races_expiry)
{
	const unsigned int nr = 2000;
	unsigned int i, cancelled = 0, fired = 0;
	struct timewheel_stats st;
	int fd = tw_open();

	for (i = 0; i < nr; i++) {
		uint64_t id = arm(fd, i % 16 * 200000, i);

		if (!cancel(fd, id)) {
			cancelled++;
			continue;
		}
		EXPECT_EQ(ENOENT, errno);
		EXPECT_EQ(i, read_event(fd).user_data);
		fired++;
	}
	expect_no_event(fd);
	st = stats_of(fd);
	EXPECT_EQ(nr, st.armed);
	EXPECT_EQ(cancelled, st.cancelled);
	EXPECT_EQ(fired, st.fired);
	EXPECT_EQ(0, st.pending);
	expect_balance(fd);
}
