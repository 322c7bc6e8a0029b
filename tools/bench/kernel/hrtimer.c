// SPDX-License-Identifier: GPL-2.0-only
/*
 * struct hrtimer: a tree for each CPU, by nanoseconds.
 */

#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/time64.h>

#include "bench.h"
#include "compat.h"

static enum hrtimer_restart hrtimer_expired(struct hrtimer *t)
{
	meter_fire();
	return HRTIMER_NORESTART;
}

static int hrtimer_open(struct bench *b, bool bound)
{
	return 0;
}

static void hrtimer_close(struct bench *b)
{
	struct hrtimer *t = b->items;
	u32 i;

	for (i = 0; i < b->live + b->extra; i++) {
		hrtimer_cancel(&t[i]);
		if (i % METER_BATCH == 0)
			cond_resched();
	}
}

static void hrtimer_init_all(struct bench *b, const u32 *which, u32 nr)
{
	struct hrtimer *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		hrtimer_setup(&t[which[i]], hrtimer_expired, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL);
}

static ktime_t hrtimer_delay(const struct bench *b, u32 i)
{
	return ns_to_ktime((u64)b->delay_us[i] * NSEC_PER_USEC);
}

static void hrtimer_add(struct bench *b, const u32 *which, u32 nr)
{
	struct hrtimer *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		hrtimer_start(&t[which[i]], hrtimer_delay(b, which[i]),
			      HRTIMER_MODE_REL);
}

static void hrtimer_add_at(struct bench *b, const u32 *which, u32 nr)
{
	struct hrtimer *t = b->items;
	ktime_t now = ktime_get();
	u32 i;

	for (i = 0; i < nr; i++)
		hrtimer_start(&t[which[i]],
			      ktime_add_us(now, b->delay_us[which[i]]),
			      HRTIMER_MODE_ABS);
}

static void hrtimer_add_due(struct bench *b, const u32 *which, u32 nr)
{
	struct hrtimer *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		hrtimer_start(&t[which[i]], ns_to_ktime(b->due_ns),
			      HRTIMER_MODE_ABS);
}

static void hrtimer_add_cancel(struct bench *b, const u32 *which, u32 nr)
{
	struct hrtimer *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++) {
		hrtimer_start(&t[which[i]], hrtimer_delay(b, which[i]),
			      HRTIMER_MODE_REL);
		hrtimer_try_to_cancel(&t[which[i]]);
	}
}

static void hrtimer_rearm(struct bench *b, const u32 *which, u32 nr)
{
	ktime_t now = ktime_add_us(ktime_get(), b->later_us);
	struct hrtimer *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		hrtimer_start(&t[which[i]],
			      ktime_add_us(now, b->delay_us[which[i]]),
			      HRTIMER_MODE_ABS);
}

static void hrtimer_cancel_all(struct bench *b, const u32 *which, u32 nr)
{
	struct hrtimer *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		hrtimer_try_to_cancel(&t[which[i]]);
}

const struct bench_peer peer_hrtimer = {
	.name = "hrtimer",
	.size = sizeof(struct hrtimer),
	.open = hrtimer_open,
	.close = hrtimer_close,
	.init = hrtimer_init_all,
	.add = hrtimer_add,
	.add_at = hrtimer_add_at,
	.add_due = hrtimer_add_due,
	.no_add_here = "hrtimer_start() arms on the CPU that calls it, so two share no target",
	.add_cancel = hrtimer_add_cancel,
	.rearm = hrtimer_rearm,
	.cancel = hrtimer_cancel_all,
};
