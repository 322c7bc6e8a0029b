// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of a context's own wheel, and how long it ran.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "worker.h"

/* The line "KEY<tab>VALUE" of a file; VALUE without the newline. */
static void read_value(const char *path, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);
	FILE *file = fopen(path, "r");
	char line[256];

	value[0] = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, len))
			continue;
		snprintf(value, size, "%s", line + len);
		value[strcspn(value, "\n")] = '\0';
		break;
	}
	if (file)
		fclose(file);
}

/**
 * worker_of() - the thread of a context's own wheel
 * @fd: the context
 *
 * Return: its process id, 0 if it was not found.
 */
pid_t worker_of(int fd)
{
	char path[300], wheel[64], want[128], comm[64];
	struct dirent *entry;
	pid_t pid = 0;
	DIR *proc;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_value(path, "timewheel-wheel:\t", wheel, sizeof(wheel));
	snprintf(want, sizeof(want), "timewheel/%s", wheel);
	proc = opendir("/proc");
	while (!pid && proc && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		read_value(path, "", comm, sizeof(comm));
		if (!strcmp(comm, want))
			pid = atoi(entry->d_name);
	}
	if (proc)
		closedir(proc);
	return pid;
}

/**
 * worker_ran_ns() - how long a thread ran, to this moment
 * @pid: the thread
 *
 * Return: nanoseconds; 0 if there is no such thread.
 */
uint64_t worker_ran_ns(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}
