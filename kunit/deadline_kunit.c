// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deadlines that the owner keeps, and is asked for when the one that the wheel
 * knows has come.
 */

#include "kunit_util.h"

#define DUE	(10 * TICK)
#define LATER	(20 * TICK)
#define NEARER	(15 * TICK)

static struct test_timeout *asked;
/* What the owner says, and what somebody else does just after. */
static u64 answer, move_to;
static bool touch;

static u64 deadline_asked(struct timewheel_timeout *t)
{
	u64 at = move_to;

	move_to = 0;
	if (at && touch)
		timewheel_touch(t, at);
	else if (at)
		timewheel_rearm(t, at);
	return answer;
}

static struct timewheel_ops deadline_ops;

static struct timewheel *deadline_armed(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);

	deadline_ops = test_ops;
	deadline_ops.deadline = deadline_asked;
	asked = env_timeouts(test, 1);
	env_timeout_init(test, asked, 0, &deadline_ops);
	answer = 0;
	move_to = 0;
	touch = false;
	KUNIT_ASSERT_EQ(test, timewheel_add_at(wheel, &asked->t, DUE), 0);
	bare_drain(wheel);
	return wheel;
}

static void deadline_put_off(struct kunit *test)
{
	struct timewheel *wheel = deadline_armed(test);

	answer = LATER;
	bare_fire(wheel, DUE);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&asked->t), LATER);
	bare_fire(wheel, LATER - 1);
	KUNIT_EXPECT_EQ(test, asked->fired, 0);
	bare_fire(wheel, LATER);
	KUNIT_EXPECT_EQ(test, asked->fired, 1);
	KUNIT_EXPECT_EQ(test, wheel->due_ns, LATER);
}

/* Later than it knows, and past all the same: that is when it was due. */
static void deadline_past(struct kunit *test)
{
	struct timewheel *wheel = deadline_armed(test);

	answer = DUE + 1;
	bare_fire(wheel, DUE + TICK);
	KUNIT_EXPECT_EQ(test, asked->fired, 1);
	KUNIT_EXPECT_EQ(test, wheel->due_ns, DUE + 1);
}

static void deadline_not_later(struct kunit *test)
{
	struct timewheel *wheel = deadline_armed(test);

	answer = DUE - 1;
	bare_fire(wheel, DUE);
	KUNIT_EXPECT_EQ(test, asked->fired, 1);
	KUNIT_EXPECT_EQ(test, wheel->due_ns, DUE);
}

/* The owner's answer was of before the move, which stands. */
static void deadline_moved_meanwhile(struct kunit *test)
{
	struct timewheel *wheel = deadline_armed(test);

	answer = LATER;
	move_to = NEARER;
	bare_fire(wheel, DUE);
	bare_drain(wheel);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&asked->t), NEARER);
	answer = 0;
	bare_fire(wheel, NEARER - 1);
	KUNIT_EXPECT_EQ(test, asked->fired, 0);
	bare_fire(wheel, NEARER);
	KUNIT_EXPECT_EQ(test, asked->fired, 1);
	books_expect(test, wheel, (struct test_books){ .armed = 1, .fired = 1 });
}

static void deadline_touched_meanwhile(struct kunit *test)
{
	struct timewheel *wheel = deadline_armed(test);

	answer = NEARER;
	move_to = LATER;
	touch = true;
	bare_fire(wheel, DUE);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&asked->t), LATER);
	bare_fire(wheel, LATER - 1);
	KUNIT_EXPECT_EQ(test, asked->fired, 0);
	bare_fire(wheel, LATER);
	KUNIT_EXPECT_EQ(test, asked->fired, 1);
}

static LIST_HEAD(waiting);
static bool wait;

static struct list_head *deadline_hold(struct timewheel_timeout *t, u64 due_ns,
				       u64 *now_ns)
{
	return wait ? &waiting : NULL;
}

/* Two that are due at DUE, and wait. */
static struct test_timeout *deadline_held(struct kunit *test,
					  struct timewheel *wheel)
{
	struct test_timeout *tt = env_timeouts(test, 3);
	int i;

	deadline_ops = test_ops;
	deadline_ops.hold = deadline_hold;
	for (i = 0; i < 3; i++) {
		env_timeout_init(test, &tt[i], i, &deadline_ops);
		KUNIT_ASSERT_EQ(test, timewheel_add_at(wheel, &tt[i].t,
						       i < 2 ? DUE : LATER), 0);
	}
	bare_drain(wheel);
	wait = true;
	bare_fire(wheel, DUE);
	wait = false;
	KUNIT_EXPECT_EQ(test, tt[0].fired + tt[1].fired, 0);
	KUNIT_EXPECT_TRUE(test, timewheel_pending(&tt[0].t));
	return tt;
}

/* They come before what is due since, in their order, as late as they are. */
static void deadline_held_then_due(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tt = deadline_held(test, wheel);
	unsigned int budget = UINT_MAX;
	int i;

	KUNIT_ASSERT_TRUE(test, core_advance(&wheel->core, LATER / TICK, &budget));
	core_release(&wheel->core, &waiting);
	bare_fire(wheel, LATER);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, tt[i].fired, 1);
		KUNIT_EXPECT_EQ(test, tt[i].env->log[i], i);
		KUNIT_EXPECT_EQ(test, tt[i].fired_ns, LATER);
	}
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tt[0].t), DUE);
	books_expect(test, wheel, (struct test_books){ .armed = 3, .fired = 3 });
}

static void deadline_held_then_moved(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tt = deadline_held(test, wheel);

	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tt[0].t));
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tt[1].t, NEARER), 0);
	bare_drain(wheel);
	KUNIT_EXPECT_TRUE(test, list_empty(&waiting));
	bare_fire(wheel, NEARER - 1);
	KUNIT_EXPECT_EQ(test, tt[1].fired, 0);
	bare_fire(wheel, LATER);
	KUNIT_EXPECT_EQ(test, tt[0].fired, 0);
	KUNIT_EXPECT_EQ(test, tt[1].fired, 1);
	books_expect(test, wheel, (struct test_books){
		.armed = 3, .fired = 2, .cancelled = 1 });
}

static struct kunit_case deadline_cases[] = {
	KUNIT_CASE(deadline_put_off),
	KUNIT_CASE(deadline_past),
	KUNIT_CASE(deadline_not_later),
	KUNIT_CASE(deadline_moved_meanwhile),
	KUNIT_CASE(deadline_touched_meanwhile),
	KUNIT_CASE(deadline_held_then_due),
	KUNIT_CASE(deadline_held_then_moved),
	{}
};

static struct kunit_suite deadline_suite = {
	.name = "timewheel_deadline",
	.init = env_init,
	.exit = env_exit,
	.test_cases = deadline_cases,
};

kunit_test_suite(deadline_suite);
