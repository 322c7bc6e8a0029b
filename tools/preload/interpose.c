// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of the C library that a program finds here first.
 *
 * For a descriptor that is no timer of ours, each is a look into the table and
 * then the C library's.
 */
/* It would have some of them inline. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "context.h"
#include "real.h"
#include "say.h"
#include "table.h"
#include "timer.h"

#define __export __attribute__((__visibility__("default")))

static int result(int ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

/* --- timerfd_*() --------------------------------------------------------------- */

static void say_clock(int clockid)
{
	switch (clockid) {
	case CLOCK_REALTIME:
		say(SAID_REALTIME, "left to the kernel: CLOCK_REALTIME, which can be set");
		break;
	case CLOCK_BOOTTIME:
		say(SAID_BOOTTIME, "left to the kernel: CLOCK_BOOTTIME; the wheel's is monotonic");
		break;
	case CLOCK_REALTIME_ALARM:
	case CLOCK_BOOTTIME_ALARM:
		say(SAID_ALARM, "left to the kernel: a clock that wakes the machine");
		break;
	}
}

__export int timerfd_create(int clockid, int flags)
{
	int fd = -1;

	if (clockid != CLOCK_MONOTONIC)
		say_clock(clockid);
	else if (!(flags & ~(TFD_NONBLOCK | TFD_CLOEXEC)))
		fd = timer_open(flags);
	return fd >= 0 ? fd : syscall(SYS_timerfd_create, clockid, flags);
}

__export int timerfd_settime(int fd, int flags, const struct itimerspec *new,
			     struct itimerspec *old)
{
	struct timer *t = table_get(fd);
	int ret;

	if (!t)
		return syscall(SYS_timerfd_settime, fd, flags, new, old);
	ret = timer_set(t, fd, flags, new, old);
	timer_put(t);
	return result(ret);
}

__export int timerfd_gettime(int fd, struct itimerspec *now)
{
	struct timer *t = table_get(fd);
	int ret;

	if (!t)
		return syscall(SYS_timerfd_gettime, fd, now);
	ret = timer_get(t, fd, now);
	timer_put(t);
	return result(ret);
}

/* --- read() and its kin ---------------------------------------------------------- */

__export ssize_t read(int fd, void *buf, size_t count)
{
	struct timer *t = table_get(fd);
	enum timer_read what;
	uint64_t expirations;
	unsigned int settings;
	ssize_t len;

	if (!t)
		return real_read(fd, buf, count);
	do {
		settings = timer_read_begins(t);
		len = real_read(fd, buf, count);
		what = timer_was_read(t, fd, settings, len, &expirations);
	} while (what == TIMER_AGAIN);
	if (what == TIMER_COUNTED)
		memcpy(buf, &expirations, sizeof(expirations));
	timer_put(t);
	return len;
}

__export ssize_t __read(int fd, void *buf, size_t count);
ssize_t __read(int fd, void *buf, size_t count)
{
	return read(fd, buf, count);
}

/* What read() is in a program that was compiled with _FORTIFY_SOURCE. */
__export ssize_t __read_chk(int fd, void *buf, size_t count, size_t size);
ssize_t __read_chk(int fd, void *buf, size_t count, size_t size)
{
	return count > size ? real_read_chk(fd, buf, count, size) : read(fd, buf, count);
}

static void scatter(const struct iovec *iov, const void *from, size_t left)
{
	size_t len;

	for (; left; iov++) {
		len = iov->iov_len < left ? iov->iov_len : left;
		memcpy(iov->iov_base, from, len);
		from += len;
		left -= len;
	}
}

__export ssize_t readv(int fd, const struct iovec *iov, int nr)
{
	struct timer *t = table_get(fd);
	enum timer_read what;
	uint64_t expirations;
	unsigned int settings;
	ssize_t len;

	if (!t)
		return real_readv(fd, iov, nr);
	do {
		settings = timer_read_begins(t);
		len = real_readv(fd, iov, nr);
		what = timer_was_read(t, fd, settings, len, &expirations);
	} while (what == TIMER_AGAIN);
	if (what == TIMER_COUNTED)
		scatter(iov, &expirations, sizeof(expirations));
	timer_put(t);
	return len;
}

/* --- close() and its kin --------------------------------------------------------- */

__export int close(int fd)
{
	/* Only if it matters: a system call. */
	bool ours = table_is_used(fd) && table_mine();
	struct timer *t;
	int ret;

	if (!ours)
		return real_close(fd);
	if (context_is(fd))
		return result(-EBADF);
	/* Before the number can be another's. */
	t = table_get(fd);
	if (t)
		table_clear_if(fd, t);
	ret = real_close(fd);
	if (t)
		timer_put(t);
	return ret;
}

__export int __close(int fd);
int __close(int fd)
{
	return close(fd);
}

/**
 * struct closing - a range that is being closed
 * @first: the first one that is not yet
 * @flags: of close_range()
 */
struct closing {
	unsigned int first;
	unsigned int flags;
};

/* Closes what lies before a context; a timer is only forgotten. */
static void close_before(int fd, struct timer *t, void *data)
{
	struct closing *c = data;

	if (t) {
		table_clear_if(fd, t);
		return;
	}
	if (!context_is(fd))
		return;
	if ((unsigned int)fd > c->first)
		syscall(SYS_close_range, c->first, fd - 1, c->flags);
	c->first = fd + 1;
}

__export int close_range(unsigned int first, unsigned int last, int flags)
{
	struct closing c = { first, flags };

	if (first > last || flags & ~CLOSE_RANGE_UNSHARE || !table_mine())
		return syscall(SYS_close_range, first, last, flags);
	table_each(first, last, close_before, &c);
	return c.first > last ? 0 : syscall(SYS_close_range, c.first, last, flags);
}

__export void closefrom(int first)
{
	close_range(first < 0 ? 0 : first, UINT_MAX, 0);
}

/* --- dup() and its kin ------------------------------------------------------------ */

static int duplicated(int from, int to)
{
	int err = errno;

	if (to >= 0 && to != from && (table_is_used(from) || table_is_used(to)) &&
	    table_mine())
		table_duplicate(from, to);
	errno = err;
	return to;
}

__export int dup(int fd)
{
	return duplicated(fd, syscall(SYS_dup, fd));
}

/* The program wants a number; if that is a context's, the context goes. */
static void vacate(int fd)
{
	if (table_is_context(fd) && table_mine())
		context_vacate(fd);
}

__export int dup2(int from, int to)
{
	vacate(to);
	return duplicated(from, syscall(SYS_dup2, from, to));
}

__export int __dup2(int from, int to);
int __dup2(int from, int to)
{
	return dup2(from, to);
}

__export int dup3(int from, int to, int flags)
{
	vacate(to);
	return duplicated(from, syscall(SYS_dup3, from, to, flags));
}

static int do_fcntl(int fd, int cmd, void *arg)
{
	int ret = real_fcntl(fd, cmd, arg);

	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? duplicated(fd, ret) : ret;
}

__export int fcntl(int fd, int cmd, ...)
{
	va_list args;
	void *arg;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	return do_fcntl(fd, cmd, arg);
}

__export int fcntl64(int fd, int cmd, ...)
{
	va_list args;
	void *arg;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	return do_fcntl(fd, cmd, arg);
}

__export int __fcntl(int fd, int cmd, ...);
int __fcntl(int fd, int cmd, ...)
{
	va_list args;
	void *arg;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	return do_fcntl(fd, cmd, arg);
}

/* --- what makes it known elsewhere -------------------------------------------------- */

/* The set keeps the file that it finds now: it must stay the one. */
__export int epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	struct timer *t = table_get(fd);

	if (t) {
		timer_expose(t);
		timer_put(t);
	}
	return syscall(SYS_epoll_ctl, set, op, fd, event);
}

static void share(int fd)
{
	struct timer *t = table_get(fd);

	if (!t)
		return;
	timer_share(t);
	timer_put(t);
}

/* Descriptors may be in it, for another process. */
__export ssize_t sendmsg(int sock, const struct msghdr *msg, int flags)
{
	struct cmsghdr *c;
	size_t nr, i;
	int fd;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *)msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(fd);
		for (i = 0; i < nr; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			share(fd);
		}
	}
	return real_sendmsg(sock, msg, flags);
}
