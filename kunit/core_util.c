// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the suites of the wheel core share: cores that are freed when a case
 * ends, and the order in which nodes come out.
 */

#include "core_util.h"

/* More than any case has at once. */
#define CORE_TEST_CORES	4

int core_suite_init(struct kunit *test)
{
	test->priv = kunit_kcalloc(test, CORE_TEST_CORES,
				   sizeof(struct wheel_core *), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

void core_suite_exit(struct kunit *test)
{
	struct wheel_core **cores = test->priv;
	unsigned int i;

	for (i = 0; cores && i < CORE_TEST_CORES; i++)
		if (cores[i])
			core_destroy(cores[i]);
}

/* A core of its own, at tick 0. */
struct wheel_core *core_new(struct kunit *test, u32 slots, u32 levels)
{
	struct wheel_core **cores = test->priv;
	struct wheel_core *core;
	unsigned int i = 0;

	while (i < CORE_TEST_CORES && cores[i])
		i++;
	KUNIT_ASSERT_LT(test, i, CORE_TEST_CORES);
	core = kunit_kzalloc(test, sizeof(*core), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, core);
	KUNIT_ASSERT_EQ(test, core_init(core, slots, levels, NUMA_NO_NODE), 0);
	cores[i] = core;
	return core;
}

void core_free(struct kunit *test, struct wheel_core *core)
{
	struct wheel_core **cores = test->priv;
	unsigned int i;

	for (i = 0; i < CORE_TEST_CORES; i++)
		if (cores[i] == core)
			cores[i] = NULL;
	core_destroy(core);
	kunit_kfree(test, core);
}

void core_describe(const struct core_shape *shape, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u slots, %u levels",
		 shape->slots, shape->levels);
}

/* @delta ticks after @now, or the last tick there is. */
u64 core_ticks(u64 now, u64 delta)
{
	return min(U64_MAX - 1 - now, delta) + now;
}

/* Let time pass with all the budget that this takes. */
void core_pass_to(struct wheel_core *core, u64 to)
{
	unsigned int budget;

	do {
		budget = UINT_MAX;
	} while (!core_advance(core, to, &budget));
}

/* The number of the next node that has expired, or CORE_NONE. */
unsigned int core_pop_id(struct wheel_core *core)
{
	struct timewheel_node *n = core_pop(core);

	return n ? container_of(n, struct core_item, node)->id : CORE_NONE;
}

/* These have expired, in this order, and no others. */
void core_expect_ids(struct kunit *test, struct wheel_core *core,
		     const unsigned int *ids, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, core_pop_id(core), ids[i],
				    "place %u of %u", i, nr);
	KUNIT_EXPECT_EQ(test, core_pop_id(core), CORE_NONE);
}
