// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel through its rings, and with leases.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "../rings.h"
#include "calls.h"

/* A burst of so many is taken without waiting for the worker. */
#define SQ_ENTRIES	16384U
/* More than all that are due at once. */
#define CQ_ENTRIES	16384U

static struct rings *open_rings(unsigned int capacity, bool leases)
{
	struct rings *r = malloc(sizeof(*r));

	if (!r)
		fail("no memory");
	rings_open(r, SQ_ENTRIES, CQ_ENTRIES, capacity, leases);
	return r;
}

static void *ring_open(unsigned int capacity)
{
	return open_rings(capacity, false);
}

static void *lease_open(unsigned int capacity)
{
	return open_rings(capacity, true);
}

static void ask_arm(struct rings *r, unsigned int flags, uint32_t index, uint64_t deadline_ns)
{
	*rings_next(r) = (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = TIMEWHEEL_OWN_ID | flags,
		.id = rings_id(index),
		.user_data = index,
		.expires_ns = deadline_ns,
		.eventfd = -1,
	};
	rings_ask(r, deadline_ns);
}

static void ring_arm(void *self, const struct work *work)
{
	unsigned int i;

	for (i = 0; i < work->nr; i++)
		ask_arm(self, TIMEWHEEL_ABS, work->index[i], work->deadline_ns[i]);
}

static void lease_arm(void *self, const struct work *work)
{
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		lease_store(self, work->index[i], work->deadline_ns[i]);
		ask_arm(self, TIMEWHEEL_LEASE, work->index[i], work->deadline_ns[i]);
	}
}

static void ring_refresh(void *self, const struct work *work)
{
	struct rings *r = self;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		*rings_next(r) = (struct timewheel_op){
			.opcode = TIMEWHEEL_OP_REARM,
			.flags = TIMEWHEEL_ABS,
			.id = rings_id(work->index[i]),
			.expires_ns = work->deadline_ns[i],
		};
		rings_ask(r, work->deadline_ns[i]);
	}
}

static void lease_refresh(void *self, const struct work *work)
{
	unsigned int i;

	for (i = 0; i < work->nr; i++)
		lease_store(self, work->index[i], work->deadline_ns[i]);
}

/* It can wait for the next pass: nothing is late for it. */
static void ring_cancel(void *self, const struct work *work)
{
	struct rings *r = self;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		*rings_next(r) = (struct timewheel_op){
			.opcode = TIMEWHEEL_OP_CANCEL,
			.id = rings_id(work->index[i]),
		};
		rings_ask(r, UINT64_MAX);
	}
}

static void ring_flush(void *self)
{
	rings_enter(self);
}

static unsigned int pop(struct rings *r, uint32_t *expired)
{
	struct timewheel_event event;
	unsigned int nr = 0;

	while (rings_pop(r, &event)) {
		if (!(event.flags & TIMEWHEEL_EVENT_EXPIRED))
			fail("an op in the ring: %s", strerror(-event.result));
		expired[nr++] = event.user_data;
	}
	return nr;
}

static unsigned int ring_collect(void *self, uint32_t *expired, bool wait)
{
	struct rings *r = self;
	struct pollfd pfd = { .fd = r->fd, .events = POLLIN };
	unsigned int nr = pop(r, expired);

	if (nr || !wait)
		return nr;
	if (poll(&pfd, 1, -1) < 0)
		fail("poll(): %s", strerror(errno));
	return pop(r, expired);
}

static pid_t ring_worker(void *self)
{
	struct rings *r = self;

	return r->worker;
}

static void ring_close(void *self)
{
	rings_close(self);
	free(self);
}

const struct peer peer_ring = {
	.name = "timewheel-ring",
	.missing = timewheel_missing,
	.open = ring_open,
	.arm = ring_arm,
	.refresh = ring_refresh,
	.cancel = ring_cancel,
	.flush = ring_flush,
	.collect = ring_collect,
	.worker = ring_worker,
	.close = ring_close,
};

const struct peer peer_lease = {
	.name = "timewheel-lease",
	.missing = timewheel_missing,
	.open = lease_open,
	.arm = lease_arm,
	.refresh = lease_refresh,
	.cancel = ring_cancel,
	.flush = ring_flush,
	.collect = ring_collect,
	.worker = ring_worker,
	.close = ring_close,
};
