// SPDX-License-Identifier: GPL-2.0-only
/*
 * What timerfd_create(2) says of times, counts and errors.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "timerfd.h"

#define INTERVAL	(20 * MS)

/* An address that is never there. */
static void *volatile nowhere = (void *)8;

TEST(flags)
{
	int fd = tfd_open(0);

	EXPECT_EQ(0, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(0, fcntl(fd, F_GETFD));
	fd = tfd_open(TFD_NONBLOCK | TFD_CLOEXEC);
	EXPECT_NE(0, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_ERR(EINVAL, timerfd_create(CLOCK_MONOTONIC, 1));
	EXPECT_ERR(EINVAL, timerfd_create(CLOCK_MONOTONIC_RAW, 0));
	EXPECT_ERR(EINVAL, timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0));
	EXPECT_ERR(EINVAL, timerfd_create(4711, 0));
}

TEST(never_set)
{
	int fd = tfd_open(TFD_NONBLOCK);

	tfd_expect_idle(fd);
	EXPECT_EQ(0, tfd_left(fd).value);
	EXPECT_EQ(0, tfd_left(fd).interval);
}

TEST(one_shot)
{
	int fd = tfd_open(TFD_NONBLOCK);
	uint64_t began = now_ns(CLOCK_MONOTONIC);

	tfd_set(fd, 30 * MS, 0);
	wait_readable(fd);
	EXPECT_LE(began + 30 * MS, now_ns(CLOCK_MONOTONIC));
	EXPECT_EQ(0, tfd_left(fd).value);
	EXPECT_EQ(1, tfd_read(fd));
	tfd_expect_idle(fd);
	EXPECT_EQ(0, tfd_left(fd).value);
}

TEST(read_waits)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	int fd = tfd_open(0);

	tfd_set(fd, 30 * MS, 0);
	EXPECT_EQ(1, tfd_read(fd));
	EXPECT_LE(began + 30 * MS, now_ns(CLOCK_MONOTONIC));
	tfd_set(fd, 1, 0);
	EXPECT_EQ(1, tfd_read(fd));
}

TEST(absolute)
{
	uint64_t deadline = now_ns(CLOCK_MONOTONIC) + 30 * MS;
	int fd = tfd_open(TFD_NONBLOCK);

	tfd_set_at(fd, deadline, 0);
	EXPECT_GE(30 * MS, tfd_left(fd).value);
	wait_readable(fd);
	EXPECT_LE(deadline, now_ns(CLOCK_MONOTONIC));
	EXPECT_EQ(1, tfd_read(fd));

	/* Gone by: at once, and once. */
	tfd_set_at(fd, deadline, 0);
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
	tfd_expect_idle(fd);
}

/*
 * Reads now and then.  Whatever was read, it is as many as the clock says: it may
 * have gone on by one while read() was at it.
 */
static void expect_periods(int fd, uint64_t first, uint64_t interval, int reads)
{
	uint64_t before, after, total = 0;
	int i;

	for (i = 0; i < reads; i++) {
		wait_readable(fd);
		/* Sometimes at once, sometimes late by some periods. */
		if (i % 3)
			sleep_until(now_ns(CLOCK_MONOTONIC) + i * interval / 2);
		before = now_ns(CLOCK_MONOTONIC);
		total += tfd_read(fd);
		after = now_ns(CLOCK_MONOTONIC);
		EXPECT_LE(tfd_periods(first, interval, before), total);
		EXPECT_GE(tfd_periods(first, interval, after), total);
	}
}

TEST(periods)
{
	uint64_t first = now_ns(CLOCK_MONOTONIC) + INTERVAL / 3;
	int fd = tfd_open(TFD_NONBLOCK);

	tfd_set_at(fd, first, INTERVAL);
	EXPECT_EQ(INTERVAL, tfd_left(fd).interval);
	expect_periods(fd, first, INTERVAL, 12);
}

TEST(periods_gone_by)
{
	int fd = tfd_open(TFD_NONBLOCK);

	/* Since the machine started. */
	tfd_set_at(fd, 1, INTERVAL);
	expect_periods(fd, 1, INTERVAL, 3);
}

/*
 * The kernel makes a period as long as its clock is fine, which is one of its own
 * ticks where it has no timer that is better.
 */
static void need_resolution(uint64_t ns)
{
	struct timespec res;

	ASSERT_OK(clock_getres(CLOCK_MONOTONIC, &res));
	if (res.tv_sec * SEC + res.tv_nsec > ns)
		SKIP("the clock of this machine is no finer than %ld ns", res.tv_nsec);
}

/* 10 kHz: whoever keeps it, no period is lost. */
TEST(periods_short)
{
	uint64_t first = now_ns(CLOCK_MONOTONIC) + MS;
	int fd = tfd_open(TFD_NONBLOCK);

	need_resolution(MS / 10);
	tfd_set_at(fd, first, MS / 10);
	expect_periods(fd, first, MS / 10, 12);
}

/* The same in an epoll set: there it can't be handed over to the kernel. */
TEST(periods_short_in_set)
{
	int fd = tfd_open(TFD_NONBLOCK), ep = epoll_create1(0);
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };
	uint64_t first, total = 0, before, after;
	int i;

	need_resolution(MS / 10);
	ASSERT_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	first = now_ns(CLOCK_MONOTONIC) + MS;
	tfd_set_at(fd, first, MS / 10);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, PATIENCE_MS));
		ASSERT_EQ(fd, ev.data.fd);
		before = now_ns(CLOCK_MONOTONIC);
		total += tfd_read(fd);
		after = now_ns(CLOCK_MONOTONIC);
		EXPECT_LE(tfd_periods(first, MS / 10, before), total);
		EXPECT_GE(tfd_periods(first, MS / 10, after), total);
	}
}

/* Whatever was read and when, the next one is a whole number of periods later. */
TEST(phase)
{
	uint64_t first = now_ns(CLOCK_MONOTONIC) + INTERVAL, before, after, next;
	int i, fd = tfd_open(TFD_NONBLOCK);

	tfd_set_at(fd, first, INTERVAL);
	for (i = 0; i < 20; i++) {
		wait_readable(fd);
		if (i % 2)
			tfd_read(fd);
		before = now_ns(CLOCK_MONOTONIC);
		next = tfd_left(fd).value;
		after = now_ns(CLOCK_MONOTONIC);
		EXPECT_GE(INTERVAL, next);
		/* The first that may be meant, and it must not be after the last. */
		next = first + tfd_periods(first, INTERVAL, before + next - 1) * INTERVAL;
		EXPECT_LE(next, after + INTERVAL);
	}
}

/* What has expired and was not read is part of the count, and looking is no reading. */
TEST(gettime_of_expired)
{
	uint64_t first = now_ns(CLOCK_MONOTONIC) + INTERVAL, before, after, count;
	int fd = tfd_open(TFD_NONBLOCK);
	struct tfd_left left;

	tfd_set_at(fd, first, INTERVAL);
	wait_readable(fd);
	sleep_until(first + 3 * INTERVAL);
	left = tfd_left(fd);
	EXPECT_LT(0, left.value);
	EXPECT_GE(INTERVAL, left.value);
	EXPECT_TRUE(readable(fd, 0));
	before = now_ns(CLOCK_MONOTONIC);
	count = tfd_read(fd);
	after = now_ns(CLOCK_MONOTONIC);
	EXPECT_LE(tfd_periods(first, INTERVAL, before), count);
	EXPECT_GE(tfd_periods(first, INTERVAL, after), count);
}

/* No readiness is left over from the setting before. */
TEST(set_resets)
{
	int fd = tfd_open(TFD_NONBLOCK);
	uint64_t interval;

	for (interval = 0; interval <= INTERVAL; interval += INTERVAL) {
		tfd_set(fd, 10 * MS, interval);
		wait_readable(fd);
		tfd_set(fd, HOUR, interval);
		tfd_expect_idle(fd);
		EXPECT_GE(HOUR, tfd_left(fd).value);
		EXPECT_LT(HOUR - HOUR / 2, tfd_left(fd).value);

		tfd_set(fd, 10 * MS, interval);
		wait_readable(fd);
		tfd_set(fd, 0, interval);
		tfd_expect_idle(fd);
		EXPECT_EQ(0, tfd_left(fd).value);
		EXPECT_EQ(interval, tfd_left(fd).interval);
	}
}

/*
 * The same at the very moment in which it expires: many do at once, and while they
 * are at it each is put off.
 */
TEST(set_resets_at_expiry)
{
	uint64_t deadline, seed = 1;
	int fd[64], i, round;

	for (i = 0; i < 64; i++) {
		fd[i] = tfd_open(TFD_NONBLOCK);
		tfd_set(fd[i], HOUR, 0);
	}
	for (round = 0; round < 16; round++) {
		deadline = now_ns(CLOCK_MONOTONIC) + 3 * MS;
		for (i = 0; i < 64; i++)
			tfd_set_at(fd[i], deadline, round % 2 ? MS : 0);
		while (!readable(fd[random_next(&seed) % 8], 0))
			;
		for (i = 0; i < 64; i++) {
			tfd_set(fd[i], HOUR, 0);
			ASSERT_EQ(0, readable(fd[i], 0));
			ASSERT_EQ(0, tfd_read(fd[i]));
		}
		/* And nothing came later. */
		for (i = 0; i < 64; i++)
			ASSERT_EQ(0, readable(fd[i], 0));
	}
}

TEST(moved)
{
	int fd = tfd_open(TFD_NONBLOCK);
	uint64_t began;

	tfd_set(fd, HOUR, 0);
	began = now_ns(CLOCK_MONOTONIC);
	tfd_set(fd, 20 * MS, 0);
	wait_readable(fd);
	EXPECT_LE(began + 20 * MS, now_ns(CLOCK_MONOTONIC));
	EXPECT_EQ(1, tfd_read(fd));
	tfd_set(fd, 20 * MS, 0);
	tfd_set(fd, HOUR, 0);
	EXPECT_FALSE(readable(fd, 100));
}

TEST(old_value)
{
	struct itimerspec spec = tfd_spec(HOUR, 2 * HOUR), old;
	int fd = tfd_open(TFD_NONBLOCK);

	memset(&old, 0xff, sizeof(old));
	ASSERT_OK(timerfd_settime(fd, 0, &spec, &old));
	EXPECT_EQ(0, old.it_value.tv_sec + old.it_value.tv_nsec);
	EXPECT_EQ(0, old.it_interval.tv_sec + old.it_interval.tv_nsec);

	/* Both may be one. */
	spec = tfd_spec(10 * MS, INTERVAL);
	ASSERT_OK(timerfd_settime(fd, 0, &spec, &spec));
	EXPECT_GE(HOUR, spec.it_value.tv_sec * SEC + spec.it_value.tv_nsec);
	EXPECT_LT(HOUR / 2, spec.it_value.tv_sec * SEC);
	EXPECT_EQ(2 * HOUR, spec.it_interval.tv_sec * SEC);

	/* Periodic, expired and unread: until the next. */
	wait_readable(fd);
	spec = tfd_spec(10 * MS, 0);
	ASSERT_OK(timerfd_settime(fd, 0, &spec, &old));
	EXPECT_EQ(0, old.it_value.tv_sec);
	EXPECT_LT(0, old.it_value.tv_nsec);
	EXPECT_GE(INTERVAL, old.it_value.tv_nsec);
	EXPECT_EQ(INTERVAL, old.it_interval.tv_nsec);

	/* Once, and over. */
	wait_readable(fd);
	ASSERT_OK(timerfd_settime(fd, 0, &spec, &old));
	EXPECT_EQ(0, old.it_value.tv_sec + old.it_value.tv_nsec);
}

/* Beyond what the clock can say. */
TEST(huge)
{
	struct itimerspec spec = { .it_value = { LONG_MAX, 999999999 } };
	int fd = tfd_open(TFD_NONBLOCK);

	ASSERT_OK(timerfd_settime(fd, 0, &spec, NULL));
	tfd_expect_idle(fd);
	EXPECT_LT(200LL * 365 * 24 * HOUR, tfd_left(fd).value);
	ASSERT_OK(timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL));
	tfd_expect_idle(fd);
	EXPECT_LT(200LL * 365 * 24 * HOUR, tfd_left(fd).value);

	spec.it_interval = spec.it_value;
	spec.it_value = (struct timespec){ 0, 1 };
	ASSERT_OK(timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL));
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
	EXPECT_FALSE(readable(fd, 0));
}

TEST(settime_errors)
{
	struct itimerspec good = tfd_spec(HOUR, 0), bad = good;
	int fd = tfd_open(TFD_NONBLOCK), pipes[2], ev = eventfd(1, 0);

	ASSERT_OK(pipe(pipes));
	tfd_set(fd, 2 * HOUR, 0);
	EXPECT_ERR(EINVAL, timerfd_settime(fd, 4, &good, NULL));
	EXPECT_ERR(EINVAL, timerfd_settime(fd, -1, &good, NULL));
	bad.it_value.tv_nsec = 1000000000;
	EXPECT_ERR(EINVAL, timerfd_settime(fd, 0, &bad, NULL));
	EXPECT_ERR(EINVAL, timerfd_settime(-1, 0, &bad, NULL));
	bad = good;
	bad.it_value.tv_sec = -1;
	EXPECT_ERR(EINVAL, timerfd_settime(fd, TFD_TIMER_ABSTIME, &bad, NULL));
	bad = good;
	bad.it_interval.tv_nsec = -1;
	EXPECT_ERR(EINVAL, timerfd_settime(fd, 0, &bad, NULL));
	bad = good;
	bad.it_interval.tv_sec = -1;
	EXPECT_ERR(EINVAL, timerfd_settime(fd, 0, &bad, NULL));
	EXPECT_ERR(EBADF, timerfd_settime(-1, 0, &good, NULL));
	EXPECT_ERR(EBADF, timerfd_settime(1 << 20, 0, &good, NULL));
	EXPECT_ERR(EINVAL, timerfd_settime(pipes[0], 0, &good, NULL));
	EXPECT_ERR(EINVAL, timerfd_settime(ev, 0, &good, NULL));
	EXPECT_ERR(EFAULT, timerfd_settime(fd, 0, nowhere, NULL));
	EXPECT_ERR(EFAULT, timerfd_settime(-1, 0, nowhere, NULL));
	/* None of these did anything. */
	EXPECT_LT(HOUR, tfd_left(fd).value);

	/* This one did: the old value has no place, the new one counts. */
	EXPECT_ERR(EFAULT, timerfd_settime(fd, 0, &good, nowhere));
	EXPECT_GE(HOUR, tfd_left(fd).value);
	/* It has no meaning for this clock, and is no error. */
	ASSERT_OK(timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
				  &good, NULL));
	close(fd);
	EXPECT_ERR(EBADF, timerfd_settime(fd, 0, &good, NULL));
}

TEST(gettime_errors)
{
	struct itimerspec spec, *half;
	int fd = tfd_open(TFD_NONBLOCK), ev = eventfd(1, 0);
	char *page;

	EXPECT_ERR(EBADF, timerfd_gettime(-1, &spec));
	EXPECT_ERR(EINVAL, timerfd_gettime(ev, &spec));
	EXPECT_ERR(EINVAL, timerfd_gettime(ev, nowhere));
	EXPECT_ERR(EFAULT, timerfd_gettime(fd, nowhere));
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_OK(mprotect(page + 4096, 4096, PROT_READ));
	half = (struct itimerspec *)(page + 4096 - 24);
	EXPECT_ERR(EFAULT, timerfd_gettime(fd, half));
	close(fd);
	EXPECT_ERR(EBADF, timerfd_gettime(fd, &spec));
}

TEST(read_errors)
{
	uint64_t first, before, after, count[3] = { 0, 77, 77 };
	int fd = tfd_open(TFD_NONBLOCK);

	first = now_ns(CLOCK_MONOTONIC) + 1;
	tfd_set_at(fd, first, INTERVAL);
	wait_readable(fd);
	EXPECT_ERR(EINVAL, read(fd, count, 7));
	EXPECT_ERR(EINVAL, read(fd, count, 0));
	EXPECT_ERR(ESPIPE, pread(fd, count, 8, 0));
	EXPECT_TRUE(readable(fd, 0));

	/* More room than needed. */
	before = now_ns(CLOCK_MONOTONIC);
	ASSERT_EQ(8, read(fd, count, sizeof(count)));
	after = now_ns(CLOCK_MONOTONIC);
	EXPECT_LE(tfd_periods(first, INTERVAL, before), count[0]);
	EXPECT_GE(tfd_periods(first, INTERVAL, after), count[0]);
	EXPECT_EQ(77, count[1]);

	/* No place for the number: it is gone, and the timer goes on. */
	wait_readable(fd);
	EXPECT_ERR(EFAULT, read(fd, nowhere, 8));
	before = now_ns(CLOCK_MONOTONIC);
	wait_readable(fd);
	EXPECT_LE(1, tfd_read(fd));
	EXPECT_LE(before, now_ns(CLOCK_MONOTONIC));

	tfd_set(fd, 1, 0);
	wait_readable(fd);
	EXPECT_ERR(EFAULT, read(fd, nowhere, 8));
	tfd_expect_idle(fd);
	tfd_set(fd, 1, 0);
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
}

/* The other names that read() goes by. */
TEST(other_reads)
{
	uint64_t before, after, count[2];
	struct iovec iov = { count, sizeof(count) };
	int i, fd = tfd_open(TFD_NONBLOCK);
	ssize_t len = 0;

	for (i = 0; i < 3; i++) {
		tfd_set_at(fd, 1, INTERVAL);
		wait_readable(fd);
		count[0] = 0;
		count[1] = 77;
		before = now_ns(CLOCK_MONOTONIC);
		switch (i) {
		case 0:
			len = readv(fd, &iov, 1);
			break;
		case 1:
			len = __read_chk(fd, count, 8, sizeof(count));
			break;
		case 2:
			len = __read(fd, count, 8);
			break;
		}
		after = now_ns(CLOCK_MONOTONIC);
		ASSERT_EQ(8, len);
		EXPECT_LE(tfd_periods(1, INTERVAL, before), count[0]);
		EXPECT_GE(tfd_periods(1, INTERVAL, after), count[0]);
		EXPECT_EQ(77, count[1]);
	}
	tfd_set(fd, HOUR, 0);
	EXPECT_ERR(EAGAIN, readv(fd, &iov, 1));
	EXPECT_ERR(ESPIPE, preadv(fd, &iov, 1, 0));
}

TEST(nonblock_changes)
{
	int fd = tfd_open(0), on = 1, off = 0;
	uint64_t count;

	ASSERT_OK(fcntl(fd, F_SETFL, O_NONBLOCK));
	EXPECT_ERR(EAGAIN, read(fd, &count, 8));
	ASSERT_OK(ioctl(fd, FIONBIO, &off));
	tfd_set(fd, 10 * MS, 0);
	EXPECT_EQ(1, tfd_read(fd));
	ASSERT_OK(ioctl(fd, FIONBIO, &on));
	EXPECT_ERR(EAGAIN, read(fd, &count, 8));
}

/* Level: ready until it is read.  Edge: once, and again after it has been read. */
TEST(epoll)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = tfd_open(TFD_NONBLOCK), level = epoll_create1(0), edge = epoll_create1(0);

	ASSERT_OK(epoll_ctl(level, EPOLL_CTL_ADD, fd, &ev));
	ev.events |= EPOLLET;
	ASSERT_OK(epoll_ctl(edge, EPOLL_CTL_ADD, fd, &ev));
	EXPECT_EQ(0, epoll_wait(level, &ev, 1, 0));
	EXPECT_EQ(0, epoll_wait(edge, &ev, 1, 0));

	tfd_set(fd, 10 * MS, 10 * MS);
	EXPECT_EQ(1, epoll_wait(edge, &ev, 1, PATIENCE_MS));
	EXPECT_EQ(EPOLLIN, ev.events & EPOLLIN);
	EXPECT_EQ(0, epoll_wait(edge, &ev, 1, 50));
	EXPECT_EQ(1, epoll_wait(level, &ev, 1, 0));
	EXPECT_LE(1, tfd_read(fd));
	EXPECT_EQ(1, epoll_wait(edge, &ev, 1, PATIENCE_MS));
	EXPECT_EQ(1, epoll_wait(level, &ev, 1, 0));

	tfd_set(fd, HOUR, 0);
	EXPECT_EQ(0, epoll_wait(level, &ev, 1, 0));
	/* A closed one is in no set any more. */
	tfd_set(fd, 10 * MS, 0);
	close(fd);
	EXPECT_EQ(0, epoll_wait(level, &ev, 1, 50));
}

TEST(select)
{
	struct timeval none = { };
	int fd = tfd_open(TFD_NONBLOCK);
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	EXPECT_EQ(0, select(fd + 1, &set, NULL, NULL, &none));
	tfd_set(fd, 10 * MS, 0);
	FD_SET(fd, &set);
	EXPECT_EQ(1, select(fd + 1, &set, NULL, NULL, NULL));
	EXPECT_TRUE(FD_ISSET(fd, &set));
	EXPECT_EQ(1, tfd_read(fd));
}

/* Clocks that are never the wheel's. */
TEST(other_clocks)
{
	static const int clocks[] = { CLOCK_REALTIME, CLOCK_BOOTTIME };
	struct itimerspec spec = tfd_spec(10 * MS, 0);
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		fd = timerfd_create(clocks[i], TFD_NONBLOCK);
		ASSERT_OK(fd);
		ASSERT_OK(timerfd_settime(fd, 0, &spec, NULL));
		wait_readable(fd);
		EXPECT_EQ(1, tfd_read(fd));
		EXPECT_TRUE(tfd_is_kernels(fd));
	}
	fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	ASSERT_OK(fd);
	spec = tfd_spec(now_ns(CLOCK_REALTIME) + HOUR, 0);
	ASSERT_OK(timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &spec, NULL));
	EXPECT_GE(HOUR, tfd_left(fd).value);
}

/* Under 'timewheel run', that it is the wheel at all. */
TEST(who_keeps_it)
{
	int fd = tfd_open(TFD_NONBLOCK);

	tfd_set(fd, HOUR, 0);
	EXPECT_EQ(!served() || !contexts_open(NULL), tfd_is_kernels(fd));
	test_say("%s keeps these timers", tfd_is_kernels(fd) ? "the kernel" : "the wheel");
}
