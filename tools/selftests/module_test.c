// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading the module.
 */
#include <dirent.h>
#include <stdlib.h>

#include "module.h"
#include "support.h"

TEST(unload_and_load)
{
	need_module();
	ASSERT_OK(module_unload());
	EXPECT_ERR(ENOENT, open(DEVICE, O_RDWR));
	ASSERT_OK(module_load(""));
	close(tw_open());
	module_restore();
}

TEST(unload_is_refused_while_a_file_is_open)
{
	long long refs;
	int a, b;

	need_module();
	refs = module_refs();
	a = tw_open();
	b = dup(a);
	EXPECT_LT(refs, module_refs());
	EXPECT_ERR(EWOULDBLOCK, module_unload());
	ASSERT_OK(close(a));
	EXPECT_ERR(EWOULDBLOCK, module_unload());
	/* The refusals did no harm. */
	arm(b, 0, 1);
	EXPECT_EQ(1, read_event(b).user_data);
	ASSERT_OK(close(b));
	EXPECT_EQ(refs, module_refs());
	EXPECT_EQ(0, module_unload());
	module_restore();
}

TEST(unload_with_everything_left_behind)
{
	struct timewheel_op op = op_arm(HOUR, 0);
	int fd, own;

	need_module();
	op.eventfd = eventfd(0, EFD_CLOEXEC);
	ASSERT_OK(op.eventfd);
	fd = tw_open();
	own = own_wheel(MS, CLOCK_BOOTTIME);
	/* Pending, expired and unread, cancelled a moment ago, being signalled. */
	arm_many(fd, 1000, HOUR);
	arm_many(fd, 1000, 0);
	arm_many(own, 1000, 10 * MS);
	ASSERT_OK(ioctl(own, TIMEWHEEL_IOC_ARM, &op));
	ASSERT_OK(cancel(fd, arm(fd, HOUR, 0)));
	close(fd);
	close(own);
	EXPECT_EQ(0, module_unload());
	module_restore();
}

/* Over and over: what is left behind would add up. */
TEST(many_times)
{
	int i, fd;

	need_module();
	for (i = 0; i < 20; i++) {
		fd = tw_open();
		arm_many(fd, 100, i * MS);
		close(fd);
		module_reload("");
	}
	module_restore();
}

static void expect_refused(const char *params, const char *word)
{
	int log = kernel_log();

	errno = 0;
	EXPECT_EQ(-1, module_load(params));
	if (errno != EINVAL && errno != ERANGE)
		test_fail(__FILE__, __LINE__, "%s: errno %d", params, errno);
	/* A sentence with the parameter in it. */
	if (!kernel_said(log, "timewheel: ", word))
		test_fail(__FILE__, __LINE__, "%s: the kernel's log says nothing of %s",
			  params, word);
	close(log);
}

TEST(bad_parameters_are_refused)
{
	static const char *const numbers[] = {
		"tick_us", "slots", "levels", "housekeeping_ms", "max_timeouts",
		"max_user_timeouts", "max_user_wheels", "max_user_rings", "max_wheels",
	};
	static const char *const values[] = { "0", "4294967295", "-1", "abc", "" };
	char params[64];
	unsigned int i, j;

	need_module();
	ASSERT_OK(module_unload());
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (j = 0; j < ARRAY_SIZE(values); j++) {
			snprintf(params, sizeof(params), "%s=%s", numbers[i], values[j]);
			expect_refused(params, numbers[i]);
		}
	}
	expect_refused("realtime=perhaps", "realtime");
	/* Each is right, but not together. */
	expect_refused("slots=1048576 levels=8", "slots");
	module_restore();
}

/* A name that is none must not be taken for one that is. */
TEST(parameters_are_documented)
{
	static const char *const names[] = {
		"tick_us", "slots", "levels", "housekeeping_ms", "max_timeouts",
		"max_user_timeouts", "max_user_wheels", "max_user_rings", "max_wheels",
		"realtime",
	};
	char path[128];
	unsigned int i;

	need_module();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/sys/module/timewheel/parameters/%s", names[i]);
		if (access(path, R_OK))
			test_fail(__FILE__, __LINE__, "there is no parameter %s", names[i]);
	}
}

TEST(parameters_have_effect)
{
	struct timewheel_info info;
	int fd;

	need_module();
	module_reload("tick_us=5000 slots=100 levels=2 max_timeouts=5000");
	fd = tw_open();
	info = info_of(fd);
	EXPECT_EQ(5 * MS, info.tick_ns);
	EXPECT_EQ(128, info.slots);
	EXPECT_EQ(2, info.levels);
	EXPECT_EQ(5000, info.max_pending);
	arm(fd, 20 * MS, 1);
	EXPECT_EQ(1, read_event(fd).user_data);
	close(fd);
	module_restore();
}

TEST(realtime_workers)
{
	int fd;

	need_module();
	module_reload("realtime=1");
	fd = own_wheel(MS, CLOCK_MONOTONIC);
	arm(fd, 20 * MS, 1);
	EXPECT_EQ(1, read_event(fd).user_data);
	close(fd);
	module_restore();
}

/* No more wheels than max_wheels; one that is closed makes room. */
TEST(max_wheels)
{
	struct timewheel_setup s = {
		.size = sizeof(s),
		.flags = TIMEWHEEL_SETUP_OWN_WHEEL,
	};
	int a, b, c;

	need_module();
	module_reload("max_wheels=2");
	a = own_wheel(MS, CLOCK_MONOTONIC);
	b = own_wheel(MS, CLOCK_MONOTONIC);
	c = tw_open();
	EXPECT_ERR(ENOSPC, setup(c, &s));
	ASSERT_OK(close(a));
	EXPECT_EQ(0, setup(c, &s));
	close(b);
	close(c);
	module_restore();
}
