// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer wheel in a program's own memory, which the bench compares with: it is a
 * fair peer only if it is right.
 */
#include <stdlib.h>

#include "harness.h"
#include "wheel.h"

#define TIMEOUTS	1000U
#define UNARMED		UINT64_MAX
#define BEGIN		0x123456789abULL

static uint32_t expired[TIMEOUTS];

/* No wheel: a tick for each, looked at one by one. */
static uint64_t due[TIMEOUTS];

static uint64_t random_tick(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static struct wheel *new_wheel(void)
{
	struct wheel *wheel = wheel_create(TIMEOUTS, BEGIN);

	ASSERT_TRUE(wheel);
	return wheel;
}

TEST(empty)
{
	struct wheel *wheel = new_wheel();

	EXPECT_TRUE(wheel_next(wheel) == UINT64_MAX);
	EXPECT_EQ(0, wheel_advance(wheel, BEGIN + (1ULL << 40), expired));
	EXPECT_FALSE(wheel_cancel(wheel, 0));
	wheel_destroy(wheel);
}

/* One from each side of each border between levels. */
TEST(in_its_tick)
{
	static const uint64_t away[] = {
		1, 2, 255, 256, 257, 65535, 65536, 65537, (1ULL << 24) - 1, 1ULL << 24,
		(1ULL << 32) - 1, 1ULL << 32, 3ULL << 32, 1ULL << 40,
	};
	struct wheel *wheel = new_wheel();
	uint64_t now = BEGIN;
	unsigned int i;

	for (i = 0; i < sizeof(away) / sizeof(*away); i++) {
		wheel_arm(wheel, i, now + away[i]);
		EXPECT_TRUE(wheel_next(wheel) <= now + away[i]);
		EXPECT_EQ(0, wheel_advance(wheel, now + away[i] - 1, expired));
		EXPECT_EQ(1, wheel_advance(wheel, now + away[i], expired));
		EXPECT_EQ(i, expired[0]);
		now += away[i];
	}
	EXPECT_TRUE(wheel_next(wheel) == UINT64_MAX);
	wheel_destroy(wheel);
}

TEST(what_has_gone_by_is_due_next)
{
	struct wheel *wheel = new_wheel();

	wheel_arm(wheel, 7, 0);
	EXPECT_EQ(BEGIN + 1, wheel_next(wheel));
	EXPECT_EQ(1, wheel_advance(wheel, BEGIN + 1, expired));
	wheel_destroy(wheel);
}

TEST(cancelled_and_moved)
{
	struct wheel *wheel = new_wheel();

	wheel_arm(wheel, 1, BEGIN + 10);
	wheel_arm(wheel, 2, BEGIN + 10);
	wheel_arm(wheel, 3, BEGIN + 10);
	EXPECT_TRUE(wheel_cancel(wheel, 2));
	EXPECT_FALSE(wheel_cancel(wheel, 2));
	wheel_move(wheel, 1, BEGIN + 100000);
	EXPECT_EQ(1, wheel_advance(wheel, BEGIN + 99999, expired));
	EXPECT_EQ(3, expired[0]);
	EXPECT_FALSE(wheel_cancel(wheel, 3));
	EXPECT_EQ(1, wheel_advance(wheel, BEGIN + 100000, expired));
	EXPECT_EQ(1, expired[0]);
	wheel_destroy(wheel);
}

TEST(nobody_is_woken_for_what_is_gone)
{
	struct wheel *wheel = new_wheel();

	wheel_arm(wheel, 1, BEGIN + 10);
	wheel_arm(wheel, 2, BEGIN + 1000);
	wheel_move(wheel, 1, BEGIN + 100000);
	EXPECT_TRUE(wheel_next(wheel) > BEGIN + 10);
	EXPECT_TRUE(wheel_cancel(wheel, 1));
	EXPECT_TRUE(wheel_cancel(wheel, 2));
	EXPECT_TRUE(wheel_next(wheel) == UINT64_MAX);
	wheel_destroy(wheel);
}

/* All that is due at @now has expired, and nothing else. */
static void compare(uint32_t nr, uint64_t now)
{
	uint64_t last = 0;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		ASSERT_TRUE(due[expired[i]] <= now);
		ASSERT_TRUE(due[expired[i]] >= last);
		last = due[expired[i]];
	}
	for (i = 0; i < nr; i++)
		due[expired[i]] = UNARMED;
	for (i = 0; i < TIMEOUTS; i++)
		ASSERT_TRUE(due[i] > now);
}

static void ask_something(struct wheel *wheel, uint64_t now, uint32_t timeout)
{
	/* Of all levels alike. */
	uint64_t tick = now + 1 + (random_tick() >> (24 + random_tick() % 40));

	switch (random_tick() % 3) {
	case 0:
		ASSERT_EQ(due[timeout] != UNARMED, wheel_cancel(wheel, timeout));
		due[timeout] = UNARMED;
		return;
	default:
		if (due[timeout] == UNARMED)
			wheel_arm(wheel, timeout, tick);
		else
			wheel_move(wheel, timeout, tick);
		due[timeout] = tick;
	}
}

TEST(as_without_a_wheel)
{
	struct wheel *wheel = new_wheel();
	uint64_t now = BEGIN;
	unsigned int i, turn;

	for (i = 0; i < TIMEOUTS; i++)
		due[i] = UNARMED;
	for (turn = 0; turn < 20000; turn++) {
		for (i = 0; i < 8; i++)
			ask_something(wheel, now, random_tick() % TIMEOUTS);
		now += random_tick() >> (30 + random_tick() % 34);
		compare(wheel_advance(wheel, now, expired), now);
	}
	wheel_destroy(wheel);
}
