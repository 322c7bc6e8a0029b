// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limits that contexts share: of each user, and of the module.
 */
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "module.h"
#include "support.h"

#define USER	1000
#define OTHER	1001

static int try_arm(int fd)
{
	struct timewheel_op op = op_arm(HOUR, 0);

	return ioctl(fd, TIMEWHEEL_IOC_ARM, &op);
}

/* Runs what is to be done as another user. */
static void as_user(uid_t uid, void (*fn)(void))
{
	gid_t group = device_group();
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		become(uid, group);
		fn();
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void ten_and_no_more(void)
{
	int a = tw_open(), b, i;
	uint64_t id = 0;

	for (i = 0; i < 10; i++)
		id = arm(a, HOUR, i);
	EXPECT_ERR(EDQUOT, try_arm(a));
	/* Nor in another context of the same user. */
	b = tw_open();
	EXPECT_ERR(EDQUOT, try_arm(b));
	EXPECT_EQ(0, stats_of(b).armed);

	/* One that was cancelled makes room at once. */
	ASSERT_OK(cancel(a, id));
	EXPECT_EQ(0, try_arm(a));
	EXPECT_ERR(EDQUOT, try_arm(a));
	EXPECT_EQ(2, stats_of(a).rejected);

	/* One that fired does when its event is read. */
	id = 0;
	ASSERT_OK(ioctl(a, TIMEWHEEL_IOC_STOP));
	EXPECT_ERR(EDQUOT, try_arm(b));
	read_event(a);
	EXPECT_EQ(0, try_arm(b));
	EXPECT_ERR(EDQUOT, try_arm(b));

	/* And all do when the context is closed. */
	ASSERT_OK(close(a));
	for (i = 1; i < 10; i++)
		EXPECT_EQ(0, try_arm(b));
	EXPECT_ERR(EDQUOT, try_arm(b));
	expect_balance(b);
}

TEST(limit_of_a_user)
{
	need_module();
	module_reload("max_user_timeouts=10");
	as_user(USER, ten_and_no_more);
	module_restore();
}

static int users_fd;

static void fill_and_try_other(void)
{
	int i, fd = tw_open();

	for (i = 0; i < 10; i++)
		arm(fd, HOUR, i);
	EXPECT_ERR(EDQUOT, try_arm(fd));
	/* The context's opener counts, not who arms in it. */
	EXPECT_ERR(EDQUOT, try_arm(users_fd));
}

static void arm_ten(void)
{
	int i, fd = tw_open();

	for (i = 0; i < 10; i++)
		arm(fd, HOUR, i);
	EXPECT_ERR(EDQUOT, try_arm(fd));
}

TEST(users_are_apart)
{
	int fds[2], status, i;
	char byte = 0;
	pid_t pid;

	need_module();
	module_reload("max_user_timeouts=10");
	ASSERT_OK(pipe(fds));
	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		/* Holds ten until it is told to go. */
		become(USER, device_group());
		users_fd = tw_open();
		for (i = 0; i < 10; i++)
			arm(users_fd, HOUR, i);
		ASSERT_EQ(1, read(fds[0], &byte, 1));
		_exit(0);
	}
	as_user(OTHER, arm_ten);
	ASSERT_EQ(1, write(fds[1], &byte, 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* Gone with the process. */
	as_user(USER, arm_ten);
	module_restore();
}

/* Whose context it is counts: root's descriptor in another user's hands. */
static void arm_in_roots(void)
{
	int i;

	for (i = 0; i < 20; i++)
		EXPECT_EQ(0, try_arm(users_fd));
}

TEST(root_is_exempt)
{
	int i;

	need_module();
	module_reload("max_user_timeouts=10");
	users_fd = tw_open();
	for (i = 0; i < 20; i++)
		EXPECT_EQ(0, try_arm(users_fd));
	as_user(USER, arm_in_roots);
	EXPECT_EQ(40, stats_of(users_fd).pending);
	close(users_fd);
	module_restore();
}

/* From now on root is a user like any other. */
static void drop_exemption(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { };

	ASSERT_OK(syscall(SYS_capget, &header, data));
	data[0].effective &= ~(1U << CAP_SYS_RESOURCE);
	ASSERT_OK(syscall(SYS_capset, &header, data));
}

/* Over the limit, by what an exempt context holds, one may still ask for none. */
TEST(over_the_limit)
{
	struct timewheel_setup s = { .size = sizeof(s), .own_ids = 1 };
	int i, fd, status;

	need_module();
	module_reload("max_user_timeouts=10");
	users_fd = tw_open();
	for (i = 0; i < 20; i++)
		EXPECT_EQ(0, try_arm(users_fd));
	if (!fork()) {
		drop_exemption();
		fd = tw_open();
		EXPECT_ERR(EDQUOT, setup(fd, &s));
		s.own_ids = 0;
		EXPECT_EQ(0, setup(fd, &s));
		EXPECT_ERR(EDQUOT, try_arm(fd));
		_exit(0);
	}
	ASSERT_LT(0, wait(&status));
	EXPECT_EQ(0, status);
	close(users_fd);
	module_restore();
}

/* And a user's context in root's hands stays the user's. */
TEST(the_opener_counts)
{
	need_module();
	module_reload("max_user_timeouts=10");
	if (!fork()) {
		become(USER, device_group());
		users_fd = tw_open();
		fill_and_try_other();
		_exit(0);
	}
	{
		int status;

		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
	module_restore();
}

TEST(limit_of_the_module)
{
	uint64_t id = 0;
	int a, b, i;

	need_module();
	module_reload("max_timeouts=10");
	a = tw_open();
	b = tw_open();
	EXPECT_EQ(10, info_of(a).max_pending);
	for (i = 0; i < 10; i++)
		id = arm(i % 2 ? a : b, HOUR, i);
	/* Root too. */
	EXPECT_ERR(ENOSPC, try_arm(a));
	EXPECT_ERR(ENOSPC, try_arm(b));
	/* Another context's makes room when the worker has let go of it. */
	ASSERT_OK(cancel(a, id));
	for (i = 0; try_arm(b); i++) {
		EXPECT_EQ(ENOSPC, errno);
		ASSERT_LT(i, PATIENCE_MS);
		usleep(1000);
	}
	EXPECT_ERR(ENOSPC, try_arm(b));
	close(b);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(0, try_arm(a));
	EXPECT_ERR(ENOSPC, try_arm(a));
	close(a);
	module_restore();
}

/* A batch goes on after those that are refused. */
TEST(limit_in_a_batch)
{
	struct timewheel_op ops[12];
	int i, fd;

	need_module();
	module_reload("max_timeouts=10");
	fd = tw_open();
	for (i = 0; i < 12; i++)
		ops[i] = op_arm(HOUR, i);
	EXPECT_EQ(12, submit(fd, ops, 12));
	for (i = 0; i < 12; i++)
		EXPECT_EQ(i < 10 ? 0 : -ENOSPC, ops[i].result);
	EXPECT_EQ(10, stats_of(fd).armed);
	EXPECT_EQ(2, stats_of(fd).rejected);
	close(fd);
	module_restore();
}

/* SETUP as the limits of a user have it; returns the context, or -1. */
static int try_setup(uint32_t flags, uint32_t sq_entries)
{
	struct timewheel_setup s = {
		.size = sizeof(s),
		.flags = flags,
		.sq_entries = sq_entries,
		.own_ids = sq_entries,
	};
	int fd = tw_open();

	if (!setup(fd, &s))
		return fd;
	EXPECT_EQ(EDQUOT, errno);
	/* As if it had not been: the context can still be set up otherwise. */
	ASSERT_OK(setup(fd, &(struct timewheel_setup){ .size = sizeof(s) }));
	ASSERT_OK(close(fd));
	return -1;
}

static void two_wheels_three_rings(void)
{
	int wheels[2], rings[3], i;

	for (i = 0; i < 2; i++)
		ASSERT_OK(wheels[i] = try_setup(TIMEWHEEL_SETUP_OWN_WHEEL, 0));
	EXPECT_EQ(-1, try_setup(TIMEWHEEL_SETUP_OWN_WHEEL, 0));
	EXPECT_EQ(-1, try_setup(TIMEWHEEL_SETUP_OWN_WHEEL, 8));
	for (i = 0; i < 3; i++)
		ASSERT_OK(rings[i] = try_setup(0, 8));
	EXPECT_EQ(-1, try_setup(0, 8));
	/* A context that wants neither. */
	i = try_setup(0, 0);
	ASSERT_OK(i);
	ASSERT_OK(close(i));

	/* One that goes makes room; a ring on an own wheel is not counted. */
	ASSERT_OK(close(wheels[0]));
	ASSERT_OK(wheels[0] = try_setup(TIMEWHEEL_SETUP_OWN_WHEEL, 8));
	EXPECT_EQ(-1, try_setup(TIMEWHEEL_SETUP_OWN_WHEEL, 8));
	ASSERT_OK(close(wheels[0]));
	EXPECT_EQ(-1, try_setup(0, 8));
	ASSERT_OK(close(rings[0]));
	ASSERT_OK(rings[0] = try_setup(0, 8));
	EXPECT_EQ(-1, try_setup(0, 8));
}

TEST(wheels_and_rings_of_a_user)
{
	int fds[4], i;

	need_module();
	module_reload("max_user_wheels=2 max_user_rings=3");
	as_user(USER, two_wheels_three_rings);
	as_user(OTHER, two_wheels_three_rings);
	/* Root has CAP_SYS_RESOURCE. */
	for (i = 0; i < 4; i++)
		ASSERT_OK(fds[i] = try_setup(i < 3 ? TIMEWHEEL_SETUP_OWN_WHEEL : 0, 8));
	for (i = 0; i < 4; i++)
		close(fds[i]);
	module_restore();
}
