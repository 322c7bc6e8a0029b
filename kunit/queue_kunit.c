// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues, without a worker: the case says what is drained when.
 */

#include <linux/kthread.h>
#include <linux/prandom.h>

#include "kunit_util.h"
#include "timeout.h"

#define QUEUE_TIMEOUTS	64
#define QUEUE_SEED	0x71756575
/* All that queue_some() adds is due in this tick. */
#define DUE		(1000 * TICK)

/* All that is queued, whatever it takes. */
static void queue_drain_all(struct timewheel *wheel)
{
	while (!queues_empty(&wheel->queues)) {
		queue_drain_cancel(wheel, UINT_MAX);
		queue_drain_submit(wheel, UINT_MAX);
		cond_resched();
	}
}

/* It is @now_ns: all that is due fires. */
static void queue_fire(struct timewheel *wheel, u64 now_ns)
{
	struct timewheel_node *n;
	unsigned int budget;

	wheel->now_ns = now_ns;
	do {
		budget = UINT_MAX;
	} while (!core_advance(&wheel->core, div64_u64(now_ns, TICK), &budget));
	while ((n = core_pop(&wheel->core)))
		timeout_expire(wheel, container_of(n, struct timewheel_timeout, node));
}

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
	queue_drain_all(wheel);
	KUNIT_EXPECT_TRUE(test, queues_empty(&wheel->queues));
	queue_fire(wheel, DUE - 1);
	log_expect_ids(test, NULL, 0);
	queue_fire(wheel, DUE);
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
	queue_drain_all(wheel);
	queue_fire(wheel, DUE);
	log_expect(test, 4, 3, 2, 1, 0);
}

static void queue_moved_once(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 3);

	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[0].t, DUE), 0);
	queue_drain_all(wheel);
	queue_fire(wheel, DUE);
	log_expect(test, 1, 2, 0);
}

static void queue_moved_all(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 3);

	timewheel_rearm(&tts[1].t, DUE);
	timewheel_rearm(&tts[0].t, DUE);
	timewheel_add_at(wheel, &tts[3].t, DUE);
	queue_drain_all(wheel);
	queue_fire(wheel, DUE);
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
	queue_drain_all(wheel);
	queue_fire(wheel, DUE);
	log_expect(test, 1, 2, 0);
}

/* Moved once it is filed: goes through the queue like a new one. */
static void queue_moved_when_filed(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = queue_some(test, wheel, 3);

	queue_drain_all(wheel);
	timewheel_rearm(&tts[0].t, DUE);
	timewheel_add_at(wheel, &tts[3].t, DUE);
	timewheel_rearm(&tts[1].t, DUE);
	timewheel_rearm(&tts[0].t, DUE);
	queue_drain_all(wheel);
	queue_fire(wheel, DUE);
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
	queue_drain_all(wheel);
	/* When it is filed. */
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[1].t));
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[1].t, DUE), 0);
	queue_drain_all(wheel);
	queue_fire(wheel, DUE);
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
	queue_drain_all(wheel);

	KUNIT_EXPECT_FALSE(test, queue_drain_cancel(wheel, UINT_MAX));
	timewheel_cancel(&tts[0].t);
	timewheel_add_at(wheel, &tts[0].t, DUE);
	timewheel_add_at(wheel, &tts[1].t, DUE);
	queue_drain_submit(wheel, UINT_MAX);
	queue_drain_all(wheel);
	queue_fire(wheel, DUE);
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
	queue_drain_all(wheel);
	for (i = 0; i < 3; i++)
		timewheel_cancel(&tts[i].t);
	for (i = 0; i < 4; i++)
		timewheel_add_at(wheel, &tts[i].t, DUE);
	while (!queues_empty(&wheel->queues)) {
		queue_drain_cancel(wheel, 1);
		queue_drain_submit(wheel, 1);
	}
	queue_fire(wheel, DUE);
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
	queue_fire(wheel, DUE);
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
	queue_drain_all(wheel);
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 1);
	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tts[0].t, DUE), 0);
	queue_drain_all(wheel);
	queue_fire(wheel, DUE);
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
	queue_fire(wheel, DUE);
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
	queue_fire(wheel, DUE);
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
	queue_drain_all(wheel);
	KUNIT_EXPECT_EQ(test, tts[1].cancelled, 1);
	queue_fire(wheel, DUE);
	log_expect(test, 2, 3, 4, 5, 0);
}

/**
 * struct queue_script - random arming, moving and cancelling
 * @armed: what is armed, in the order of arming or moving
 * @nr: how many are
 */
struct queue_script {
	unsigned int armed[QUEUE_TIMEOUTS];
	unsigned int nr;
};

static bool queue_script_remove(struct queue_script *script, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < script->nr; i++)
		if (script->armed[i] == id) {
			memmove(&script->armed[i], &script->armed[i + 1],
				(--script->nr - i) * sizeof(*script->armed));
			return true;
		}
	return false;
}

static void queue_script_step(struct kunit *test, struct queue_script *script,
			      struct timewheel *wheel, struct test_timeout *tt,
			      u32 random)
{
	bool armed = queue_script_remove(script, tt->id);

	KUNIT_EXPECT_EQ(test, timewheel_pending(&tt->t), armed);
	if (random % 4 == 0) {
		KUNIT_EXPECT_EQ(test, timewheel_cancel(&tt->t), armed);
		return;
	}
	if (armed)
		KUNIT_EXPECT_EQ(test, timewheel_rearm(&tt->t, DUE), 0);
	else if (timewheel_add_at(wheel, &tt->t, DUE))
		return;	/* its cancelled callback is owed */
	script->armed[script->nr++] = tt->id;
}

/* Any interleaving of producers and drains leaves the order of arming. */
static void queue_random(struct kunit *test, const struct timewheel_ops *ops)
{
	struct timewheel *wheel = env_bare(test);
	struct test_timeout *tts = env_timeouts(test, QUEUE_TIMEOUTS);
	struct queue_script *script;
	struct rnd_state rnd;
	unsigned int round, i;

	script = kunit_kzalloc(test, sizeof(*script), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, script);
	kunit_info(test, "seed %#x\n", QUEUE_SEED);
	prandom_seed_state(&rnd, QUEUE_SEED);
	for (i = 0; i < QUEUE_TIMEOUTS; i++)
		env_timeout_init(test, &tts[i], i, ops);
	for (round = 0; round < 500; round++) {
		wheel->core.now = 0;
		for (i = 0; i < 200; i++) {
			u32 id = prandom_u32_state(&rnd) % QUEUE_TIMEOUTS;
			u32 drain = prandom_u32_state(&rnd) % 16;

			queue_script_step(test, script, wheel, &tts[id],
					  prandom_u32_state(&rnd));
			if (drain == 0)
				queue_drain_cancel(wheel, prandom_u32_state(&rnd) % 8);
			else if (drain == 1)
				queue_drain_submit(wheel, prandom_u32_state(&rnd) % 8);
		}
		queue_drain_all(wheel);
		KUNIT_EXPECT_EQ(test, wheel->core.nr, script->nr);
		queue_fire(wheel, DUE);
		log_expect_ids(test, script->armed, script->nr);
		script->nr = 0;
	}
}

static void queue_random_told(struct kunit *test)
{
	queue_random(test, &test_ops);
}

static void queue_random_quiet(struct kunit *test)
{
	queue_random(test, &test_quiet_ops);
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
	KUNIT_CASE(queue_random_told),
	KUNIT_CASE(queue_random_quiet),
	{}
};

static struct kunit_suite queue_suite = {
	.name = "timewheel_queue",
	.init = env_init,
	.exit = env_exit,
	.test_cases = queue_cases,
};

kunit_test_suite(queue_suite);
