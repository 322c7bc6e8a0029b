// SPDX-License-Identifier: GPL-2.0-only
/*
 * The completion ring: events that a program finds without a call.
 *
 * The ready list comes first, as without a ring; from there the worker moves what
 * there is room for.  What there is none for stays in the list, in order, and a
 * flag in the ring says so: the next pass brings it, or a read().
 *
 *   worker                                program
 *   acquire the head                      acquire the tail
 *   write entries                         read entries
 *   release the tail                      release the head
 */

#include "context.h"
#include "event.h"
#include "ring.h"

/* Events moved while the lock is held, and for one ring at the end of a pass. */
#define COMPLETION_BATCH	32U
#define COMPLETION_BUDGET	2048U

static struct timewheel_event *completion_event(struct ring *ring, u32 at)
{
	struct timewheel_event *events = (void *)(ring->head + 1);

	return &events[at & (ring->entries - 1)];
}

/* The program has not taken all that is in the ring. */
bool completion_waiting(const struct context *ctx)
{
	const struct ring *ring = &ctx->completion;

	return context_bound(ctx) && ring->entries &&
	       READ_ONCE(ring->head->head) != READ_ONCE(ring->at);
}

static u32 completion_room(const struct ring *ring)
{
	/* Partner: the program's release, when it has read the entries. */
	u32 used = ring->at - smp_load_acquire(&ring->head->head);

	/* A head that makes no sense leaves no room. */
	return used > ring->entries ? 0 : ring->entries - used;
}

/* Returns how many events were moved, at most @max. */
static u32 completion_move(struct context *ctx, u32 max)
{
	struct ring *ring = &ctx->completion;
	u32 nr = min(completion_room(ring), max);
	struct timewheel_event event;
	u32 moved = 0;

	lockdep_assert_held(&ctx->lock);

	/* A reader is about to take the first ones off the list. */
	if (ctx->reading) {
		ctx->kept = true;
		return 0;
	}

	while (moved < nr && event_first(ctx, &event)) {
		*completion_event(ring, ring->at) = event;
		event_drop(ctx, &event);
		WRITE_ONCE(ring->at, ring->at + 1);
		moved++;
	}
	/* Partner: the program's acquire, before it reads the entries. */
	smp_store_release(&ring->head->tail, ring->at);
	WRITE_ONCE(ring->head->flags, ctx->ready ? TIMEWHEEL_RING_OVERFLOW : 0);
	return moved;
}

/* Up to @max events.  Returns how many; fewer if there are, or is room for, no more. */
static u32 completion_fill(struct context *ctx, u32 max)
{
	u32 want, moved, left = max;

	do {
		want = min(left, COMPLETION_BATCH);
		spin_lock(&ctx->lock);
		moved = completion_move(ctx, want);
		spin_unlock(&ctx->lock);
		left -= moved;
		cond_resched();
	} while (left && moved == want);
	return max - left;
}

/**
 * completion_refill - move events to the completion ring, if there is one
 * @ctx: the context; a program's call
 *
 * At most as many as it holds, however fast the program makes room.
 */
void completion_refill(struct context *ctx)
{
	if (context_bound(ctx) && ctx->completion.entries)
		completion_fill(ctx, ctx->completion.entries);
}

/**
 * completion_tell - the same for the worker, which has others to look after
 * @ctx: the context
 * @budget: of the pass; lowered by what is moved.  When it is used up a context
 *	still gets a few, for there may be many.
 *
 * Return: whether there may be more to move, in the next pass.
 */
bool completion_tell(struct context *ctx, unsigned int *budget)
{
	u32 max = clamp(*budget, COMPLETION_BATCH, COMPLETION_BUDGET);
	u32 moved;

	if (!ctx->completion.entries)
		return false;
	moved = completion_fill(ctx, max);
	*budget -= min(*budget, moved);
	return moved == max;
}
