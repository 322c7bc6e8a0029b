// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is to become of the timeouts of a trace, by the trace alone.
 *
 * A connection's timeout is armed when it is opened, put off by each request, and
 * cancelled when it is closed.  It expires if and only if the connection is silent for
 * longer than the idle time before its next event; the next request arms it anew.
 * After the last event of the trace all are silent.
 */
#include <errno.h>

#include "reference.h"

static int opened(struct reference *ref, const struct trace_event *event,
		  struct verdict *verdict)
{
	struct connection *c;

	if (connections_find(&ref->open, event->connection))
		return -EEXIST;
	c = connections_add(&ref->open, event->connection);
	if (!c)
		return -ENOMEM;
	ref->connections++;
	if (ref->open.nr > ref->most)
		ref->most = ref->open.nr;
	c->last_ns = event->time_ns;
	*verdict = (struct verdict){ .action = REFERENCE_ARM, .timeout = &c->timeout };
	return 0;
}

static int went_on(struct reference *ref, const struct trace_event *event,
		   struct verdict *verdict)
{
	struct connection *c = connections_find(&ref->open, event->connection);

	if (!c)
		return -ENOENT;
	*verdict = (struct verdict){
		.expired = event->time_ns - c->last_ns > ref->idle_ns,
		.had = c->timeout,
	};
	if (event->what == TRACE_CLOSE) {
		verdict->action = verdict->expired ? REFERENCE_NOTHING : REFERENCE_CANCEL;
		connections_remove(&ref->open, event->connection);
	} else {
		verdict->action = verdict->expired ? REFERENCE_ARM : REFERENCE_REFRESH;
		verdict->timeout = &c->timeout;
		c->last_ns = event->time_ns;
	}
	return 0;
}

/**
 * reference_event() - judge the next event of a trace
 * @ref: the rule; all zero but @idle_ns at first
 * @event: the event, not earlier than the last
 * @verdict: out: what it means
 *
 * Return: 0; -EEXIST if it opens what is open, -ENOENT if it is about what is not;
 * -ENOMEM.
 */
int reference_event(struct reference *ref, const struct trace_event *event,
		    struct verdict *verdict)
{
	int err;

	if (event->what == TRACE_OPEN)
		err = opened(ref, event, verdict);
	else
		err = went_on(ref, event, verdict);
	if (err)
		return err;
	if (!ref->events++)
		ref->first_ns = event->time_ns;
	ref->last_ns = event->time_ns;
	ref->armed += verdict->action == REFERENCE_ARM;
	ref->refreshed += verdict->action == REFERENCE_REFRESH;
	ref->cancelled += verdict->action == REFERENCE_CANCEL;
	ref->expired += verdict->expired;
	return 0;
}

/**
 * reference_end() - the trace is over: what is open expires
 * @ref: the rule; its memory is given back, and the counts stay
 */
void reference_end(struct reference *ref)
{
	ref->expired += ref->open.nr;
	connections_clear(&ref->open);
}
