/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many system calls a piece of the program makes: counted by the kernel.
 */
#ifndef SYSCALLS_H
#define SYSCALLS_H

typedef void counted_fn(void *arg);

long syscalls_of(counted_fn *fn, void *arg);

#endif /* SYSCALLS_H */
