// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of timeouts is charged to the control group of the opener.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support.h"

#define GROUP	"/sys/fs/cgroup/timewheel-selftest"
#define MANY	50000U
/* No timeout can be told in less than an id, a cookie and a deadline. */
#define LEAST	(MANY * 24LL)

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ASSERT_OK(fd);
	ASSERT_EQ(strlen(text), write(fd, text, strlen(text)));
	close(fd);
}

/* Bytes of kernel memory that are charged to the group; -1 if nobody counts. */
static long long charged(void)
{
	long long value = -1;
	char line[128];
	FILE *file;

	/* Reading this brings the counters up to date. */
	file = fopen(GROUP "/cpu.stat", "r");
	if (file) {
		while (fgets(line, sizeof(line), file))
			;
		fclose(file);
	}
	file = fopen(GROUP "/memory.stat", "r");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "kernel ", 7))
			value = strtoll(line + 7, NULL, 10);
	fclose(file);
	return value;
}

static void need_group(void)
{
	if (geteuid())
		SKIP("only root can make a control group");
	rmdir(GROUP);
	if (mkdir(GROUP, 0755))
		SKIP("no control group to be had: %s", strerror(errno));
	if (charged() < 0) {
		rmdir(GROUP);
		SKIP("no control group counts memory here");
	}
}

/* A child in the group; it does what it is told to, and waits to be ended. */
static pid_t child_in_group(int told[2], int done[2], unsigned int own, int *fd)
{
	char byte = 0;
	pid_t pid;

	ASSERT_OK(pipe(told));
	ASSERT_OK(pipe(done));
	pid = fork();
	ASSERT_OK(pid);
	if (pid)
		return pid;
	write_text(GROUP "/cgroup.procs", "0");
	if (own)
		*fd = tw_open();
	ASSERT_EQ(1, write(done[1], &byte, 1));
	ASSERT_EQ(1, read(told[0], &byte, 1));
	arm_many(*fd, MANY, HOUR);
	ASSERT_EQ(1, write(done[1], &byte, 1));
	ASSERT_EQ(1, read(told[0], &byte, 1));
	close(*fd);
	ASSERT_EQ(1, write(done[1], &byte, 1));
	ASSERT_EQ(1, read(told[0], &byte, 1));
	_exit(0);
}

static void step(int told[2], int done[2])
{
	char byte = 0;

	if (told)
		ASSERT_EQ(1, write(told[1], &byte, 1));
	ASSERT_EQ(1, read(done[0], &byte, 1));
}

static void end(pid_t pid, int told[2])
{
	char byte = 0;
	int status;

	ASSERT_EQ(1, write(told[1], &byte, 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	rmdir(GROUP);
}

TEST(the_opener_is_charged)
{
	long long before, full, after = -1;
	int told[2], done[2], fd = -1, i;
	pid_t pid;

	close(tw_open());
	need_group();
	pid = child_in_group(told, done, true, &fd);
	step(NULL, done);
	before = charged();
	step(told, done);
	full = charged();
	test_say("%lld bytes for each timeout", (full - before) / MANY);
	EXPECT_LE(LEAST, full - before);
	step(told, done);
	/* And it is given back. */
	for (i = 0; i < 100; i++) {
		after = charged();
		if (after - before < LEAST / 4)
			break;
		usleep(100000);
	}
	EXPECT_GT(LEAST / 4, after - before);
	end(pid, told);
}

/* Not whoever arms in a context that is somebody else's. */
TEST(the_user_of_anothers_context_is_not)
{
	int told[2], done[2], fd = tw_open();
	long long before;
	pid_t pid;

	need_group();
	pid = child_in_group(told, done, false, &fd);
	step(NULL, done);
	before = charged();
	step(told, done);
	EXPECT_GT(LEAST, charged() - before);
	EXPECT_EQ(MANY, stats_of(fd).pending);
	step(told, done);
	end(pid, told);
}
