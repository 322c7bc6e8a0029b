/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handles: from the id that a program knows to the entry it stands for.
 */
#ifndef TIMEWHEEL_HANDLE_H
#define TIMEWHEEL_HANDLE_H

#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/timewheel.h>
#include <linux/types.h>

struct context;
struct eventfd_ctx;
struct mem_cgroup;

/**
 * enum entry_state - where an entry is in its life
 * @ENTRY_FREE: in the free list; no id matches it
 * @ENTRY_PENDING: armed.  Its expired callback may have begun, and wait for the
 *	context's lock: then it can't be cancelled or moved any more.
 * @ENTRY_LEAVING: cancelled; the worker has not let go of it
 * @ENTRY_STOPPED: the same, by STOP: to be reported once it has
 * @ENTRY_EXPIRED: in the ready list, as an expiry
 * @ENTRY_UNPROCESSED: in the ready list, as handed back by STOP
 */
enum entry_state {
	ENTRY_FREE,
	ENTRY_PENDING,
	ENTRY_LEAVING,
	ENTRY_STOPPED,
	ENTRY_EXPIRED,
	ENTRY_UNPROCESSED,
};

/**
 * struct entry - a timeout of a program
 * @timeout: the timeout itself, on the context's wheel
 * @next: next in the free list, or in the ready list
 * @user_data: the program's cookie
 * @eventfd: the timeout's own, or NULL
 * @generation: upper half of its id; never 0, another each time it is freed
 * @state: enum entry_state
 * @flags: TIMEWHEEL_NO_EVENT, or 0
 *
 * All of it is under the context's lock, but for @timeout, which has rules of
 * its own.
 */
struct entry {
	struct timewheel_timeout timeout;
	struct entry *next;
	u64 user_data;
	struct eventfd_ctx *eventfd;
	u32 generation;
	u8 state;
	u8 flags;
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
 * @held: entries that are not free
 * @max: most entries that may be held
 * @free: the free entries of all chunks, last freed first
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

static inline u64 entry_id(const struct entry *e)
{
	const struct chunk *chunk = entry_chunk(e);

	return (u64)e->generation << 32 |
	       (u32)(chunk->first + (e - chunk->entries));
}

void handles_init(struct handles *h, u32 max);
void handles_destroy(struct handles *h);
int handles_grow(struct context *ctx);

struct entry *entry_alloc(struct context *ctx);
void entry_free(struct context *ctx, struct entry *e);
struct entry *entry_find(struct context *ctx, u64 id);

#endif /* TIMEWHEEL_HANDLE_H */
