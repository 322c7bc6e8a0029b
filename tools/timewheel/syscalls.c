// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many system calls this process makes, by the kernel's own count: a performance
 * counter of the tracepoint that each of them passes.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscalls.h"

#define ID_FILE	"/sys/kernel/tracing/events/raw_syscalls/sys_enter/id"

/**
 * syscalls_open() - count from now on
 *
 * Return: a descriptor; -1 if the kernel does not count them, or not for this user.
 */
int syscalls_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
	};
	FILE *file = fopen(ID_FILE, "re");
	unsigned long long id;
	int got;

	if (!file)
		return -1;
	got = fscanf(file, "%llu", &id);
	fclose(file);
	if (got != 1)
		return -1;
	attr.config = id;
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/**
 * syscalls_read() - how many there were so far
 * @fd: that of syscalls_open(), or -1
 *
 * Return: how many, this one included; -1 if they are not counted.
 */
int64_t syscalls_read(int fd)
{
	uint64_t nr;

	return fd >= 0 && read(fd, &nr, sizeof(nr)) == sizeof(nr) ? (int64_t)nr : -1;
}
