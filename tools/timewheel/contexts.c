// SPDX-License-Identifier: GPL-2.0-only
/*
 * The open contexts of other processes, found in /proc.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contexts.h"
#include "device.h"

#define PREFIX "timewheel-"

static void read_command(struct context *context)
{
	char path[64];
	FILE *file;

	strcpy(context->command, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", context->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(context->command, sizeof(context->command), file))
		context->command[strcspn(context->command, "\n")] = '\0';
	fclose(file);
}

/* The lines "timewheel-KEY:<tab>VALUE" of an fdinfo. */
static void read_keys(struct context *context)
{
	char path[64], line[256], *colon, *value;
	FILE *file;

	context->nr_keys = 0;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", context->pid, context->fd);
	file = fopen(path, "re");
	if (!file)
		return;
	while (context->nr_keys < CONTEXT_MAX_KEYS && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		colon = strchr(line, ':');
		if (strncmp(line, PREFIX, strlen(PREFIX)) || !colon)
			continue;
		*colon = '\0';
		value = colon + 1 + strspn(colon + 1, " \t");
		snprintf(context->keys[context->nr_keys].name,
			 sizeof(context->keys[0].name), "%.31s", line + strlen(PREFIX));
		snprintf(context->keys[context->nr_keys].value,
			 sizeof(context->keys[0].value), "%.63s", value);
		context->nr_keys++;
	}
	fclose(file);
}

/*
 * A container has a /dev of its own, elsewhere in our tree.  Files that have another
 * name are not looked at: they may be on a server that does not answer.
 */
static int is_device(pid_t pid, const char *fd)
{
	char path[300], target[PATH_MAX], *name;
	struct stat here, there;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, fd);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return 0;
	target[len] = '\0';
	name = strrchr(target, '/');
	if (!name || strcmp(name, strrchr(DEVICE_PATH, '/')))
		return 0;
	return !stat(DEVICE_PATH, &here) && !stat(path, &there) &&
	       S_ISCHR(there.st_mode) && there.st_rdev == here.st_rdev;
}

/**
 * contexts_of() - the contexts a process has open
 * @pid: the process
 * @scan: counts what was seen
 * @fn: called for each
 * @data: passed to it
 *
 * Return: 0, or -errno when the process can't be looked at.
 */
int contexts_of(pid_t pid, struct context_scan *scan, context_fn *fn, void *data)
{
	struct context context = { .pid = pid };
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir) {
		if (errno == EACCES)
			scan->denied++;
		return -errno;
	}
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !is_device(pid, entry->d_name))
			continue;
		context.fd = atoi(entry->d_name);
		read_command(&context);
		read_keys(&context);
		scan->found++;
		fn(&context, data);
	}
	closedir(dir);
	return 0;
}

/**
 * contexts_all() - the contexts that all processes have open
 * @scan: counts what was seen
 * @fn: called for each
 * @data: passed to it
 *
 * Return: 0, or -errno when there is no /proc.
 */
int contexts_all(struct context_scan *scan, context_fn *fn, void *data)
{
	struct dirent *entry;
	DIR *dir;

	dir = opendir("/proc");
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			contexts_of(atoi(entry->d_name), scan, fn, data);
	closedir(dir);
	return 0;
}

/**
 * context_value() - what fdinfo says under a key
 * @context: the context
 * @name: the key, without the common prefix
 *
 * Return: its value, or NULL if there is no such key.
 */
const char *context_value(const struct context *context, const char *name)
{
	unsigned int i;

	for (i = 0; i < context->nr_keys; i++)
		if (!strcmp(context->keys[i].name, name))
			return context->keys[i].value;
	return NULL;
}
