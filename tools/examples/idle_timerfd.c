// SPDX-License-Identifier: MIT
/*
 * Idle timeouts in one timerfd for each connection, as programs do today.
 */
#include <sys/timerfd.h>
#include <unistd.h>

#include "server.h"

static int timers_open(struct server *s)
{
	(void)s;
	return 0;
}

static int set_timer(struct server *s, int fd)
{
	struct conn *c = &s->conns[fd];
	struct itimerspec its = { };

	c->deadline = server_now() + s->idle_ns;
	its.it_value.tv_sec = c->deadline / 1000000000;
	its.it_value.tv_nsec = c->deadline % 1000000000;
	return COUNTED(s, CALL_TIMERFD_SETTIME,
		       timerfd_settime(c->timerfd, TFD_TIMER_ABSTIME, &its, NULL));
}

static void close_timer(struct server *s, int fd)
{
	COUNTED(s, CALL_TIMERFD_CLOSE, close(s->conns[fd].timerfd));
	s->conns[fd].timerfd = -1;
}

static void timer_arm(struct server *s, int fd)
{
	struct epoll_event ev = {
		.events = EPOLLIN,
		.data.u64 = SERVER_TIMEOUT | fd,
	};
	struct conn *c = &s->conns[fd];

	if (c->timerfd < 0) {
		c->timerfd = COUNTED(s, CALL_TIMERFD_CREATE,
				     timerfd_create(CLOCK_MONOTONIC,
						    TFD_NONBLOCK | TFD_CLOEXEC));
		if (c->timerfd < 0) {
			server_drop(s, fd);
			return;
		}
		if (COUNTED(s, CALL_TIMERFD_EPOLL,
			    epoll_ctl(s->epfd, EPOLL_CTL_ADD, c->timerfd, &ev))) {
			close_timer(s, fd);
			server_drop(s, fd);
			return;
		}
	}
	if (!set_timer(s, fd))
		s->books.armed++;
}

static void timer_rearm(struct server *s, int fd)
{
	if (!set_timer(s, fd))
		s->books.rearmed++;
}

static void timer_cancel(struct server *s, int fd)
{
	close_timer(s, fd);
	s->books.cancelled++;
}

static void timer_flush(struct server *s)
{
	(void)s;
}

static void timer_expired(struct server *s, uint64_t fd)
{
	struct conn *c = &s->conns[fd];
	uint64_t expirations;

	/* Closed or moved in this round: nothing to read. */
	if (!c->open || c->timerfd < 0 ||
	    COUNTED(s, CALL_TIMERFD_READ,
		    read(c->timerfd, &expirations, sizeof(expirations))) < 0)
		return;
	server_fired(s, c->deadline, server_now());
	server_idle(s, fd);
	if (!c->open)
		close_timer(s, fd);
}

const struct idle_ops idle_timerfd = {
	.open = timers_open,
	.arm = timer_arm,
	.rearm = timer_rearm,
	.cancel = timer_cancel,
	.flush = timer_flush,
	.expired = timer_expired,
};
