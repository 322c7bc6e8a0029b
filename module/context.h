/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A context: what one open file of /dev/timewheel is.
 */
#ifndef TIMEWHEEL_CONTEXT_H
#define TIMEWHEEL_CONTEXT_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/timewheel.h>
#include <linux/wait.h>

#include "handle.h"
#include "lease.h"
#include "ring.h"
#include "timens.h"
#include "user.h"
#include "wheel.h"

/**
 * struct context - an open file: its timeouts, its events, its books
 * @lock: guards what is marked (L), and the entries.  Taken by programs' calls
 *	and by the worker's callbacks, never in an interrupt, and never held for
 *	longer than a chunk of entries takes.
 * @handles: (L) its entries
 * @books: (L) its counters, in the form STATS gives them; at rest, armed = fired
 *	+ cancelled + unprocessed + pending
 * @ready: (L) events to be read, oldest first: the entries themselves, linked by
 *	@next, so that reporting one takes no memory
 * @ready_last: (L) where the next one is to be linked
 * @leaving: (L) entries cancelled that the worker has not let go of
 * @let_go: (L) how many it has let go of; goes round
 * @queued: (L) entries put into the wheel's queues since @mark
 * @mark: (L) when all that was queued before has been looked at: context_pace()
 * @stopped: (L) no more arming
 * @closing: (L) the file is gone: nobody is to hear of anything any more
 * @reading: (L) a reader is copying the first events of @ready, which stay there
 * @kept: (L) meanwhile somebody found that nothing could be moved from there
 * @wheel: its wheel; NULL until the first op or SETUP chooses one, and then for
 *	good.  @eventfd, @own_wheel, @submission, @completion and the limits in
 *	@handles are settled with it.
 * @eventfd: the context's own, or NULL
 * @own_wheel: @wheel is the context's own
 * @notifier: has the worker call event_notify() at the end of a pass
 * @submission: ring of ops, if there is one
 * @completion: (L) ring of events, if there is one
 * @leases: deadlines that the program keeps, if it has mapped them
 * @signal: worker: this pass has brought something to signal @eventfd for
 * @readable: worker: this pass has brought events to read
 * @readers: who waits for events
 * @leavers: who waits for the worker to let go of entries, or to take ops
 * @setup_lock: makes the choice of @wheel one, and the making of @leases
 * @read_lock: makes reading one
 * @account: the opener's user's
 * @exempt: the opener is not bound by the user's limit
 * @shift: the opener's time namespace
 */
struct context {
	spinlock_t lock; /* the entries and what is marked (L) */
	struct handles handles;
	struct timewheel_stats books;
	struct entry *ready;
	struct entry **ready_last;
	u32 leaving;
	u32 let_go;
	u32 queued;
	u64 mark;
	bool stopped;
	bool closing;
	bool reading;
	bool kept;

	struct timewheel *wheel;
	struct eventfd_ctx *eventfd;
	bool own_wheel;
	struct submission submission;
	struct ring completion;
	struct leases leases;

	struct timewheel_notifier notifier;
	bool signal;
	bool readable;

	wait_queue_head_t readers;
	wait_queue_head_t leavers;
	struct mutex setup_lock; /* the choice of the wheel */
	struct mutex read_lock; /* taking events out */
	struct account *account;
	bool exempt;
	struct timens_shift shift;
};

struct context *context_open(void);
void context_close(struct context *ctx);

void context_bind(struct context *ctx);
struct timewheel *context_wheel(struct context *ctx);
int context_setup(struct context *ctx, const struct timewheel_setup *setup);
int context_stop(struct context *ctx);
bool context_ended(struct context *ctx);

bool context_cancel(struct context *ctx, struct entry *e, enum entry_state to);
bool context_cancel_here(struct context *ctx, struct entry *e);
void context_pace(struct context *ctx);
int context_wait_let_go(struct context *ctx, u32 seen);

/* For context_pace(), which looks without the lock. */
static inline void context_count_queued(struct context *ctx, u32 nr)
{
	lockdep_assert_held(&ctx->lock);
	WRITE_ONCE(ctx->queued, ctx->queued + nr);
}

/*
 * SETUP is over, or an op has been: before that there are no rings, or they may
 * go again.
 */
static inline bool context_bound(const struct context *ctx)
{
	/* Pairs with the releases in context_bind() and context_setup(). */
	return smp_load_acquire(&ctx->wheel);
}

/* How far the opener's clock is ahead of @wheel's. */
static inline s64 context_shift(const struct context *ctx,
				const struct timewheel *wheel)
{
	return timens_shift_of(&ctx->shift, wheel->clockid);
}

#endif /* TIMEWHEEL_CONTEXT_H */
