// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much kernel memory a timeout takes: measured.
 *
 * A child moves into a control group of its own, makes many timeouts, and the
 * parent reads what the group was charged for the kernel's sake in between
 * (memory.stat, "kernel").  Where there is no such group, the machine's slabs
 * and vmalloc areas are looked at instead, which counts what others do too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "memory.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define BATCH		1024
#define FAR_NS		3600000000000ULL

static char group[128];

static int write_file(const char *path, const char *text)
{
	ssize_t len;
	int fd;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = write(fd, text, strlen(text));
	close(fd);
	return len == (ssize_t)strlen(text) ? 0 : -1;
}

static int64_t read_key(const char *path, const char *key)
{
	int64_t value = -1;
	char line[256];
	FILE *file;

	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		size_t len = strlen(key);

		if (!strncmp(line, key, len) && strchr(" :\t", line[len])) {
			value = strtoll(line + len + 1, NULL, 10);
			break;
		}
	}
	fclose(file);
	return value;
}

/* A group of our own, if the memory controller is to be had. */
static int make_group(void)
{
	char path[160];

	snprintf(group, sizeof(group), CGROUP_ROOT "/timewheel-demo-%d", getpid());
	if (mkdir(group, 0755))
		return -1;
	snprintf(path, sizeof(path), "%s/memory.stat", group);
	if (read_key(path, "kernel") >= 0)
		return 0;
	rmdir(group);
	return -1;
}

static int enter_group(void)
{
	char path[160], pid[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	snprintf(pid, sizeof(pid), "%d", getpid());
	return write_file(path, pid);
}

static int64_t kernel_bytes(int grouped)
{
	char path[160];

	if (grouped) {
		/* memory.stat lags; reading cpu.stat brings all up to date. */
		snprintf(path, sizeof(path), "%s/cpu.stat", group);
		read_key(path, "usage_usec");
		snprintf(path, sizeof(path), "%s/memory.stat", group);
		return read_key(path, "kernel");
	}
	return (read_key("/proc/meminfo", "Slab") +
		read_key("/proc/meminfo", "VmallocUsed")) * 1024;
}

static void child(int grouped, int up, int down, unsigned int nr, memory_fill *fill)
{
	char byte = 0;

	if (grouped && enter_group())
		_exit(1);
	/* Ready; go; done; end. */
	if (write(up, &byte, 1) != 1 || read(down, &byte, 1) != 1 || fill(nr) ||
	    write(up, &byte, 1) != 1 || read(down, &byte, 1) != 1)
		_exit(1);
	_exit(0);
}

static int64_t difference(int grouped, unsigned int nr, memory_fill *fill)
{
	int64_t before, after, used = -1;
	int up[2], down[2];
	char byte = 0;
	pid_t pid;

	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC))
		return -1;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(up[0]);
		close(down[1]);
		child(grouped, up[1], down[0], nr, fill);
	}
	close(up[1]);
	close(down[0]);
	if (pid > 0 && read(up[0], &byte, 1) == 1) {
		before = kernel_bytes(grouped);
		if (write(down[1], &byte, 1) == 1 && read(up[0], &byte, 1) == 1) {
			after = kernel_bytes(grouped);
			if (before >= 0 && after > before)
				used = after - before;
		}
	}
	close(up[0]);
	close(down[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return used;
}

/**
 * memory_measure() - kernel memory of a timeout
 * @nr: how many to make
 * @fill: makes them
 * @use: out: the answer
 */
void memory_measure(unsigned int nr, memory_fill *fill, struct memory_use *use)
{
	int grouped = !make_group();
	int64_t used;

	signal(SIGPIPE, SIG_IGN);
	used = difference(grouped, nr, fill);
	use->nr = nr;
	use->grouped = grouped;
	use->how = grouped ? "memory.stat of a control group, kernel" :
			     "/proc/meminfo, Slab and VmallocUsed";
	use->bytes = used < 0 ? -1 : (double)used / nr;
	if (grouped)
		rmdir(group);
}

/**
 * memory_fill_wheel() - arm timeouts in a context
 * @nr: how many
 */
int memory_fill_wheel(unsigned int nr)
{
	struct timewheel *tw;
	unsigned int i;
	uint64_t id;
	int err;

	err = timewheel_open(&tw, NULL);
	for (i = 0; !err && i < nr; i++)
		err = timewheel_arm(tw, FAR_NS, i, &id);
	errno = -err;
	return err ? -1 : 0;
}

/**
 * memory_fill_timerfd() - arm timerfds, each in an epoll set
 * @nr: how many
 */
int memory_fill_timerfd(unsigned int nr)
{
	struct itimerspec its = { .it_value.tv_sec = FAR_NS / 1000000000 };
	struct epoll_event ev = { .events = EPOLLIN };
	unsigned int i;
	int epfd, fd;

	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epfd < 0)
		return -1;
	for (i = 0; i < nr; i++) {
		fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		if (fd < 0 || timerfd_settime(fd, 0, &its, NULL) ||
		    epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev))
			return -1;
	}
	return 0;
}
