/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread of a context's own wheel, and how long it ran.
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdint.h>
#include <sys/types.h>

pid_t worker_of(int fd);
uint64_t worker_ran_ns(pid_t pid);

#endif /* WORKER_H */
