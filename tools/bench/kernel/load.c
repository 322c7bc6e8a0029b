// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeouts of a bench: as many as are live and some more, each with a delay
 * that is random over 600 s, and random orders to go through them.
 */

#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/time64.h>

#include "bench.h"

/* None is due while it is measured; a minute and a half is enough for that. */
#define LOAD_FIRST_US	(100U * USEC_PER_SEC)
#define LOAD_SPAN_US	(600U * USEC_PER_SEC)
/*
 * What is to expire within a life does so within this: not much longer than the life
 * of all takes, or ticks would be most of it.  No less than the longest jiffy.
 */
#define LOAD_SOON_US(live) max(10U * (u32)USEC_PER_MSEC, (live) / 10 * 3)

static struct rnd_state load_random;

static u32 load_below(u32 bound)
{
	return ((u64)prandom_u32_state(&load_random) * bound) >> 32;
}

static u32 load_delay(void)
{
	return LOAD_FIRST_US + load_below(LOAD_SPAN_US);
}

/* 0, -ENOMEM, or -EINTR; load_free() in any case. */
int load_make(struct bench *b, u64 seed)
{
	u32 i, other, all = b->live + b->extra;
	int ret = 0;

	prandom_seed_state(&load_random, seed);
	b->items = kvcalloc(all, b->peer->size, GFP_KERNEL);
	b->delay_us = kvmalloc_array(all, sizeof(u32), GFP_KERNEL);
	b->in_order = kvmalloc_array(all, sizeof(u32), GFP_KERNEL);
	b->shuffled = kvmalloc_array(b->live, sizeof(u32), GFP_KERNEL);
	if (!b->items || !b->delay_us || !b->in_order || !b->shuffled)
		return -ENOMEM;

	for (i = 0; i < all && !ret; i++) {
		b->delay_us[i] = load_delay();
		b->in_order[i] = i;
		if (i < b->live) {
			other = load_below(i + 1);
			b->shuffled[i] = b->shuffled[other];
			b->shuffled[other] = i;
		}
		if (i % METER_BATCH == 0)
			ret = meter_pause();
	}
	return ret;
}

void load_free(struct bench *b)
{
	kvfree(b->items);
	kvfree(b->delay_us);
	kvfree(b->in_order);
	kvfree(b->shuffled);
}

/* All timeouts as they are before they were ever armed. */
void load_init(struct bench *b)
{
	b->peer->init(b, b->in_order, b->live + b->extra);
}

/* How many expire in a whole life: the last ones of the shuffled. */
u32 load_doomed(const struct bench *b)
{
	return max(b->live / 100, 1U);
}

/* Give these a delay that they do not outlive, or one like that of the others. */
void load_doom(struct bench *b, bool soon)
{
	u32 i, soon_us = LOAD_SOON_US(b->live);

	for (i = b->live - load_doomed(b); i < b->live; i++)
		b->delay_us[b->shuffled[i]] = soon ? load_below(soon_us) :
						     load_delay();
}
