// SPDX-License-Identifier: GPL-2.0-only
/*
 * Things sorted by time, of which the first is at hand: a binary heap.
 */
#include <errno.h>
#include <stdlib.h>

#include "heap.h"

#define NONE	UINT32_MAX
#define FIRST	1024U

static bool before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->key != b->key ? a->key < b->key : a->index < b->index;
}

static void put(struct heap *heap, uint32_t place, struct heap_entry entry)
{
	heap->entries[place] = entry;
	heap->places[entry.index] = place;
}

/* @entry belongs at @place or above. */
static void rise(struct heap *heap, uint32_t place, struct heap_entry entry)
{
	uint32_t parent;

	for (; place; place = parent) {
		parent = (place - 1) / 2;
		if (!before(&entry, &heap->entries[parent]))
			break;
		put(heap, place, heap->entries[parent]);
	}
	put(heap, place, entry);
}

/* @entry belongs at @place or below. */
static void sink(struct heap *heap, uint32_t place, struct heap_entry entry)
{
	uint64_t child;

	for (; (child = 2ULL * place + 1) < heap->nr; place = child) {
		if (child + 1 < heap->nr &&
		    before(&heap->entries[child + 1], &heap->entries[child]))
			child++;
		if (!before(&heap->entries[child], &entry))
			break;
		put(heap, place, heap->entries[child]);
	}
	put(heap, place, entry);
}

static void move(struct heap *heap, uint32_t place, struct heap_entry entry)
{
	if (place && before(&entry, &heap->entries[(place - 1) / 2]))
		rise(heap, place, entry);
	else
		sink(heap, place, entry);
}

static int make_room(struct heap *heap, uint32_t index)
{
	uint32_t size = heap->size ? heap->size : FIRST;
	struct heap_entry *entries;
	uint32_t *places;

	while (size <= index) {
		if (size == 1U << 31)
			return -ENOMEM;
		size *= 2;
	}
	entries = realloc(heap->entries, size * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	heap->entries = entries;
	places = realloc(heap->places, size * sizeof(*places));
	if (!places)
		return -ENOMEM;
	heap->places = places;
	for (; heap->size < size; heap->size++)
		places[heap->size] = NONE;
	return 0;
}

/**
 * heap_set() - put a thing in, or move it if it is there
 * @heap: the heap; all zero at first
 * @index: which; memory is taken for all up to the greatest
 * @key: its time
 *
 * Return: 0 or -ENOMEM.
 */
int heap_set(struct heap *heap, uint32_t index, uint64_t key)
{
	struct heap_entry entry = { .key = key, .index = index };

	if (index >= heap->size && make_room(heap, index))
		return -ENOMEM;
	if (heap->places[index] == NONE)
		rise(heap, heap->nr++, entry);
	else
		move(heap, heap->places[index], entry);
	return 0;
}

/**
 * heap_remove() - take a thing out
 * @heap: the heap
 * @index: which; it is there
 */
void heap_remove(struct heap *heap, uint32_t index)
{
	uint32_t place = heap->places[index];
	struct heap_entry last = heap->entries[--heap->nr];

	heap->places[index] = NONE;
	if (last.index != index)
		move(heap, place, last);
}

/**
 * heap_clear() - take all out, and give the memory back
 * @heap: the heap
 */
void heap_clear(struct heap *heap)
{
	free(heap->entries);
	free(heap->places);
	*heap = (struct heap){ };
}
