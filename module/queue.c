// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues, on the worker's side.
 *
 * A queue is a lock-free stack; the worker takes all of it and turns it over, so
 * that it sees the oldest first.
 *
 * A timeout that moves while it is queued, or is armed again while it lies in
 * the cancel queue, can't be pushed a second time.  It keeps its place, marked
 * MOVED, and its seq tells where it belongs.  From the first such one on the
 * worker keeps aside what it takes, and files it in the order of seq.
 *
 * Who sets QUEUED pushes soon after.  Another who moves the timeout in between finds it
 * queued, and it comes with that push: if it had been put off, later than what was armed
 * since; if brought forward, at the pass that the push asks for.
 *
 * Only such a move counts seq up; all others just read it, before their push.  A
 * push that came after the move has read what the move made of it, or more; one
 * that was before has read less.  Among themselves the pushed ones are in order.
 *
 * The worker goes in rounds, over one or several passes: it takes the submit
 * queue, then the cancel queue, and works off the second and the first.  So
 * whatever was moved before the round began is known when that is filed.  What was moved
 * since may belong behind what was pushed since, and waits for the next round.
 */

#include <linux/list_sort.h>
#include <linux/sched.h>

#include "kunit.h"
#include "queue.h"
#include "timeout.h"
#include "wheel.h"

/* Loops that the budget does not bound give way to others after this many. */
#define QUEUE_RESCHED	4096U

void queues_init(struct timewheel_queues *q)
{
	init_llist_head(&q->submit);
	init_llist_head(&q->cancel);
	atomic_set(&q->seq, 0);
	q->taken = NULL;
	q->taken_cancel = NULL;
	q->in_round = false;
	q->bound = 0;
	INIT_LIST_HEAD(&q->fresh);
	INIT_LIST_HEAD(&q->moved);
}
EXPORT_SYMBOL_IF_KUNIT(queues_init);

static struct llist_node *queue_turn_over(struct llist_node *newest)
{
	struct llist_node *oldest = NULL;
	unsigned int n = 0;

	while (newest) {
		struct llist_node *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
		if (++n % QUEUE_RESCHED == 0)
			cond_resched();
	}
	return oldest;
}

static struct llist_node *queue_take(struct llist_head *queue)
{
	return queue_turn_over(llist_del_all(queue));
}

static void queue_begin(struct timewheel_queues *q)
{
	if (q->in_round)
		return;
	/*
	 * The bound first: what was pushed before a timeout got a seq within it
	 * is taken.  llist_del_all() is a full barrier, as is a push.
	 */
	q->bound = atomic_read(&q->seq);
	q->taken = queue_take(&q->submit);
	q->taken_cancel = queue_take(&q->cancel);
	q->in_round = true;
}

/*
 * Where one that is kept aside belongs: its seq as it was taken, which it has in
 * place of a tick.  A producer may move it again and write its seq meanwhile; then it
 * is queued and filed once more, and those around it keep their places.
 */
static u32 queue_place(const struct timewheel_timeout *t)
{
	return t->node.tick;
}

static int queue_compare(void *priv, const struct list_head *a,
			 const struct list_head *b)
{
	unsigned int *n = priv;
	u32 place_a = queue_place(list_entry(a, struct timewheel_timeout, node.link));
	u32 place_b = queue_place(list_entry(b, struct timewheel_timeout, node.link));

	if (++*n % QUEUE_RESCHED == 0)
		cond_resched();
	return (s32)(place_a - place_b) > 0;
}

static void queue_file(struct timewheel *wheel, struct timewheel_timeout *t)
{
	core_unlink(&wheel->core, &t->node);
	timeout_file(wheel, t);
}

static struct timewheel_timeout *queue_first(struct list_head *list)
{
	return list_first_entry_or_null(list, struct timewheel_timeout, node.link);
}

/*
 * File what was kept aside, in the order of seq.  A moved timeout may belong
 * behind something that was not taken yet (@whole: but for what the bound
 * tells), and then it waits.
 */
static void queue_merge(struct timewheel *wheel, bool whole)
{
	struct timewheel_queues *q = &wheel->queues;
	struct timewheel_timeout *fresh, *moved, *next;
	unsigned int n = 0;

	list_sort(&n, &q->moved, queue_compare);
	while ((fresh = queue_first(&q->fresh))) {
		moved = queue_first(&q->moved);
		if (moved && (s32)(queue_place(moved) - queue_place(fresh)) <= 0)
			queue_file(wheel, moved);
		else
			queue_file(wheel, fresh);
		if (++n % QUEUE_RESCHED == 0)
			cond_resched();
	}
	if (!whole)
		return;
	list_for_each_entry_safe(moved, next, &q->moved, node.link) {
		if ((s32)(queue_place(moved) - q->bound) <= 0)
			queue_file(wheel, moved);
		if (++n % QUEUE_RESCHED == 0)
			cond_resched();
	}
}

/**
 * queue_drain_cancel - take cancelled timeouts out of the wheel
 * @wheel: the wheel, owned by the caller
 * @budget: how many at most
 *
 * What is cancelled while this runs is for the next round.
 *
 * Return: whether some are left.
 */
bool queue_drain_cancel(struct timewheel *wheel, unsigned int budget)
{
	struct timewheel_queues *q = &wheel->queues;

	queue_begin(q);
	if (!q->taken_cancel)
		return false;
	q->taken_cancel = timeout_take(wheel, q->taken_cancel, budget);
	return q->taken_cancel;
}
EXPORT_SYMBOL_IF_KUNIT(queue_drain_cancel);

/**
 * queue_drain_submit - file armed and moved timeouts in the wheel
 * @wheel: the wheel, owned by the caller
 * @budget: how many at most
 *
 * What is pushed while this runs is for the next round.
 *
 * Return: whether some are left of this one; also if queue_drain_cancel() has to
 * come first.
 */
bool queue_drain_submit(struct timewheel *wheel, unsigned int budget)
{
	struct timewheel_queues *q = &wheel->queues;

	queue_begin(q);
	if (q->taken_cancel)
		return true;

	q->taken = timeout_take(wheel, q->taken, budget);
	if (!list_empty(&q->moved) || !list_empty(&q->fresh))
		queue_merge(wheel, !q->taken);
	if (q->taken)
		return true;
	q->in_round = false;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(queue_drain_submit);
