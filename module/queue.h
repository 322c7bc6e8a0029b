/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queues between the producers, any number of them, and the one worker.
 */
#ifndef TIMEWHEEL_QUEUE_H
#define TIMEWHEEL_QUEUE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/timewheel.h>

#include "compat.h"

/**
 * struct timewheel_queues - what producers ask of the worker
 * @submit: timeouts armed or moved, newest first
 * @cancel: timeouts cancelled, newest first
 * @seq: how many timeouts were moved while they were queued, see queue.c
 * @taken: worker: the part of @submit taken but not yet looked at, oldest first
 * @taken_cancel: worker: the same of @cancel
 * @in_round: worker: a round has begun and not ended, see queue.c
 * @bound: worker: @seq when the round began
 * @fresh: worker: timeouts looked at, not yet filed, oldest first
 * @moved: worker: the same, of those that moved while they were queued
 */
struct timewheel_queues {
	struct llist_head submit ____cacheline_aligned_in_smp;
	struct llist_head cancel ____cacheline_aligned_in_smp;
	atomic_t seq ____cacheline_aligned_in_smp;
	struct llist_node *taken ____cacheline_aligned_in_smp;
	struct llist_node *taken_cancel;
	bool in_round;
	u32 bound;
	struct list_head fresh;
	struct list_head moved;
};

void queues_init(struct timewheel_queues *q);
bool queue_drain_cancel(struct timewheel *wheel, unsigned int budget);
bool queue_drain_submit(struct timewheel *wheel, unsigned int budget);

/* Worker: nothing waits to be looked at. */
static inline bool queues_empty(const struct timewheel_queues *q)
{
	return llist_empty(&q->submit) && llist_empty(&q->cancel) &&
	       !q->taken && !q->taken_cancel && list_empty(&q->moved) &&
	       list_empty(&q->fresh);
}

/*
 * Push, for producers.  It is a full barrier, and the push comes before
 * the look at the worker's promise: see worker.c for its partner.  Both return
 * whether the queue was empty.
 */
static inline bool queue_submit(struct timewheel_queues *q,
				struct timewheel_timeout *t)
{
	return compat_llist_add(&t->queued, &q->submit);
}

static inline bool queue_cancel(struct timewheel_queues *q,
				struct timewheel_timeout *t)
{
	return compat_llist_add(&t->queued, &q->cancel);
}

#endif /* TIMEWHEEL_QUEUE_H */
