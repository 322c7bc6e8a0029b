// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periodic timeouts: phase, overruns, and what may be done to them.
 */

#include "kunit_util.h"

/**
 * struct test_periodic - a periodic timeout that notes what becomes of it
 * @p: the timeout
 * @fired: times it fired
 * @overruns: periods it was told to have missed, in all
 * @cancelled: times it was told that it is cancelled
 * @cancel_at: cancels itself when it has fired so often
 * @move_to: moves itself there when it fires, once, unless 0
 * @seen_ns: the time of the pass in which it fired last
 */
struct test_periodic {
	struct timewheel_periodic p;
	u64 fired;
	u64 overruns;
	u64 cancelled;
	u64 cancel_at;
	u64 move_to;
	u64 seen_ns;
};

static void periodic_expired(struct timewheel_timeout *t)
{
	struct test_periodic *tp = container_of(t, struct test_periodic, p.timeout);

	tp->seen_ns = t->wheel->now_ns;
	tp->overruns += timewheel_overruns(t);
	WRITE_ONCE(tp->fired, tp->fired + 1);
	if (tp->fired == tp->cancel_at)
		timewheel_cancel(t);
	if (tp->move_to) {
		timewheel_rearm(t, tp->move_to);
		tp->move_to = 0;
	}
}

static void periodic_cancelled(struct timewheel_timeout *t)
{
	struct test_periodic *tp = container_of(t, struct test_periodic, p.timeout);

	WRITE_ONCE(tp->cancelled, tp->cancelled + 1);
}

static const struct timewheel_ops periodic_ops = {
	.expired = periodic_expired,
	.cancelled = periodic_cancelled,
};

static struct test_periodic *periodic(struct kunit *test)
{
	struct test_periodic *tp = kunit_kzalloc(test, sizeof(*tp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tp);
	timewheel_timeout_init(&tp->p.timeout, &periodic_ops);
	return tp;
}

/* Neither the interval nor the first deadline is a whole number of ticks. */
static void periodic_keeps_phase(struct kunit *test)
{
	const u64 first = 5 * TICK + 123, interval = 3 * TICK + 333331;
	const unsigned int nr = 1000000;
	struct timewheel *wheel = env_bare(test);
	struct test_periodic *tp = periodic(test);
	u64 due = first, tick;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, timewheel_periodic_add(wheel, &tp->p, first,
						     interval, 0), 0);
	bare_drain(wheel);
	for (i = 1; i <= nr; i++, due += interval) {
		KUNIT_ASSERT_EQ(test, timewheel_expires(&tp->p.timeout), due);
		/* Just before the tick nothing happens, at the tick it does. */
		tick = DIV64_U64_ROUND_UP(due, TICK) * TICK;
		bare_fire(wheel, tick - 1);
		KUNIT_ASSERT_EQ(test, tp->fired, i - 1);
		bare_fire(wheel, tick);
		KUNIT_ASSERT_EQ(test, tp->fired, i);
		if (i % 4096 == 0)
			cond_resched();
	}
	KUNIT_EXPECT_EQ(test, tp->overruns, 0);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tp->p.timeout),
			first + (u64)nr * interval);
	books_expect(test, wheel, (struct test_books){
		     .armed = nr + 1, .fired = nr, .pending = 1 });
	timewheel_cancel(&tp->p.timeout);
	bare_drain(wheel);
	KUNIT_EXPECT_EQ(test, tp->cancelled, 1);
}

/* 1,000 periods in one pause: one expiry, 999 overruns, and the phase stays. */
static void periodic_after_a_pause(struct kunit *test)
{
	const u64 first = 10 * TICK, interval = 7 * TICK;
	struct timewheel *wheel = env_bare(test);
	struct test_periodic *tp = periodic(test);

	timewheel_periodic_add(wheel, &tp->p, first, interval, 0);
	bare_drain(wheel);
	bare_fire(wheel, first + 999 * interval + interval / 2);
	KUNIT_EXPECT_EQ(test, tp->fired, 1);
	KUNIT_EXPECT_EQ(test, tp->overruns, 999);
	KUNIT_EXPECT_EQ(test, wheel->books.overruns, 999);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tp->p.timeout),
			first + 1000 * interval);
	bare_fire(wheel, first + 1000 * interval);
	KUNIT_EXPECT_EQ(test, tp->fired, 2);
	KUNIT_EXPECT_EQ(test, tp->overruns, 999);
	timewheel_cancel(&tp->p.timeout);
	bare_drain(wheel);
}

/* All that the owner has seen is of this time. */
static u64 periodic_seen;
static LIST_HEAD(periodic_waiting);

static struct list_head *periodic_hold(struct timewheel_timeout *t, u64 due_ns,
				       u64 *now_ns)
{
	if (due_ns > periodic_seen)
		return &periodic_waiting;
	*now_ns = periodic_seen;
	return NULL;
}

/* A cancel may be under way that came before the later periods: they wait. */
static void periodic_held(struct kunit *test)
{
	static const struct timewheel_ops ops = {
		.expired = periodic_expired,
		.cancelled = periodic_cancelled,
		.hold = periodic_hold,
	};
	const u64 first = 10 * TICK, interval = 7 * TICK;
	struct timewheel *wheel = env_bare(test);
	struct test_periodic *tp = periodic(test);

	tp->p.timeout.ops = &ops;
	timewheel_periodic_add(wheel, &tp->p, first, interval, 0);
	bare_drain(wheel);
	periodic_seen = first + 3 * interval + TICK;
	bare_fire(wheel, first + 9 * interval);
	KUNIT_EXPECT_EQ(test, tp->fired, 1);
	KUNIT_EXPECT_EQ(test, tp->overruns, 3);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tp->p.timeout), first + 4 * interval);
	KUNIT_EXPECT_FALSE(test, list_empty(&periodic_waiting));
	/* The rest has been seen. */
	periodic_seen = first + 9 * interval;
	core_release(&wheel->core, &periodic_waiting);
	bare_fire(wheel, first + 9 * interval);
	KUNIT_EXPECT_EQ(test, tp->fired, 2);
	KUNIT_EXPECT_EQ(test, tp->overruns, 3 + 5);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tp->p.timeout), first + 10 * interval);
	timewheel_cancel(&tp->p.timeout);
	bare_drain(wheel);
	KUNIT_EXPECT_EQ(test, tp->cancelled, 1);
}

/* A period shorter than a tick: an expiry each tick, and the rest overruns. */
static void periodic_within_a_tick(struct kunit *test)
{
	const u64 interval = TICK / 10;
	struct timewheel *wheel = env_bare(test);
	struct test_periodic *tp = periodic(test);
	unsigned int i;

	timewheel_periodic_add(wheel, &tp->p, TICK, interval, 0);
	bare_drain(wheel);
	for (i = 1; i <= 100; i++)
		bare_fire(wheel, i * TICK);
	KUNIT_EXPECT_EQ(test, tp->fired, 100);
	/* Ten each tick from the second on, one of which is the expiry. */
	KUNIT_EXPECT_EQ(test, tp->overruns, 99 * 9);
	timewheel_cancel(&tp->p.timeout);
	bare_drain(wheel);
}

static void periodic_cancels_itself(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_periodic *tp = periodic(test);
	unsigned int i;

	tp->cancel_at = 3;
	timewheel_periodic_add(wheel, &tp->p, TICK, TICK, 0);
	bare_drain(wheel);
	for (i = 1; i <= 10; i++)
		bare_fire(wheel, i * TICK);
	KUNIT_EXPECT_EQ(test, tp->fired, 3);
	KUNIT_EXPECT_EQ(test, tp->cancelled, 1);
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tp->p.timeout));
	/* The fourth arming is the one that was cancelled. */
	books_expect(test, wheel, (struct test_books){
		     .armed = 4, .fired = 3, .cancelled = 1 });
}

/* From its callback, and from outside: the phase moves with it. */
static void periodic_moves(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_periodic *tp = periodic(test);

	tp->move_to = 50 * TICK;
	timewheel_periodic_add(wheel, &tp->p, 10 * TICK, 20 * TICK, 0);
	bare_drain(wheel);
	bare_fire(wheel, 10 * TICK);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tp->p.timeout), 50 * TICK);
	bare_drain(wheel);
	bare_fire(wheel, 49 * TICK);
	KUNIT_EXPECT_EQ(test, tp->fired, 1);
	bare_fire(wheel, 50 * TICK);
	KUNIT_EXPECT_EQ(test, tp->fired, 2);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tp->p.timeout), 70 * TICK);

	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tp->p.timeout, 61 * TICK), 0);
	bare_drain(wheel);
	bare_fire(wheel, 80 * TICK);
	KUNIT_EXPECT_EQ(test, tp->fired, 3);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tp->p.timeout), 81 * TICK);
	timewheel_cancel(&tp->p.timeout);
	bare_drain(wheel);
}

static void periodic_refuses(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_periodic *tp = periodic(test);

	KUNIT_EXPECT_EQ(test, timewheel_periodic_add(wheel, &tp->p, TICK, 0, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, timewheel_periodic_add(wheel, &tp->p, TICK,
						     (u64)S64_MAX + 1, 0), -EINVAL);
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tp->p.timeout));
	KUNIT_EXPECT_EQ(test, timewheel_periodic_add(wheel, &tp->p, TICK,
						     S64_MAX, 0), 0);
	KUNIT_EXPECT_EQ(test, timewheel_periodic_add(wheel, &tp->p, TICK, TICK, 0),
			-EBUSY);
	/* The longest interval does not wrap. */
	bare_drain(wheel);
	bare_fire(wheel, TICK);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tp->p.timeout), S64_MAX + TICK);
	timewheel_cancel(&tp->p.timeout);
	bare_drain(wheel);
}

/* Armed as a one-shot it is one, whatever it was before. */
static void periodic_no_more(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_periodic *tp = periodic(test);

	tp->cancel_at = 1;
	timewheel_periodic_add(wheel, &tp->p, TICK, TICK, 0);
	bare_drain(wheel);
	bare_fire(wheel, TICK);
	KUNIT_ASSERT_EQ(test, tp->cancelled, 1);
	KUNIT_ASSERT_EQ(test, timewheel_add_at(wheel, &tp->p.timeout, 2 * TICK), 0);
	bare_drain(wheel);
	bare_fire(wheel, 10 * TICK);
	KUNIT_EXPECT_EQ(test, tp->fired, 2);
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tp->p.timeout));
}

/* On a worker: exact, stopped like any other, and handed back once. */
static void periodic_on_a_worker(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 64, 3);
	struct test_periodic *tp = periodic(test);
	LIST_HEAD(unprocessed);
	u64 first;

	need_virtual_time(test);
	first = wheel_at(wheel, 100);
	KUNIT_ASSERT_EQ(test, timewheel_periodic_add(wheel, &tp->p, first,
						     10 * TICK, 0), 0);
	sleep_until(first + 95 * TICK);
	KUNIT_EXPECT_EQ(test, tp->fired, 10);
	KUNIT_EXPECT_EQ(test, tp->overruns, 0);
	KUNIT_EXPECT_GE(test, tp->seen_ns, first + 90 * TICK);
	KUNIT_EXPECT_LE(test, tp->seen_ns, first + 90 * TICK + PROMPT);

	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&unprocessed));
	books_expect(test, wheel, (struct test_books){
		     .armed = 11, .fired = 10, .unprocessed = 1 });
	list_del_init(&tp->p.timeout.node.link);
}

static struct kunit_case periodic_cases[] = {
	KUNIT_CASE(periodic_keeps_phase),
	KUNIT_CASE(periodic_after_a_pause),
	KUNIT_CASE(periodic_held),
	KUNIT_CASE(periodic_within_a_tick),
	KUNIT_CASE(periodic_cancels_itself),
	KUNIT_CASE(periodic_moves),
	KUNIT_CASE(periodic_refuses),
	KUNIT_CASE(periodic_no_more),
	KUNIT_CASE(periodic_on_a_worker),
	{}
};

static struct kunit_suite periodic_suite = {
	.name = "timewheel_periodic",
	.init = env_init,
	.exit = env_exit,
	.test_cases = periodic_cases,
};

kunit_test_suite(periodic_suite);
