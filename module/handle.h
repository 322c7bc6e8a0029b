/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handles: from the id that a program knows to the entry it stands for.
 */
#ifndef TIMEWHEEL_HANDLE_H
#define TIMEWHEEL_HANDLE_H

#include <linux/build_bug.h>
#include <linux/container_of.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/timewheel.h>
#include <linux/types.h>

struct context;
struct eventfd_ctx;
struct mem_cgroup;

/**
 * enum entry_state - where an entry is in its life
 * @ENTRY_FREE: in the free list; no id matches it
 * @ENTRY_PENDING: armed.  Its expired callback may have begun, and wait for the
 *	context's lock: then a one-shot can't be cancelled or moved any more.
 * @ENTRY_LEAVING: cancelled; the worker has not let go of it
 * @ENTRY_STOPPED: the same, by STOP: to be reported once it has
 * @ENTRY_EXPIRED: off the wheel; its expiries are to be read
 * @ENTRY_UNPROCESSED: off the wheel, by STOP; that is to be read, and before it
 *	any expiries
 * @ENTRY_FAILED: no timeout: an op of a ring that failed, which is to be read
 */
enum entry_state {
	ENTRY_FREE,
	ENTRY_PENDING,
	ENTRY_LEAVING,
	ENTRY_STOPPED,
	ENTRY_EXPIRED,
	ENTRY_UNPROCESSED,
	ENTRY_FAILED,
};

/* More than any program leaves unread; the count stays there. */
#define ENTRY_MAX_PERIODS	((1U << 24) - 1)

/**
 * struct entry - a timeout of a program
 * @periodic: the timeout itself, on the context's wheel; the interval of a
 *	one-shot is 0
 * @next: next in the free list, or in the ready list
 * @user_data: the program's cookie
 * @eventfd: the timeout's own, or NULL
 * @due_ns: deadline of the last of the unread periods; the id that a failed op was
 *	for
 * @generation: upper half of its id; never 0, another each time it is freed.
 *	Of an own id it is what the program said.
 * @periods: periods that ended and are unread, 1 for an expiry on time.  Up to
 *	ENTRY_MAX_PERIODS.  Of a failed op the error.
 * @state: enum entry_state
 * @no_event: armed with TIMEWHEEL_NO_EVENT
 * @lease: armed with TIMEWHEEL_LEASE
 *
 * It is in the ready list while it has unread periods, whatever its state, and
 * as ENTRY_UNPROCESSED.  So a periodic one is on the wheel and in the list at
 * the same time, and a program that reads late finds one event for all.
 *
 * All of it is under the context's lock, but for @periodic, which has rules of
 * its own.
 */
struct entry {
	struct timewheel_periodic periodic;
	struct entry *next;
	u64 user_data;
	struct eventfd_ctx *eventfd;
	u64 due_ns;
	u32 generation;
	u32 periods : 24;
	u32 state : 4;
	u32 no_event : 1;
	u32 lease : 1;
};

static_assert(sizeof(struct entry) <= 112);

/**
 * struct chunk - a page of entries
 * @ctx: whose they are
 * @first: index of the first one
 * @entries: the entries, as many as fit
 */
struct chunk {
	struct context *ctx;
	u32 first;
	struct entry entries[];
};

#define CHUNK_ENTRIES \
	((u32)((PAGE_SIZE - sizeof(struct chunk)) / sizeof(struct entry)))

/**
 * struct handles - all entries of a context
 * @chunks: its chunks by number; replaced by a longer array as they grow
 * @nr_chunks: chunks there are
 * @capacity: length of @chunks
 * @held: entries that are not free, and all of own ids
 * @max: most entries that may be held
 * @own: own ids: the entries below this index are for programs to choose from
 * @free: the free entries of all chunks above that, last freed first
 * @memcg: whom the memory is charged to
 * @grow_lock: makes growing one; only its holder writes @chunks and @nr_chunks
 *
 * Chunks stay until the context goes: were one given back and made anew, its
 * entries would have to remember their generations all the same.
 */
struct handles {
	struct chunk **chunks;
	u32 nr_chunks;
	u32 capacity;
	u32 held;
	u32 max;
	u32 own;
	struct entry *free;
	struct mem_cgroup *memcg;
	struct mutex grow_lock; /* growing */
};

static inline struct chunk *entry_chunk(const struct entry *e)
{
	return (struct chunk *)((unsigned long)e & PAGE_MASK);
}

static inline struct context *entry_context(const struct entry *e)
{
	return entry_chunk(e)->ctx;
}

static inline u32 entry_index(const struct entry *e)
{
	const struct chunk *chunk = entry_chunk(e);

	return chunk->first + (e - chunk->entries);
}

static inline u64 entry_id(const struct entry *e)
{
	return (u64)e->generation << 32 | entry_index(e);
}

static inline struct entry *entry_of(struct timewheel_timeout *t)
{
	return container_of(t, struct entry, periodic.timeout);
}

/* The entry at a place, NULL beyond the last; the context's lock is held. */
static inline struct entry *handles_at(const struct handles *h, u64 index)
{
	u64 nr = index / CHUNK_ENTRIES;

	if (nr >= h->nr_chunks)
		return NULL;
	nr = array_index_nospec(nr, h->nr_chunks);
	return &h->chunks[nr]->entries[index % CHUNK_ENTRIES];
}

/*
 * The entry that @id, which a program made up or not, stands for, or NULL; the
 * context's lock is held.
 */
static inline struct entry *handles_find(const struct handles *h, u64 id)
{
	struct entry *e = handles_at(h, lower_32_bits(id));

	if (!e || e->state == ENTRY_FREE || e->generation != upper_32_bits(id))
		return NULL;
	return e;
}

/*
 * The entry of an own id, which it gets; the context's lock is held.  Errors:
 * -EINVAL for an index that is not the program's own, -EBUSY if it is in use,
 * -EALREADY if that is about to end: it was cancelled.
 */
static inline struct entry *handles_claim(const struct handles *h, u64 id)
{
	struct entry *e;

	if (lower_32_bits(id) >= h->own)
		return ERR_PTR(-EINVAL);
	e = handles_at(h, lower_32_bits(id));
	if (e->state == ENTRY_LEAVING)
		return ERR_PTR(-EALREADY);
	if (e->state != ENTRY_FREE)
		return ERR_PTR(-EBUSY);
	e->generation = upper_32_bits(id);
	return e;
}

void handles_init(struct handles *h, u32 max);
void handles_destroy(struct handles *h);
int handles_reserve(struct context *ctx, u32 max, u32 own);
void handles_clear(struct context *ctx);
int handles_grow(struct context *ctx);

struct chunk *chunk_create(struct context *ctx, u32 first);
struct entry *entry_alloc(struct context *ctx);
void entry_free(struct context *ctx, struct entry *e);
struct entry *entry_at(struct context *ctx, u64 index);

#endif /* TIMEWHEEL_HANDLE_H */
