// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wheel core: every boundary of slots, rounds, levels and ticks.
 */

#include <linux/log2.h>

#include "core_util.h"

static const struct core_shape core_shapes[] = CORE_SHAPES;

KUNIT_ARRAY_PARAM(core_shape, core_shapes, core_describe);

static void core_check_limits(struct kunit *test)
{
	static const struct {
		u32 slots, levels;
		int ret;
	} cases[] = {
		{ 0, 1, -EINVAL },
		{ 1, 0, -EINVAL },
		{ 1, 1, 0 },
		{ 1, 2, -EINVAL },	/* would not be coarser */
		{ 2, 1, 0 },
		{ 2, 8, 0 },
		{ 2, 9, -EINVAL },
		{ 1U << 20, 1, 0 },
		{ (1U << 20) + 1, 1, -EINVAL },
		{ U32_MAX, 1, -EINVAL },
		{ 2, U32_MAX, -EINVAL },
		{ U32_MAX, U32_MAX, -EINVAL },
		{ 1U << 20, 3, 0 },		/* 60 bits */
		{ 1U << 20, 4, -EINVAL },	/* 80 bits */
		{ 128, 8, 0 },			/* 56 bits */
		{ 256, 8, -EINVAL },		/* 64 bits */
		{ 129, 8, -EINVAL },		/* as 256 */
		{ 256, 7, 0 },			/* 56 bits */
		{ 512, 7, -EINVAL },		/* 63 bits */
		{ 1U << 15, 4, 0 },		/* 60 bits */
		{ 1U << 16, 4, -EINVAL },	/* 64 bits */
	};
	struct wheel_core core;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, core_check(cases[i].slots, cases[i].levels),
				    cases[i].ret, "%u slots, %u levels",
				    cases[i].slots, cases[i].levels);
		if (cases[i].ret)
			KUNIT_EXPECT_EQ(test, core_init(&core, cases[i].slots,
							cases[i].levels,
							NUMA_NO_NODE),
					cases[i].ret);
	}
}

static void core_rounds_slots_up(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	u32 slots = core->mask + 1;

	KUNIT_EXPECT_TRUE(test, is_power_of_2(slots));
	KUNIT_EXPECT_GE(test, slots, shape->slots);
	KUNIT_EXPECT_LT(test, slots, 2 * shape->slots);
	KUNIT_EXPECT_EQ(test, core->levels, shape->levels);
	KUNIT_EXPECT_EQ(test, core->nr, 0);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
}

/* One node, filed at @now for @tick: never early, never late, and foretold. */
static void core_try(struct kunit *test, u64 now, u64 tick)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item item = { .id = 7 };

	core_pass_to(core, now);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
	core_file(core, &item.node, tick);
	KUNIT_EXPECT_EQ(test, core->nr, 1);
	if (tick > now) {
		KUNIT_EXPECT_EQ_MSG(test, core_next(core), tick, "now %llu", now);
		core_pass_to(core, now + (tick - now) / 2);
		core_pass_to(core, tick - 1);
		KUNIT_EXPECT_EQ_MSG(test, core_pop_id(core), CORE_NONE,
				    "now %llu tick %llu", now, tick);
		KUNIT_EXPECT_EQ_MSG(test, core_next(core), tick, "now %llu", now);
		core_pass_to(core, tick);
	}
	KUNIT_EXPECT_EQ(test, core_next(core), max(now, tick));
	KUNIT_EXPECT_EQ_MSG(test, core_pop_id(core), 7, "now %llu tick %llu",
			    now, tick);
	KUNIT_EXPECT_EQ(test, core->nr, 0);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
	core_free(test, core);
}

/* Both sides of each power of the slots, and some that are none. */
static unsigned int core_distances(struct kunit *test, u64 *to, unsigned int max)
{
	const struct core_shape *shape = test->param_value;
	unsigned int bits = order_base_2(shape->slots);
	unsigned int nr = 0, l;

	to[nr++] = 0;
	to[nr++] = 1;
	to[nr++] = 2;
	to[nr++] = BIT_ULL(40);
	to[nr++] = BIT_ULL(40) + 12345;
	to[nr++] = BIT_ULL(63);
	to[nr++] = U64_MAX;
	to[nr++] = (3ULL << (bits * shape->levels)) + 1;
	for (l = 1; l <= shape->levels; l++) {
		u64 span = BIT_ULL(bits * l);

		to[nr++] = span - 1;
		to[nr++] = span;
		to[nr++] = span + 1;
	}
	KUNIT_ASSERT_LE(test, nr, max);
	return nr;
}

static void core_fires_at_its_tick(struct kunit *test)
{
	u64 distances[40];
	unsigned int nr = core_distances(test, distances, ARRAY_SIZE(distances));
	unsigned int from, to;

	/* As starting points too: slot 0, the last slot, the wrap. */
	for (from = 0; from < nr; from++)
		for (to = 0; to < nr; to++) {
			u64 now = core_ticks(0, distances[from]);

			core_try(test, now, core_ticks(now, distances[to]));
		}
}

static void core_due_at_once(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item item[4] = { { .id = 0 }, { .id = 1 }, { .id = 2 }, { .id = 3 } };
	u64 now = 1000;

	core_pass_to(core, now);
	core_file(core, &item[0].node, now);		/* exactly now */
	core_file(core, &item[1].node, 0);		/* long past */
	core_file(core, &item[2].node, now + 1);	/* a tick ahead */
	core_file(core, &item[3].node, now - 1);	/* just past */
	KUNIT_EXPECT_EQ(test, core_next(core), now);
	core_expect(test, core, 0, 1, 3);
	KUNIT_EXPECT_EQ(test, core_next(core), now + 1);
	/* Time that stands still, or a clock read twice, changes nothing. */
	core_pass_to(core, now);
	core_pass_to(core, now - 1);
	KUNIT_EXPECT_EQ(test, core->now, now);
	KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
	core_pass_to(core, now + 1);
	core_expect(test, core, 2);
}

static void core_end_of_time(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item last = { .id = 1 }, clamped = { .id = 2 };

	core_file(core, &clamped.node, U64_MAX);
	core_file(core, &last.node, U64_MAX - 1);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX - 1);
	core_pass_to(core, U64_MAX - 2);
	KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX - 1);
	core_pass_to(core, U64_MAX);
	core_expect(test, core, 2, 1);
	core_file(core, &last.node, U64_MAX);
	core_expect(test, core, 1);
}

/* A node in each slot of a revolution, and in the next ones, in one jump. */
static void core_jump(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	unsigned int nr = 3 * (core->mask + 1) + 2, i;
	struct core_item *items;
	u64 start = 5 * (core->mask + 1) - 1;

	items = kunit_kcalloc(test, nr, sizeof(*items), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, items);
	core_pass_to(core, start);
	/* Filed from the last to the first. */
	for (i = nr; i--;) {
		items[i].id = i;
		core_file(core, &items[i].node,
			  i == nr - 1 ? start + BIT_ULL(40) : start + 1 + i);
		KUNIT_EXPECT_EQ(test, core_next(core), items[i].node.tick);
	}
	core_pass_to(core, start + BIT_ULL(40));
	KUNIT_EXPECT_EQ(test, core->now, start + BIT_ULL(40));
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, core_pop_id(core), i);
	KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
}

/* A jump costs no more than what lies in it, however far it goes. */
static void core_jump_is_free(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item item = { .id = 0 };
	unsigned int budget = 0;

	KUNIT_EXPECT_TRUE(test, core_advance(core, BIT_ULL(40), &budget));
	KUNIT_EXPECT_EQ(test, core->now, BIT_ULL(40));
	core_file(core, &item.node, BIT_ULL(50));
	KUNIT_EXPECT_TRUE(test, core_advance(core, BIT_ULL(40) + 1, &budget));
	budget = shape->levels;
	KUNIT_EXPECT_TRUE(test, core_advance(core, U64_MAX - 1, &budget));
	core_expect(test, core, 0);
}

/* One slot, several rounds: each node in its own. */
static void core_rounds(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	u64 round = BIT_ULL(core->range_bits), first = 3 + (round >> 1);
	struct core_item item[4];
	unsigned int i;

	for (i = 4; i--;) {
		item[i].id = i;
		core_file(core, &item[i].node, first + i * round);
	}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, core_next(core), first + i * round);
		core_pass_to(core, first + i * round - 1);
		KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
		core_pass_to(core, first + i * round);
		core_expect(test, core, i);
	}
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE(core_check_limits),
	KUNIT_CASE_PARAM(core_rounds_slots_up, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_fires_at_its_tick, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_due_at_once, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_end_of_time, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_jump, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_jump_is_free, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_rounds, core_shape_gen_params),
	{}
};

static struct kunit_suite core_suite = {
	.name = "timewheel_core",
	.init = core_suite_init,
	.exit = core_suite_exit,
	.test_cases = core_cases,
};

kunit_test_suite(core_suite);
