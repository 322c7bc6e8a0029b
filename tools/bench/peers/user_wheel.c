// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer that is no kernel's: a wheel in the program's memory, under one timerfd.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../common.h"
#include "peer.h"
#include "wheel.h"

/* The module's default. */
#define TICK_NS		(1 * MS)

/**
 * struct user_wheel - a wheel, and what wakes its user
 * @wheel: the wheel
 * @fd: timerfd, set to the tick @wakes
 * @wakes: UINT64_MAX if it is not set
 * @shared: several threads use it
 * @lock: which they take for each operation
 */
struct user_wheel {
	struct wheel *wheel;
	int fd;
	uint64_t wakes;
	bool shared;
	pthread_mutex_t lock;
};

static void *user_wheel_open(unsigned int capacity)
{
	struct user_wheel *u = malloc(sizeof(*u));

	if (!u)
		fail("no memory");
	*u = (struct user_wheel){
		.wheel = wheel_create(capacity, now_ns() / TICK_NS),
		.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC),
		.wakes = UINT64_MAX,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	if (!u->wheel)
		fail("no memory for a wheel of %u timeouts", capacity);
	if (u->fd < 0)
		fail("timerfd_create(): %s", strerror(errno));
	return u;
}

static void user_wheel_share(void *self)
{
	struct user_wheel *u = self;

	u->shared = true;
}

static void lock(struct user_wheel *u)
{
	if (u->shared)
		pthread_mutex_lock(&u->lock);
}

static void unlock(struct user_wheel *u)
{
	if (u->shared)
		pthread_mutex_unlock(&u->lock);
}

/* Not before its time: the tick that begins no earlier. */
static uint64_t tick_of(uint64_t ns)
{
	return (ns + TICK_NS - 1) / TICK_NS;
}

static void set_timer(struct user_wheel *u, uint64_t tick)
{
	struct itimerspec its = { };

	if (tick != UINT64_MAX) {
		its.it_value.tv_sec = tick * TICK_NS / SEC;
		its.it_value.tv_nsec = tick * TICK_NS % SEC;
	}
	if (timerfd_settime(u->fd, TFD_TIMER_ABSTIME, &its, NULL))
		fail("timerfd_settime(): %s", strerror(errno));
	u->wakes = tick;
}

static void user_wheel_arm(void *self, const struct work *work)
{
	struct user_wheel *u = self;
	unsigned int i;
	uint64_t tick;

	for (i = 0; i < work->nr; i++) {
		tick = tick_of(work->deadline_ns[i]);
		lock(u);
		wheel_arm(u->wheel, work->index[i], tick);
		if (tick < u->wakes)
			set_timer(u, tick);
		unlock(u);
	}
}

static void user_wheel_refresh(void *self, const struct work *work)
{
	struct user_wheel *u = self;
	unsigned int i;
	uint64_t tick;

	for (i = 0; i < work->nr; i++) {
		tick = tick_of(work->deadline_ns[i]);
		lock(u);
		wheel_move(u->wheel, work->index[i], tick);
		if (tick < u->wakes)
			set_timer(u, tick);
		unlock(u);
	}
}

static void user_wheel_cancel(void *self, const struct work *work)
{
	struct user_wheel *u = self;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		lock(u);
		if (!wheel_cancel(u->wheel, work->index[i]))
			fail("a timeout to cancel was not armed");
		unlock(u);
	}
}

static unsigned int user_wheel_collect(void *self, uint32_t *expired, bool wait)
{
	struct user_wheel *u = self;
	struct pollfd pfd = { .fd = u->fd, .events = POLLIN };
	uint64_t count, next;
	unsigned int nr;

	if (wait && poll(&pfd, 1, -1) < 0)
		fail("poll(): %s", strerror(errno));
	if (read(u->fd, &count, sizeof(count)) < 0)
		return 0;
	lock(u);
	nr = wheel_advance(u->wheel, now_ns() / TICK_NS, expired);
	next = wheel_next(u->wheel);
	set_timer(u, next);
	unlock(u);
	return nr;
}

static void user_wheel_close(void *self)
{
	struct user_wheel *u = self;

	close(u->fd);
	wheel_destroy(u->wheel);
	free(u);
}

const struct peer peer_user_wheel = {
	.name = "user-wheel",
	.open = user_wheel_open,
	.share = user_wheel_share,
	.arm = user_wheel_arm,
	.refresh = user_wheel_refresh,
	.cancel = user_wheel_cancel,
	.collect = user_wheel_collect,
	.close = user_wheel_close,
};
