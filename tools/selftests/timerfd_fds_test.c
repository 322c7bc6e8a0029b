// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timerfds and descriptors: duplicates, closing, and other processes.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "fdpass.h"
#include "timerfd.h"

/* What the child does must work, too: it ends with 0. */
static void expect_child(pid_t pid)
{
	int status;

	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

static pid_t child(void)
{
	pid_t pid = fork();

	ASSERT_OK(pid);
	return pid;
}

TEST(duplicates)
{
	int fd = tfd_open(TFD_NONBLOCK), all[6], i;

	all[0] = fd;
	all[1] = dup(fd);
	all[2] = fcntl(fd, F_DUPFD, 100);
	all[3] = fcntl(fd, F_DUPFD_CLOEXEC, 200);
	all[4] = dup2(fd, 300);
	all[5] = dup3(fd, 400, O_CLOEXEC);
	EXPECT_EQ(100, all[2]);
	EXPECT_EQ(200, all[3]);
	EXPECT_EQ(300, all[4]);
	EXPECT_EQ(400, all[5]);
	ASSERT_EQ(fd, dup2(fd, fd));
	EXPECT_ERR(EINVAL, dup3(fd, fd, 0));

	/* Set by one, seen and read by the next. */
	for (i = 0; i < 6; i++) {
		tfd_set(all[i], HOUR, 0);
		EXPECT_LT(HOUR / 2, tfd_left(all[(i + 1) % 6]).value);
		tfd_set(all[i], 1 * MS, 0);
		wait_readable(all[(i + 2) % 6]);
		EXPECT_EQ(1, tfd_read(all[(i + 3) % 6]));
		tfd_expect_idle(all[i]);
	}
	/* It goes on until the last is closed. */
	tfd_set(fd, 20 * MS, 0);
	for (i = 0; i < 5; i++)
		ASSERT_OK(close(all[i]));
	wait_readable(400);
	EXPECT_EQ(1, tfd_read(400));
	tfd_set(400, HOUR, 0);
	EXPECT_LT(HOUR / 2, tfd_left(400).value);
	EXPECT_ERR(EBADF, dup2(fd, 400));
	EXPECT_LT(HOUR / 2, tfd_left(400).value);
}

/* Something else gets the number, in all ways there are. */
TEST(number_is_reused)
{
	struct itimerspec spec = tfd_spec(MS, 0);
	int fd, pipes[2], way;
	uint64_t word;

	ASSERT_OK(pipe(pipes));
	for (way = 0; way < 4; way++) {
		fd = tfd_open(TFD_NONBLOCK);
		tfd_set(fd, 1, MS);
		switch (way) {
		case 0:
			close(fd);
			ASSERT_EQ(fd, dup(pipes[0]));
			break;
		case 1:
			ASSERT_EQ(fd, dup2(pipes[0], fd));
			break;
		case 2:
			ASSERT_EQ(fd, dup3(pipes[0], fd, 0));
			break;
		case 3:
			close(fd);
			ASSERT_EQ(fd, fcntl(pipes[0], F_DUPFD, fd));
			break;
		}
		ASSERT_EQ(8, write(pipes[1], "notimer!", 8));
		ASSERT_EQ(8, read(fd, &word, 8));
		EXPECT_EQ(0, memcmp(&word, "notimer!", 8));
		EXPECT_ERR(EINVAL, timerfd_settime(fd, 0, &spec, NULL));
		EXPECT_ERR(EINVAL, timerfd_gettime(fd, &spec));
		close(fd);
		EXPECT_ERR(EBADF, timerfd_gettime(fd, &spec));
		EXPECT_ERR(EBADF, close(fd));
	}
	/* And a new timer is a new timer. */
	fd = tfd_open(TFD_NONBLOCK);
	tfd_set(fd, 1, MS);
	close(fd);
	ASSERT_EQ(fd, tfd_open(TFD_NONBLOCK));
	EXPECT_EQ(0, tfd_left(fd).interval);
	EXPECT_FALSE(readable(fd, 20));
}

TEST(close_ranges)
{
	struct itimerspec spec = tfd_spec(HOUR, 0);
	int fd[20], i;

	for (i = 0; i < 20; i++) {
		fd[i] = tfd_open(TFD_NONBLOCK);
		tfd_set(fd[i], HOUR, 0);
	}
	EXPECT_ERR(EINVAL, close_range(fd[5], fd[4], 0));
	EXPECT_ERR(EINVAL, close_range(fd[4], fd[5], -1));
	ASSERT_OK(close_range(fd[4], fd[9], 0));
	for (i = 0; i < 20; i++) {
		if (i >= 4 && i <= 9)
			EXPECT_ERR(EBADF, timerfd_settime(fd[i], 0, &spec, NULL));
		else
			EXPECT_LT(HOUR / 2, tfd_left(fd[i]).value);
	}
	ASSERT_OK(close_range(fd[10], ~0U, CLOSE_RANGE_CLOEXEC));
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd[19], F_GETFD));
	EXPECT_LT(HOUR / 2, tfd_left(fd[19]).value);
	closefrom(fd[10]);
	for (i = 10; i < 20; i++)
		EXPECT_ERR(EBADF, timerfd_gettime(fd[i], &spec));

	/* Timers as ever. */
	i = tfd_open(TFD_NONBLOCK);
	tfd_set(i, MS, 0);
	wait_readable(i);
	EXPECT_EQ(1, tfd_read(i));
	EXPECT_EQ(served(), !tfd_is_kernels(i));
}

/* As one closes all that is open before exec. */
TEST(close_all_one_by_one)
{
	int fd, i;

	for (i = 3; i < 2000; i++)
		close(i);
	fd = tfd_open(TFD_NONBLOCK);
	EXPECT_EQ(3, fd);
	tfd_set(fd, MS, 0);
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
	EXPECT_EQ(served(), !tfd_is_kernels(fd));
}

/* A child that closes or ends takes nothing from its parent. */
TEST(fork_and_close)
{
	int fd = tfd_open(TFD_NONBLOCK), far = tfd_open(TFD_NONBLOCK);
	pid_t pid;

	tfd_set(fd, 200 * MS, 0);
	tfd_set(far, HOUR, 0);
	pid = child();
	if (!pid) {
		close(fd);
		closefrom(3);
		exit(0);
	}
	expect_child(pid);
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
	EXPECT_LT(HOUR / 2, tfd_left(far).value);
	tfd_set(far, MS, 0);
	wait_readable(far);
	EXPECT_EQ(1, tfd_read(far));
}

/* The parent ends, the child goes on with what was armed: a daemon. */
TEST(fork_and_go_on)
{
	int fd = tfd_open(TFD_NONBLOCK), periodic = tfd_open(TFD_NONBLOCK), pipes[2];
	uint64_t first = now_ns(CLOCK_MONOTONIC) + 100 * MS, count, before, after;
	char ok = 0;
	pid_t pid;

	ASSERT_OK(pipe(pipes));
	pid = child();
	if (!pid) {
		tfd_set_at(periodic, first, 20 * MS);
		tfd_set(fd, 200 * MS, 0);
		pid = child();
		if (pid)
			exit(0);
		wait_readable(periodic);
		before = now_ns(CLOCK_MONOTONIC);
		count = tfd_read(periodic);
		after = now_ns(CLOCK_MONOTONIC);
		EXPECT_LE(tfd_periods(first, 20 * MS, before), count);
		EXPECT_GE(tfd_periods(first, 20 * MS, after), count);
		wait_readable(periodic);
		EXPECT_LE(1, tfd_read(periodic));
		wait_readable(fd);
		EXPECT_EQ(1, tfd_read(fd));
		tfd_set(fd, MS, 0);
		wait_readable(fd);
		EXPECT_EQ(1, tfd_read(fd));
		fd = tfd_open(TFD_NONBLOCK);
		tfd_set(fd, MS, 0);
		wait_readable(fd);
		EXPECT_EQ(1, tfd_read(fd));
		EXPECT_EQ(served(), !tfd_is_kernels(fd));
		ASSERT_EQ(1, write(pipes[1], "1", 1));
		exit(0);
	}
	close(pipes[1]);
	expect_child(pid);
	EXPECT_EQ(1, read(pipes[0], &ok, 1));
}

/* The parent closes, the child waits. */
TEST(fork_and_leave)
{
	int fd = tfd_open(TFD_NONBLOCK);
	pid_t pid;

	tfd_set(fd, 100 * MS, 0);
	pid = child();
	if (!pid) {
		wait_readable(fd);
		exit(tfd_read(fd) != 1);
	}
	close(fd);
	expect_child(pid);
}

/* What one sets, the other one hears of and reads. */
TEST(fork_and_share)
{
	int fd = tfd_open(TFD_NONBLOCK);
	pid_t pid;

	tfd_set(fd, HOUR, HOUR);
	pid = child();
	if (!pid) {
		tfd_set(fd, 50 * MS, 0);
		exit(0);
	}
	expect_child(pid);
	wait_readable(fd);
	EXPECT_EQ(1, tfd_read(fd));
	tfd_expect_idle(fd);
}

/* A child that has the parent's memory, but its own descriptors. */
TEST(vfork_and_close)
{
	int fd = tfd_open(TFD_NONBLOCK), i;
	uint64_t first = now_ns(CLOCK_MONOTONIC) + 20 * MS;
	pid_t pid;

	tfd_set_at(fd, first, 20 * MS);
	pid = vfork();
	if (!pid) {
		close_range(4, ~0U, 0);
		for (i = 3; i < 2000; i++)
			close(i);
		execl("/bin/true", "true", NULL);
		_exit(7);
	}
	ASSERT_OK(pid);
	expect_child(pid);
	wait_readable(fd);
	EXPECT_LE(1, tfd_read(fd));
	wait_readable(fd);
	EXPECT_LE(1, tfd_read(fd));
	EXPECT_EQ(20 * MS, tfd_left(fd).interval);
	EXPECT_EQ(served(), !tfd_is_kernels(fd));
}

extern char **environ;

/* A program that is run has the descriptors it is to have, and no others. */
TEST(exec)
{
	char script[80], *argv[] = { "sh", "-c", script, NULL };
	int fd, i;
	pid_t pid;

	/* One for ls itself. */
	snprintf(script, sizeof(script), "[ $(ls /proc/self/fd | wc -l) = %u ]",
		 fds_open() - contexts_open(NULL) + 1);
	for (i = 0; i < 10; i++) {
		fd = tfd_open(TFD_CLOEXEC);
		tfd_set(fd, HOUR, 0);
	}
	unsetenv("LD_PRELOAD");
	ASSERT_EQ(0, posix_spawnp(&pid, "sh", NULL, NULL, argv, environ));
	expect_child(pid);
	pid = child();
	if (!pid) {
		execvp("sh", argv);
		_exit(1);
	}
	expect_child(pid);
	tfd_set(fd, MS, 0);
	EXPECT_EQ(1, tfd_read(fd));
}

/* Passed on, it can be waited for there, whatever the sender does. */
TEST(passed)
{
	int pair[2], fd;
	pid_t pid;

	ASSERT_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = child();
	if (!pid) {
		fd = receive_fd(pair[1]);
		wait_readable(fd);
		exit(tfd_read(fd) != 1);
	}
	/* Opened after the fork: the child gets it by the socket alone. */
	fd = tfd_open(TFD_NONBLOCK);
	tfd_set(fd, 100 * MS, 0);
	send_fd(pair[0], fd);
	close(fd);
	expect_child(pid);
}
