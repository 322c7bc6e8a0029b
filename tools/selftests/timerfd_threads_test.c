// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timerfds of programs with threads and signal handlers, and thousands of them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "timerfd.h"

#define NR_THREADS	4
#define THOUSANDS	2000

static atomic_uint_least64_t total;
static atomic_bool done;

static pthread_t start(void *(*run)(void *), void *data)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, run, data));
	return thread;
}

static void finish(pthread_t thread)
{
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

/* --- readers ------------------------------------------------------------------- */

static void *read_and_add(void *data)
{
	int i, fd = *(int *)data;

	for (i = 0; i < 5; i++)
		total += tfd_read(fd);
	return NULL;
}

/* However many read: each period is counted once. */
TEST(readers)
{
	uint64_t first = now_ns(CLOCK_MONOTONIC) + 10 * MS, last;
	pthread_t threads[NR_THREADS];
	int i, fd = tfd_open(0);

	tfd_set_at(fd, first, 5 * MS);
	for (i = 0; i < NR_THREADS; i++)
		threads[i] = start(read_and_add, &fd);
	for (i = 0; i < NR_THREADS; i++)
		finish(threads[i]);
	last = now_ns(CLOCK_MONOTONIC);
	EXPECT_LE(NR_THREADS * 5, total);
	EXPECT_GE(tfd_periods(first, 5 * MS, last), total);
	wait_readable(fd);
	last = now_ns(CLOCK_MONOTONIC);
	total += tfd_read(fd);
	EXPECT_LE(tfd_periods(first, 5 * MS, last), total);
}

static atomic_uint ended;

static void *read_until_done(void *data)
{
	int fd = *(int *)data;

	while (!done)
		total += tfd_read(fd);
	ended++;
	return NULL;
}

/*
 * Set by one while others read: no expiration is read twice, and the last one is
 * read by somebody.
 */
TEST(set_while_reading)
{
	pthread_t threads[NR_THREADS];
	uint64_t seed = 1, sets = 0, before;
	int i, fd = tfd_open(0);

	/* One that stays the wheel's, whatever comes. */
	tfd_set(fd, HOUR, 0);
	for (i = 0; i < NR_THREADS; i++)
		threads[i] = start(read_until_done, &fd);
	for (; sets < 500; sets++) {
		tfd_set(fd, 1 + random_next(&seed) % (2 * MS), 0);
		if (random_next(&seed) % 4 == 0)
			sleep_until(now_ns(CLOCK_MONOTONIC) + random_next(&seed) % (3 * MS));
	}
	done = true;
	/* Each that is read ends one of them, or more. */
	while (ended < NR_THREADS) {
		before = total;
		tfd_set(fd, MS, 0);
		sets++;
		while (total == before && ended < NR_THREADS)
			sched_yield();
	}
	for (i = 0; i < NR_THREADS; i++)
		finish(threads[i]);
	EXPECT_LE(total, sets);
	EXPECT_LE(NR_THREADS, total);
	tfd_set(fd, HOUR, 0);
	EXPECT_FALSE(readable(fd, 50));
}

static void *read_once(void *data)
{
	return (void *)(uintptr_t)tfd_read(*(int *)data);
}

TEST(cancelled_reader)
{
	int i, fd = tfd_open(0);
	pthread_t thread;
	void *result;

	for (i = 0; i < 6; i++) {
		thread = start(read_once, &fd);
		if (i % 2)
			sleep_until(now_ns(CLOCK_MONOTONIC) + 5 * MS);
		ASSERT_EQ(0, pthread_cancel(thread));
		ASSERT_EQ(0, pthread_join(thread, &result));
		EXPECT_EQ((long)PTHREAD_CANCELED, (long)result);
	}
	tfd_set(fd, MS, 0);
	EXPECT_EQ(1, tfd_read(fd));
}

/* --- all calls at once --------------------------------------------------------- */

static void *use_own(void *data)
{
	uint64_t seed = (uintptr_t)data + 1, first, count, before, after;
	int i, fd, other;

	for (i = 0; i < 40; i++) {
		fd = tfd_open(TFD_NONBLOCK | TFD_CLOEXEC);
		first = now_ns(CLOCK_MONOTONIC) + random_next(&seed) % (3 * MS);
		tfd_set_at(fd, first, 20 * MS);
		other = dup(fd);
		wait_readable(other);
		before = now_ns(CLOCK_MONOTONIC);
		count = tfd_read(fd);
		after = now_ns(CLOCK_MONOTONIC);
		EXPECT_LE(tfd_periods(first, 20 * MS, before), count);
		EXPECT_GE(tfd_periods(first, 20 * MS, after), count);
		tfd_set(other, HOUR, 0);
		tfd_expect_idle(fd);
		close(fd);
		close(other);
	}
	return NULL;
}

TEST(each_its_own)
{
	pthread_t threads[NR_THREADS];
	unsigned int before = fds_open();
	uintptr_t i;

	for (i = 0; i < NR_THREADS; i++)
		threads[i] = start(use_own, (void *)i);
	for (i = 0; i < NR_THREADS; i++)
		finish(threads[i]);
	EXPECT_EQ(before, fds_open());
}

/* Errors are welcome here: another thread closes what this one is at. */
static void *use_any(void *data)
{
	static atomic_uint threads;
	uint64_t seed = ++threads, count;
	int *base = data;
	struct itimerspec spec;
	int i, fd;

	for (i = 0; i < 1000; i++) {
		fd = *base + random_next(&seed) % 16;
		spec = tfd_spec(random_next(&seed) % (2 * MS), random_next(&seed) % (2 * MS));
		switch (random_next(&seed) % 8) {
		case 0:
			close(fd);
			break;
		case 1:
			timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
			break;
		case 2:
			dup2(fd, *base + random_next(&seed) % 16);
			break;
		case 3:
			timerfd_gettime(fd, &spec);
			break;
		case 4:
			if (read(fd, &count, sizeof(count)) == sizeof(count))
				EXPECT_NE(0, count);
			break;
		default:
			timerfd_settime(fd, 0, &spec, &spec);
			break;
		}
	}
	return NULL;
}

TEST(any_of_all)
{
	struct rlimit limit = { .rlim_max = 1024 };
	pthread_t threads[NR_THREADS];
	int i, base, fd;

	for (i = 0; i < 16; i++) {
		fd = tfd_open(TFD_NONBLOCK);
		tfd_set(fd, HOUR, 0);
		if (!i)
			base = fd;
	}
	/* No more of them than these, so that all know which there are. */
	limit.rlim_cur = base + 16;
	ASSERT_OK(setrlimit(RLIMIT_NOFILE, &limit));
	for (i = 0; i < NR_THREADS; i++)
		threads[i] = start(use_any, &base);
	for (i = 0; i < NR_THREADS; i++)
		finish(threads[i]);
	for (i = 0; i < 16; i++)
		close(base + i);

	/* As if nothing had been. */
	fd = tfd_open(TFD_NONBLOCK);
	EXPECT_EQ(base, fd);
	tfd_expect_idle(fd);
	EXPECT_EQ(0, tfd_left(fd).interval);
	tfd_set(fd, MS, 0);
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
}

/* --- signals --------------------------------------------------------------------- */

static volatile sig_atomic_t handled;
static int handler_fd;

static void nothing(int sig)
{
	(void)sig;
	handled++;
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags };

	ASSERT_OK(sigaction(sig, &act, NULL));
}

static void *signal_main(void *data)
{
	pthread_t *thread = data;
	int i;

	for (i = 0; i < 5; i++) {
		sleep_until(now_ns(CLOCK_MONOTONIC) + 10 * MS);
		pthread_kill(*thread, SIGUSR1);
	}
	return NULL;
}

/* As with any read(): a handler ends the wait, unless it says SA_RESTART. */
TEST(interrupted_read)
{
	pthread_t self = pthread_self(), other;
	int fd = tfd_open(0);
	uint64_t count;

	handle(SIGUSR1, nothing, 0);
	other = start(signal_main, &self);
	EXPECT_ERR(EINTR, read(fd, &count, sizeof(count)));
	finish(other);

	handled = 0;
	handle(SIGUSR1, nothing, SA_RESTART);
	tfd_set(fd, 100 * MS, 0);
	other = start(signal_main, &self);
	EXPECT_EQ(1, tfd_read(fd));
	finish(other);
	EXPECT_NE(0, handled);
}

/* All that a program may do, to the timer that it was just at. */
static void use_in_handler(int sig)
{
	static uint64_t seed = 7;
	struct itimerspec spec;
	int err = errno, fd;
	uint64_t count;

	(void)sig;
	handled++;
	spec = tfd_spec(random_next(&seed) % MS, 0);
	timerfd_settime(handler_fd, 0, &spec, NULL);
	timerfd_gettime(handler_fd, &spec);
	if (read(handler_fd, &count, sizeof(count)) > 0 && count != 1)
		abort();
	fd = dup(handler_fd);
	if (read(fd, &count, sizeof(count)) > 0 && count != 1)
		abort();
	close(fd);
	errno = err;
}

/* At any moment, and no faster than they are handled. */
static void *signal_until_done(void *data)
{
	pthread_t *thread = data;
	uint64_t seed = 11, until;
	int seen;

	while (!done) {
		seen = handled;
		until = now_ns(CLOCK_MONOTONIC) + random_next(&seed) % (MS / 5);
		while (now_ns(CLOCK_MONOTONIC) < until)
			;
		pthread_kill(*thread, SIGALRM);
		while (handled == seen && !done)
			sched_yield();
	}
	return NULL;
}

TEST(in_a_handler)
{
	pthread_t self = pthread_self(), other;
	uint64_t seed = 3;
	int i;

	handler_fd = tfd_open(TFD_NONBLOCK);
	tfd_set(handler_fd, HOUR, 0);
	handle(SIGALRM, use_in_handler, SA_RESTART);
	other = start(signal_until_done, &self);
	for (i = 0; i < 300 || handled < 100; i++) {
		tfd_set(handler_fd, random_next(&seed) % MS, 0);
		tfd_left(handler_fd);
		tfd_read(handler_fd);
		close(dup(handler_fd));
		if (i % 4 == 0)
			close(tfd_open(TFD_CLOEXEC));
	}
	done = true;
	finish(other);
	tfd_set(handler_fd, MS, 0);
	wait_readable(handler_fd);
	EXPECT_EQ(1, tfd_read(handler_fd));
}

/* fork() while other threads are at it: the child finds all whole. */
TEST(fork_among_threads)
{
	pthread_t threads[2];
	uintptr_t i;
	int fd, status;
	pid_t pid;

	for (i = 0; i < 2; i++)
		threads[i] = start(use_own, (void *)i);
	for (i = 0; i < 8; i++) {
		pid = fork();
		ASSERT_OK(pid);
		if (!pid) {
			fd = tfd_open(TFD_NONBLOCK);
			tfd_set(fd, MS, 0);
			wait_readable(fd);
			exit(tfd_read(fd) != 1);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
	}
	for (i = 0; i < 2; i++)
		finish(threads[i]);
}

/* --- many ------------------------------------------------------------------------ */

TEST(thousands)
{
	static uint64_t deadline[THOUSANDS + 100];
	struct epoll_event ev[64];
	int i, n, nr, fd, ep = epoll_create1(0);
	unsigned int before = fds_open();
	uint64_t seed = 5, now;

	for (i = 0; i < THOUSANDS; i++) {
		fd = tfd_open(TFD_NONBLOCK);
		ASSERT_LT(fd, ARRAY_SIZE(deadline));
		ev[0] = (struct epoll_event){ .events = EPOLLIN, .data.fd = fd };
		ASSERT_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev[0]));
		/* Put off once, as most timeouts are. */
		tfd_set(fd, HOUR, 0);
		deadline[fd] = now_ns(CLOCK_MONOTONIC) + SEC / 10 + random_next(&seed) % SEC;
		tfd_set_at(fd, deadline[fd], 0);
	}
	EXPECT_EQ(before + THOUSANDS, fds_open());
	EXPECT_EQ(served() ? 1 : 0, contexts_open(NULL));
	for (n = 0; n < THOUSANDS; n += nr) {
		nr = epoll_wait(ep, ev, ARRAY_SIZE(ev), PATIENCE_MS);
		ASSERT_LT(0, nr);
		now = now_ns(CLOCK_MONOTONIC);
		for (i = 0; i < nr; i++) {
			fd = ev[i].data.fd;
			EXPECT_LE(deadline[fd], now);
			EXPECT_EQ(1, tfd_read(fd));
			close(fd);
			/* Once. */
			deadline[fd] = UINT64_MAX;
		}
	}
	EXPECT_EQ(0, epoll_wait(ep, ev, 1, 100));
	EXPECT_EQ(before, fds_open());
}
