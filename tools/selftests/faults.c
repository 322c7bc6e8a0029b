// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making the kernel's allocations fail, one after the other.
 */
#include <stdlib.h>
#include <sys/klog.h>

#include "faults.h"
#include "support.h"

#define DEBUG_DIR	"/sys/kernel/debug/"
#define KMEMLEAK	DEBUG_DIR "kmemleak"
#define CONSOLE_LEVEL	8	/* of syslog(2): what goes to the console */
#define IGNORE_LOGLEVEL	"/sys/module/printk/parameters/ignore_loglevel"

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ret;

	if (fd < 0)
		return false;
	ret = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ret;
}

/* Goes on only where allocations can be made to fail; then all of them can. */
void need_faults(void)
{
	static const char *const settings[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/verbose", "0" },
	};
	char path[128];
	unsigned int i;

	if (geteuid())
		SKIP("only root can make allocations fail");
	if (access("/proc/self/fail-nth", W_OK) || access(DEBUG_DIR "failslab", F_OK))
		SKIP("this kernel has no fault injection");
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), DEBUG_DIR "%s", settings[i][0]);
		if (!write_text(path, settings[i][1]))
			SKIP("cannot write to %s", path);
	}
}

/* For fail_nth() of a process of one thread; 0 is this one. */
int faults_of(pid_t pid)
{
	char path[64] = "/proc/self/fail-nth";
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/fail-nth", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_OK(fd);
	return fd;
}

/* Its @nth allocation from here on fails; 0 for none. */
void fail_nth(int fd, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	ASSERT_EQ(len, pwrite(fd, text, len, 0));
}

/* Whether it has come to that; and from here on none fails. */
bool fail_happened(int fd)
{
	char text[16] = "";

	ASSERT_LT(0, pread(fd, text, sizeof(text) - 1, 0));
	fail_nth(fd, 0);
	return strtoul(text, NULL, 10) == 0;
}

/* What leaked before is not ours. */
void leaks_begin(void)
{
	write_text(KMEMLEAK, "clear");
}

/* A leak is told of when it is 5 s old, and was found twice. */
void leaks_end(void)
{
	char text[4096];
	ssize_t len;
	int fd;

	if (access(KMEMLEAK, R_OK))
		return;
	sleep(6);
	write_text(KMEMLEAK, "scan");
	write_text(KMEMLEAK, "scan");
	fd = open(KMEMLEAK, O_RDONLY | O_CLOEXEC);
	ASSERT_OK(fd);
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	ASSERT_OK(len);
	text[len] = '\0';
	if (len)
		test_fail(__FILE__, __LINE__, "kmemleak tells:\n%s", text);
}

/*
 * The kernel itself complains, with a trace of calls, when some allocations of
 * the loading of a module fail.  Then whoever watches the console must not see
 * it, and the test reads the log for itself.
 */
void log_quiet(void)
{
	write_text(IGNORE_LOGLEVEL, "N");
	klogctl(CONSOLE_LEVEL, NULL, 1);
}

void log_loud(void)
{
	klogctl(CONSOLE_LEVEL, NULL, 7);
	write_text(IGNORE_LOGLEVEL, "Y");
}
