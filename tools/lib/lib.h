/* SPDX-License-Identifier: MIT */
/*
 * Inside the library: a handle, and the two transports behind it.
 *
 *	open.c		a handle is opened, adopted, closed
 *	timeout.c	what works on one timeout: the clock, and the transport's turn
 *	calls.c		the transport of calls: ioctl() and read()
 *	late.c		calls: cancelled ids whose event is on its way all the same
 *	rings.c		the transport of rings: operations
 *	drain.c		the transport of rings: events, and what they say of operations
 *	ring.c		the rings' memory, and the protocol on it
 *	ids.c		rings: which ids there are, and what was asked for under each
 *	look.c		what only asks
 */
#ifndef LIB_H
#define LIB_H

#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "calls.h"
#include "ids.h"
#include "ring.h"
#include "timewheel.h"

/**
 * struct transport - how operations reach the kernel, and events the program
 * @arm: @flags says what @time_ns is: TIMEWHEEL_ABS, TIMEWHEEL_LEASE, or 0
 * @rearm: move a deadline
 * @cancel: end a timeout, and its event if there is one
 * @batch: many of these
 * @drain: @max is at least 1
 * @ready: whether there is something to drain; a false no costs a poll()
 * @stop: hand all back
 * @settle: have the kernel know all that was asked for
 * @query: look at a timeout
 */
struct transport {
	int (*arm)(struct timewheel *tw, unsigned int flags, uint64_t time_ns,
		   uint64_t user_data, uint64_t *id);
	int (*rearm)(struct timewheel *tw, uint64_t id, uint64_t deadline_ns);
	int (*cancel)(struct timewheel *tw, uint64_t id);
	int (*batch)(struct timewheel *tw, struct timewheel_op *ops, unsigned int nr);
	int (*drain)(struct timewheel *tw, unsigned int max, timewheel_event_fn *fn,
		     void *data);
	bool (*ready)(struct timewheel *tw);
	int (*stop)(struct timewheel *tw);
	int (*settle)(struct timewheel *tw);
	int (*query)(struct timewheel *tw, struct timewheel_query *query);
};

extern const struct transport calls_transport;
extern const struct transport rings_transport;

/**
 * struct timewheel - a handle
 * @transport: one of two
 * @fd: the context
 * @clockid: the wheel's clock
 * @ids: rings: the ids; there are none with calls
 * @ring: rings: the memory
 * @stopped: rings: timewheel_stop() was called
 * @settled: rings: and after it the kernel took all that was in the ring
 * @calls: calls: what threads have in common
 *
 * What timewheel_touch() reads stands first.
 */
struct timewheel {
	struct ids ids;
	const struct transport *transport;
	int fd;
	clockid_t clockid;
	bool stopped;
	bool settled;
	struct ring ring;
	struct calls calls;
};

int lib_ioctl(int fd, unsigned long request, void *arg);

/* What no operation may have. */
static inline bool op_malformed(const struct timewheel_op *op)
{
	return op->pad || op->pad2 || op->reserved ||
	       op->flags & ~(TIMEWHEEL_ABS | TIMEWHEEL_OWN_ID | TIMEWHEEL_LEASE |
			     TIMEWHEEL_NO_EVENT);
}

/* A delay from now; later than the clock can show is never. */
static inline uint64_t deadline_after(const struct timewheel *tw, uint64_t delay_ns)
{
	uint64_t now = timewheel_now(tw);

	return delay_ns > UINT64_MAX - now ? UINT64_MAX : now + delay_ns;
}

/* rings.c and drain.c to each other */
bool rings_arm_again(struct timewheel *tw, uint64_t id);
int rings_settle(struct timewheel *tw);
int rings_drain(struct timewheel *tw, unsigned int max, timewheel_event_fn *fn,
		void *data);
bool rings_ready(struct timewheel *tw);
bool rings_last_waits(struct timewheel *tw, uint64_t id);

#endif /* LIB_H */
