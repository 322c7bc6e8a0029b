// SPDX-License-Identifier: MIT
/*
 * The transport of rings: events, and what they say of operations.
 *
 * The kernel may be behind: a timeout expires, and the program, which has not seen
 * the event, moves it, cancels it, and arms another under its index.  Then there come,
 * in this order,
 *
 *	the expiry			delivered, if the id is live: it was moved too
 *					late.  If it was cancelled, dropped
 *	REARM failed, ENOENT		dropped
 *	CANCEL failed, ENOENT		dropped
 *	ARM failed, EBUSY		the index was in use until the expiry was taken
 *					out of the kernel, and armed again it is now
 *
 * There is one such event for each ARM that failed, and one more ARM for each such
 * event.  So an id is armed at most once, whatever the program does in between.
 */
#include <stdint.h>

#include "lib.h"

/* As many as there is room for: they are on their way, or will be next time. */
static void arm_again(struct timewheel *tw)
{
	struct ids *ids = &tw->ids;

	while (ids->nr_again && rings_arm_again(tw, ids_first_again(ids)))
		ids_drop_again(ids);
}

/* An ARM has failed; @event's id is live. */
static bool arm_failed(const struct timewheel *tw, const struct timewheel_event *event)
{
	return event->flags & TIMEWHEEL_EVENT_FAILED &&
	       event->user_data == tw->ids.records[id_index(event->id)].user_data;
}

/* An op on an id that is live has failed.  True if that is for the program. */
static bool failed(struct timewheel *tw, struct timewheel_event *event)
{
	if (!arm_failed(tw, event))
		return false;
	if (event->result == -EBUSY) {
		ids_put_again(&tw->ids, event->id);
		arm_again(tw);
		return false;
	}
	event->flags |= TIMEWHEEL_EVENT_LAST;
	event->deadline_ns = ids_deadline(&tw->ids, event->id);
	if (event->result == -ESHUTDOWN) {
		/* Stopped before the kernel got to it: it is handed back like all. */
		event->flags = TIMEWHEEL_EVENT_UNPROCESSED | TIMEWHEEL_EVENT_LAST;
		event->result = 0;
	}
	return true;
}

/* The next event that is for the program; false if there is none in the ring. */
static bool next_event(struct timewheel *tw, struct timewheel_event *event)
{
	while (ring_has_event(&tw->ring)) {
		*event = ring_take(&tw->ring);
		if (!ids_live(&tw->ids, event->id))
			continue;
		if (event->flags & TIMEWHEEL_EVENT_FAILED && !failed(tw, event))
			continue;
		if (event->flags & TIMEWHEEL_EVENT_LAST)
			ids_give(&tw->ids, event->id);
		return true;
	}
	return false;
}

/*
 * Is there more, that a call brings?  Then it is made, and 1 returned.  -EAGAIN is no
 * error here: it has moved events, and waits for room to tell of more.
 */
static int bring(struct timewheel *tw)
{
	int ret;

	if (tw->stopped && !tw->settled) {
		ret = rings_settle(tw);
		tw->settled = !ret;
	} else if (ring_overflowed(&tw->ring) || tw->ids.nr_again) {
		ret = ring_enter(&tw->ring);
	} else {
		return 0;
	}
	return ret && ret != -EAGAIN ? ret : 1;
}

int rings_drain(struct timewheel *tw, unsigned int max, timewheel_event_fn *fn,
		void *data)
{
	struct timewheel_event event;
	unsigned int nr = 0;
	int ret;

	do {
		arm_again(tw);
		while (nr < max && next_event(tw, &event)) {
			nr++;
			fn(tw, &event, data);
		}
		ret = nr < max ? bring(tw) : 0;
	} while (ret > 0);
	return nr ? (int)nr : ret;
}

bool rings_ready(struct timewheel *tw)
{
	return ring_has_event(&tw->ring);
}

/* The last event of @id, which is live, is in the completion ring. */
bool rings_last_waits(struct timewheel *tw, uint64_t id)
{
	const struct timewheel_event *event;
	uint32_t at;

	/* It may have come after those that were seen, and are not taken yet. */
	ring_look(&tw->ring);
	for (at = tw->ring.taken; at != tw->ring.filled; at++) {
		event = ring_event(&tw->ring, at);
		if (event->id != id)
			continue;
		if (event->flags & TIMEWHEEL_EVENT_LAST ||
		    (arm_failed(tw, event) && event->result != -EBUSY))
			return true;
	}
	return false;
}
