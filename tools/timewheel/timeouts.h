/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeouts of a replay: what is known of each.
 */
#ifndef TIMEOUTS_H
#define TIMEOUTS_H

#include <stdint.h>

/*
 * In what a timeout is.  The rule has the last word on a connection's silence only when
 * its next event is read, and the backend may speak before or after that.
 */
enum timeout_state {
	TIMEOUT_FREE,
	TIMEOUT_PENDING,	/* armed */
	TIMEOUT_CANCELLED,	/* and the backend may not have heard of it */
	TIMEOUT_HEARD,		/* it has expired; the rule is yet to say so */
	TIMEOUT_DUE,		/* the rule says so; it is yet to be heard of */
	TIMEOUT_EDGE,		/* it has expired, though put off, but too late */
};

/**
 * struct timeout - one of them
 * @deadline_ns: its deadline, on the clock that it is played by
 * @edge_ns: a deadline that it had before, and that it may expire for all the same,
 *	since it was put off at about that time; 0 for none
 * @id: the backend's own name for it
 * @generation: of its index: what comes late for another that had it is told apart
 * @next_free: the next that is free
 * @state: enum timeout_state
 */
struct timeout {
	uint64_t deadline_ns;
	uint64_t edge_ns;
	uint64_t id;
	uint32_t generation;
	uint32_t next_free;
	uint8_t state;
};

/**
 * struct timeouts - all of them
 * @all: by index
 * @nr: indices given out so far
 * @size: room in @all
 * @free: the first that is free
 */
struct timeouts {
	struct timeout *all;
	uint32_t nr;
	uint32_t size;
	uint32_t free;
};

#define TIMEOUTS_NONE	UINT32_MAX

uint32_t timeouts_new(struct timeouts *timeouts);
void timeouts_free(struct timeouts *timeouts, uint32_t index);
void timeouts_clear(struct timeouts *timeouts);

/* What a backend is to say of it when it expires. */
static inline uint64_t timeouts_cookie(const struct timeouts *timeouts, uint32_t index)
{
	return (uint64_t)timeouts->all[index].generation << 32 | index;
}

#endif /* TIMEOUTS_H */
