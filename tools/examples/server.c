// SPDX-License-Identifier: MIT
/*
 * A TCP echo server that closes connections on which nothing arrives.
 *
 * One thread, one epoll loop.  A connection's timeout is armed when it is
 * accepted, moved when something arrives, and cancelled when the peer closes.
 * Who keeps the timeouts is behind struct idle_ops, see server.h.
 *
 *	cc server.c server_main.c idle_wheel.c idle_timerfd.c -o server \
 *		$(pkg-config --cflags --libs libtimewheel)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

#define EVENTS		512
#define ACCEPTS		64		/* connections accepted in one go */
#define MAX_CONNS	1000000U

uint64_t server_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void server_fired(struct server *s, uint64_t deadline_ns, uint64_t now_ns)
{
	s->books.fired++;
	if (now_ns < deadline_ns)
		s->books.early++;
	else if (s->late)
		s->late(s, now_ns - deadline_ns);
}

static void conn_close(struct server *s, int fd)
{
	s->conns[fd].open = false;
	s->nr_open--;
	COUNTED(s, CALL_REST, close(fd));
}

/* Its timeout could not be armed: better no connection than one for ever. */
void server_drop(struct server *s, int fd)
{
	s->books.failed++;
	conn_close(s, fd);
}

/* What is there is echoed.  Returns whether anything was. */
static bool conn_echo(struct server *s, int fd, bool *closed)
{
	char buf[4096];
	ssize_t len;

	len = COUNTED(s, CALL_REST, recv(fd, buf, sizeof(buf), MSG_DONTWAIT));
	*closed = !len || (len < 0 && errno != EAGAIN && errno != EINTR);
	if (len <= 0)
		return false;
	/* An echo that does not fit is a peer that does not read: let it go. */
	COUNTED(s, CALL_REST, send(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL));
	return true;
}

static void conn_readable(struct server *s, int fd)
{
	bool closed;

	if (!s->conns[fd].open)
		return;
	if (conn_echo(s, fd, &closed))
		s->ops->rearm(s, fd);
	if (!closed)
		return;
	s->ops->cancel(s, fd);
	s->books.closed_peer++;
	conn_close(s, fd);
}

/* The timeout has expired.  Data may have come since, so look once more. */
void server_idle(struct server *s, int fd)
{
	bool closed;

	if (conn_echo(s, fd, &closed)) {
		s->ops->arm(s, fd);
		return;
	}
	if (closed)
		s->books.closed_peer++;
	else
		s->books.closed_idle++;
	conn_close(s, fd);
}

static void accept_some(struct server *s)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int i, fd;

	for (i = 0; i < ACCEPTS; i++) {
		fd = COUNTED(s, CALL_REST,
			     accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
		if (fd < 0)
			return;
		ev.data.u64 = fd;
		if ((size_t)fd >= s->nr_conns ||
		    COUNTED(s, CALL_REST, epoll_ctl(s->epfd, EPOLL_CTL_ADD, fd, &ev))) {
			COUNTED(s, CALL_REST, close(fd));
			continue;
		}
		s->books.accepted++;
		s->nr_open++;
		s->conns[fd] = (struct conn){ .open = true, .timerfd = -1 };
		s->ops->arm(s, fd);
	}
}

static int server_open(struct server *s)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -1;
	s->nr_conns = limit.rlim_cur < MAX_CONNS ? limit.rlim_cur : MAX_CONNS;
	s->conns = calloc(s->nr_conns, sizeof(*s->conns));
	s->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (!s->conns || s->epfd < 0)
		return -1;
	ev.data.u64 = s->listener;
	if (epoll_ctl(s->epfd, EPOLL_CTL_ADD, s->listener, &ev))
		return -1;
	return s->ops->open(s);
}

/**
 * server_run() - serve
 * @s: ops, idle_ns, stop_after, listener (non-blocking), late and data are set
 *
 * Return: 0 when stop_after connections have come and gone, -1 with errno.
 */
int server_run(struct server *s)
{
	struct epoll_event events[EVENTS];
	int i, nr;

	if (server_open(s))
		return -1;
	while (!s->stop_after || s->nr_open || s->books.accepted < s->stop_after) {
		nr = COUNTED(s, CALL_REST, epoll_wait(s->epfd, events, EVENTS, -1));
		if (nr < 0 && errno != EINTR)
			return -1;

		/* What arrived counts before what expired. */
		for (i = 0; i < nr; i++) {
			uint64_t data = events[i].data.u64;

			if (data & SERVER_TIMEOUT)
				continue;
			if (data == (uint64_t)s->listener)
				accept_some(s);
			else
				conn_readable(s, data);
		}
		s->ops->flush(s);
		for (i = 0; i < nr; i++)
			if (events[i].data.u64 & SERVER_TIMEOUT)
				s->ops->expired(s, events[i].data.u64 & ~SERVER_TIMEOUT);
		s->ops->flush(s);
	}
	return 0;
}
