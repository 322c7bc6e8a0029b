// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deadlines: the odd ones, and the order in which they fire.
 */
#include <stdlib.h>

#include "support.h"

static void expect_at_once(int fd, struct timewheel_op op)
{
	struct timewheel_event ev;

	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	ev = read_event(fd);
	EXPECT_EQ(op.id, ev.id);
	EXPECT_LE(ev.deadline_ns, now_ns(CLOCK_MONOTONIC));
	if (op.flags & TIMEWHEEL_ABS)
		EXPECT_EQ(op.expires_ns, ev.deadline_ns);
}

TEST(due_at_once)
{
	int fd = tw_open();

	expect_at_once(fd, op_arm(0, 1));
	expect_at_once(fd, op_arm(1, 1));
	expect_at_once(fd, op_arm_at(0, 1));
	expect_at_once(fd, op_arm_at(1, 1));
	expect_at_once(fd, op_arm_at(now_ns(CLOCK_MONOTONIC), 1));
	expect_at_once(fd, op_arm_at(now_ns(CLOCK_MONOTONIC) - 1, 1));
	expect_at_once(fd, op_arm_at(info_of(fd).epoch_ns, 1));
	EXPECT_EQ(7, stats_of(fd).fired);
	expect_balance(fd);
}

/* What no clock reaches is never, and does not wrap round to now. */
TEST(never)
{
	static const struct {
		int flags;
		uint64_t ns;
	} far[] = {
		{ 0, UINT64_MAX },
		{ 0, UINT64_MAX - 1 },
		{ 0, 1ULL << 63 },
		{ 0, (1ULL << 63) - 1 },
		{ TIMEWHEEL_ABS, UINT64_MAX },
		{ TIMEWHEEL_ABS, UINT64_MAX - 1 },
		{ TIMEWHEEL_ABS, 1ULL << 63 },
		{ TIMEWHEEL_ABS, (1ULL << 63) - 1 },
		{ 0, 100ULL * 365 * 24 * HOUR },
	};
	struct timewheel_query q;
	uint64_t ids[ARRAY_SIZE(far)];
	unsigned int i;
	int fd = tw_open();

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		struct timewheel_op op = op_arm(far[i].ns, i);

		op.flags = far[i].flags;
		ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
		ids[i] = op.id;
	}
	EXPECT_FALSE(readable(fd, 500));
	EXPECT_EQ(ARRAY_SIZE(far), stats_of(fd).pending);
	EXPECT_EQ(0, stats_of(fd).fired);
	for (i = 0; i < ARRAY_SIZE(far); i++) {
		ASSERT_OK(query(fd, ids[i], &q));
		EXPECT_EQ(TIMEWHEEL_STATE_PENDING, q.state);
		if (far[i].flags & TIMEWHEEL_ABS)
			EXPECT_EQ(far[i].ns, q.deadline_ns);
		else if (far[i].ns >= UINT64_MAX - 1)
			EXPECT_EQ(UINT64_MAX, q.deadline_ns);
		/* From there it can be brought near. */
		ASSERT_OK(rearm(fd, ids[i], 0));
		EXPECT_EQ(ids[i], read_event(fd).id);
	}
	expect_balance(fd);
}

/* Deadlines around the boundaries of ticks and slots: none early. */
TEST(never_early)
{
	struct timewheel_info info;
	uint64_t base, seen = 0;
	unsigned int i, nr;
	int fd = tw_open();

	info = info_of(fd);
	/* A tick's boundary some way ahead. */
	base = info.epoch_ns + ((info.now_ns - info.epoch_ns) / info.tick_ns + 50) *
		info.tick_ns;
	for (nr = 0; nr < 300; nr++)
		arm_at(fd, base + nr * (info.tick_ns / 3) + nr % 3 - 1, nr);
	for (i = 0; i < nr; i++) {
		struct timewheel_event ev = read_event(fd);

		EXPECT_LE(ev.deadline_ns, now_ns(CLOCK_MONOTONIC));
		seen += ev.user_data;
	}
	EXPECT_EQ(nr * (nr - 1) / 2, seen);
	expect_balance(fd);
}

static int compare_random(const void *a, const void *b)
{
	uint64_t x = ((const struct timewheel_op *)a)->reserved;
	uint64_t y = ((const struct timewheel_op *)b)->reserved;

	return x < y ? -1 : x > y;
}

static uint64_t tick_of(const struct timewheel_info *info, uint64_t deadline_ns)
{
	return (deadline_ns - info->epoch_ns + info->tick_ns - 1) / info->tick_ns;
}

/* Earlier ticks first, and within a tick as they were armed. */
TEST(order)
{
	static struct timewheel_op ops[3000];
	const unsigned int nr = ARRAY_SIZE(ops);
	uint64_t start, seed = 20, last_tick = 0, last_data = 0, tick;
	struct timewheel_info info;
	unsigned int i;
	int fd = tw_open();

	info = info_of(fd);
	start = info.now_ns + 2 * SEC;
	for (i = 0; i < nr; i++) {
		/* Some hundred ticks, over the first level's end. */
		ops[i] = op_arm_at(start + i % 400 * info.tick_ns, 0);
		ops[i].reserved = random_next(&seed);
	}
	qsort(ops, nr, sizeof(ops[0]), compare_random);
	for (i = 0; i < nr; i++) {
		ops[i].reserved = 0;
		ops[i].user_data = i;
	}
	ASSERT_EQ(nr, submit(fd, ops, nr));
	if (now_ns(CLOCK_MONOTONIC) >= start)
		SKIP("too slow: arming took 2 s");

	for (i = 0; i < nr; i++) {
		struct timewheel_event ev = read_event(fd);

		tick = tick_of(&info, ev.deadline_ns);
		EXPECT_LE(last_tick, tick);
		if (i && tick == last_tick)
			EXPECT_LT(last_data, ev.user_data);
		last_tick = tick;
		last_data = ev.user_data;
	}
	expect_no_event(fd);
	expect_balance(fd);
}
