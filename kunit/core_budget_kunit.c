// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wheel core: what a budget does not change.
 */

#include <linux/prandom.h>

#include "core_util.h"

static const struct core_shape core_shapes[] = CORE_SHAPES;

KUNIT_ARRAY_PARAM(core_shape, core_shapes, core_describe);

#define BUDGET_NODES	400
#define BUDGET_SEED	0x7177656c

/* The same nodes in a core that has all it wants and in one that has not. */
struct budget_pair {
	struct rnd_state rnd;
	struct wheel_core *rich;
	struct wheel_core *poor;
	struct core_item *rich_items;
	struct core_item *poor_items;
	unsigned int nr;
};

static struct budget_pair *budget_new(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct budget_pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	prandom_seed_state(&pair->rnd, BUDGET_SEED);
	pair->rich = core_new(test, shape->slots, shape->levels);
	pair->poor = core_new(test, shape->slots, shape->levels);
	pair->rich_items = kunit_kcalloc(test, BUDGET_NODES,
					 sizeof(struct core_item), GFP_KERNEL);
	pair->poor_items = kunit_kcalloc(test, BUDGET_NODES,
					 sizeof(struct core_item), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pair->rich_items);
	KUNIT_ASSERT_NOT_NULL(test, pair->poor_items);
	return pair;
}

static void budget_file(struct budget_pair *pair, u64 tick)
{
	unsigned int i = pair->nr++;

	pair->rich_items[i].id = i;
	pair->poor_items[i].id = i;
	core_file(pair->rich, &pair->rich_items[i].node, tick);
	core_file(pair->poor, &pair->poor_items[i].node, tick);
}

/* Up to 2^16 ticks ahead, near ones as likely as far ones, many alike. */
static u64 budget_random_tick(struct budget_pair *pair, u64 now)
{
	unsigned int bits = prandom_u32_state(&pair->rnd) % 17;

	return now + 1 + (prandom_u32_state(&pair->rnd) & ((1U << bits) - 1));
}

static void budget_expect_same(struct kunit *test, struct budget_pair *pair)
{
	unsigned int id;

	do {
		id = core_pop_id(pair->rich);
		KUNIT_EXPECT_EQ(test, core_pop_id(pair->poor), id);
	} while (id != CORE_NONE);
	KUNIT_EXPECT_EQ(test, pair->poor->nr, pair->rich->nr);
}

static void core_budget_of_one(struct kunit *test)
{
	struct budget_pair *pair = budget_new(test);
	unsigned int i, budget;
	u64 to = 0;

	for (i = 0; i < BUDGET_NODES; i++)
		budget_file(pair, budget_random_tick(pair, 0));
	while (pair->rich->nr) {
		to += 1 + prandom_u32_state(&pair->rnd) % 5000;
		core_pass_to(pair->rich, to);
		do {
			budget = 1;
		} while (!core_advance(pair->poor, to, &budget));
		KUNIT_EXPECT_EQ(test, pair->poor->now, to);
		budget_expect_same(test, pair);
		KUNIT_EXPECT_EQ(test, core_next(pair->poor), core_next(pair->rich));
	}
}

/* The tick of the last that has expired; what is filed for it comes last in it. */
static u64 budget_reached(struct wheel_core *core)
{
	if (list_empty(&core->expired))
		return 1;
	return list_last_entry(&core->expired, struct timewheel_node, link)->tick;
}

/*
 * What is filed between the parts of an advance takes the place that it would
 * have had if it had been filed before.
 */
static void core_budget_filing_between(struct kunit *test)
{
	struct budget_pair *pair = budget_new(test);
	unsigned int budget;
	u64 to = 3000;

	while (pair->nr < BUDGET_NODES / 2)
		budget_file(pair, budget_random_tick(pair, 0));
	budget = 1;
	while (!core_advance(pair->poor, to, &budget)) {
		budget = 1;
		/* The rich one stands at tick 0 still. */
		if (pair->nr < BUDGET_NODES)
			budget_file(pair, budget_random_tick(pair, budget_reached(pair->poor) - 1));
	}
	core_pass_to(pair->rich, to);
	budget_expect_same(test, pair);
	core_pass_to(pair->rich, BIT_ULL(20));
	core_pass_to(pair->poor, BIT_ULL(20));
	budget_expect_same(test, pair);
	KUNIT_EXPECT_EQ(test, pair->poor->nr, 0);
}

/* Nodes taken out between the parts, those next to the cursor among them. */
static void core_budget_unlinking_between(struct kunit *test)
{
	struct budget_pair *pair = budget_new(test);
	unsigned int budget, victim;
	u64 to = 70000;

	/* Many share a slot, whatever the shape. */
	while (pair->nr < BUDGET_NODES)
		budget_file(pair, 65536 + pair->nr / 16);
	budget = 1;
	for (victim = 0; !core_advance(pair->poor, to, &budget); victim += 3) {
		budget = 1;
		if (victim >= BUDGET_NODES)
			continue;
		core_unlink(pair->poor, &pair->poor_items[victim].node);
		core_unlink(pair->rich, &pair->rich_items[victim].node);
	}
	core_pass_to(pair->rich, to);
	KUNIT_EXPECT_EQ(test, pair->poor->now, to);
	budget_expect_same(test, pair);
	KUNIT_EXPECT_EQ(test, pair->poor->nr, 0);
	KUNIT_EXPECT_EQ(test, core_next(pair->poor), U64_MAX);
}

/* All that a half-visited slot holds is taken out, then it is used again. */
static void core_budget_emptied_visit(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item item[6];
	unsigned int budget, i;
	u64 tick = BIT_ULL(core->bits * (shape->levels - 1)) * 2 + 1;

	for (i = 0; i < 6; i++) {
		item[i].id = i;
		core_file(core, &item[i].node, tick);
	}
	for (budget = 0; budget < 6; budget++) {
		unsigned int left = budget;
		bool done = core_advance(core, tick, &left);

		for (i = 0; i < 6; i++)
			core_unlink(core, &item[i].node);
		KUNIT_EXPECT_EQ(test, core->nr, 0);
		KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
		KUNIT_EXPECT_TRUE(test, done || !left);
		core_pass_to(core, tick);
		KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);

		tick += 3 * BIT_ULL(core->bits * (shape->levels - 1));
		for (i = 0; i < 6; i++)
			core_file(core, &item[i].node, tick);
		KUNIT_EXPECT_EQ(test, core_next(core), tick);
		core_pass_to(core, tick - 1);
		KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
	}
	core_pass_to(core, tick);
	core_expect(test, core, 0, 1, 2, 3, 4, 5);
}

/* A node of the first revolution is moved at most once for each level. */
static void core_budget_moves(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	u64 span = BIT_ULL(core->range_bits), tick;
	struct core_item item = { .id = 5 };
	unsigned int i, budget;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, BUDGET_SEED);
	for (i = 0; i < 1000; i++) {
		u64 now = core->now;

		tick = (u64)prandom_u32_state(&rnd) << 32 | prandom_u32_state(&rnd);
		tick = now + 1 + (tick & ((span >> i % (core->range_bits + 1)) - 1));
		core_file(core, &item.node, tick);
		/* It may begin its life in one revolution and end it in the next. */
		budget = shape->levels;
		KUNIT_EXPECT_TRUE_MSG(test, core_advance(core, tick, &budget),
				      "from %llu to %llu", now, tick);
		KUNIT_EXPECT_EQ(test, core_pop_id(core), 5);
	}
}

/* Without a budget nothing moves, and the core says that something is left. */
static void core_budget_of_none(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item item[2] = { { .id = 0 }, { .id = 1 } };
	unsigned int budget = 0, i;
	u64 tick = BIT_ULL(core->range_bits) + 5;

	core_file(core, &item[0].node, tick);
	core_file(core, &item[1].node, tick);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_FALSE(test, core_advance(core, tick + 9, &budget));
		KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
		KUNIT_EXPECT_LE(test, core_next(core), tick);
		KUNIT_EXPECT_LT(test, core->now, tick);
	}
	core_pass_to(core, tick + 9);
	core_expect(test, core, 0, 1);
}

static struct kunit_case budget_cases[] = {
	KUNIT_CASE_PARAM(core_budget_of_one, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_budget_filing_between, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_budget_unlinking_between, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_budget_emptied_visit, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_budget_moves, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_budget_of_none, core_shape_gen_params),
	{}
};

static struct kunit_suite budget_suite = {
	.name = "timewheel_core_budget",
	.init = core_suite_init,
	.exit = core_suite_exit,
	.test_cases = budget_cases,
};

kunit_test_suite(budget_suite);
