// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of the loading of the module fails once: what does not load
 * leaves nothing behind, and what loads all the same works.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "faults.h"
#include "module.h"
#include "support.h"

static const char *const places[] = {
	DEVICE,
	"/sys/module/timewheel",
	"/sys/class/misc/timewheel",
	"/sys/kernel/debug/timewheel",
	"/sys/kernel/tracing/events/timewheel",
};

/* Words of a log that no failure of memory excuses. */
static const char *const complaints[] = {
	"BUG:", "Oops", "KASAN", "KCSAN", "UBSAN", "ODEBUG",
	"general protection", "unable to handle", "possible circular",
	"inconsistent lock", "possible recursive", "refcount_t", "leaked",
	"Objects remaining", "corruption", "scheduling while atomic",
	"sleeping function", "suspicious RCU", "hung task", "lockup",
};

/*
 * Tracing and jump labels warn when they get no memory for a module: that is not
 * of the module's making, as long as the place named is not in it.
 */
static bool is_complaint(const char *line)
{
	unsigned int i;

	if (strstr(line, "WARNING:"))
		return strstr(line, "[timewheel]");
	for (i = 0; i < ARRAY_SIZE(complaints); i++)
		if (strstr(line, complaints[i]))
			return true;
	return false;
}

static void expect_no_complaint(int log)
{
	char line[2048];
	ssize_t len;

	while ((len = read(log, line, sizeof(line) - 1)) > 0 ||
	       (len < 0 && errno == EPIPE)) {
		if (len < 0)
			continue;
		line[len] = '\0';
		line[strcspn(line, "\n")] = '\0';
		if (is_complaint(line))
			test_fail(__FILE__, __LINE__, "the kernel says: %s", line);
	}
}

/* A thread of the module's: timewheel/NAME. */
static bool has_thread(void)
{
	char path[300], name[64];
	struct dirent *entry;
	bool ret = false;
	ssize_t len;
	DIR *dir;
	int fd;

	dir = opendir("/proc");
	ASSERT_TRUE(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		len = read(fd, name, sizeof(name) - 1);
		close(fd);
		ret |= len > 10 && !strncmp(name, "timewheel/", 10);
	}
	closedir(dir);
	return ret;
}

static void expect_nothing_left(unsigned int nth)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!access(places[i], F_OK))
			test_fail(__FILE__, __LINE__, "allocation %u: %s is left",
				  nth, places[i]);
	if (has_thread())
		test_fail(__FILE__, __LINE__, "allocation %u: a thread is left", nth);
}

/* Open beforehand: that is not part of the load. */
static int open_module(void)
{
	const char *path = getenv("TIMEWHEEL_KO") ?: "/lib/timewheel/timewheel.ko";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ASSERT_OK(fd);
	return fd;
}

/* A thread that can't be made may be told of as EAGAIN. */
static bool is_want_of_memory(int err)
{
	return err == ENOMEM || err == EAGAIN;
}

static void expect_works(void)
{
	int fd = tw_open();

	arm(fd, 0, 7);
	EXPECT_EQ(7, read_event(fd).user_data);
	close(fd);
}

static void walk_load(pid_t whose)
{
	unsigned int nth, failed = 0, absorbed = 0;
	int fd = faults_of(whose), ko = open_module(), log = kernel_log(), ret, err;
	bool happened = true;

	ASSERT_OK(module_unload());
	expect_nothing_left(0);
	for (nth = 1; happened; nth++) {
		ASSERT_GT(FAULTS_MAX, nth);
		fail_nth(fd, nth);
		ret = syscall(SYS_finit_module, ko, "", 0);
		err = errno;
		happened = fail_happened(fd);
		if (ret) {
			failed++;
			if (!happened || !is_want_of_memory(err))
				test_fail(__FILE__, __LINE__, "allocation %u: %s",
					  nth, strerror(err));
			expect_nothing_left(nth);
		} else {
			absorbed += happened;
			expect_works();
			ASSERT_OK(module_unload());
		}
		expect_no_complaint(log);
		if (nth % 50 == 0)
			test_say("%u allocations so far", nth);
	}
	test_say("%u allocations, %u of them fail the load, it does without %u",
		 nth - 2, failed, absorbed);
	expect_nothing_left(nth);
	close(log);
}

/* Whatever becomes of the walk, the console speaks again and the module is back. */
static void walk_quietly(pid_t whose)
{
	int status;
	pid_t pid;

	need_module();
	need_faults();
	log_quiet();
	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		walk_load(whose);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	log_loud();
	EXPECT_EQ(0, status);
	module_restore();
}

TEST_LIMIT(each_allocation_of_the_load, 1500)
{
	walk_quietly(0);
}

TEST_LIMIT(each_allocation_of_kthreadd, 300)
{
	walk_quietly(2);
}

/* All those failed loads together. */
TEST_LIMIT(nothing_leaked, 60)
{
	need_module();
	need_faults();
	leaks_end();
}
