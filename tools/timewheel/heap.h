/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Things sorted by time, of which the first is at hand: a binary heap.
 */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct heap_entry - one thing
 * @key: its time
 * @index: which it is
 */
struct heap_entry {
	uint64_t key;
	uint32_t index;
};

/**
 * struct heap - all of them
 * @entries: the heap; of two with the same time the lesser index comes first
 * @places: for each index, where it is in @entries, or none
 * @nr: how many are in it
 * @size: room in both
 */
struct heap {
	struct heap_entry *entries;
	uint32_t *places;
	uint32_t nr;
	uint32_t size;
};

int heap_set(struct heap *heap, uint32_t index, uint64_t key);
void heap_remove(struct heap *heap, uint32_t index);
void heap_clear(struct heap *heap);

/* The first; NULL if there is none. */
static inline const struct heap_entry *heap_first(const struct heap *heap)
{
	return heap->nr ? heap->entries : NULL;
}

#endif /* HEAP_H */
