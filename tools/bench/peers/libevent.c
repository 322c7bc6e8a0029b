// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timers of libevent: a heap, and epoll's own timeout.
 *
 * It takes delays.  They begin at the time that its loop read last, if it is asked
 * from a callback of the loop, as most programs do: so all work is done in one.  The
 * clock is the kernel's coarse one, as is the default: it is behind by as much as a
 * jiffy, and timeouts are early by as much.
 */
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>

#include "../common.h"
#include "peer.h"

/**
 * struct libevent - a loop, and an event for each timeout
 * @base: the loop
 * @job: event whose callback does the work
 * @work: what it is to do
 * @begin_ns: no later than what the loop takes for now
 * @do_one: with each timeout of it
 * @expired: where numbers go
 * @nr_expired: how many went there
 * @events: of the timeouts
 */
struct libevent {
	struct event_base *base;
	struct event job;
	const struct work *work;
	uint64_t begin_ns;
	void (*do_one)(struct libevent *l, unsigned int i);
	uint32_t *expired;
	unsigned int nr_expired;
	struct event events[];
};

/* Whose loop a thread is in: a callback has but one pointer. */
static __thread struct libevent *running;

static void expire(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	running->expired[running->nr_expired++] = (struct event *)arg - running->events;
}

static void do_job(evutil_socket_t fd, short what, void *arg)
{
	struct libevent *l = arg;
	unsigned int i;

	(void)fd;
	(void)what;
	/* Read before the loop does so: nothing is early for our sake. */
	l->begin_ns = now_ns();
	event_base_update_cache_time(l->base);
	for (i = 0; i < l->work->nr; i++)
		l->do_one(l, i);
}

static void *libevent_open(unsigned int capacity)
{
	struct libevent *l = malloc(sizeof(*l) + capacity * sizeof(*l->events));
	unsigned int i;

	if (!l)
		fail("no memory for %u events", capacity);
	l->base = event_base_new();
	if (!l->base)
		fail("event_base_new() failed");
	event_assign(&l->job, l->base, -1, 0, do_job, l);
	for (i = 0; i < capacity; i++)
		event_assign(&l->events[i], l->base, -1, 0, expire, &l->events[i]);
	return l;
}

static void loop(struct libevent *l, int flags)
{
	running = l;
	if (event_base_loop(l->base, flags) < 0)
		fail("event_base_loop() failed");
}

static void add(struct libevent *l, unsigned int i)
{
	uint64_t us = (l->work->deadline_ns[i] - l->begin_ns + 999) / 1000;
	struct timeval delay = { us / 1000000, us % 1000000 };

	if (event_add(&l->events[l->work->index[i]], &delay))
		fail("event_add() failed");
}

static void del(struct libevent *l, unsigned int i)
{
	if (event_del(&l->events[l->work->index[i]]))
		fail("event_del() failed");
}

/* Nothing is due meanwhile but the job. */
static void work_on(struct libevent *l, const struct work *work,
		    void (*do_one)(struct libevent *l, unsigned int i))
{
	l->work = work;
	l->do_one = do_one;
	event_active(&l->job, 0, 0);
	loop(l, EVLOOP_NONBLOCK);
}

static void libevent_add(void *self, const struct work *work)
{
	work_on(self, work, add);
}

static void libevent_cancel(void *self, const struct work *work)
{
	work_on(self, work, del);
}

static unsigned int libevent_collect(void *self, uint32_t *expired, bool wait)
{
	struct libevent *l = self;

	l->expired = expired;
	l->nr_expired = 0;
	loop(l, wait ? EVLOOP_ONCE : EVLOOP_NONBLOCK);
	return l->nr_expired;
}

static void libevent_close(void *self)
{
	struct libevent *l = self;

	event_base_free(l->base);
	free(l);
}

const struct peer peer_libevent = {
	.name = "libevent",
	.open = libevent_open,
	.arm = libevent_add,
	.refresh = libevent_add,
	.cancel = libevent_cancel,
	.collect = libevent_collect,
	.close = libevent_close,
};
