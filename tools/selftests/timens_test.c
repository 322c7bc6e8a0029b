// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process in a time namespace speaks its own clock.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "fdpass.h"
#include "support.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define MONOTONIC_S	100000LL
#define BOOTTIME_S	5000000LL

/* Whoever is forked from now on is in a namespace with other clocks. */
static void new_namespace(long long monotonic_s, long long boottime_s)
{
	char text[128];
	int fd, len;

	if (access("/proc/self/ns/time", F_OK))
		SKIP("this kernel has no time namespaces");
	if (unshare(CLONE_NEWTIME))
		SKIP("no time namespace to be had: %s", strerror(errno));
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	ASSERT_OK(fd);
	len = snprintf(text, sizeof(text), "monotonic %lld 0\nboottime %lld 0\n",
		       monotonic_s, boottime_s);
	ASSERT_EQ(len, write(fd, text, len));
	close(fd);
}

static void in_child(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	ASSERT_OK(pid);
	if (!pid) {
		fn();
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void speaks(int fd, clockid_t clockid)
{
	struct timewheel_info info;
	struct timewheel_query q;
	struct timewheel_event ev;
	uint64_t before, after, due, id;

	before = now_ns(clockid);
	info = info_of(fd);
	after = now_ns(clockid);
	EXPECT_EQ(clockid, info.clockid);
	EXPECT_LE(before, info.now_ns);
	EXPECT_GE(after, info.now_ns);

	/* Absolute. */
	due = now_ns(clockid) + 100 * MS;
	id = arm_at(fd, due, 1);
	ASSERT_OK(query(fd, id, &q));
	EXPECT_EQ(due, q.deadline_ns);
	ev = read_event(fd);
	EXPECT_EQ(due, ev.deadline_ns);
	EXPECT_LE(due, now_ns(clockid));

	/* Relative: the deadline is told in the same clock. */
	before = now_ns(clockid);
	arm(fd, 50 * MS, 2);
	after = now_ns(clockid);
	ev = read_event(fd);
	EXPECT_LE(before + 50 * MS, ev.deadline_ns);
	EXPECT_GE(after + 50 * MS, ev.deadline_ns);
	EXPECT_LE(ev.deadline_ns, now_ns(clockid));

	/* The ends of the clock are no other than without a namespace. */
	id = arm_at(fd, UINT64_MAX, 3);
	EXPECT_FALSE(readable(fd, 100));
	EXPECT_EQ(0, cancel(fd, id));
	arm_at(fd, 0, 4);
	EXPECT_EQ(4, read_event(fd).user_data);
	expect_balance(fd);
}

static void both_clocks(void)
{
	int fd = tw_open();

	speaks(fd, CLOCK_MONOTONIC);
	close(fd);
	fd = own_wheel(MS, CLOCK_BOOTTIME);
	speaks(fd, CLOCK_BOOTTIME);
	close(fd);
}

TEST(without_a_namespace)
{
	both_clocks();
}

TEST(clock_ahead)
{
	new_namespace(MONOTONIC_S, BOOTTIME_S);
	in_child(both_clocks);
}

TEST(clock_behind)
{
	/* By as much as the machine has been up, nearly. */
	long long s = now_ns(CLOCK_MONOTONIC) / SEC - 1;

	if (s < 1)
		SKIP("the clock has just begun");
	new_namespace(-s, -s);
	in_child(both_clocks);
}

static int sockets[2];

static void open_and_pass(void)
{
	uint64_t now;

	send_fd(sockets[1], tw_open());
	now = now_ns(CLOCK_MONOTONIC);
	ASSERT_EQ(sizeof(now), write(sockets[1], &now, sizeof(now)));
}

/* Opened inside, used outside: the opener's clock it is and stays. */
TEST(passed_out)
{
	struct timewheel_query q;
	uint64_t inside, due, id;
	int fd;

	new_namespace(MONOTONIC_S, BOOTTIME_S);
	ASSERT_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	in_child(open_and_pass);
	fd = receive_fd(sockets[0]);
	ASSERT_EQ(sizeof(inside), read(sockets[0], &inside, sizeof(inside)));

	EXPECT_LT(MONOTONIC_S * SEC, inside);
	due = now_ns(CLOCK_MONOTONIC) + MONOTONIC_S * SEC + 100 * MS;
	id = arm_at(fd, due, 1);
	ASSERT_OK(query(fd, id, &q));
	EXPECT_EQ(due, q.deadline_ns);
	EXPECT_EQ(due, read_event(fd).deadline_ns);
	EXPECT_LE(due, now_ns(CLOCK_MONOTONIC) + MONOTONIC_S * SEC);
	EXPECT_LE(inside, info_of(fd).now_ns);

	/* What is long past inside is so, although it is ahead outside. */
	arm_at(fd, MONOTONIC_S * SEC, 2);
	EXPECT_EQ(2, read_event(fd).user_data);
}

static int outside_fd;

static void use_outsides(void)
{
	uint64_t due = now_ns(CLOCK_MONOTONIC) - MONOTONIC_S * SEC + 100 * MS;

	arm_at(outside_fd, due, 1);
	EXPECT_EQ(due, read_event(outside_fd).deadline_ns);
	EXPECT_LE(due + MONOTONIC_S * SEC, now_ns(CLOCK_MONOTONIC));
}

/* And the other way round. */
TEST(passed_in)
{
	outside_fd = tw_open();
	new_namespace(MONOTONIC_S, BOOTTIME_S);
	in_child(use_outsides);
}
