// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wheel core: the order within a tick, and nodes that are taken out.
 */

#include "core_util.h"

static const struct core_shape core_shapes[] = CORE_SHAPES;

KUNIT_ARRAY_PARAM(core_shape, core_shapes, core_describe);

#define ORDER_NODES	64

static struct core_item *order_items(struct kunit *test)
{
	struct core_item *items;
	unsigned int i;

	items = kunit_kcalloc(test, ORDER_NODES, sizeof(*items), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, items);
	for (i = 0; i < ORDER_NODES; i++)
		items[i].id = i;
	return items;
}

/*
 * The nodes of one tick are filed while it comes nearer, so that they lie on
 * each level in turn, and some in none.  They fire in the order of filing.
 */
static void core_fifo_in_a_tick(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct core_item *items = order_items(test);
	static const u64 ends[] = { 0, 1, 2 };
	unsigned int e, i;

	/* The tick that begins a slot on all levels, and the next ones. */
	for (e = 0; e < ARRAY_SIZE(ends); e++) {
		struct wheel_core *core = core_new(test, shape->slots, shape->levels);
		u64 tick = BIT_ULL(60) + ends[e];

		for (i = 0; i < ORDER_NODES; i++) {
			u64 left = i < 61 ? BIT_ULL(60 - i) : 0;

			core_pass_to(core, tick - left);
			KUNIT_EXPECT_EQ(test, core_pop_id(core),
					left ? CORE_NONE : i == 61 ? 0 : CORE_NONE);
			if (i == 61)
				break;
			core_file(core, &items[i].node, tick);
			KUNIT_EXPECT_EQ(test, core_next(core), tick);
		}
		for (i = 1; i < 61; i++)
			KUNIT_EXPECT_EQ(test, core_pop_id(core), i);
		KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
		core_free(test, core);
	}
}

/* Two ticks of one slot of an upper level, filed by turns. */
static void core_fifo_of_two_ticks(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item *items = order_items(test);
	u64 tick = BIT_ULL(core->bits * 2);
	unsigned int i;

	for (i = 0; i < ORDER_NODES; i++) {
		if (i == ORDER_NODES / 2)
			core_pass_to(core, tick - 1);
		core_file(core, &items[i].node, tick + (i & 1));
	}
	core_pass_to(core, tick + 1);
	for (i = 0; i < ORDER_NODES; i += 2)
		KUNIT_EXPECT_EQ(test, core_pop_id(core), i);
	for (i = 1; i < ORDER_NODES; i += 2)
		KUNIT_EXPECT_EQ(test, core_pop_id(core), i);
	KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
}

/* Moved: taken out and filed again, to the end of its new tick. */
static void core_move_goes_last(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item *items = order_items(test);

	core_file(core, &items[0].node, 100);
	core_file(core, &items[1].node, 100);
	core_file(core, &items[2].node, 50);
	core_unlink(core, &items[0].node);
	core_file(core, &items[0].node, 100);
	core_unlink(core, &items[2].node);
	core_file(core, &items[2].node, 100);
	core_pass_to(core, 99);
	KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
	core_pass_to(core, 100);
	core_expect(test, core, 1, 0, 2);
}

/* Where a node was the only one, nothing is due any more. */
static void core_unlink_clears(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item *items = order_items(test);
	unsigned int bit;

	for (bit = 0; bit < 62; bit++) {
		u64 tick = BIT_ULL(bit);

		core_file(core, &items[0].node, tick);
		/* Of later revolutions only a bound is kept. */
		if (bit <= core->range_bits)
			KUNIT_EXPECT_EQ(test, core_next(core), tick);
		else
			KUNIT_EXPECT_LE(test, core_next(core), tick);
		core_unlink(core, &items[0].node);
		KUNIT_EXPECT_EQ(test, core->nr, 0);
		KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
		KUNIT_EXPECT_TRUE(test, list_empty(&items[0].node.link));
	}
	core_pass_to(core, U64_MAX - 1);
	KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
}

/* As long as it shares no slot of the first revolution, exact at once. */
static void core_unlink_leaves_others(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item *items = order_items(test);
	u64 last = core->mask;

	if (last < 2)
		kunit_skip(test, "too few slots");
	core_file(core, &items[0].node, 1);
	core_file(core, &items[1].node, last);
	KUNIT_EXPECT_EQ(test, core_next(core), 1);
	core_unlink(core, &items[0].node);
	KUNIT_EXPECT_EQ(test, core_next(core), last);
	core_file(core, &items[0].node, last);
	core_unlink(core, &items[1].node);
	KUNIT_EXPECT_EQ(test, core_next(core), last);
	core_pass_to(core, last);
	core_expect(test, core, 0);
}

/*
 * A bound may be early when a node was taken out.  Whoever follows it comes to
 * the true tick all the same, after one look at each place that held the node.
 */
static void core_stale_bound_ends(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct core_item *items = order_items(test);
	unsigned int early, late;

	for (early = 0; early < 60; early++)
		for (late = early; late < 62; late++) {
			struct wheel_core *core = core_new(test, shape->slots, shape->levels);
			u64 tick = BIT_ULL(late) + 1, next;
			unsigned int steps = 0;

			core_file(core, &items[0].node, BIT_ULL(early));
			core_file(core, &items[1].node, tick);
			core_unlink(core, &items[0].node);
			while ((next = core_next(core)) < tick && steps <= shape->levels) {
				KUNIT_EXPECT_GT(test, next, core->now);
				core_pass_to(core, next);
				KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
				steps++;
			}
			KUNIT_EXPECT_EQ(test, next, tick);
			core_pass_to(core, next);
			core_expect(test, core, 1);
			core_free(test, core);
		}
}

static void core_unlink_expired(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item *items = order_items(test);
	unsigned int i;

	for (i = 0; i < 4; i++)
		core_file(core, &items[i].node, 10);
	core_pass_to(core, 10);
	core_unlink(core, &items[0].node);
	core_unlink(core, &items[2].node);
	KUNIT_EXPECT_EQ(test, core->nr, 2);
	KUNIT_EXPECT_EQ(test, core_next(core), 10);
	core_expect(test, core, 1, 3);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
}

/* Held outside the wheel: counted, never due, taken out like any other. */
static void core_held(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item *items = order_items(test);
	LIST_HEAD(list);

	core_file(core, &items[1].node, 7);
	core_hold(core, &items[0].node, &list);
	KUNIT_EXPECT_EQ(test, core->nr, 2);
	core_pass_to(core, BIT_ULL(30));
	core_expect(test, core, 1);
	KUNIT_EXPECT_EQ(test, core->nr, 1);
	KUNIT_EXPECT_PTR_EQ(test, list.next, &items[0].node.link);
	core_unlink(core, &items[0].node);
	KUNIT_EXPECT_TRUE(test, list_empty(&list));
	KUNIT_EXPECT_EQ(test, core->nr, 0);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
}

/* From wherever they are, each node once. */
static void core_drain_all(struct kunit *test)
{
	const struct core_shape *shape = test->param_value;
	struct wheel_core *core = core_new(test, shape->slots, shape->levels);
	struct core_item *items = order_items(test);
	struct timewheel_node *n;
	unsigned int budget = 1, i;
	size_t slot = 0;
	u64 seen = 0;

	for (i = 0; i < ORDER_NODES; i++)
		core_file(core, &items[i].node, i < 50 ? BIT_ULL(i) : 3 + i % 2);
	/* Some have expired, and the visit of a slot may be under way. */
	core_advance(core, 4, &budget);
	for (i = 0; i < ORDER_NODES; i++) {
		n = core_drain(core, &slot);
		KUNIT_ASSERT_NOT_NULL(test, n);
		KUNIT_EXPECT_TRUE(test, list_empty(&n->link));
		seen ^= BIT_ULL(container_of(n, struct core_item, node)->id);
	}
	KUNIT_EXPECT_EQ(test, seen, U64_MAX);
	KUNIT_EXPECT_NULL(test, core_drain(core, &slot));
	slot = 0;
	KUNIT_EXPECT_NULL(test, core_drain(core, &slot));
	KUNIT_EXPECT_EQ(test, core->nr, 0);
	KUNIT_EXPECT_EQ(test, core_next(core), U64_MAX);
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE_PARAM(core_fifo_in_a_tick, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_fifo_of_two_ticks, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_move_goes_last, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_unlink_clears, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_unlink_leaves_others, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_stale_bound_ends, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_unlink_expired, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_held, core_shape_gen_params),
	KUNIT_CASE_PARAM(core_drain_all, core_shape_gen_params),
	{}
};

static struct kunit_suite order_suite = {
	.name = "timewheel_core_order",
	.init = core_suite_init,
	.exit = core_suite_exit,
	.test_cases = order_cases,
};

kunit_test_suite(order_suite);
