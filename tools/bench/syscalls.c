// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many system calls a piece of the program makes: counted by the kernel.
 *
 * The tracepoint raw_syscalls:sys_enter writes a record for each one this thread
 * makes, to a trace of our own.  The count includes the one that switches it off,
 * which is how we know that it was on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "syscalls.h"

#define TRACING		"/sys/kernel/tracing/instances/timewheel-bench"
#define RECORD_CMD	"/sys/kernel/tracing/options/record-cmd"
#define SYS_ENTER	TRACING "/events/raw_syscalls/sys_enter/"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(fd);
}

/*
 * A trace with the options of the kernel's own, but for one: names of tasks are learnt
 * as they are switched, for which the scheduler is patched as it runs.  An emulated
 * machine with two CPUs does not always see that right, and dies of it (Oops: int3).
 */
static bool trace_created(void)
{
	int fd = open(RECORD_CMD, O_RDONLY | O_CLOEXEC);
	char was[2] = "";
	bool there;

	if (fd < 0)
		return false;
	there = read(fd, was, 1) == 1;
	close(fd);
	if (!there)
		return false;
	write_file(RECORD_CMD, "0");
	there = !mkdir(TRACING, 0700) && !access(SYS_ENTER, F_OK);
	write_file(RECORD_CMD, was);
	return there;
}

/* Records in the trace. */
static long count_records(void)
{
	FILE *file = fopen(TRACING "/trace", "re");
	char line[512];
	long nr = 0;

	if (!file)
		die(TRACING "/trace");
	while (fgets(line, sizeof(line), file))
		nr += !!strstr(line, " sys_enter: NR ");
	fclose(file);
	return nr;
}

/**
 * syscalls_of() - how many system calls a function makes
 * @fn: the function; at most some ten thousand calls
 * @arg: for it
 *
 * Return: how many; -1 if the kernel does not trace them.
 */
long syscalls_of(counted_fn *fn, void *arg)
{
	char filter[64];
	long nr;
	int fd;

	if (!trace_created()) {
		rmdir(TRACING);
		return -1;
	}
	snprintf(filter, sizeof(filter), "common_pid == %d", gettid());
	write_file(SYS_ENTER "filter", filter);
	write_file(TRACING "/buffer_size_kb", "4096");
	fd = open(SYS_ENTER "enable", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) != 1)
		die(SYS_ENTER "enable");
	fn(arg);
	if (write(fd, "0", 1) != 1)
		die(SYS_ENTER "enable");
	close(fd);
	nr = count_records();
	rmdir(TRACING);
	if (!nr)
		die("the trace, which has nothing in it");
	return nr - 1;
}
