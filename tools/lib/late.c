// SPDX-License-Identifier: MIT
/*
 * A set of ids: cancelled, and with an event on its way all the same.
 *
 * A table with linear probing.  An id is found between the place that its hash
 * says and the first place that is free.
 */
#include <errno.h>
#include <stdlib.h>

#include "late.h"

#define LATE_FIRST	16U

/* Both halves of an id count, and the low bits of the product are poor. */
static uint32_t place_of(const struct late *late, uint64_t id)
{
	return (id * 0x9e3779b97f4a7c15ULL >> 32) & (late->size - 1);
}

static uint32_t place_after(const struct late *late, uint32_t place)
{
	return (place + 1) & (late->size - 1);
}

/* Where it is, or else the place to put it. */
static uint32_t find(const struct late *late, uint64_t id)
{
	uint32_t place = place_of(late, id);

	while (late->ids[place] && late->ids[place] != id)
		place = place_after(late, place);
	return place;
}

static int grow(struct late *late)
{
	struct late more = { .size = late->size ? 2 * late->size : LATE_FIRST };
	uint32_t i;

	more.ids = calloc(more.size, sizeof(*more.ids));
	if (!more.ids)
		return -ENOMEM;
	for (i = 0; i < late->size; i++)
		if (late->ids[i])
			more.ids[find(&more, late->ids[i])] = late->ids[i];
	more.nr = late->nr;
	free(late->ids);
	*late = more;
	return 0;
}

bool late_has(const struct late *late, uint64_t id)
{
	return late->nr && late->ids[find(late, id)];
}

/* The next to be added takes more memory. */
bool late_full(const struct late *late)
{
	return 2 * late->nr >= late->size;
}

/* 0 or -ENOMEM; it may be in there already. */
int late_add(struct late *late, uint64_t id)
{
	uint32_t place;

	if (late_full(late) && grow(late))
		return -ENOMEM;
	place = find(late, id);
	late->nr += !late->ids[place];
	late->ids[place] = id;
	return 0;
}

/* It is in there.  What stands behind it is put anew: its way may have led here. */
void late_remove(struct late *late, uint64_t id)
{
	uint32_t place = find(late, id);
	uint64_t next;

	late->ids[place] = 0;
	late->nr--;
	for (place = place_after(late, place); late->ids[place];
	     place = place_after(late, place)) {
		next = late->ids[place];
		late->ids[place] = 0;
		late->ids[find(late, next)] = next;
	}
}

void late_clear(struct late *late)
{
	free(late->ids);
	*late = (struct late){ };
}
