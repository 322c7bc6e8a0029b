/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Making the kernel's allocations fail, one after the other: fault injection by
 * /proc/PID/fail-nth, on kernels that have it.
 */
#ifndef SELFTEST_FAULTS_H
#define SELFTEST_FAULTS_H

#include <stdbool.h>
#include <sys/types.h>

/* More allocations than any call here makes. */
#define FAULTS_MAX	20000

void need_faults(void);
int faults_of(pid_t pid);
void fail_nth(int fd, unsigned int nth);
bool fail_happened(int fd);

void leaks_begin(void);
void leaks_end(void);

void log_quiet(void);
void log_loud(void);

#endif /* SELFTEST_FAULTS_H */
