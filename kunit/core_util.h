/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suites of the wheel core share.
 */
#ifndef TIMEWHEEL_CORE_UTIL_H
#define TIMEWHEEL_CORE_UTIL_H

#include "compat.h"
#include "core.h"

/**
 * struct core_shape - the shape of a wheel under test
 * @slots: slots of a level, before rounding up
 * @levels: number of levels
 */
struct core_shape {
	u32 slots;
	u32 levels;
};

/* Shapes small and large, even and odd, flat and deep. */
#define CORE_SHAPES {		\
	{ 1, 1 }, { 2, 1 },	\
	{ 3, 1 }, { 64, 1 },	\
	{ 1000, 1 }, { 2, 2 },	\
	{ 2, 8 }, { 4, 3 },	\
	{ 5, 5 }, { 64, 2 },	\
	{ 256, 4 }, { 64, 8 },	\
	{ 128, 8 },		\
}

/**
 * struct core_item - a node that can be told from others
 * @node: the node
 * @id: its number
 */
struct core_item {
	struct timewheel_node node;
	unsigned int id;
};

int core_suite_init(struct kunit *test);
void core_suite_exit(struct kunit *test);
struct wheel_core *core_new(struct kunit *test, u32 slots, u32 levels);
void core_free(struct kunit *test, struct wheel_core *core);

void core_describe(const struct core_shape *shape, char *desc);
u64 core_ticks(u64 now, u64 delta);
void core_pass_to(struct wheel_core *core, u64 to);
unsigned int core_pop_id(struct wheel_core *core);
void core_expect_ids(struct kunit *test, struct wheel_core *core,
		     const unsigned int *ids, unsigned int nr);
#define core_expect(test, core, ...) \
	core_expect_ids(test, core, (const unsigned int []){ __VA_ARGS__ }, \
			sizeof((unsigned int []){ __VA_ARGS__ }) / sizeof(int))

#define CORE_NONE	UINT_MAX

#endif /* TIMEWHEEL_CORE_UTIL_H */
