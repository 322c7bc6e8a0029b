/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings: the submission ring, by which a program asks, and the completion ring, by
 * which it is told.
 */
#ifndef TIMEWHEEL_RING_H
#define TIMEWHEEL_RING_H

#include <linux/timewheel.h>

#include "shared.h"
#include "source.h"

struct chunk;
struct context;
struct entry;

/**
 * struct ring - a ring in shared memory
 * @memory: what it is in
 * @head: its head, where the program sees it
 * @entries: how many it has, 0 if there is no ring
 * @at: the kernel's own index; the one in @head is only for the program
 * @told: submission: @at, once the program can see it in @head
 *
 * The other side's index is read from shared memory, and believed only as far as
 * it makes sense.
 */
struct ring {
	struct shared memory;
	struct timewheel_ring *head;
	u32 entries;
	u32 at;
	u32 told;
};

/**
 * struct submission - a submission ring
 * @ring: the ring; @ring.at is the worker's
 * @source: has the worker look into it
 * @spare: (L) entries to report failed ops with
 * @spares: where they are
 * @stuck: (L) an op failed, and there is no entry left to say so
 * @owed: worker: of the ops that were there at @owed_ns, how many are not done
 * @owed_ns: worker: the time of the pass that counted them
 * @seen_ns: worker: all that was there at this time is done.  U64_MAX before the
 *	first look, for until then no program relies on one
 * @held: worker: timeouts due after @seen_ns, in the order they are to expire
 */
struct submission {
	struct ring ring;
	struct timewheel_source source;
	struct entry *spare;
	struct chunk *spares;
	bool stuck;
	u32 owed;
	u64 owed_ns;
	u64 seen_ns;
	struct list_head held;
};

int ring_create(struct ring *ring, u32 entries, size_t entry_size);
void ring_destroy(struct ring *ring);

int submission_create(struct context *ctx, u32 entries);
void submission_destroy(struct context *ctx);
void submission_attach(struct context *ctx);
int submission_enter(struct context *ctx);
struct list_head *submission_hold(struct context *ctx, u64 due_ns, u64 *now_ns);

bool completion_waiting(const struct context *ctx);
void completion_refill(struct context *ctx);
bool completion_tell(struct context *ctx, unsigned int *budget);

#endif /* TIMEWHEEL_RING_H */
