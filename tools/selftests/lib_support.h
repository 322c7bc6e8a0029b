/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the library do: open a handle, collect what is delivered.
 */
#ifndef LIB_SUPPORT_H
#define LIB_SUPPORT_H

#include <timewheel.h>

#include "support.h"

#define COLLECTED	4096

/**
 * struct collected - events, as they were delivered
 * @nr: how many
 * @events: each of them
 */
struct collected {
	unsigned int nr;
	struct timewheel_event events[COLLECTED];
};

extern const struct timewheel_options by_calls;
extern const struct timewheel_options by_rings;

/* A test that is run on both transports, with what it opens a handle with. */
#define ON_BOTH(name) ON_BOTH_LIMIT(name, 120)

#define ON_BOTH_LIMIT(name, seconds) \
	static void name(struct timewheel_options options); \
	TEST_LIMIT(name##_by_calls, seconds) \
	{ \
		name(by_calls); \
	} \
	TEST_LIMIT(name##_by_rings, seconds) \
	{ \
		name(by_rings); \
	} \
	static void name(struct timewheel_options options)

struct timewheel *lib_open(const struct timewheel_options *options);
uint64_t lib_arm(struct timewheel *tw, uint64_t delay_ns, uint64_t user_data);
uint64_t lib_arm_at(struct timewheel *tw, uint64_t deadline_ns, uint64_t user_data);
struct timewheel_stats lib_stats(struct timewheel *tw);
void wait_fired(struct timewheel *tw, uint64_t nr);

void collect(struct timewheel *tw, const struct timewheel_event *event, void *data);
void collect_nr(struct timewheel *tw, struct collected *c, unsigned int nr);
struct timewheel_event collect_one(struct timewheel *tw);
void expect_drained(struct timewheel *tw);
void lib_close(struct timewheel *tw);

#endif /* LIB_SUPPORT_H */
