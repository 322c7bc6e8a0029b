// SPDX-License-Identifier: GPL-2.0-only
/*
 * A context in several processes: inherited, passed, and closed by the last.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "fdpass.h"
#include "support.h"

static void end_child(pid_t pid)
{
	int status;

	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* What the child arms, the parent hears of, and the other way round. */
TEST(inherited)
{
	uint64_t id;
	int fd = tw_open();
	pid_t pid;

	id = arm(fd, HOUR, 1);
	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		ASSERT_OK(cancel(fd, id));
		arm(fd, 20 * MS, 2);
		_exit(0);
	}
	EXPECT_EQ(2, read_event(fd).user_data);
	end_child(pid);
	expect_no_event(fd);
	EXPECT_EQ(2, stats_of(fd).armed);
	EXPECT_EQ(1, stats_of(fd).cancelled);
	expect_balance(fd);
}

/* The child's end does not cancel what is there: the parent has it open. */
TEST(closed_by_one_of_two)
{
	int fd = tw_open();
	pid_t pid;

	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		arm(fd, 200 * MS, 3);
		close(fd);
		_exit(0);
	}
	end_child(pid);
	EXPECT_EQ(3, read_event(fd).user_data);
	expect_balance(fd);
}

TEST(duplicated)
{
	int a = tw_open(), b = dup(a);

	ASSERT_OK(b);
	arm(a, 50 * MS, 4);
	ASSERT_OK(close(a));
	EXPECT_EQ(4, read_event(b).user_data);
}

TEST(passed_over_a_socket)
{
	int sv[2], fd;
	pid_t pid;

	ASSERT_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		fd = tw_open();
		arm(fd, 100 * MS, 5);
		arm(fd, HOUR, 6);
		send_fd(sv[1], fd);
		_exit(0);
	}
	close(sv[1]);
	fd = receive_fd(sv[0]);
	/* Its opener is gone. */
	end_child(pid);
	EXPECT_EQ(2, stats_of(fd).armed);
	EXPECT_EQ(5, read_event(fd).user_data);
	arm(fd, 0, 7);
	EXPECT_EQ(7, read_event(fd).user_data);
	EXPECT_EQ(1, stats_of(fd).pending);
	expect_balance(fd);
}

/* Closed while it is in a socket that nobody reads: it goes with the socket. */
TEST(lost_in_a_socket)
{
	int sv[2], fd = tw_open();

	ASSERT_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	arm_many(fd, 1000, HOUR);
	send_fd(sv[0], fd);
	close(fd);
	close(sv[0]);
	close(sv[1]);
}

/* The last close cancels all: an eventfd that others hold is not signalled. */
TEST(last_close_cancels)
{
	struct timewheel_op op = op_arm(150 * MS, 1);
	int fd = tw_open(), other, efd = eventfd(0, EFD_CLOEXEC);

	ASSERT_OK(efd);
	op.eventfd = efd;
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	close(fd);
	other = tw_open();
	arm(other, 400 * MS, 2);
	EXPECT_EQ(2, read_event(other).user_data);
	EXPECT_EQ(0, eventfd_count(efd));
}
