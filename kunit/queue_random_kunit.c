// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues against the rule: within a tick timeouts fire in the order in which
 * they were armed or last moved, however producers and drains interleave.
 */

#include <linux/prandom.h>

#include "kunit_util.h"

#define QUEUE_TIMEOUTS	64
#define QUEUE_SEED	0x71756575
#define QUEUE_ROUNDS	500
#define QUEUE_STEPS	200
/* From one round to the next; in each, all are due in one tick. */
#define QUEUE_STRIDE	(1000 * TICK)

/**
 * struct queue_script - random arming, moving and cancelling
 * @armed: what is armed, in the order of arming or moving
 * @nr: how many are
 * @due: the deadline of all
 */
struct queue_script {
	unsigned int armed[QUEUE_TIMEOUTS];
	unsigned int nr;
	u64 due;
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
		KUNIT_EXPECT_EQ(test, timewheel_rearm(&tt->t, script->due), 0);
	else if (timewheel_add_at(wheel, &tt->t, script->due))
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
	for (round = 0; round < QUEUE_ROUNDS; round++) {
		script->due += QUEUE_STRIDE;
		for (i = 0; i < QUEUE_STEPS; i++) {
			u32 id = prandom_u32_state(&rnd) % QUEUE_TIMEOUTS;
			u32 drain = prandom_u32_state(&rnd) % 16;

			queue_script_step(test, script, wheel, &tts[id],
					  prandom_u32_state(&rnd));
			if (drain == 0)
				queue_drain_cancel(wheel, prandom_u32_state(&rnd) % 8);
			else if (drain == 1)
				queue_drain_submit(wheel, prandom_u32_state(&rnd) % 8);
		}
		bare_drain(wheel);
		KUNIT_EXPECT_EQ(test, wheel->core.nr, script->nr);
		bare_fire(wheel, script->due - 1);
		log_expect_ids(test, NULL, 0);
		bare_fire(wheel, script->due);
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

static struct kunit_case queue_random_cases[] = {
	KUNIT_CASE(queue_random_told),
	KUNIT_CASE(queue_random_quiet),
	{}
};

static struct kunit_suite queue_random_suite = {
	.name = "timewheel_queue_random",
	.init = env_init,
	.exit = env_exit,
	.test_cases = queue_random_cases,
};

kunit_test_suite(queue_random_suite);
