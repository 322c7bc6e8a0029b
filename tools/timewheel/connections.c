// SPDX-License-Identifier: GPL-2.0-only
/*
 * The open connections of a trace, found by their numbers.
 *
 * Chains of indices, so that the table can be moved when it grows.
 */
#include <stdlib.h>

#include "connections.h"

#define NONE	UINT32_MAX
#define FIRST	1024U

/* The finalizer of MurmurHash3: numbers in a row, or all even, are spread as well. */
static uint32_t bucket_of(const struct connections *c, uint64_t number)
{
	number = (number ^ number >> 33) * 0xff51afd7ed558ccdULL;
	number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return (number ^ number >> 33) & (c->size - 1);
}

/* Where the index of @number stands, or the end of its chain. */
static uint32_t *link_of(const struct connections *c, uint64_t number)
{
	uint32_t *link = &c->buckets[bucket_of(c, number)];

	while (*link != NONE && c->all[*link].number != number)
		link = &c->all[*link].next;
	return link;
}

static int grow(struct connections *c)
{
	struct connections more = { .nr = c->nr, .free = NONE };
	uint32_t i;

	if (c->size == 1U << 31)
		return -1;
	more.size = c->size ? 2 * c->size : FIRST;
	more.buckets = malloc(more.size * sizeof(*more.buckets));
	if (!more.buckets)
		return -1;
	more.all = realloc(c->all, more.size * sizeof(*more.all));
	if (!more.all) {
		free(more.buckets);
		return -1;
	}
	for (i = 0; i < more.size; i++)
		more.buckets[i] = NONE;
	/* It grows when none is free: the old ones are all in use. */
	for (i = 0; i < c->size; i++) {
		uint32_t *bucket = &more.buckets[bucket_of(&more, more.all[i].number)];

		more.all[i].next = *bucket;
		*bucket = i;
	}
	for (i = more.size; i-- > c->size; more.free = i)
		more.all[i].next = more.free;
	free(c->buckets);
	*c = more;
	return 0;
}

/**
 * connections_find() - look one up
 * @c: the open connections
 * @number: which
 *
 * Return: the connection, valid until one is added; NULL if it is not open.
 */
struct connection *connections_find(const struct connections *c, uint64_t number)
{
	uint32_t index = c->size ? *link_of(c, number) : NONE;

	return index == NONE ? NULL : &c->all[index];
}

/**
 * connections_add() - open one
 * @c: the open connections; all zero at first
 * @number: which; it is not open
 *
 * Return: the connection, valid until the next is added; NULL without memory.
 */
struct connection *connections_add(struct connections *c, uint64_t number)
{
	struct connection *connection;
	uint32_t *bucket, index;

	if (c->nr == c->size && grow(c))
		return NULL;
	index = c->free;
	connection = &c->all[index];
	c->free = connection->next;
	bucket = &c->buckets[bucket_of(c, number)];
	*connection = (struct connection){ .number = number, .next = *bucket };
	*bucket = index;
	c->nr++;
	return connection;
}

/**
 * connections_remove() - close one
 * @c: the open connections
 * @number: which; it is open
 */
void connections_remove(struct connections *c, uint64_t number)
{
	uint32_t *link = link_of(c, number), index = *link;

	*link = c->all[index].next;
	c->all[index].next = c->free;
	c->free = index;
	c->nr--;
}

/**
 * connections_clear() - forget all, and give the memory back
 * @c: the open connections
 */
void connections_clear(struct connections *c)
{
	free(c->all);
	free(c->buckets);
	*c = (struct connections){ };
}
