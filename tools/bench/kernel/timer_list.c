// SPDX-License-Identifier: GPL-2.0-only
/*
 * struct timer_list: the kernel's own wheel, one for each CPU, by jiffies.
 */

#include <linux/jiffies.h>
#include <linux/timer.h>

#include "bench.h"
#include "compat.h"

#define USEC_PER_JIFFY	(USEC_PER_SEC / HZ)

static void timer_expired(struct timer_list *t)
{
	meter_fire();
}

static int timer_open(struct bench *b, bool bound)
{
	return 0;
}

static void timer_close(struct bench *b)
{
	struct timer_list *t = b->items;
	u32 i;

	for (i = 0; i < b->live + b->extra; i++) {
		timer_delete_sync(&t[i]);
		if (i % METER_BATCH == 0)
			cond_resched();
	}
}

static void timer_init(struct bench *b, const u32 *which, u32 nr)
{
	struct timer_list *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		timer_setup(&t[which[i]], timer_expired, 0);
}

static void timer_add(struct bench *b, const u32 *which, u32 nr)
{
	struct timer_list *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++) {
		t[which[i]].expires = jiffies + b->delay_us[which[i]] / USEC_PER_JIFFY;
		add_timer(&t[which[i]]);
	}
}

static void timer_add_due(struct bench *b, const u32 *which, u32 nr)
{
	struct timer_list *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++) {
		t[which[i]].expires = b->due_jiffies;
		add_timer(&t[which[i]]);
	}
}

static void timer_add_here(struct bench *b, const u32 *which, u32 nr)
{
	struct timer_list *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++) {
		t[which[i]].expires = jiffies + b->delay_us[which[i]] / USEC_PER_JIFFY;
		add_timer_on(&t[which[i]], b->cpu);
	}
}

static void timer_add_cancel(struct bench *b, const u32 *which, u32 nr)
{
	struct timer_list *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++) {
		t[which[i]].expires = jiffies + b->delay_us[which[i]] / USEC_PER_JIFFY;
		add_timer(&t[which[i]]);
		timer_delete(&t[which[i]]);
	}
}

static void timer_rearm(struct bench *b, const u32 *which, u32 nr)
{
	struct timer_list *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		mod_timer(&t[which[i]],
			  jiffies + (b->delay_us[which[i]] + b->later_us) / USEC_PER_JIFFY);
}

static void timer_cancel(struct bench *b, const u32 *which, u32 nr)
{
	struct timer_list *t = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		timer_delete(&t[which[i]]);
}

const struct bench_peer peer_timer_list = {
	.name = "timer_list",
	.size = sizeof(struct timer_list),
	.open = timer_open,
	.close = timer_close,
	.init = timer_init,
	.add = timer_add,
	.add_due = timer_add_due,
	.add_here = timer_add_here,
	.add_cancel = timer_add_cancel,
	.rearm = timer_rearm,
	.cancel = timer_cancel,
};
