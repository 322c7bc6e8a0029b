// SPDX-License-Identifier: GPL-2.0-only
/*
 * A timerfd for each timeout, in an epoll set, as programs do today.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "backend.h"
#include "error.h"

#define NS_PER_S	1000000000ULL
#define EVENTS		256

/* What the kernel lets the superuser have, unless fs.nr_open was changed. */
#define MANY_FILES	(1U << 20)

static void raise_fd_limit(void)
{
	struct rlimit limit = { .rlim_cur = MANY_FILES, .rlim_max = MANY_FILES };

	if (!setrlimit(RLIMIT_NOFILE, &limit) || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void timerfd_open(struct backend *b)
{
	raise_fd_limit();
	b->capacity = UINT32_MAX;
	b->fd = epoll_create1(EPOLL_CLOEXEC);
	if (b->fd < 0)
		fail_errno(errno, "cannot make an epoll set");
}

static int timerfd_refresh(struct backend *b, uint32_t index)
{
	const struct timeout *t = &b->timeouts->all[index];
	const struct itimerspec its = {
		.it_value.tv_sec = t->deadline_ns / NS_PER_S,
		.it_value.tv_nsec = t->deadline_ns % NS_PER_S,
	};

	if (timerfd_settime(t->id, TFD_TIMER_ABSTIME, &its, NULL))
		fail_errno(errno, "cannot set a timerfd");
	return 0;
}

static int timerfd_arm(struct backend *b, uint32_t index)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.u64 = timeouts_cookie(b->timeouts, index),
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		fail("timerfd-epoll takes an open file for each connection, and the limit is\n"
		     "reached. Raise it, as root: ulimit -n NUMBER; or leave it out, with --backend.");
	if (fd < 0)
		fail_errno(errno, "cannot make a timerfd");
	if (epoll_ctl(b->fd, EPOLL_CTL_ADD, fd, &event))
		fail_errno(errno, "cannot put a timerfd into an epoll set");
	b->timeouts->all[index].id = fd;
	return timerfd_refresh(b, index);
}

static int timerfd_cancel(struct backend *b, uint32_t index)
{
	close(b->timeouts->all[index].id);
	return 0;
}

static int timerfd_flush(struct backend *b)
{
	(void)b;
	return 0;
}

static void timerfd_collect(struct backend *b)
{
	struct epoll_event events[EVENTS];
	uint64_t expirations;
	int i, nr, fd;

	do {
		nr = epoll_wait(b->fd, events, EVENTS, 0);
		if (nr < 0 && errno != EINTR)
			fail_errno(errno, "cannot wait for timerfds");
		for (i = 0; i < nr; i++) {
			fd = b->timeouts->all[(uint32_t)events[i].data.u64].id;
			if (read(fd, &expirations, sizeof(expirations)) < 0)
				fail_errno(errno, "cannot read a timerfd that is readable");
			close(fd);
			b->expired(b->data, events[i].data.u64);
		}
	} while (nr == EVENTS);
}

static void timerfd_close(struct backend *b)
{
	uint32_t i;

	for (i = 0; i < b->timeouts->nr; i++)
		if (b->timeouts->all[i].state == TIMEOUT_DUE)
			close(b->timeouts->all[i].id);
	close(b->fd);
}

const struct backend_ops backend_timerfd = {
	.name = "timerfd-epoll",
	.open = timerfd_open,
	.arm = timerfd_arm,
	.refresh = timerfd_refresh,
	.cancel = timerfd_cancel,
	.flush = timerfd_flush,
	.collect = timerfd_collect,
	.close = timerfd_close,
};
