/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many system calls this process makes.
 */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include <stdint.h>

int syscalls_open(void);
int64_t syscalls_read(int fd);

#endif /* SYSCALLS_H */
