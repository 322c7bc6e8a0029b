// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users of the well-known hashed wheels rely on, part two: many timeouts,
 * and limits.  The list is in peers_kunit.c.
 */

#include "kunit_util.h"
#include "params.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define FAR	(3600 * SECOND)

static struct timewheel *peers_limited(struct kunit *test, u64 max_pending)
{
	const struct timewheel_params params = {
		.name = "kunit-peers",
		.tick_ns = TICK,
		.slots = 32,
		.levels = 1,
		.max_pending = max_pending,
	};

	return env_wheel_of(test, &params);
}

static void peers_again(struct test_timeout *tt)
{
	timewheel_add(tt->t.wheel, &tt->t, 100 * TICK);
}

/* 100 ms on a wheel whose revolution takes 3.2 s: three firings, and one is left. */
static void peers_arms_itself(struct kunit *test)
{
	const struct timewheel_params params = {
		.name = "kunit-peers", .tick_ns = 100 * TICK, .slots = 32, .levels = 1,
	};
	struct timewheel *wheel = env_wheel_of(test, &params);
	struct test_timeout *tt = env_timeouts(test, 1);
	LIST_HEAD(unprocessed);

	tt->on_expired = peers_again;
	timewheel_add(wheel, &tt->t, 100 * TICK);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired) >= 3));
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&unprocessed));
	KUNIT_EXPECT_PTR_EQ(test, unprocessed.next, &tt->t.node.link);
	list_del_init(&tt->t.node.link);
	books_expect(test, wheel, (struct test_books){
		.armed = tt->fired + 1, .fired = tt->fired, .unprocessed = 1 });
}

#define CROWD	100000

/* 125 ms on a tick of 200 ms. */
static void peers_crowd(struct kunit *test)
{
	const struct timewheel_params params = {
		.name = "kunit-peers", .tick_ns = 200 * TICK, .slots = 512, .levels = 1,
	};
	struct timewheel *wheel = env_wheel_of(test, &params);
	struct test_timeout *tts = env_timeouts(test, CROWD);
	unsigned int i, wrong = 0, early = 0, late = 0;
	u64 begin;

	need_virtual_time(test);
	sleep_ns(30 * TICK);
	begin = timewheel_now(wheel);
	for (i = 0; i < CROWD; i++)
		timewheel_add_at(wheel, &tts[i].t, begin + 125 * TICK);
	sleep_ns(SECOND);
	for (i = 0; i < CROWD; i++) {
		wrong += tts[i].fired != 1;
		early += tts[i].fired_ns < begin + 125 * TICK;
		late += tts[i].fired_ns >= begin + 2 * (200 + 125) * TICK;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, early, 0);
	KUNIT_EXPECT_EQ(test, late, 0);
}

static void peers_limit(struct kunit *test)
{
	struct timewheel *wheel = peers_limited(test, 2);
	struct test_timeout *tts = env_timeouts(test, 4);

	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[0].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[1].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[2].t, TICK), -ENOSPC);

	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[1].t));
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[2].t, TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[2].fired)));
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[3].t, TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[3].fired)));

	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[0].t));
	books_expect(test, wheel, (struct test_books){
		.armed = 4, .fired = 2, .cancelled = 2, .rejected = 1 });
	KUNIT_EXPECT_EQ(test, atomic64_read(&wheel->pending), 0);
}

static void peers_pending(struct kunit *test)
{
	struct timewheel *wheel = peers_limited(test, 0);
	struct test_timeout *tts = env_timeouts(test, 3);

	timewheel_add(wheel, &tts[0].t, 5 * TICK);
	timewheel_add(wheel, &tts[1].t, FAR);
	timewheel_add(wheel, &tts[2].t, FAR);
	KUNIT_EXPECT_EQ(test, wheel->books.fired + timewheel_nr_pending(wheel), 3);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[1].t));
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[2].t));
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[0].fired)));
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 0);
}

/* However long it takes until the worker looks at them. */
static void peers_cancelled_behind_block(struct kunit *test)
{
	struct timewheel *wheel = peers_limited(test, 10);
	struct test_timeout *tts = env_timeouts(test, 12);
	unsigned int i;

	tts[0].on_expired = env_block;
	timewheel_add(wheel, &tts[0].t, 0);
	wait_for_completion(&tts[0].reached);
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 0);
	for (i = 1; i < 11; i++)
		KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[i].t, FAR), 0);
	for (i = 1; i < 11; i++)
		KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[i].t));
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 0);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 0);
	complete(&tts[0].release);
	for (i = 1; i < 11; i++)
		KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[i].cancelled)));
	books_expect(test, wheel, (struct test_books){
		.armed = 11, .fired = 1, .cancelled = 10 });

	/* Counted twice, they would let more in than fit. */
	wheel_settle(wheel);
	for (i = 1; i < 11; i++)
		KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[i].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[11].t, FAR), -ENOSPC);
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 10);
}

static void peers_cancel_callback(struct kunit *test)
{
	struct timewheel *wheel = peers_limited(test, 0);
	struct test_timeout *tt = env_timeouts(test, 1);

	timewheel_add(wheel, &tt->t, FAR);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tt->t));
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->cancelled)));
	KUNIT_EXPECT_FALSE(test, timewheel_cancel(&tt->t));
	wheel_settle(wheel);
	KUNIT_EXPECT_EQ(test, tt->cancelled, 1);
	KUNIT_EXPECT_EQ(test, tt->fired, 0);
}

static void peers_count_filed(struct test_timeout *tt)
{
	u64 *most = tt->arg;

	/* All that were transferred in this pass and the one that fires. */
	*most = max(*most, tt->t.wheel->core.nr + 1);
}

/*
 * While the worker was held, more were queued than a pass looks at.  All are due,
 * so what a pass transfers it also fires, and the next one begins with none.
 */
static void peers_transfers(struct kunit *test)
{
	const unsigned int nr = 3 * WORKER_BUDGET + 1;
	struct test_timeout *tts = env_timeouts(test, nr + 1);
	struct timewheel *wheel = peers_limited(test, 0);
	u64 passes, most = 0;
	unsigned int i;

	tts[0].on_expired = env_block;
	timewheel_add_at(wheel, &tts[0].t, 0);
	wait_for_completion(&tts[0].reached);
	for (i = 1; i <= nr; i++) {
		tts[i].on_expired = peers_count_filed;
		tts[i].arg = &most;
		timewheel_add_at(wheel, &tts[i].t, 0);
	}
	passes = wheel->books.passes;
	complete(&tts[0].release);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[nr].fired)));
	KUNIT_EXPECT_LE(test, WORKER_BUDGET, 100000);
	KUNIT_EXPECT_EQ(test, most, WORKER_BUDGET);
	KUNIT_EXPECT_GE(test, wheel->books.passes - passes, 4);
	KUNIT_EXPECT_EQ(test, wheel->books.fired, nr + 1);
}

/* Theirs warn from the 65th on; here the limit is a parameter, and holds. */
static void peers_wheels(struct kunit *test)
{
	const struct timewheel_params params = { .name = "k", .slots = 2, .levels = 1 };
	struct timewheel **wheels;
	unsigned int i;

	wheels = kunit_kcalloc(test, param_max_wheels + 1, sizeof(*wheels), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, wheels);
	for (i = 0; i <= param_max_wheels; i++) {
		wheels[i] = timewheel_create(&params);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(wheels[i]),
				    i < param_max_wheels ? 0 : -ENOSPC, "wheel %u", i);
	}
	while (i--)
		if (!IS_ERR(wheels[i]))
			timewheel_destroy(wheels[i]);
}

/* A refresh is a move, by rearm or touch: never a second timeout. */
static void peers_rearm_is_one(struct kunit *test)
{
	struct timewheel *wheel = peers_limited(test, 1);
	struct test_timeout *tt = env_timeouts(test, 1);
	u64 at = timewheel_now(wheel) + FAR;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tt->t, at), 0);
	for (i = 1; i <= 1000; i++) {
		KUNIT_EXPECT_EQ(test, timewheel_rearm(&tt->t, at + 2 * i), 0);
		KUNIT_EXPECT_EQ(test, timewheel_touch(&tt->t, at + 2 * i + 1), 0);
		if (i % 500 == 0)
			wheel_settle(wheel);
	}
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 1);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tt->t), at + 2001);
	books_expect(test, wheel, (struct test_books){ .armed = 1, .pending = 1 });
	KUNIT_EXPECT_TRUE(test, timewheel_cancel_sync(&tt->t));
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 0);
}

static struct kunit_case peers_load_cases[] = {
	KUNIT_CASE(peers_arms_itself),
	KUNIT_CASE(peers_crowd),
	KUNIT_CASE(peers_limit),
	KUNIT_CASE(peers_pending),
	KUNIT_CASE(peers_cancelled_behind_block),
	KUNIT_CASE(peers_cancel_callback),
	KUNIT_CASE(peers_transfers),
	KUNIT_CASE(peers_wheels),
	KUNIT_CASE(peers_rearm_is_one),
	{}
};

static struct kunit_suite peers_load_suite = {
	.name = "timewheel_peers_load",
	.init = env_init,
	.exit = env_exit,
	.test_cases = peers_load_cases,
};

kunit_test_suite(peers_load_suite);
