/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timerfds, as tests use them: the kernel's own, or under 'timewheel run' the
 * wheel's.  The same must hold of both.
 */
#ifndef TIMERFD_H
#define TIMERFD_H

#include <sys/timerfd.h>

#include "support.h"

/* What timerfd_gettime() says, in nanoseconds. */
struct tfd_left {
	uint64_t value;
	uint64_t interval;
};

struct itimerspec tfd_spec(uint64_t value_ns, uint64_t interval_ns);
int tfd_open(int flags);
void tfd_set(int fd, uint64_t value_ns, uint64_t interval_ns);
void tfd_set_at(int fd, uint64_t deadline_ns, uint64_t interval_ns);
struct tfd_left tfd_left(int fd);
uint64_t tfd_read(int fd);
void tfd_expect_idle(int fd);
uint64_t tfd_periods(uint64_t first_ns, uint64_t interval_ns, uint64_t now_ns);
void sleep_until(uint64_t deadline_ns);

/* Names of the C library that no header has. */
ssize_t __read_chk(int fd, void *buf, size_t count, size_t size);
ssize_t __read(int fd, void *buf, size_t count);

bool tfd_is_kernels(int fd);
unsigned int contexts_open(int *fd);
unsigned int fds_open(void);
bool served(void);

#endif /* TIMERFD_H */
