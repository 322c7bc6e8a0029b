/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The open connections of a trace, found by their numbers.
 */
#ifndef CONNECTIONS_H
#define CONNECTIONS_H

#include <stdint.h>

/**
 * struct connection - one that is open
 * @number: its number in the trace
 * @last_ns: the time of its last event
 * @timeout: the player's timeout for it
 * @next: the next of those with the same hash, or of those that are free
 */
struct connection {
	uint64_t number;
	uint64_t last_ns;
	uint32_t timeout;
	uint32_t next;
};

/**
 * struct connections - all that are open
 * @all: each, and those that are free
 * @buckets: the first of each hash
 * @size: of @all and of @buckets, a power of two
 * @free: the first that is free
 * @nr: how many are open
 */
struct connections {
	struct connection *all;
	uint32_t *buckets;
	uint32_t size;
	uint32_t free;
	uint32_t nr;
};

struct connection *connections_find(const struct connections *c, uint64_t number);
struct connection *connections_add(struct connections *c, uint64_t number);
void connections_remove(struct connections *c, uint64_t number);
void connections_clear(struct connections *c);

#endif /* CONNECTIONS_H */
