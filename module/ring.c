// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings in shared memory: made and given back.
 */

#include "ring.h"

/* Its memory is the active memory cgroup's.  @entries is a power of two, or 0. */
int ring_create(struct ring *ring, u32 entries, size_t entry_size)
{
	int ret;

	if (!entries)
		return 0;
	ret = shared_create(&ring->memory,
			    sizeof(*ring->head) + entries * entry_size);
	if (ret)
		return ret;
	ring->head = ring->memory.addr;
	ring->head->mask = entries - 1;
	/* Whoever has something for the worker must say so. */
	ring->head->wake_ns = U64_MAX;
	ring->entries = entries;
	return 0;
}

/* Also if there is none. */
void ring_destroy(struct ring *ring)
{
	ring->entries = 0;
	shared_destroy(&ring->memory);
}
