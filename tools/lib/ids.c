// SPDX-License-Identifier: MIT
/*
 * The ids of a handle with rings, which names them itself.
 */
#include <errno.h>
#include <stdlib.h>

#include "ids.h"

int ids_create(struct ids *ids, uint32_t nr)
{
	uint32_t i;

	/* Zeroed memory: what is never used takes none. */
	ids->generations = calloc(nr, sizeof(*ids->generations));
	ids->records = calloc(nr, sizeof(*ids->records));
	ids->free = calloc(nr, sizeof(*ids->free));
	ids->again = calloc(nr, sizeof(*ids->again));
	if (!ids->generations || !ids->records || !ids->free || !ids->again)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		ids->free[i] = i;
	ids->nr = nr;
	ids->nr_free = nr;
	return 0;
}

/* Also if there are none, or not all of it was made. */
void ids_destroy(struct ids *ids)
{
	free(ids->generations);
	free(ids->records);
	free(ids->free);
	free(ids->again);
}

static uint32_t circle(const struct ids *ids, uint32_t first, uint32_t nr)
{
	uint32_t left = ids->nr - first;

	return nr < left ? first + nr : nr - left;
}

/* A free id, the one that is so for longest; there is one. */
uint64_t ids_take(struct ids *ids, bool lease)
{
	uint32_t index = ids->free[ids->first];
	uint32_t generation = ids->generations[index] + GENERATION_ONE;

	ids->first = circle(ids, ids->first, 1);
	ids->nr_free--;
	generation |= GENERATION_LIVE | (lease ? GENERATION_LEASE : 0);
	ids->generations[index] = generation;
	return (uint64_t)generation << 32 | index;
}

/* @id may wait to be armed again; that there are any is rare. */
static void forget_again(struct ids *ids, uint64_t id)
{
	uint32_t n = ids->nr_again;
	uint64_t first;

	while (n--) {
		first = ids_first_again(ids);
		ids_drop_again(ids);
		if (first != id)
			ids_put_again(ids, first);
	}
}

/* @id is in use, and now no more. */
void ids_give(struct ids *ids, uint64_t id)
{
	uint32_t index = id_index(id);

	forget_again(ids, id);
	ids->generations[index] &= ~(GENERATION_LIVE | GENERATION_LEASE);
	ids->free[circle(ids, ids->first, ids->nr_free)] = index;
	ids->nr_free++;
}

/* There is room: an id is in there once, and is in use. */
void ids_put_again(struct ids *ids, uint64_t id)
{
	ids->again[circle(ids, ids->first_again, ids->nr_again)] = id;
	ids->nr_again++;
}

uint64_t ids_first_again(const struct ids *ids)
{
	return ids->again[ids->first_again];
}

void ids_drop_again(struct ids *ids)
{
	ids->first_again = circle(ids, ids->first_again, 1);
	ids->nr_again--;
}

uint64_t ids_deadline(const struct ids *ids, uint64_t id)
{
	if (id_is_lease(id))
		return __atomic_load_n(&ids->leases[id_index(id)], __ATOMIC_RELAXED);
	return ids->records[id_index(id)].deadline_ns;
}

/* The kernel may be reading the table: a store of the whole word. */
void ids_set_deadline(struct ids *ids, uint64_t id, uint64_t deadline_ns)
{
	if (id_is_lease(id))
		__atomic_store_n(&ids->leases[id_index(id)], deadline_ns,
				 __ATOMIC_RELAXED);
	else
		ids->records[id_index(id)].deadline_ns = deadline_ns;
}
