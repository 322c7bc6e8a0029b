// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tests of the library do: open a handle, collect what is delivered.
 */
#include "lib_support.h"

const struct timewheel_options by_calls = { .capacity = 1024 };
const struct timewheel_options by_rings = {
	.flags = TIMEWHEEL_OPEN_RINGS, .capacity = 1024,
};

struct timewheel *lib_open(const struct timewheel_options *options)
{
	struct timewheel *tw = NULL;
	int ret = timewheel_open(&tw, options);

	if (ret == -ENOENT || ret == -ENXIO || ret == -ENODEV)
		SKIP("no " DEVICE ": the module is not loaded");
	ASSERT_EQ(0, ret);
	return tw;
}

uint64_t lib_arm(struct timewheel *tw, uint64_t delay_ns, uint64_t user_data)
{
	uint64_t id = 0;

	ASSERT_EQ(0, timewheel_arm(tw, delay_ns, user_data, &id));
	EXPECT_TRUE(id);
	return id;
}

uint64_t lib_arm_at(struct timewheel *tw, uint64_t deadline_ns, uint64_t user_data)
{
	uint64_t id = 0;

	ASSERT_EQ(0, timewheel_arm_at(tw, deadline_ns, user_data, &id));
	EXPECT_TRUE(id);
	return id;
}

struct timewheel_stats lib_stats(struct timewheel *tw)
{
	struct timewheel_stats stats;

	ASSERT_EQ(0, timewheel_stats(tw, &stats));
	return stats;
}

/* Expired, whether that has been delivered or not. */
void wait_fired(struct timewheel *tw, uint64_t nr)
{
	while (lib_stats(tw).fired < nr)
		usleep(1000);
	EXPECT_EQ(nr, lib_stats(tw).fired);
}

/* For timewheel_drain(): what must hold of every event does. */
void collect(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct collected *c = data;

	ASSERT_LT(c->nr, COLLECTED);
	c->events[c->nr++] = *event;
	if (event->flags & TIMEWHEEL_EVENT_EXPIRED) {
		EXPECT_LE(event->deadline_ns, timewheel_now(tw));
		EXPECT_LE(1, event->result);
	}
}

/* Until @nr are there in all. */
void collect_nr(struct timewheel *tw, struct collected *c, unsigned int nr)
{
	while (c->nr < nr) {
		ASSERT_EQ(1, timewheel_wait(tw, PATIENCE_MS));
		ASSERT_LE(0, timewheel_drain(tw, nr - c->nr, collect, c));
	}
}

struct timewheel_event collect_one(struct timewheel *tw)
{
	static struct collected c;

	c.nr = 0;
	collect_nr(tw, &c, 1);
	return c.events[0];
}

/* All that was asked for has been done, and nothing is left to deliver. */
void expect_drained(struct timewheel *tw)
{
	static struct collected c;

	lib_stats(tw);
	c.nr = 0;
	EXPECT_EQ(0, timewheel_drain(tw, 0, collect, &c));
	EXPECT_EQ(0, timewheel_wait(tw, 0));
}

void lib_close(struct timewheel *tw)
{
	lib_stats(tw);
	expect_balance(timewheel_fd(tw));
	timewheel_close(tw);
}
