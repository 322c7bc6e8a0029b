/* SPDX-License-Identifier: MIT */
/*
 * A set of ids: cancelled, and with an event on its way all the same.
 */
#ifndef LATE_H
#define LATE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct late - the set
 * @ids: a table of a power of two of places, at most half of them used; 0 is none
 * @size: how many places
 * @nr: how many ids
 */
struct late {
	uint64_t *ids;
	uint32_t size;
	uint32_t nr;
};

bool late_full(const struct late *late);
int late_add(struct late *late, uint64_t id);
bool late_has(const struct late *late, uint64_t id);
void late_remove(struct late *late, uint64_t id);
void late_clear(struct late *late);

#endif /* LATE_H */
