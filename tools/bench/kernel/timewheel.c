// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timewheel.  What a call leaves to the worker is done when settle returns.
 */

#include <linux/err.h>
#include <linux/math.h>
#include <linux/time64.h>
#include <linux/ktime.h>

#include "bench.h"

static void wheel_expired(struct timewheel_timeout *t)
{
	meter_fire();
}

/* The default shape: a slot of the second level is as long as all of the first. */
#define WHEEL_TICK_NS		NSEC_PER_MSEC
#define WHEEL_SLOTS		256U

static const struct timewheel_ops wheel_ops = {
	.expired = wheel_expired,
};

/* Those that are there for the others' sake. */
static void wheel_idle_expired(struct timewheel_timeout *t)
{
}

static const struct timewheel_ops wheel_idle_ops = {
	.expired = wheel_idle_expired,
};

static int wheel_open(struct bench *b, bool bound)
{
	const struct timewheel_params params = {
		.name = "bench",
		.tick_ns = WHEEL_TICK_NS,
		.slots = WHEEL_SLOTS,
		.flags = bound ? TIMEWHEEL_BIND_CPU : 0,
		.cpu = b->cpu,
	};

	b->epoch_ns = ktime_get_ns();
	b->wheel = timewheel_create(&params);
	if (IS_ERR(b->wheel))
		return PTR_ERR(b->wheel);
	timewheel_timeout_init(&b->last, &wheel_idle_ops);
	timewheel_timeout_init(&b->first, &wheel_idle_ops);
	return timewheel_start(b->wheel);
}

static void wheel_close(struct bench *b)
{
	if (IS_ERR_OR_NULL(b->wheel))
		return;
	timewheel_stop(b->wheel, NULL);
	timewheel_destroy(b->wheel);
	b->wheel = NULL;
}

static void wheel_init(struct bench *b, const u32 *which, u32 nr)
{
	struct timewheel_timeout *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		timewheel_timeout_init(&t[which[i]], &wheel_ops);
}

static void wheel_add(struct bench *b, const u32 *which, u32 nr)
{
	struct timewheel_timeout *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		timewheel_add(b->wheel, &t[which[i]],
			      (u64)b->delay_us[which[i]] * NSEC_PER_USEC);
}

static void wheel_add_at(struct bench *b, const u32 *which, u32 nr)
{
	struct timewheel_timeout *t = b->items;
	u64 now = timewheel_now(b->wheel);
	u32 i;

	for (i = 0; i < nr; i++)
		timewheel_add_at(b->wheel, &t[which[i]],
				 now + (u64)b->delay_us[which[i]] * NSEC_PER_USEC);
}

static void wheel_add_due(struct bench *b, const u32 *which, u32 nr)
{
	struct timewheel_timeout *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		timewheel_add_at(b->wheel, &t[which[i]], b->due_ns);
}

/* Just after they have moved down, so that this is counted. */
static u64 wheel_dear(struct bench *b, u64 ns)
{
	const u64 slot = WHEEL_SLOTS * WHEEL_TICK_NS;

	return b->epoch_ns + roundup(ns - b->epoch_ns, slot) + 10 * WHEEL_TICK_NS;
}

static void wheel_add_cancel(struct bench *b, const u32 *which, u32 nr)
{
	struct timewheel_timeout *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++) {
		timewheel_add(b->wheel, &t[which[i]],
			      (u64)b->delay_us[which[i]] * NSEC_PER_USEC);
		timewheel_cancel(&t[which[i]]);
	}
}

static void wheel_rearm(struct bench *b, const u32 *which, u32 nr)
{
	u64 now = timewheel_now(b->wheel) + (u64)b->later_us * NSEC_PER_USEC;
	struct timewheel_timeout *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		timewheel_rearm(&t[which[i]],
				now + (u64)b->delay_us[which[i]] * NSEC_PER_USEC);
}

static void wheel_touch(struct bench *b, const u32 *which, u32 nr)
{
	u64 now = timewheel_now(b->wheel) + (u64)b->later_us * NSEC_PER_USEC;
	struct timewheel_timeout *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		timewheel_touch(&t[which[i]],
				now + (u64)b->delay_us[which[i]] * NSEC_PER_USEC);
}

static void wheel_cancel(struct bench *b, const u32 *which, u32 nr)
{
	struct timewheel_timeout *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		timewheel_cancel(&t[which[i]]);
}

/*
 * One more is armed, and cancelled while it lies behind all others in the queue.
 * The worker takes the cancelled ones first and then the armed ones, in order:
 * when it lets go of this one it has looked at all that were queued before.
 */
static void wheel_last(struct bench *b)
{
	timewheel_add_at(b->wheel, &b->last, U64_MAX);
	timewheel_cancel(&b->last);
}

static void wheel_settle(struct bench *b)
{
	wheel_last(b);
	timewheel_cancel_sync(&b->last);
}

static u64 wheel_pass(struct bench *b, bool idle)
{
	u64 begun;

	if (!idle)
		wheel_last(b);
	begun = ktime_get_ns();
	timewheel_cancel_sync(&b->last);
	return ktime_get_ns() - begun;
}

/* The worker looks by itself 100 ms later. */
static void wheel_soon(struct bench *b, bool pending)
{
	if (!pending) {
		timewheel_cancel_sync(&b->first);
		return;
	}
	timewheel_add(b->wheel, &b->first, 50 * NSEC_PER_MSEC);
	wheel_settle(b);
}

const struct bench_peer peer_timewheel = {
	.name = "timewheel",
	.size = sizeof(struct timewheel_timeout),
	.open = wheel_open,
	.close = wheel_close,
	.init = wheel_init,
	.add = wheel_add,
	.add_at = wheel_add_at,
	.add_due = wheel_add_due,
	.dear = wheel_dear,
	.add_here = wheel_add,
	.add_cancel = wheel_add_cancel,
	.rearm = wheel_rearm,
	.touch = wheel_touch,
	.cancel = wheel_cancel,
	.settle = wheel_settle,
	.pass = wheel_pass,
	.soon = wheel_soon,
};
