// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wheel core against a model that can't be wrong: a sorted list of what is
 * filed, by tick, and within a tick by the order of filing.  A million random
 * operations over several shapes; after each, both must say the same.
 *
 * The list is an rbtree, which keeps equal keys in the order they came.
 */

#include <linux/ktime.h>
#include <linux/prandom.h>
#include <linux/rbtree.h>

#include "core_util.h"

#define MODEL_SEED		0x74696d6577686c65ULL
#define MODEL_NODES		1500
#define MODEL_OPERATIONS	100000
/* Operations after which taking out begins or ends. */
#define MODEL_PHASE		5000
/* Further away than time gets. */
#define MODEL_NEVER		BIT_ULL(50)

/**
 * struct model_shape - a wheel, and when its time begins
 * @core: its shape
 * @start: its first tick
 */
struct model_shape {
	struct core_shape core;
	u64 start;
};

/* Ten, so that they make a million operations. */
static const struct model_shape model_shapes[] = {
	{ { 1, 1 }, 0 },
	{ { 8, 1 }, 0 },
	{ { 256, 1 }, 1000000 },
	{ { 2, 8 }, 0 },
	{ { 4, 4 }, 0 },
	{ { 16, 2 }, U64_MAX - (1ULL << 30) },
	{ { 64, 3 }, (1ULL << 40) - 5 },
	{ { 256, 4 }, 0 },
	{ { 64, 8 }, 0 },
	{ { 1U << 12, 1 }, (1ULL << 63) - 100 },
};

static void model_describe(const struct model_shape *shape, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u slots, %u levels from %llu",
		 shape->core.slots, shape->core.levels, shape->start);
}

KUNIT_ARRAY_PARAM(model_shape, model_shapes, model_describe);

/**
 * struct model_node - a node as the core has it and as the model has it
 * @node: the core's
 * @sorted: place in the model's list
 * @due: the model's key
 * @filed: whether it is in
 */
struct model_node {
	struct timewheel_node node;
	struct rb_node sorted;
	u64 due;
	bool filed;
};

/**
 * struct model - both of them
 * @test: the case
 * @core: the one
 * @sorted: the other
 * @rnd: what comes next
 * @to: the tick that it is
 * @never: a tick that will not come
 * @nr: nodes filed
 * @taking: nodes are taken out now and then
 * @taken: the latest tick of a node taken out; may be foretold until then
 * @partial: the last advance ran out of its budget
 * @fired: nodes that came out
 * @most: most nodes filed at once
 * @partials: advances that ran out of their budget
 * @foretold: looks at the next tick that had to be exact
 * @nodes: all nodes, filed or not
 */
struct model {
	struct kunit *test;
	struct wheel_core *core;
	struct rb_root_cached sorted;
	struct rnd_state rnd;
	u64 to;
	u64 never;
	u64 nr;
	bool taking;
	u64 taken;
	bool partial;
	u64 fired;
	u64 most;
	unsigned int partials;
	unsigned int foretold;
	struct model_node nodes[MODEL_NODES];
};

static u64 model_random(struct model *m)
{
	u64 high = prandom_u32_state(&m->rnd);

	return high << 32 | prandom_u32_state(&m->rnd);
}

/* Below 2^@bits: each length as likely as any other. */
static u64 model_random_bits(struct model *m, unsigned int bits)
{
	u64 value = model_random(m);

	return value >> (64 - 1 - prandom_u32_state(&m->rnd) % bits);
}

static struct model_node *model_first(struct model *m)
{
	struct rb_node *first = rb_first_cached(&m->sorted);

	return first ? rb_entry(first, struct model_node, sorted) : NULL;
}

static bool model_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct model_node, sorted)->due <
	       rb_entry(b, struct model_node, sorted)->due;
}

/* Into the list just behind another. */
static void model_insert_behind(struct model *m, struct model_node *mn,
				struct model_node *other)
{
	struct rb_node *parent = &other->sorted, **link = &parent->rb_right;

	while (*link) {
		parent = *link;
		link = &parent->rb_left;
	}
	mn->due = other->due;
	rb_link_node(&mn->sorted, parent, link);
	rb_insert_color_cached(&mn->sorted, &m->sorted, false);
}

static u64 model_random_tick(struct model *m)
{
	switch (prandom_u32_state(&m->rnd) % 512) {
	case 0:
		return U64_MAX - model_random_bits(m, 3);
	case 1 ... 15:	/* past, or now */
		return m->to - min(m->to, model_random_bits(m, 20));
	case 16 ... 63:	/* in company */
		return m->nodes[prandom_u32_state(&m->rnd) % MODEL_NODES].node.tick;
	default:
		return core_ticks(m->to, model_random_bits(m, 34));
	}
}

static void model_file(struct model *m, struct model_node *mn)
{
	struct list_head *expired = &m->core->expired;
	struct model_node *last = NULL;
	u64 tick = model_random_tick(m);

	if (!list_empty(expired))
		last = list_last_entry(expired, struct model_node, node.link);
	mn->filed = true;
	m->nr++;
	m->most = max(m->most, m->nr);
	mn->due = min(tick, U64_MAX - 1);
	/* What has expired goes before what comes too late for it. */
	if (last && mn->due < last->due)
		model_insert_behind(m, mn, last);
	else
		rb_add_cached(&mn->sorted, &m->sorted, model_less);
	core_file(m->core, &mn->node, tick);
}

static void model_forget(struct model *m, struct model_node *mn)
{
	rb_erase_cached(&mn->sorted, &m->sorted);
	mn->filed = false;
	m->nr--;
}

static void model_unlink(struct model *m, struct model_node *mn)
{
	model_forget(m, mn);
	core_unlink(m->core, &mn->node);
	if (mn->node.tick < m->never)
		m->taken = max(m->taken, mn->node.tick);
}

/* Up to @max that have expired come out as the list has them. */
static void model_pop(struct model *m, unsigned int max)
{
	while (max--) {
		struct timewheel_node *n = core_pop(m->core);
		struct model_node *first = model_first(m);

		if (!n)
			break;
		KUNIT_ASSERT_NOT_NULL(m->test, first);
		KUNIT_ASSERT_PTR_EQ(m->test, n, &first->node);
		KUNIT_ASSERT_LE(m->test, first->due, m->to);
		model_forget(m, first);
		m->fired++;
	}
}

static void model_advance(struct model *m)
{
	unsigned int budget = UINT_MAX;
	u64 next = core_next(m->core);

	switch (prandom_u32_state(&m->rnd) % 256) {
	case 0:		/* a long sleep */
		m->to = core_ticks(m->to, model_random_bits(m, 36));
		break;
	case 1 ... 127:	/* what the worker does */
		if (next < m->never)
			m->to = max(m->to, next);
		break;
	case 128 ... 149: /* just before */
		if (next < m->never)
			m->to = max(m->to, next - 1);
		break;
	default:
		m->to = core_ticks(m->to, model_random_bits(m, 8));
	}
	if (prandom_u32_state(&m->rnd) % 4 == 0)
		budget = prandom_u32_state(&m->rnd) % 8;

	m->partial = !core_advance(m->core, m->to, &budget);
	if (m->partial) {
		m->partials++;
		KUNIT_ASSERT_EQ(m->test, budget, 0);
	} else {
		KUNIT_ASSERT_EQ(m->test, m->core->now, m->to);
	}
	model_pop(m, prandom_u32_state(&m->rnd) % 8 ? UINT_MAX : 3);
	/* Nothing that is due stays behind. */
	if (!m->partial && list_empty(&m->core->expired) && model_first(m))
		KUNIT_ASSERT_GT(m->test, model_first(m)->due, m->to);
}

static void model_compare(struct model *m)
{
	struct model_node *first = model_first(m);
	u64 next = core_next(m->core);

	KUNIT_ASSERT_EQ(m->test, m->core->nr, m->nr);
	if (!first) {
		KUNIT_ASSERT_EQ(m->test, next, U64_MAX);
		return;
	}
	if (!list_empty(&m->core->expired)) {
		KUNIT_ASSERT_EQ(m->test, next, m->core->now);
		return;
	}
	KUNIT_ASSERT_LE(m->test, next, first->due);
	if (m->taken <= m->to && first->due < m->never && !m->partial) {
		KUNIT_ASSERT_EQ(m->test, next, first->due);
		m->foretold++;
	}
}

static void model_step(struct model *m)
{
	struct model_node *mn = &m->nodes[prandom_u32_state(&m->rnd) % MODEL_NODES];

	switch (prandom_u32_state(&m->rnd) % 16) {
	case 0 ... 9:
		if (!mn->filed) {
			model_file(m, mn);
		} else if (m->taking) {
			/* Moved. */
			model_unlink(m, mn);
			model_file(m, mn);
		}
		break;
	case 10:
		if (mn->filed && m->taking)
			model_unlink(m, mn);
		break;
	default:
		model_advance(m);
	}
	model_compare(m);
}

static void model_million(struct kunit *test)
{
	const struct model_shape *shape = test->param_value;
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->test = test;
	m->core = core_new(test, shape->core.slots, shape->core.levels);
	m->sorted = RB_ROOT_CACHED;
	prandom_seed_state(&m->rnd, MODEL_SEED);
	m->to = shape->start;
	m->never = core_ticks(m->to, MODEL_NEVER);
	core_pass_to(m->core, m->to);

	for (i = 0; i < MODEL_OPERATIONS; i++) {
		if (i % MODEL_PHASE == 0) {
			m->taking = !m->taking;
			cond_resched();
		}
		model_step(m);
	}
	kunit_info(test, "seed %#llx: %u operations, %llu fired, at most %llu filed, %u partial advances, %u exact forecasts, last tick %llu\n",
		   MODEL_SEED, MODEL_OPERATIONS, m->fired, m->most, m->partials,
		   m->foretold, m->to);

	/* And all that is left. */
	m->to = U64_MAX - 1;
	core_pass_to(m->core, m->to);
	model_pop(m, UINT_MAX);
	model_compare(m);
	KUNIT_EXPECT_EQ(test, m->nr, 0);
}

static struct kunit_case model_cases[] = {
	KUNIT_CASE_PARAM(model_million, model_shape_gen_params),
	{}
};

static struct kunit_suite model_suite = {
	.name = "timewheel_model",
	.init = core_suite_init,
	.exit = core_suite_exit,
	.test_cases = model_cases,
};

kunit_test_suite(model_suite);
