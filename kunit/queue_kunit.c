// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues, without a worker: the case says what is drained when.
 */

#include "kunit_util.h"

#define QUEUE_TIMEOUTS	64
/* All that queue_some() adds is due in this tick. */
#define DUE		(1000 * TICK)

static struct test_timeout *queue_some(struct kunit *test, struct timewheel *wheel,
				       unsigned int nr)
{
	struct test_timeout *tts = env_timeouts(test, QUEUE_TIMEOUTS);
	unsigned int i;

	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[i].t, DUE), 0);
	return tts;
}

static void queue_oldest_first(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);

	KUNIT_EXPECT_TRUE(test, queues_empty(&wheel->queues));
	queue_some(test, wheel, 5);
	KUNIT_EXPECT_FALSE(test, queues_empty(&wheel->queues));
	bare_drain(wheel);
	KUNIT_EXPECT_TRUE(test, queues_empty(&wheel->queues));
	bare_fire(wheel, DUE - 1);
	log_expect_ids(test, NULL, 0);
	bare_fire(wheel, DUE);
	log_expect(test, 0, 1, 2, 3, 4);
}

/* Added in the queue's order, due in another: the deadline decides. */
static void queue_deadline_decides(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 0);
	unsigned int i;

	for (i = 0; i < 5; i++)
		timewheel_add_at(wheel, &tts[i].t, DUE - i * TICK);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 4, 3, 2, 1, 0);
}

static void queue_moved_once(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 3);

	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[0].t, DUE), 0);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 1, 2, 0);
}

static void queue_moved_all(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 3);

	timewheel_rearm(&tts[1].t, DUE);
	timewheel_rearm(&tts[0].t, DUE);
	timewheel_add_at(wheel, &tts[3].t, DUE);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 2, 1, 0, 3);
}

static void queue_moved_twice(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 3);

	timewheel_rearm(&tts[0].t, DUE);
	timewheel_rearm(&tts[1].t, DUE);
	timewheel_rearm(&tts[0].t, DUE - TICK);
	timewheel_rearm(&tts[2].t, DUE);
	timewheel_rearm(&tts[0].t, DUE);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 1, 2, 0);
}

/* Moved once it is filed: goes through the queue like a new one. */
static void queue_moved_when_filed(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 3);

	bare_drain(wheel);
	timewheel_rearm(&tts[0].t, DUE);
	timewheel_add_at(wheel, &tts[3].t, DUE);
	timewheel_rearm(&tts[1].t, DUE);
	timewheel_rearm(&tts[0].t, DUE);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 2, 3, 1, 0);
}

static void queue_cancelled_goes_last(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = env_timeouts(test, 3);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		env_timeout_init(test, &tts[i], i, &test_quiet_ops);
		timewheel_add_at(wheel, &tts[i].t, DUE);
	}
	/* While it is queued. */
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[0].t));
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[0].t, DUE), 0);
	bare_drain(wheel);
	/* When it is filed. */
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[1].t));
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[1].t, DUE), 0);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 2, 0, 1);
	books_expect(test, wheel, (struct test_books){
		.armed = 5, .fired = 3, .cancelled = 2 });
}

/*
 * Cancelled and armed again while the worker is between its two queues: what is
 * armed after it comes after it, though it lies in the other queue.
 */
static void queue_cancelled_between(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = env_timeouts(test, 2);

	env_timeout_init(test, &tts[0], 0, &test_quiet_ops);
	timewheel_add_at(wheel, &tts[0].t, DUE);
	bare_drain(wheel);

	KUNIT_EXPECT_FALSE(test, queue_drain_cancel(wheel, UINT_MAX));
	timewheel_cancel(&tts[0].t);
	timewheel_add_at(wheel, &tts[0].t, DUE);
	timewheel_add_at(wheel, &tts[1].t, DUE);
	queue_drain_submit(wheel, UINT_MAX);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 0, 1);
}

/* The same when the budget ends before the cancel queue does. */
static void queue_cancel_leftovers(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = env_timeouts(test, 4);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		env_timeout_init(test, &tts[i], i, &test_quiet_ops);
		timewheel_add_at(wheel, &tts[i].t, DUE);
	}
	bare_drain(wheel);
	for (i = 0; i < 3; i++)
		timewheel_cancel(&tts[i].t);
	for (i = 0; i < 4; i++)
		timewheel_add_at(wheel, &tts[i].t, DUE);
	while (!queues_empty(&wheel->queues)) {
		queue_drain_cancel(wheel, 1);
		queue_drain_submit(wheel, 1);
	}
	bare_fire(wheel, DUE);
	log_expect(test, 0, 1, 2, 3);
}

/* Cancelled before the worker saw it: no trace but in the books. */
static void queue_collapses(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tt = env_timeouts(test, 1);
	unsigned int i;

	env_timeout_init(test, tt, 0, &test_quiet_ops);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tt->t, DUE), 0);
		KUNIT_EXPECT_TRUE(test, timewheel_pending(&tt->t));
		KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tt->t));
		KUNIT_EXPECT_FALSE(test, timewheel_cancel(&tt->t));
		KUNIT_EXPECT_FALSE(test, timewheel_pending(&tt->t));
	}
	/* In one queue, once. */
	queue_drain_cancel(wheel, 1);
	queue_drain_submit(wheel, 1);
	KUNIT_EXPECT_TRUE(test, queues_empty(&wheel->queues));
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 0);
	bare_fire(wheel, DUE);
	log_expect_ids(test, NULL, 0);
	books_expect(test, wheel, (struct test_books){ .armed = 10, .cancelled = 10 });
}

/* Its cancelled callback is owed once, and until then it can't be armed. */
static void queue_cancelled_while_queued(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 2);

	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[0].t));
	KUNIT_EXPECT_FALSE(test, timewheel_cancel(&tts[0].t));
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[0].t, DUE), -EBUSY);
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[0].t, DUE), -ENOENT);
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 0);
	bare_drain(wheel);
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 1);
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[0].t, DUE), 0);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 1, 0);
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 1);
	books_expect(test, wheel, (struct test_books){
		.armed = 3, .fired = 2, .cancelled = 1, .rejected = 1 });
}

/* What the budget leaves over is taken next, before what came since. */
static void queue_leftovers(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 5);
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, queue_drain_submit(wheel, 0));
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 0);
	KUNIT_EXPECT_TRUE(test, queue_drain_submit(wheel, 2));
	KUNIT_EXPECT_EQ(test, wheel->core.nr, 2);
	timewheel_add_at(wheel, &tts[5].t, DUE);
	for (i = 3; i <= 6; i++) {
		KUNIT_EXPECT_FALSE(test, queues_empty(&wheel->queues));
		KUNIT_EXPECT_FALSE(test, queue_drain_cancel(wheel, 1));
		queue_drain_submit(wheel, 1);
		KUNIT_EXPECT_EQ(test, wheel->core.nr, i);
	}
	KUNIT_EXPECT_TRUE(test, queues_empty(&wheel->queues));
	bare_fire(wheel, DUE);
	log_expect(test, 0, 1, 2, 3, 4, 5);
}

/* A moved one waits for those that were armed before it moved. */
static void queue_leftovers_and_moved(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 6);

	timewheel_rearm(&tts[0].t, DUE);
	timewheel_add_at(wheel, &tts[6].t, DUE);
	while (!queues_empty(&wheel->queues)) {
		queue_drain_cancel(wheel, 1);
		queue_drain_submit(wheel, 1);
	}
	bare_fire(wheel, DUE);
	log_expect(test, 1, 2, 3, 4, 5, 0, 6);
}

/* One that was kept aside can be moved and cancelled like any other. */
static void queue_aside(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 6);

	timewheel_rearm(&tts[0].t, DUE);
	timewheel_rearm(&tts[1].t, DUE);
	KUNIT_EXPECT_TRUE(test, queue_drain_submit(wheel, 3));
	timewheel_rearm(&tts[0].t, DUE);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[1].t));
	bare_drain(wheel);
	KUNIT_EXPECT_EQ(test, tts[1].cancelled, 1);
	bare_fire(wheel, DUE);
	log_expect(test, 2, 3, 4, 5, 0);
}

/* Of 0 to 4, as the next two cases have them: 0 moved, and 3 to be cancelled. */
#define ASIDE_FRESH	1
#define ASIDE_CANCELLED	3
#define ASIDE_LAST	4

/* From the cancelled callback of another, while 1 and 2 are kept aside. */
static void aside_move(struct test_timeout *tt)
{
	timewheel_rearm(&tt[ASIDE_FRESH - ASIDE_CANCELLED].t, DUE);
}

/* One that is kept aside moves again: the others keep their places. */
static void queue_aside_moved(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 5);

	timewheel_rearm(&tts[0].t, DUE);
	timewheel_rearm(&tts[ASIDE_LAST].t, DUE);
	tts[ASIDE_CANCELLED].on_cancelled = aside_move;
	timewheel_cancel(&tts[ASIDE_CANCELLED].t);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 2, 0, 4, 1);
}

static void aside_move_all(struct test_timeout *tt)
{
	timewheel_add_at(tt->t.wheel, &tt[2].t, DUE);
	timewheel_rearm(&tt[ASIDE_LAST - ASIDE_CANCELLED].t, DUE);
	aside_move(tt);
}

/* 5 is armed, then 4 and 1 move, while the round without 5 goes on. */
static void queue_aside_untaken(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 5);

	timewheel_rearm(&tts[0].t, DUE);
	tts[ASIDE_CANCELLED].on_cancelled = aside_move_all;
	timewheel_cancel(&tts[ASIDE_CANCELLED].t);
	bare_drain(wheel);
	bare_fire(wheel, DUE);
	log_expect(test, 2, 0, 5, 4, 1);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(queue_oldest_first),
	KUNIT_CASE(queue_deadline_decides),
	KUNIT_CASE(queue_moved_once),
	KUNIT_CASE(queue_moved_all),
	KUNIT_CASE(queue_moved_twice),
	KUNIT_CASE(queue_moved_when_filed),
	KUNIT_CASE(queue_cancelled_goes_last),
	KUNIT_CASE(queue_cancelled_between),
	KUNIT_CASE(queue_cancel_leftovers),
	KUNIT_CASE(queue_collapses),
	KUNIT_CASE(queue_cancelled_while_queued),
	KUNIT_CASE(queue_leftovers),
	KUNIT_CASE(queue_leftovers_and_moved),
	KUNIT_CASE(queue_aside),
	KUNIT_CASE(queue_aside_moved),
	KUNIT_CASE(queue_aside_untaken),
	{}
};

static struct kunit_suite queue_suite = {
	.name = "timewheel_queue",
	.init = env_init,
	.exit = env_exit,
	.test_cases = queue_cases,
};

kunit_test_suite(queue_suite);
