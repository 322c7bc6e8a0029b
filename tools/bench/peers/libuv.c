// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timers of libuv: a heap, in milliseconds, and epoll's own timeout.
 *
 * It takes delays, from the time that its loop read last.
 */
#include <stdlib.h>
#include <uv.h>

#include "../common.h"
#include "peer.h"

/**
 * struct libuv - a loop, and a timer for each timeout
 * @loop: the loop
 * @expired: where numbers go
 * @nr_expired: how many went there
 * @timers: of the timeouts
 */
struct libuv {
	uv_loop_t loop;
	uint32_t *expired;
	unsigned int nr_expired;
	uv_timer_t timers[];
};

static void expire(uv_timer_t *timer)
{
	struct libuv *l = timer->loop->data;

	l->expired[l->nr_expired++] = timer - l->timers;
}

static void *libuv_open(unsigned int capacity)
{
	struct libuv *l = malloc(sizeof(*l) + capacity * sizeof(*l->timers));
	unsigned int i;
	int ret;

	if (!l)
		fail("no memory for %u timers", capacity);
	ret = uv_loop_init(&l->loop);
	if (ret)
		fail("uv_loop_init(): %s", uv_strerror(ret));
	l->loop.data = l;
	for (i = 0; i < capacity; i++)
		uv_timer_init(&l->loop, &l->timers[i]);
	return l;
}

/* To arm, and to refresh: what is armed is stopped first. */
static void libuv_start(void *self, const struct work *work)
{
	struct libuv *l = self;
	uint64_t now, deadline;
	unsigned int i;

	uv_update_time(&l->loop);
	now = uv_now(&l->loop);
	for (i = 0; i < work->nr; i++) {
		/* Its clock is ours, in whole milliseconds that have begun. */
		deadline = (work->deadline_ns[i] + MS - 1) / MS;
		uv_timer_start(&l->timers[work->index[i]], expire,
			       deadline > now ? deadline - now : 0, 0);
	}
}

static void libuv_stop(void *self, const struct work *work)
{
	struct libuv *l = self;
	unsigned int i;

	for (i = 0; i < work->nr; i++)
		uv_timer_stop(&l->timers[work->index[i]]);
}

static unsigned int libuv_collect(void *self, uint32_t *expired, bool wait)
{
	struct libuv *l = self;

	l->expired = expired;
	l->nr_expired = 0;
	uv_run(&l->loop, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT);
	return l->nr_expired;
}

static void close_one(uv_handle_t *handle, void *arg)
{
	(void)arg;
	uv_close(handle, NULL);
}

static void libuv_close(void *self)
{
	struct libuv *l = self;

	uv_walk(&l->loop, close_one, NULL);
	uv_run(&l->loop, UV_RUN_DEFAULT);
	uv_loop_close(&l->loop);
	free(l);
}

const struct peer peer_libuv = {
	.name = "libuv",
	.open = libuv_open,
	.arm = libuv_start,
	.refresh = libuv_start,
	.cancel = libuv_stop,
	.collect = libuv_collect,
	.close = libuv_close,
};
