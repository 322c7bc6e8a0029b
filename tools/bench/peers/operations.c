// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the operations are called, and which go together.
 */
#include <string.h>

#include "operations.h"

const struct operation_name operation_names[OPERATIONS] = {
	[ARM] = { "arm", "arm", NULL },
	[REFRESH] = { "refresh", "refresh", NULL },
	[CANCEL] = { "cancel", "cancel", NULL },
	[EXPIRE] = { "expire", "expire", NULL },
	[ARM_THREADS] = { "arm-2-threads", "threads", NULL },
	[REFRESH_THREADS] = { "refresh-2-threads", "threads", NULL },
	[LATENESS] = { "lateness", "lateness", "ns" },
	[EARLY] = { "early", "lateness", "count" },
	[IDLE_WAKEUPS] = { "idle-wakeups", "idle", "count" },
	[IDLE_SWITCHES] = { "idle-switches", "idle", "count" },
	[IDLE_CPU] = { "idle-cpu", "idle", "ns" },
	[MEMORY_KERNEL] = { "memory-kernel", "memory", "bytes" },
	[MEMORY_PROCESS] = { "memory-process", "memory", "bytes" },
	[ARM_SYSCALLS] = { "arm-syscalls", "syscalls", "count" },
	[REFRESH_SYSCALLS] = { "refresh-syscalls", "syscalls", "count" },
	[CANCEL_SYSCALLS] = { "cancel-syscalls", "syscalls", "count" },
	[EXPIRE_SYSCALLS] = { "expire-syscalls", "syscalls", "count" },
};

/* Whether a list with commas has @word; all is in no list. */
bool listed(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *at = list;

	if (!list)
		return true;
	while ((at = strstr(at, word))) {
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
		at += len;
	}
	return false;
}

bool group_known(const char *group, size_t len)
{
	unsigned int i;

	for (i = 0; i < OPERATIONS; i++)
		if (strlen(operation_names[i].group) == len &&
		    !memcmp(operation_names[i].group, group, len))
			return true;
	return false;
}
