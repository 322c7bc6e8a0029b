/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace, played against a backend.
 */
#ifndef PLAYER_H
#define PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "backend.h"
#include "lateness.h"
#include "reference.h"
#include "trace_file.h"

/**
 * struct edge - what the machine decided, and not the trace
 * @late: a request or a close came in time by the trace, and was handed over only
 *	after the deadline: the player was late
 * @late_expired: those of them whose timeout expired
 * @unarmed: expiries that the rule asks for, of timeouts that had expired that way
 *	before
 * @rearmed: timeouts armed since the one that was to be put off had expired that way
 * @unheard: a request or a close came after the deadline by the trace, and before the
 *	expiry was heard of; that came later
 */
struct edge {
	uint64_t late;
	uint64_t late_expired;
	uint64_t unarmed;
	uint64_t rearmed;
	uint64_t unheard;
};

/**
 * struct play - one play of a trace
 * @ops: the backend
 * @speed: how much faster than the trace, in units of 10^-9
 * @count_calls: count system calls
 * @capacity: timeouts at once, for a backend that wants to know
 * @ref: the rule; its idle time is set
 * @tick_ns: of the backend, 0 if it has none
 * @armed: timeouts armed
 * @refreshed: times one was put off
 * @cancelled: those cancelled
 * @expired: those expired; with @cancelled and @missing they are @armed
 * @edge: what the rule could not say
 * @early: expired before the deadline, or after it was put off in time
 * @missing: never expired, though the rule says so; or were not there any more when
 *	they were cancelled
 * @twice: expired although they had expired or been cancelled before
 * @late: expiries, by how late they were heard of
 * @behind: events, by how late they were played
 * @took_ns: the time it took, and, of it,
 * @calls_ns: the time in calls of the backend
 * @process_ns: CPU time of the process
 * @worker_ns: CPU time of the backend's worker, if @worker says it has one
 * @worker: see @worker_ns
 * @calls: system calls of the process; negative if they were not counted
 */
struct play {
	const struct backend_ops *ops;
	uint64_t speed;
	bool count_calls;
	uint32_t capacity;
	struct reference ref;
	uint64_t tick_ns;
	uint64_t armed;
	uint64_t refreshed;
	uint64_t cancelled;
	uint64_t expired;
	struct edge edge;
	uint64_t early;
	uint64_t missing;
	uint64_t twice;
	struct lateness late;
	struct lateness behind;
	uint64_t took_ns;
	uint64_t calls_ns;
	uint64_t process_ns;
	uint64_t worker_ns;
	bool worker;
	int64_t calls;
};

void player_read(struct trace_file *trace, struct reference *ref);
void player_play(struct play *play, struct trace_file *trace);

/* How much of what the rule asks for went wrong. */
static inline uint64_t player_wrong(const struct play *play)
{
	return play->early + play->missing + play->twice;
}

#endif /* PLAYER_H */
