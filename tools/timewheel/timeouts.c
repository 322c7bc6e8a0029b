// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeouts of a replay: as many as there were at once, used again and again.
 */
#include <stdlib.h>

#include "error.h"
#include "timeouts.h"

#define FIRST	1024U

/**
 * timeouts_new() - take one that is free
 * @timeouts: all of them; @free is TIMEOUTS_NONE at first, the rest zero
 *
 * Return: its index.
 */
uint32_t timeouts_new(struct timeouts *timeouts)
{
	struct timeout *all;
	uint32_t index = timeouts->free;

	if (index != TIMEOUTS_NONE) {
		timeouts->free = timeouts->all[index].next_free;
		return index;
	}
	if (timeouts->nr == timeouts->size) {
		if (timeouts->size == 1U << 31)
			fail("no more than %u timeouts at once can be played",
			     timeouts->size);
		timeouts->size = timeouts->size ? 2 * timeouts->size : FIRST;
		all = realloc(timeouts->all, timeouts->size * sizeof(*all));
		if (!all)
			fail("no memory");
		timeouts->all = all;
	}
	timeouts->all[timeouts->nr] = (struct timeout){ };
	return timeouts->nr++;
}

/**
 * timeouts_free() - give one back
 * @timeouts: all of them
 * @index: which
 */
void timeouts_free(struct timeouts *timeouts, uint32_t index)
{
	struct timeout *t = &timeouts->all[index];

	*t = (struct timeout){
		.generation = t->generation + 1,
		.next_free = timeouts->free,
	};
	timeouts->free = index;
}

/**
 * timeouts_clear() - give the memory back
 * @timeouts: all of them
 */
void timeouts_clear(struct timeouts *timeouts)
{
	free(timeouts->all);
	*timeouts = (struct timeouts){ .free = TIMEOUTS_NONE };
}
