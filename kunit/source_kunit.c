// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources: whose turn it is when a pass can't take all.
 */

#include "kunit_util.h"
#include "../module/source.h"

/* How much one of them may take in a row, and all in a pass. */
#define IN_A_ROW	20U
#define BUDGET		80U
#define SOURCES		5

/**
 * struct test_source - a source that holds so much
 * @source: the source
 * @holds: how much is in it
 * @taken: how much was taken, in all
 * @visits: passes that looked at it
 */
struct test_source {
	struct timewheel_source source;
	unsigned int holds;
	unsigned int taken;
	unsigned int visits;
};

static bool source_drain(struct timewheel_source *source, unsigned int *budget)
{
	struct test_source *ts = container_of(source, struct test_source, source);
	unsigned int nr = min3(ts->holds, *budget, IN_A_ROW);

	ts->visits++;
	ts->holds -= nr;
	ts->taken += nr;
	*budget -= nr;
	return ts->holds;
}

static const struct source_ops source_ops = {
	.drain = source_drain,
};

/* In this order on the list. */
static struct test_source *source_several(struct kunit *test, struct timewheel *wheel)
{
	struct test_source *ts = kunit_kcalloc(test, SOURCES, sizeof(*ts), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ts);
	sources_init(&wheel->sources);
	for (i = 0; i < SOURCES; i++) {
		ts[i].source.ops = &source_ops;
		source_attach(wheel, &ts[i].source);
		sources_update(&wheel->sources);
	}
	return ts;
}

/* Each has a turn after as many passes as it takes, however full the others are. */
static void source_takes_turns(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_source *ts = source_several(test, wheel);
	int pass, i;

	for (pass = 0; pass < 100; pass++) {
		for (i = 0; i < SOURCES; i++)
			ts[i].holds = 1000;
		KUNIT_ASSERT_TRUE(test, sources_drain(&wheel->sources, BUDGET));
	}
	/* In all 100 * BUDGET, so each a fifth of that, give or take one turn. */
	for (i = 0; i < SOURCES; i++) {
		KUNIT_EXPECT_GE(test, ts[i].taken, 100 * BUDGET / SOURCES - IN_A_ROW);
		KUNIT_EXPECT_LE(test, ts[i].taken, 100 * BUDGET / SOURCES + IN_A_ROW);
		/* Who has nothing taken is looked at all the same. */
		KUNIT_EXPECT_EQ(test, ts[i].visits, 100);
	}
}

/* Those in front leave one of the budget, time and again: that is not its turn. */
static void source_is_not_cut_short(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_source *ts = source_several(test, wheel);
	int pass, i;

	ts[4].holds = IN_A_ROW;
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < 3; i++)
			ts[i].holds = 1000;
		ts[3].holds = IN_A_ROW - 1;
		sources_drain(&wheel->sources, BUDGET);
	}
	KUNIT_EXPECT_EQ(test, ts[4].holds, 0);
}

static void source_tells_what_is_left(struct kunit *test)
{
	struct timewheel *wheel = env_bare(test);
	struct test_source *ts = source_several(test, wheel);

	KUNIT_EXPECT_FALSE(test, sources_drain(&wheel->sources, BUDGET));
	ts[2].holds = IN_A_ROW + 1;
	KUNIT_EXPECT_TRUE(test, sources_drain(&wheel->sources, BUDGET));
	KUNIT_EXPECT_FALSE(test, sources_drain(&wheel->sources, BUDGET));
	source_detach(wheel, &ts[2].source);
	sources_update(&wheel->sources);
	ts[2].holds = 1;
	KUNIT_EXPECT_FALSE(test, sources_drain(&wheel->sources, BUDGET));
	KUNIT_EXPECT_EQ(test, ts[2].holds, 1);
}

static struct kunit_case source_cases[] = {
	KUNIT_CASE(source_takes_turns),
	KUNIT_CASE(source_is_not_cut_short),
	KUNIT_CASE(source_tells_what_is_left),
	{}
};

static struct kunit_suite source_suite = {
	.name = "timewheel_source",
	.init = env_init,
	.exit = env_exit,
	.test_cases = source_cases,
};

kunit_test_suite(source_suite);
