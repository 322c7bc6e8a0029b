// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles: from the id that a program knows to the entry it stands for.
 *
 * An id is an index and a generation.  The index names a place in a chunk, the
 * generation tells apart those that had the place one after the other.  So an
 * id that is stale, or made up, finds nothing, and never somebody else's
 * timeout.
 *
 * The first places may be a program's own: then it says which one a timeout
 * gets, and the generation too, and so knows the id beforehand.
 */

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "context.h"
#include "event.h"
#include "handle.h"

#define HANDLES_FIRST_CAPACITY	8U

/*
 * Charged to the opener's memory cgroup.  Over its limit the arm fails: nothing
 * in there is to be killed for what a process elsewhere arms on a passed fd.
 */
#define HANDLES_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* Takes a reference to the opener's memcg: the caller's. */
void handles_init(struct handles *h, u32 max)
{
	h->max = max;
	h->memcg = get_mem_cgroup_from_mm(current->mm);
	mutex_init(&h->grow_lock);
}

/* No entry may be on a wheel any more. */
void handles_destroy(struct handles *h)
{
	u32 i;

	for (i = 0; i < h->nr_chunks; i++) {
		free_page((unsigned long)h->chunks[i]);
		cond_resched();
	}
	kvfree(h->chunks);
	mem_cgroup_put(h->memcg);
}

/* A page of free entries, the first of which has the index @first. */
struct chunk *chunk_create(struct context *ctx, u32 first)
{
	struct chunk *chunk;
	u32 i;

	chunk = (struct chunk *)__get_free_page(HANDLES_GFP);
	if (!chunk)
		return NULL;

	chunk->ctx = ctx;
	chunk->first = first;
	for (i = 0; i < CHUNK_ENTRIES; i++) {
		struct entry *e = &chunk->entries[i];

		timewheel_timeout_init(&e->periodic.timeout, &event_ops);
		e->eventfd = NULL;
		e->periods = 0;
		e->generation = 1;
		e->state = ENTRY_FREE;
	}
	return chunk;
}

/* See that there is room for one more pointer in the array of chunks. */
static int chunks_reserve(struct context *ctx)
{
	struct handles *h = &ctx->handles;
	struct chunk **new, **old = h->chunks;
	u32 most, capacity;

	lockdep_assert_held(&h->grow_lock);

	if (h->nr_chunks < h->capacity)
		return 0;

	most = DIV_ROUND_UP(h->max, CHUNK_ENTRIES);
	capacity = h->capacity ? min(h->capacity, most / 2 + 1) * 2 :
				 HANDLES_FIRST_CAPACITY;
	new = kvmalloc_objs(*new, capacity, HANDLES_GFP);
	if (!new)
		return -ENOMEM;
	if (old)
		memcpy(new, old, h->nr_chunks * sizeof(*new));

	spin_lock(&ctx->lock);
	h->chunks = new;
	h->capacity = capacity;
	spin_unlock(&ctx->lock);

	/* Whoever looks into the array does so under the lock. */
	kvfree(old);
	return 0;
}

static int chunk_add(struct context *ctx)
{
	struct handles *h = &ctx->handles;
	u32 first = h->nr_chunks * CHUNK_ENTRIES;
	struct chunk *chunk;
	u32 i;
	int ret;

	lockdep_assert_held(&h->grow_lock);

	ret = chunks_reserve(ctx);
	if (ret)
		return ret;
	chunk = chunk_create(ctx, first);
	if (!chunk)
		return -ENOMEM;

	spin_lock(&ctx->lock);
	h->chunks[h->nr_chunks++] = chunk;
	/* The first one is to be the first used. */
	for (i = min(CHUNK_ENTRIES, h->max - first); i-- && first + i >= h->own;) {
		chunk->entries[i].next = h->free;
		h->free = &chunk->entries[i];
	}
	spin_unlock(&ctx->lock);
	return 0;
}

/* As it was before handles_reserve(); nothing has been armed. */
void handles_clear(struct context *ctx)
{
	struct handles *h = &ctx->handles;
	struct chunk **chunks;
	u32 i, nr, own;

	spin_lock(&ctx->lock);
	chunks = h->chunks;
	nr = h->nr_chunks;
	own = h->own;
	h->chunks = NULL;
	h->nr_chunks = 0;
	h->capacity = 0;
	h->held = 0;
	h->own = 0;
	h->free = NULL;
	spin_unlock(&ctx->lock);

	for (i = 0; i < nr; i++) {
		free_page((unsigned long)chunks[i]);
		cond_resched();
	}
	kvfree(chunks);
	account_uncharge(ctx->account, own);
}

/**
 * handles_reserve - set the limit, and entries aside for own ids
 * @ctx: the context, which has no entries
 * @max: most entries at once, own ones included
 * @own: own ids, at most @max
 *
 * All entries of own ids are made and charged here: arming one can't fail for
 * want of memory or of room.
 *
 * Return: 0; -EDQUOT, -ENOSPC over the limits; -ENOMEM; -ERESTARTSYS.
 */
int handles_reserve(struct context *ctx, u32 max, u32 own)
{
	struct handles *h = &ctx->handles;
	u32 nr = DIV_ROUND_UP(own, CHUNK_ENTRIES);
	struct mem_cgroup *memcg;
	int ret;

	ret = account_charge(ctx->account, ctx->exempt, own);
	if (ret)
		return ret;

	mutex_lock(&h->grow_lock);
	memcg = set_active_memcg(h->memcg);
	/* INFO may be looking. */
	WRITE_ONCE(h->max, max);
	h->own = own;
	h->held = own;
	while (!ret && h->nr_chunks < nr) {
		ret = signal_pending(current) ? -ERESTARTSYS : chunk_add(ctx);
		cond_resched();
	}
	set_active_memcg(memcg);
	mutex_unlock(&h->grow_lock);
	if (ret)
		handles_clear(ctx);
	return ret;
}

/*
 * More free entries, after entry_alloc() said -EAGAIN.  Then all there were are
 * held, and fewer than max are, so another chunk fits below max.
 */
int handles_grow(struct context *ctx)
{
	struct handles *h = &ctx->handles;
	struct mem_cgroup *memcg;
	bool enough;
	int ret = 0;

	if (mutex_lock_killable(&h->grow_lock))
		return -ERESTARTSYS;

	/* Somebody else may have grown them, or have freed some. */
	spin_lock(&ctx->lock);
	enough = h->free || h->held >= h->max;
	spin_unlock(&ctx->lock);

	if (!enough) {
		memcg = set_active_memcg(h->memcg);
		ret = chunk_add(ctx);
		set_active_memcg(memcg);
	}
	mutex_unlock(&h->grow_lock);
	return ret;
}

/*
 * A free entry, charged.  Errors: -ENOSPC over the limit of the context or the
 * module, -EDQUOT over the user's, -EAGAIN when handles_grow() has to come first.
 */
struct entry *entry_alloc(struct context *ctx)
{
	struct handles *h = &ctx->handles;
	struct entry *e = h->free;
	int ret;

	lockdep_assert_held(&ctx->lock);

	if (h->held >= h->max)
		return ERR_PTR(-ENOSPC);
	if (!e)
		return ERR_PTR(-EAGAIN);
	ret = account_charge(ctx->account, ctx->exempt, 1);
	if (ret)
		return ERR_PTR(ret);

	h->free = e->next;
	h->held++;
	return e;
}

void entry_free(struct context *ctx, struct entry *e)
{
	struct handles *h = &ctx->handles;

	lockdep_assert_held(&ctx->lock);

	e->state = ENTRY_FREE;
	if (entry_index(e) < h->own)
		return;
	if (!++e->generation)
		e->generation = 1;
	e->next = h->free;
	h->free = e;
	h->held--;
	account_uncharge(ctx->account, 1);
}

/* The entry at a place, which may be a free one; NULL beyond the last. */
struct entry *entry_at(struct context *ctx, u64 index)
{
	lockdep_assert_held(&ctx->lock);

	return handles_at(&ctx->handles, index);
}
