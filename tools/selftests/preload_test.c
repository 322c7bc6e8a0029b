// SPDX-License-Identifier: GPL-2.0-only
/*
 * What holds under 'timewheel run' beyond what timerfd_create(2) says: one context,
 * which the program can't lose by accident, books that balance, and descriptors that
 * are closed unseen.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "timerfd.h"

/* Of this process: a child has its parent's until it makes a timer. */
static int context_fd(void)
{
	int fd;

	if (!served())
		SKIP("only under 'timewheel run'");
	ASSERT_OK(close(tfd_open(0)));
	ASSERT_EQ(1, contexts_open(&fd));
	return fd;
}

/* Expires as it should, and it is the wheel that does it. */
static void expect_works(int fd)
{
	EXPECT_FALSE(tfd_is_kernels(fd));
	tfd_set(fd, MS, 0);
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
	tfd_expect_idle(fd);
}

static pid_t child(void)
{
	pid_t pid = fork();

	ASSERT_OK(pid);
	return pid;
}

static void expect_child(pid_t pid)
{
	int status;

	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* --- the context ----------------------------------------------------------------- */

TEST(one_context_and_its_books)
{
	int context = context_fd(), fd[1000], i;
	unsigned int before = fds_open();
	struct timewheel_stats st;

	for (i = 0; i < 1000; i++) {
		fd[i] = tfd_open(TFD_NONBLOCK);
		tfd_set(fd[i], HOUR, i % 2 ? HOUR : 0);
	}
	EXPECT_EQ(1, contexts_open(NULL));
	EXPECT_EQ(before + 1000, fds_open());
	EXPECT_EQ(1000, stats_of(context).pending);
	/* Moved, not armed anew. */
	for (i = 0; i < 1000; i++)
		tfd_set(fd[i], 2 * HOUR, 0);
	st = stats_of(context);
	EXPECT_EQ(1000, st.armed);
	EXPECT_EQ(1000, st.rearmed);
	for (i = 0; i < 500; i++)
		tfd_set(fd[i], 0, 0);
	EXPECT_EQ(500, stats_of(context).pending);
	for (i = 0; i < 500; i++)
		tfd_set(fd[i], MS, 0);
	for (i = 0; i < 500; i++) {
		wait_readable(fd[i]);
		EXPECT_EQ(1, tfd_read(fd[i]));
	}
	for (i = 0; i < 1000; i++)
		close(fd[i]);
	st = stats_of(context);
	EXPECT_EQ(1500, st.armed);
	EXPECT_EQ(500, st.fired);
	EXPECT_EQ(1000, st.cancelled);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(0, st.unread);
	expect_balance(context);
}

/* A timer that nobody reads wakes nobody, as the kernel's own doesn't. */
TEST(unread_does_not_go_on)
{
	int context = context_fd(), fd = tfd_open(TFD_NONBLOCK);

	tfd_set(fd, 2 * MS, 2 * MS);
	wait_readable(fd);
	EXPECT_FALSE(readable(tfd_open(TFD_NONBLOCK), 50));
	EXPECT_EQ(1, stats_of(context).fired);
	EXPECT_LE(1, tfd_read(fd));
	wait_readable(fd);
	EXPECT_EQ(2, stats_of(context).fired);
}

/* Out of the way of the program, and not to be closed by it. */
TEST(context_stays)
{
	int context = context_fd(), fd = tfd_open(TFD_NONBLOCK);
	struct rlimit limit;

	ASSERT_OK(getrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_LE(900, context);
	EXPECT_EQ(FD_CLOEXEC, fcntl(context, F_GETFD));
	EXPECT_ERR(EBADF, close(context));
	expect_works(fd);
	ASSERT_OK(close_range(fd + 1, ~0U, 0));
	expect_works(fd);
	closefrom(3);
	fd = tfd_open(TFD_NONBLOCK);
	EXPECT_EQ(3, fd);
	expect_works(fd);
	EXPECT_EQ(context, context_fd());
}

/* The program may use any number it likes. */
TEST(context_gives_way)
{
	int context = context_fd(), fd = tfd_open(TFD_NONBLOCK), pipes[2], i;
	char byte;

	ASSERT_OK(pipe(pipes));
	tfd_set(fd, 200 * MS, 0);
	for (i = 0; i < 3; i++) {
		context = context_fd();
		ASSERT_EQ(context, i % 2 ? dup3(pipes[0], context, 0) :
					   dup2(pipes[0], context));
		EXPECT_NE(context, context_fd());
		ASSERT_EQ(1, write(pipes[1], "x", 1));
		ASSERT_EQ(1, read(context, &byte, 1));
		ASSERT_OK(close(context));
	}
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
	/* A timer of the program's, too. */
	context = context_fd();
	ASSERT_EQ(context, dup2(fd, context));
	expect_works(context);
	expect_works(fd);
}

/* Closed by a system call of the program's own: what comes is in another one. */
TEST(context_lost)
{
	int context = context_fd(), fd = tfd_open(TFD_NONBLOCK), pipes[2], i;

	for (i = 0; i < 2; i++) {
		tfd_set(fd, HOUR, 0);
		context = context_fd();
		ASSERT_OK(syscall(SYS_close, context));
		if (i) {
			/* And the number is another's. */
			ASSERT_OK(pipe(pipes));
			ASSERT_EQ(context, fcntl(pipes[0], F_DUPFD, context));
		}
		expect_works(fd);
		expect_works(tfd_open(TFD_NONBLOCK));
		if (i)
			ASSERT_OK(close(context));
		context_fd();
	}
}

/* --- closed unseen ----------------------------------------------------------------- */

/* What has the number now is what the program gets. */
TEST(closed_unseen)
{
	struct itimerspec spec = tfd_spec(MS, 0);
	int context = context_fd(), fd, pipes[2], what;
	uint64_t word = 0;

	for (what = 0; what < 4; what++) {
		fd = tfd_open(TFD_NONBLOCK);
		tfd_set(fd, 1, MS);
		wait_readable(fd);
		ASSERT_OK(pipe(pipes));
		ASSERT_OK(syscall(SYS_close, fd));
		switch (what) {
		case 0:
			EXPECT_ERR(EBADF, timerfd_settime(fd, 0, &spec, NULL));
			EXPECT_ERR(EBADF, timerfd_gettime(fd, &spec));
			EXPECT_ERR(EBADF, read(fd, &word, 8));
			EXPECT_ERR(EBADF, close(fd));
			break;
		case 1:
			ASSERT_EQ(fd, syscall(SYS_fcntl, pipes[0], F_DUPFD, fd));
			word = 1;
			ASSERT_EQ(8, write(pipes[1], &word, 8));
			ASSERT_EQ(8, read(fd, &word, 8));
			EXPECT_EQ(1, word);
			break;
		case 2:
			/* As much like ours as can be. */
			ASSERT_EQ(fd, eventfd(1, EFD_NONBLOCK));
			EXPECT_ERR(EINVAL, timerfd_settime(fd, 0, &spec, NULL));
			EXPECT_ERR(EINVAL, timerfd_gettime(fd, &spec));
			ASSERT_EQ(8, read(fd, &word, 8));
			EXPECT_EQ(1, word);
			EXPECT_ERR(EAGAIN, read(fd, &word, 8));
			break;
		case 3:
			/* A timerfd of the kernel's own. */
			ASSERT_EQ(fd, syscall(SYS_timerfd_create, CLOCK_MONOTONIC,
					      TFD_NONBLOCK));
			tfd_set(fd, MS, 0);
			wait_readable(fd);
			EXPECT_EQ(1, tfd_read(fd));
			EXPECT_TRUE(tfd_is_kernels(fd));
			break;
		}
		close(fd);
		expect_works(tfd_open(TFD_NONBLOCK));
	}
	EXPECT_EQ(context, context_fd());
}

/* --- left to the kernel --------------------------------------------------------------- */

TEST(fine_ones)
{
	struct itimerspec spec = tfd_spec(HOUR, 100000);
	struct timewheel_info info = info_of(context_fd());
	struct epoll_event ev = { .events = EPOLLIN };
	int fd, ep = epoll_create1(0);

	/* These are finer than its tick. */
	ASSERT_LT(100000, info.tick_ns);
	fd = tfd_open(TFD_NONBLOCK | TFD_CLOEXEC);
	ASSERT_OK(timerfd_settime(fd, 0, &spec, NULL));
	EXPECT_TRUE(tfd_is_kernels(fd));
	EXPECT_NE(0, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_LT(HOUR / 2, tfd_left(fd).value);

	fd = tfd_open(0);
	tfd_set(fd, info.tick_ns - 1, 0);
	EXPECT_TRUE(tfd_is_kernels(fd));
	EXPECT_EQ(0, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(0, fcntl(fd, F_GETFD));
	EXPECT_EQ(1, tfd_read(fd));

	/* These are not, or that does not say so. */
	fd = tfd_open(TFD_NONBLOCK);
	tfd_set(fd, 1, info.tick_ns);
	EXPECT_FALSE(tfd_is_kernels(fd));
	tfd_set(fd, HOUR, 100000);
	EXPECT_FALSE(tfd_is_kernels(fd));
	fd = tfd_open(TFD_NONBLOCK);
	tfd_set(fd, 0, 0);
	tfd_set(fd, 10 * info.tick_ns, 0);
	EXPECT_FALSE(tfd_is_kernels(fd));

	/* Another file can't take the place of one that is in a set. */
	fd = tfd_open(TFD_NONBLOCK);
	ASSERT_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	tfd_set(fd, 1000, 1000);
	EXPECT_FALSE(tfd_is_kernels(fd));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, PATIENCE_MS));
	EXPECT_LE(1, tfd_read(fd));
	/* Nor that of one which has a duplicate. */
	fd = dup(tfd_open(TFD_NONBLOCK));
	tfd_set(fd, 1, 0);
	EXPECT_FALSE(tfd_is_kernels(fd));
}

/* --- other processes ------------------------------------------------------------------ */

/* What a child arms ends with it, and is not in its parent's books. */
TEST(child_has_its_own)
{
	int context = context_fd(), fd = tfd_open(TFD_NONBLOCK), i;
	pid_t pid;

	tfd_set(fd, HOUR, 0);
	pid = child();
	if (!pid) {
		/* The parent's, for what is armed there, and its own. */
		for (i = 0; i < 10; i++)
			tfd_set(tfd_open(TFD_NONBLOCK), HOUR, 0);
		expect_works(tfd_open(TFD_NONBLOCK));
		EXPECT_EQ(2, contexts_open(NULL));
		tfd_set(fd, MS, 0);
		wait_readable(fd);
		exit(0);
	}
	expect_child(pid);
	EXPECT_EQ(1, stats_of(context).armed);
	EXPECT_EQ(1, stats_of(context).fired);
	EXPECT_TRUE(readable(fd, 0));

	/* If nothing is armed there, it does not keep the parent's. */
	tfd_set(fd, 0, 0);
	pid = child();
	if (!pid) {
		expect_works(tfd_open(TFD_NONBLOCK));
		EXPECT_EQ(1, contexts_open(NULL));
		exit(0);
	}
	expect_child(pid);
}

/* One that may not open the device any more goes on in its parent's. */
TEST(child_of_another_user)
{
	pid_t pid;

	context_fd();
	if (geteuid())
		SKIP("needs to be root");
	pid = child();
	if (!pid) {
		ASSERT_OK(setuid(65534));
		expect_works(tfd_open(TFD_NONBLOCK));
		EXPECT_EQ(1, contexts_open(NULL));
		exit(0);
	}
	expect_child(pid);
}
