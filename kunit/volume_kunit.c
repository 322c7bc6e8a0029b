// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wheel core with very many timeouts: each comes out in its tick and in its
 * turn, and costs no more looks than the arithmetic of levels and revolutions
 * says.  A look takes one of the budget, so the budget counts them.
 */

#include <linux/math64.h>
#include <linux/mm.h>

#include "core_util.h"

/* KUnit waits for no case longer than five minutes, which is not enough there. */
#define SPREAD_NODES	(IS_ENABLED(CONFIG_KCSAN) ? 100000U : 1000000U)
#define SPREAD_TICKS	100000U
/* Prime to SPREAD_TICKS, so that the ticks come in no order. */
#define SPREAD_STEP	61803U

#define YEAR_NODES	100000U
#define YEAR_TICKS	(365ULL * 86400 * 1000)
#define YEAR_STEP	61803ULL

/**
 * struct volume - nodes and the core they are in
 * @core: the core
 * @items: the nodes, numbered from 0
 * @looks: how many looks it took so far
 */
struct volume {
	struct wheel_core *core;
	struct core_item *items;
	u64 looks;
};

static void volume_free(void *items)
{
	kvfree(items);
}

static struct volume *volume_new(struct kunit *test, unsigned int nr,
				 u32 slots, u32 levels)
{
	struct volume *v = kunit_kzalloc(test, sizeof(*v), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, v);
	v->core = core_new(test, slots, levels);
	v->items = kvcalloc(nr, sizeof(*v->items), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, v->items);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, volume_free,
							v->items), 0);
	for (i = 0; i < nr; i++)
		v->items[i].id = i;
	return v;
}

static void volume_pass_to(struct volume *v, u64 to)
{
	unsigned int budget;
	bool done;

	do {
		budget = 8192;
		done = core_advance(v->core, to, &budget);
		v->looks += 8192 - budget;
		cond_resched();
	} while (!done);
}

/*
 * Looks at a node that is filed at tick 0 for @tick, in company: there is a node
 * in every slot each time that it comes round.
 *
 * Filed on the level of its highest digit, it moves down when the slot comes, to
 * the level of the highest of the digits below that are not 0.  A slot of level
 * 0 fires as a whole, without a look, if there are levels above.  On the top
 * level it is looked at once more in each revolution before its own, but for the
 * first if its slot has passed when time begins.
 */
static u64 volume_looks(const struct wheel_core *core, u64 tick, u64 *moves)
{
	unsigned int top = core->levels - 1, level = 0, i;
	u64 turns = tick >> core->range_bits, looks;

	for (i = 1; i <= top; i++)
		if (tick >> core->level[i].shift)
			level = i;
	*moves = level || !top;
	for (i = 1; i < level; i++)
		*moves += ((tick >> core->level[i].shift) & core->mask) != 0;
	looks = *moves + turns;
	if (turns && !((tick >> core->level[top].shift) & core->mask))
		looks--;
	return looks;
}

static u64 spread_tick(unsigned int i)
{
	return 1 + (u64)i * SPREAD_STEP % SPREAD_TICKS;
}

/* The ten of this tick, in the order in which they were filed. */
static bool spread_expect(struct volume *v, u64 tick)
{
	unsigned int id, last = 0, nr = 0;
	bool right = true;

	while ((id = core_pop_id(v->core)) != CORE_NONE) {
		right &= v->items[id].node.tick == tick && spread_tick(id) == tick;
		right &= !nr || id > last;
		last = id;
		nr++;
	}
	return right && nr == SPREAD_NODES / SPREAD_TICKS;
}

static void volume_spread(struct kunit *test, u32 slots, u32 levels)
{
	struct volume *v = volume_new(test, SPREAD_NODES, slots, levels);
	unsigned int i, wrong = 0, unforeseen = 0;
	u64 want = 0, most = 0, moves, tick;

	for (i = 0; i < SPREAD_NODES; i++) {
		tick = spread_tick(i);
		want += volume_looks(v->core, tick, &moves);
		most = max(most, moves);
		core_file(v->core, &v->items[i].node, tick);
	}
	for (tick = 1; tick <= SPREAD_TICKS; tick++) {
		unforeseen += core_next(v->core) != tick;
		volume_pass_to(v, tick);
		wrong += !spread_expect(v, tick);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, unforeseen, 0);
	KUNIT_EXPECT_EQ(test, v->core->nr, 0);
	KUNIT_EXPECT_EQ(test, v->looks, want);
	KUNIT_EXPECT_LE(test, most, levels + 1);
	kunit_info(test, "%u timeouts, %llu looks\n", SPREAD_NODES, v->looks);
}

/* The algorithm's worst case: 196 revolutions, and each looks at all that is left. */
static void volume_spread_one_level(struct kunit *test)
{
	volume_spread(test, 512, 1);
}

static void volume_spread_default(struct kunit *test)
{
	volume_spread(test, 256, 4);
}

/* Some 5 minutes apart, in no order; none of them alike. */
static u64 year_tick(unsigned int i)
{
	u64 place = i * YEAR_STEP % YEAR_NODES;

	return div_u64(place * YEAR_TICKS, YEAR_NODES) + 1;
}

/* 7.3 revolutions of the default wheel, and jumps of 5 minutes. */
static void volume_year(struct kunit *test)
{
	struct volume *v = volume_new(test, YEAR_NODES, 256, 4);
	u64 want = 0, most = 0, total = 0, moves, next;
	unsigned int i, id, wrong = 0;

	for (i = 0; i < YEAR_NODES; i++) {
		want += volume_looks(v->core, year_tick(i), &moves);
		total += moves;
		most = max(most, moves);
		core_file(v->core, &v->items[i].node, year_tick(i));
	}
	for (i = 0; i < YEAR_NODES; i++) {
		/* As the worker does: to the next tick with work, and no other. */
		do {
			next = core_next(v->core);
			volume_pass_to(v, next);
			id = core_pop_id(v->core);
		} while (id == CORE_NONE && next != U64_MAX);
		if (id == CORE_NONE)
			break;
		wrong += v->items[id].node.tick != next || year_tick(id) != next;
	}
	KUNIT_EXPECT_EQ(test, i, YEAR_NODES);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, v->core->nr, 0);
	KUNIT_EXPECT_EQ(test, v->looks, want);
	KUNIT_EXPECT_LE(test, most, 4 + 1);
	KUNIT_EXPECT_LE(test, total, (u64)YEAR_NODES * (4 + 1));
	kunit_info(test, "%u timeouts, %llu moves, at most %llu each\n",
		   YEAR_NODES, total, most);
}

/* Each of them alone takes its moves and no more: none has to wait for company. */
static void volume_year_alone(struct kunit *test)
{
	struct volume *v = volume_new(test, 1, 256, 4);
	u64 moves, most = 0;
	unsigned int i, wrong = 0;

	for (i = 0; i < YEAR_NODES; i++) {
		v->core->now = 0;
		v->core->turn = 0;
		v->looks = 0;
		volume_looks(v->core, year_tick(i), &moves);
		core_file(v->core, &v->items[0].node, year_tick(i));
		volume_pass_to(v, year_tick(i) - 1);
		wrong += core_pop_id(v->core) != CORE_NONE;
		volume_pass_to(v, year_tick(i));
		wrong += core_pop_id(v->core) != 0 || v->looks != moves;
		most = max(most, v->looks);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_LE(test, most, 4 + 1);
}

static struct kunit_case volume_cases[] = {
	KUNIT_CASE_SLOW(volume_spread_one_level),
	KUNIT_CASE(volume_spread_default),
	KUNIT_CASE(volume_year),
	KUNIT_CASE(volume_year_alone),
	{}
};

static struct kunit_suite volume_suite = {
	.name = "timewheel_volume",
	.init = core_suite_init,
	.exit = core_suite_exit,
	.test_cases = volume_cases,
};

kunit_test_suite(volume_suite);
