// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peers that have a file for each timeout.
 *
 * Without epoll a program that wants to know which have expired looks at them all,
 * each time it wakes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../common.h"
#include "peer.h"

/* Descriptors for everything else. */
#define SPARE_FILES	64U

/**
 * struct timerfds - a timerfd for each timeout
 * @capacity: how many there can be
 * @ep: epoll set of all of them, -1 without
 * @fds: of each timeout its timerfd, for poll(); negative if there is none
 * @ready: what epoll told
 */
struct timerfds {
	unsigned int capacity;
	int ep;
	struct pollfd *fds;
	struct epoll_event ready[BATCH];
};

static const char *timerfd_limit(unsigned int capacity)
{
	return raise_limit(RLIMIT_NOFILE, capacity + SPARE_FILES,
			   "open files (the hard limit, or fs.nr_open)");
}

static void *open_without(unsigned int capacity)
{
	struct timerfds *t = malloc(sizeof(*t));
	unsigned int i;

	if (!t)
		fail("no memory");
	t->capacity = capacity;
	t->ep = -1;
	t->fds = malloc(capacity * sizeof(*t->fds));
	if (!t->fds)
		fail("no memory for %u descriptors", capacity);
	for (i = 0; i < capacity; i++)
		t->fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	return t;
}

static void *open_with_epoll(unsigned int capacity)
{
	struct timerfds *t = open_without(capacity);

	t->ep = epoll_create1(EPOLL_CLOEXEC);
	if (t->ep < 0)
		fail("epoll_create1(): %s", strerror(errno));
	return t;
}

static void set(int fd, uint64_t ns)
{
	struct itimerspec its = { .it_value = { ns / SEC, ns % SEC } };

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL))
		fail("timerfd_settime(): %s", strerror(errno));
}

static int create(struct timerfds *t, uint32_t index)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = index };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0)
		fail("timerfd_create(): %s", strerror(errno));
	if (t->ep >= 0 && epoll_ctl(t->ep, EPOLL_CTL_ADD, fd, &event))
		fail("epoll_ctl(): %s", strerror(errno));
	return fd;
}

/* One that has expired still has its file, which it can be armed with again. */
static void timerfd_arm(void *self, const struct work *work)
{
	struct timerfds *t = self;
	unsigned int i;
	uint32_t index;

	for (i = 0; i < work->nr; i++) {
		index = work->index[i];
		if (t->fds[index].fd < 0)
			t->fds[index].fd = create(t, index);
		set(t->fds[index].fd, work->deadline_ns[i]);
	}
}

static void timerfd_refresh(void *self, const struct work *work)
{
	struct timerfds *t = self;
	unsigned int i;

	for (i = 0; i < work->nr; i++)
		set(t->fds[work->index[i]].fd, work->deadline_ns[i]);
}

static void timerfd_cancel(void *self, const struct work *work)
{
	struct timerfds *t = self;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		close(t->fds[work->index[i]].fd);
		t->fds[work->index[i]].fd = -1;
	}
}

static bool expired_once(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count);
}

static unsigned int collect_by_poll(void *self, uint32_t *expired, bool wait)
{
	struct timerfds *t = self;
	unsigned int i, nr = 0;

	if (poll(t->fds, t->capacity, wait ? -1 : 0) < 0)
		fail("poll(): %s", strerror(errno));
	for (i = 0; i < t->capacity; i++)
		if (t->fds[i].fd >= 0 && t->fds[i].revents && expired_once(t->fds[i].fd))
			expired[nr++] = i;
	return nr;
}

static unsigned int collect_by_epoll(void *self, uint32_t *expired, bool wait)
{
	struct timerfds *t = self;
	unsigned int nr = 0;
	int ready, i;

	ready = epoll_wait(t->ep, t->ready, BATCH, wait ? -1 : 0);
	if (ready < 0)
		fail("epoll_wait(): %s", strerror(errno));
	for (i = 0; i < ready; i++)
		if (expired_once(t->fds[t->ready[i].data.u32].fd))
			expired[nr++] = t->ready[i].data.u32;
	return nr;
}

static void timerfd_close(void *self)
{
	struct timerfds *t = self;
	unsigned int i;

	for (i = 0; i < t->capacity; i++)
		if (t->fds[i].fd >= 0)
			close(t->fds[i].fd);
	if (t->ep >= 0)
		close(t->ep);
	free(t->fds);
	free(t);
}

const struct peer peer_timerfd = {
	.name = "timerfd",
	.in_interrupt = true,
	.limit = timerfd_limit,
	.open = open_without,
	.arm = timerfd_arm,
	.refresh = timerfd_refresh,
	.cancel = timerfd_cancel,
	.collect = collect_by_poll,
	.close = timerfd_close,
};

const struct peer peer_timerfd_epoll = {
	.name = "timerfd-epoll",
	.in_interrupt = true,
	.limit = timerfd_limit,
	.open = open_with_epoll,
	.arm = timerfd_arm,
	.refresh = timerfd_refresh,
	.cancel = timerfd_cancel,
	.collect = collect_by_epoll,
	.close = timerfd_close,
};
