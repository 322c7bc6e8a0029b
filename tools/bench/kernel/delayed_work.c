// SPDX-License-Identifier: GPL-2.0-only
/*
 * struct delayed_work: a timer_list and a work item, on a workqueue.
 */

#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "bench.h"
#include "compat.h"

#define USEC_PER_JIFFY	(USEC_PER_SEC / HZ)

static void work_expired(struct work_struct *work)
{
	meter_fire();
}

static int work_open(struct bench *b, bool bound)
{
	b->wq = alloc_workqueue("timewheel_bench", WQ_PERCPU, 0);
	return b->wq ? 0 : -ENOMEM;
}

static void work_close(struct bench *b)
{
	struct delayed_work *w = b->items;
	u32 i;

	if (!b->wq)
		return;
	for (i = 0; i < b->live + b->extra; i++) {
		cancel_delayed_work(&w[i]);
		if (i % METER_BATCH == 0)
			cond_resched();
	}
	destroy_workqueue(b->wq);
	b->wq = NULL;
}

static void work_init(struct bench *b, const u32 *which, u32 nr)
{
	struct delayed_work *w = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		INIT_DELAYED_WORK(&w[which[i]], work_expired);
}

static void work_add(struct bench *b, const u32 *which, u32 nr)
{
	struct delayed_work *w = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		queue_delayed_work(b->wq, &w[which[i]],
				   b->delay_us[which[i]] / USEC_PER_JIFFY);
}

static void work_add_due(struct bench *b, const u32 *which, u32 nr)
{
	struct delayed_work *w = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		queue_delayed_work(b->wq, &w[which[i]], b->due_jiffies - jiffies);
}

static void work_add_here(struct bench *b, const u32 *which, u32 nr)
{
	struct delayed_work *w = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		queue_delayed_work_on(b->cpu, b->wq, &w[which[i]],
				      b->delay_us[which[i]] / USEC_PER_JIFFY);
}

static void work_add_cancel(struct bench *b, const u32 *which, u32 nr)
{
	struct delayed_work *w = b->items;
	u32 i;

	for (i = 0; i < nr; i++) {
		queue_delayed_work(b->wq, &w[which[i]],
				   b->delay_us[which[i]] / USEC_PER_JIFFY);
		cancel_delayed_work(&w[which[i]]);
	}
}

static void work_rearm(struct bench *b, const u32 *which, u32 nr)
{
	struct delayed_work *w = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		mod_delayed_work(b->wq, &w[which[i]],
				 (b->delay_us[which[i]] + b->later_us) / USEC_PER_JIFFY);
}

static void work_cancel(struct bench *b, const u32 *which, u32 nr)
{
	struct delayed_work *w = b->items;
	u32 i;

	for (i = 0; i < nr; i++)
		cancel_delayed_work(&w[which[i]]);
}

const struct bench_peer peer_delayed_work = {
	.name = "delayed_work",
	.size = sizeof(struct delayed_work),
	.open = work_open,
	.close = work_close,
	.init = work_init,
	.add = work_add,
	.add_due = work_add_due,
	.add_here = work_add_here,
	.add_cancel = work_add_cancel,
	.rearm = work_rearm,
	.cancel = work_cancel,
};
