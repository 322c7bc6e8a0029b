// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may open the device.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "module.h"
#include "support.h"

#define USER	1000

static int open_as(uid_t uid, gid_t group)
{
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		become(uid, group);
		_exit(open(DEVICE, O_RDWR) < 0 ? errno : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(mode_is_0660)
{
	struct stat st;

	close(tw_open());
	ASSERT_OK(stat(DEVICE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(0660, st.st_mode & 07777);
	EXPECT_EQ(0, st.st_uid);
}

TEST(strangers_are_refused)
{
	close(tw_open());
	if (geteuid())
		SKIP("only root can become another user");
	EXPECT_EQ(EACCES, open_as(USER, USER));
}

TEST(the_group_is_let_in)
{
	gid_t group;

	close(tw_open());
	if (geteuid())
		SKIP("only root can become another user");
	group = device_group();
	if (!group)
		SKIP("the device is root's alone: no udev rule was applied");
	EXPECT_EQ(0, open_as(USER, group));
}
