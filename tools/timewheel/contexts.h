/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The open contexts of other processes, found in /proc.
 */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include <sys/types.h>

#define CONTEXT_MAX_KEYS 32

/**
 * struct context - an open file of /dev/timewheel
 * @pid: a process that has it
 * @fd: its descriptor there
 * @command: the name of the process
 * @nr_keys: how many of @keys there are
 * @keys: what fdinfo says of it, without the common prefix
 */
struct context {
	pid_t pid;
	int fd;
	char command[32];
	unsigned int nr_keys;
	struct {
		char name[32];
		char value[64];
	} keys[CONTEXT_MAX_KEYS];
};

/**
 * struct context_scan - what a walk over /proc did not see
 * @found: contexts seen
 * @denied: processes whose files may not be looked at
 */
struct context_scan {
	unsigned int found;
	unsigned int denied;
};

typedef void context_fn(const struct context *context, void *data);

int contexts_of(pid_t pid, struct context_scan *scan, context_fn *fn, void *data);
int contexts_all(struct context_scan *scan, context_fn *fn, void *data);
const char *context_value(const struct context *context, const char *name);

#endif /* CONTEXTS_H */
