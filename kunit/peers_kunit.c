// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users of the well-known hashed wheels rely on: each behaviour is a case
 * here, in peers_load_kunit.c or in peers_work_kunit.c, under the name given.
 * Part one: the life of a wheel.
 *
 *   parameters in range, slots rounded up       peers_parameters
 *   starts with the first timeout, or by call;
 *   never again after a stop                    peers_lazy_start
 *   zero and negative delays are due at once    peers_no_delay
 *   an enormous delay is clamped, never fires   peers_enormous_delay
 *   10 s has not run after 3 s, 2 s has         peers_three_seconds
 *   stop hands back what has not run, or
 *   cancels it; nothing of what has             peers_stop_hands_back
 *   a second stop, and one before the start,
 *   return nothing                              peers_stop_again
 *   a stop from a callback is refused           peers_stop_in_callback
 *   one that arms itself fires again and again  peers_arms_itself
 *   100,000 at once: none early, none too late  peers_crowd
 *   max_pending: room after a cancel, or a run  peers_limit
 *   three armed, two cancelled, one runs: 0     peers_pending
 *   cancelled while a callback blocks: counted
 *   once                                        peers_cancelled_behind_block
 *   runs on the executor that was given         peers_executor
 *   a task that fails does not end the wheel    peers_failing_task
 *   told of a cancel, and not run               peers_cancel_callback
 *   transfers from the queue in a pass          peers_transfers
 *   too many wheels                             peers_wheels
 *   periodic work does not pile up              peers_periodic
 *
 * And what hurts their users, where it is watched over:
 *
 *   ticks with nothing in it     timewheel_cost: cost_of_idling, cost_of_ten_seconds
 *   a slow task delays all       timewheel_work: work_delays_nobody; the worker's
 *                                lateness: timewheel_books: books_lateness
 *   cancelled ones stay          timewheel_cost: cost_of_cancelling
 *   unbounded adds               peers_limit; selftests limits, charge
 *   pending counted twice        peers_cancelled_behind_block; and at the end of
 *                                every case the books balance (env_exit())
 *   rounds wrong, delays grow    timewheel_core: core_fires_at_its_tick, core_rounds;
 *                                timewheel_periodic: periodic_keeps_phase
 *   a scan that stops early      timewheel_volume: volume_spread, volume_year
 *   a stop hangs, loses          timewheel_stop: stop_waits, stop_hands_back;
 *                                timewheel_fair: fair_stop
 *   one's crowd delays another   timewheel_fair; selftest fairness
 *   each re-arm a new timeout    peers_rearm_is_one; timewheel_worker: worker_touch
 *   a burst after a pause        timewheel_periodic: periodic_after_a_pause
 *   early from a cached now      peers_fresh_clock; timewheel_worker:
 *                                worker_delay_from_now
 *   a lost wake-up               timewheel_cost: cost_nearer_after_far,
 *                                cost_while_draining; timewheel_flush;
 *                                model/sleep.pml
 *   all in phase                 timewheel_core_order: core_fifo_in_a_tick;
 *                                timewheel_slack: slack_gathers
 *   a call, a descriptor, a cookie for each timeout; events dropped; a pointer
 *   freed too early              selftests volume, share, events, limits, submit
 */

#include "kunit_util.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define FAR	(3600 * SECOND)

/* Their default: a tick of 100 ms, 512 slots. */
static struct timewheel *peers_wheel(struct kunit *test, u64 tick_ns, u32 slots)
{
	const struct timewheel_params params = {
		.name = "kunit-peers",
		.tick_ns = tick_ns,
		.slots = slots,
		.levels = 1,
	};

	return env_wheel_of(test, &params);
}

/* How many were handed back; they are idle, and linked nowhere any more. */
static unsigned int peers_take(struct kunit *test, struct list_head *unprocessed)
{
	struct timewheel_timeout *t, *next;
	unsigned int nr = 0;

	list_for_each_entry_safe(t, next, unprocessed, node.link) {
		KUNIT_EXPECT_FALSE(test, timewheel_pending(t));
		list_del_init(&t->node.link);
		nr++;
	}
	return nr;
}

/*
 * Zero is no error here, it asks for the default.  The longest tick times the
 * most slots is less than 2^62 ns, so no revolution overflows; a wheel whose
 * levels together would is refused.
 */
static void peers_parameters(struct kunit *test)
{
	static const struct timewheel_params wrong[] = {
		{ .name = "k", .tick_ns = TIMEWHEEL_MIN_TICK_NS - 1 },
		{ .name = "k", .tick_ns = TIMEWHEEL_MAX_TICK_NS + 1 },
		{ .name = "k", .tick_ns = -1 },
		{ .name = "k", .slots = CORE_MAX_SLOTS + 1 },
		{ .name = "k", .slots = -1 },
		{ .name = "k", .slots = CORE_MAX_SLOTS, .levels = 4 },
	};
	static const u32 slots[][2] = {
		{ 1, 1 }, { 2, 2 }, { 3, 4 }, { 5, 8 }, { 32, 32 }, { 500, 512 },
		{ 513, 1024 }, { CORE_MAX_SLOTS - 1, CORE_MAX_SLOTS },
	};
	struct test_timeout *tt = env_timeouts(test, 1);
	struct timewheel *wheel;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(timewheel_create(&wrong[i])),
				    -EINVAL, "parameters %u", i);
	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		wheel = peers_wheel(test, TICK, slots[i][0]);
		KUNIT_EXPECT_EQ(test, wheel->core.mask + 1, slots[i][1]);
		env_forget(test, wheel);
		timewheel_destroy(wheel);
	}
	wheel = peers_wheel(test, TIMEWHEEL_MAX_TICK_NS, CORE_MAX_SLOTS);
	KUNIT_EXPECT_GT(test, wheel_tick_ns(wheel, CORE_MAX_SLOTS),
			wheel_tick_ns(wheel, CORE_MAX_SLOTS - 1));
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, S64_MAX), 0);
	KUNIT_EXPECT_TRUE(test, timewheel_pending(&tt->t));
}

static void peers_lazy_start(struct kunit *test)
{
	struct timewheel *lazy = peers_wheel(test, TICK, 512);
	struct timewheel *started = peers_wheel(test, TICK, 512);
	struct test_timeout *tts = env_timeouts(test, 3);

	msleep(300);
	KUNIT_EXPECT_EQ(test, lazy->books.passes, 0);
	KUNIT_EXPECT_EQ(test, started->books.passes, 0);

	KUNIT_EXPECT_EQ(test, timewheel_start(started), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(started->books.passes)));
	KUNIT_EXPECT_EQ(test, lazy->books.passes, 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(lazy, &tts[0].t, 5 * TICK), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(started, &tts[1].t, 5 * TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[0].fired) &&
					 READ_ONCE(tts[1].fired)));

	KUNIT_EXPECT_EQ(test, timewheel_stop(lazy, NULL), 0);
	KUNIT_EXPECT_EQ(test, timewheel_start(lazy), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, timewheel_add(lazy, &tts[2].t, 0), -ESHUTDOWN);
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tts[2].t));
	books_expect(test, lazy, (struct test_books){
		.armed = 1, .fired = 1, .rejected = 1 });
}

/* Due when the tick that follows begins; a deadline that has passed, now. */
static void peers_no_delay(struct kunit *test)
{
	static const s64 delays[] = { 0, -1, -10 * NSEC_PER_SEC, S64_MIN };
	struct timewheel *wheel = peers_wheel(test, TICK, 512);
	struct test_timeout *tts = env_timeouts(test, ARRAY_SIZE(delays));
	unsigned int i;
	u64 before;

	need_virtual_time(test);
	for (i = 0; i < ARRAY_SIZE(delays); i++) {
		before = timewheel_now(wheel);
		KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[i].t, delays[i]), 0);
		sleep_ns(3 * TICK);
		KUNIT_EXPECT_EQ_MSG(test, tts[i].fired, 1, "delay %lld", delays[i]);
		KUNIT_EXPECT_GE_MSG(test, tts[i].fired_ns, before, "delay %lld", delays[i]);
		KUNIT_EXPECT_LE_MSG(test, tts[i].fired_ns, before + TICK + PROMPT,
				    "delay %lld", delays[i]);
	}
}

/* Neither after a second, nor after an hour and 70 revolutions. */
static void peers_enormous_delay(struct kunit *test)
{
	struct timewheel *wheel = peers_wheel(test, 100 * TICK, 512);
	struct test_timeout *tts = env_timeouts(test, 3);
	u64 wakeups;

	need_virtual_time(test);
	sleep_ns(10 * TICK);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[0].t, S64_MAX), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[1].t, U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[2].t, KTIME_MAX), 0);
	sleep_ns(SECOND);
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 3);
	wakeups = wheel->books.wakeups;
	sleep_ns(FAR);
	books_expect(test, wheel, (struct test_books){ .armed = 3, .pending = 3 });
	KUNIT_EXPECT_EQ(test, wheel->books.wakeups, wakeups);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[0].t));
}

static void peers_three_seconds(struct kunit *test)
{
	struct timewheel *wheel = peers_wheel(test, 100 * TICK, 512);
	struct test_timeout *tts = env_timeouts(test, 2);
	u64 begin;

	need_virtual_time(test);
	begin = timewheel_now(wheel);
	timewheel_add(wheel, &tts[0].t, 10 * SECOND);
	timewheel_add(wheel, &tts[1].t, 2 * SECOND);
	sleep_until(begin + 3 * SECOND);
	KUNIT_EXPECT_EQ(test, tts[0].fired, 0);
	KUNIT_EXPECT_TRUE(test, timewheel_pending(&tts[0].t));
	KUNIT_EXPECT_EQ(test, tts[1].fired, 1);
	KUNIT_EXPECT_GE(test, tts[1].fired_ns, begin + 2 * SECOND);
	sleep_until(begin + 11 * SECOND);
	KUNIT_EXPECT_EQ(test, tts[0].fired, 1);
	KUNIT_EXPECT_GE(test, tts[0].fired_ns, begin + 10 * SECOND);
	KUNIT_EXPECT_LE(test, tts[0].fired_ns, begin + 10 * SECOND + 100 * TICK + PROMPT);
}

/* 3 of 1 ms have run by then; 5 of 5 s are handed back, or told. */
static void peers_stop_hands_back(struct kunit *test)
{
	struct timewheel *short_ones = peers_wheel(test, TICK, 512);
	struct timewheel *long_ones = peers_wheel(test, TICK, 512);
	struct timewheel *nobody = peers_wheel(test, TICK, 512);
	struct test_timeout *tts = env_timeouts(test, 13);
	LIST_HEAD(unprocessed);
	unsigned int i;

	for (i = 0; i < 3; i++)
		timewheel_add(short_ones, &tts[i].t, TICK);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(short_ones->books.fired) == 3));
	KUNIT_EXPECT_EQ(test, timewheel_stop(short_ones, &unprocessed), 0);
	KUNIT_EXPECT_EQ(test, peers_take(test, &unprocessed), 0);

	for (i = 3; i < 8; i++)
		timewheel_add(long_ones, &tts[i].t, 5 * SECOND);
	for (; i < 13; i++)
		timewheel_add(nobody, &tts[i].t, 5 * SECOND);
	KUNIT_EXPECT_EQ(test, timewheel_stop(long_ones, &unprocessed), 0);
	KUNIT_EXPECT_EQ(test, peers_take(test, &unprocessed), 5);
	KUNIT_EXPECT_EQ(test, timewheel_stop(nobody, NULL), 0);
	for (i = 0; i < 13; i++) {
		KUNIT_EXPECT_EQ(test, tts[i].fired, i < 3);
		KUNIT_EXPECT_EQ(test, tts[i].cancelled, i >= 8);
		KUNIT_EXPECT_FALSE(test, timewheel_cancel(&tts[i].t));
	}
	books_expect(test, long_ones, (struct test_books){
		.armed = 5, .unprocessed = 5 });
	books_expect(test, nobody, (struct test_books){
		.armed = 5, .unprocessed = 5 });
}

static void peers_stop_again(struct kunit *test)
{
	struct timewheel *wheel = peers_wheel(test, TICK, 512);
	struct timewheel *fresh = peers_wheel(test, TICK, 512);
	struct test_timeout *tt = env_timeouts(test, 1);
	LIST_HEAD(unprocessed);

	KUNIT_EXPECT_EQ(test, timewheel_stop(fresh, &unprocessed), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&unprocessed));

	timewheel_add(wheel, &tt->t, FAR);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_EQ(test, peers_take(test, &unprocessed), 1);
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&unprocessed));
	KUNIT_EXPECT_EQ(test, wheel->books.unprocessed, 1);
}

static void peers_stop_here(struct test_timeout *tt)
{
	*(int *)tt->arg = timewheel_stop(tt->t.wheel, NULL);
}

static void peers_stop_in_callback(struct kunit *test)
{
	struct timewheel *wheel = peers_wheel(test, TICK, 512);
	struct test_timeout *tts = env_timeouts(test, 2);
	int ret = 0;

	tts[0].on_expired = peers_stop_here;
	tts[0].arg = &ret;
	timewheel_add(wheel, &tts[0].t, TICK);
	timewheel_add(wheel, &tts[1].t, 5 * TICK);
	/* The wheel goes on: the other one fires. */
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[1].fired)));
	KUNIT_EXPECT_EQ(test, ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, tts[0].fired, 1);
}

static struct kunit_case peers_cases[] = {
	KUNIT_CASE(peers_parameters),
	KUNIT_CASE(peers_lazy_start),
	KUNIT_CASE(peers_no_delay),
	KUNIT_CASE(peers_enormous_delay),
	KUNIT_CASE(peers_three_seconds),
	KUNIT_CASE(peers_stop_hands_back),
	KUNIT_CASE(peers_stop_again),
	KUNIT_CASE(peers_stop_in_callback),
	{}
};

static struct kunit_suite peers_suite = {
	.name = "timewheel_peers",
	.init = env_init,
	.exit = env_exit,
	.test_cases = peers_cases,
};

kunit_test_suite(peers_suite);
