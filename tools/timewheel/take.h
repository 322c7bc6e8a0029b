/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Another program's context, taken by its process id.
 */
#ifndef TAKE_H
#define TAKE_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct taken - a context that another program has open
 * @fd: a descriptor of ours for it
 * @own_wheel: it has a wheel of its own
 */
struct taken {
	int fd;
	bool own_wheel;
};

void take_context(pid_t pid, int theirs, struct taken *taken);

#endif /* TAKE_H */
