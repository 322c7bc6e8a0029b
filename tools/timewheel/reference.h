/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is to become of the timeouts of a trace, by the trace alone.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "connections.h"
#include "trace_file.h"

/* What an event has done to its connection's timeout. */
enum reference_action {
	REFERENCE_ARM,
	REFERENCE_REFRESH,
	REFERENCE_CANCEL,
	REFERENCE_NOTHING,	/* closed, and it had expired before */
};

/**
 * struct verdict - what the rule says of an event
 * @action: what is to be done
 * @expired: before that, the timeout that the connection had expired
 * @had: the timeout that it had, unless the event opened it
 * @timeout: where the one it has now is noted, for the player; NULL if it was
 *	closed.  Valid until the next event
 */
struct verdict {
	enum reference_action action;
	bool expired;
	uint32_t had;
	uint32_t *timeout;
};

/**
 * struct reference - the rule, and what it has said so far
 * @idle_ns: how long a connection may be silent
 * @open: the connections that are open
 * @events: events seen
 * @first_ns: time of the first
 * @last_ns: time of the last
 * @connections: connections opened
 * @most: most that were open at once
 * @armed: timeouts armed
 * @refreshed: times one was put off
 * @cancelled: those that a close cancelled
 * @expired: those that expired
 */
struct reference {
	uint64_t idle_ns;
	struct connections open;
	uint64_t events;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t connections;
	uint64_t most;
	uint64_t armed;
	uint64_t refreshed;
	uint64_t cancelled;
	uint64_t expired;
};

int reference_event(struct reference *ref, const struct trace_event *event,
		    struct verdict *verdict);
void reference_end(struct reference *ref);

#endif /* REFERENCE_H */
