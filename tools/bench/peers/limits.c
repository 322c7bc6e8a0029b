// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many of something a process may have.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "peer.h"

/**
 * raise_limit() - have a limit as high as it may be
 * @resource: RLIMIT_NOFILE and its like
 * @want: how many are wanted
 * @what: what they are, for people
 *
 * Return: NULL if there may be as many, else why not.
 */
const char *raise_limit(int resource, unsigned long want, const char *what)
{
	static char reason[160];
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return "the limits of the process cannot be read";
	if (limit.rlim_max < want) {
		/* For who may, as far as the kernel goes. */
		limit.rlim_cur = want;
		limit.rlim_max = want;
		setrlimit(resource, &limit);
		getrlimit(resource, &limit);
	}
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
	if (limit.rlim_cur >= want)
		return NULL;
	snprintf(reason, sizeof(reason), "a process may have %lu %s here, and %lu are needed",
		 (unsigned long)limit.rlim_cur, what, want);
	return reason;
}
