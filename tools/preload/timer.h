/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers that the wheel keeps.
 */
#ifndef TIMER_H
#define TIMER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct context;

/**
 * struct timer - what stands behind a timerfd
 * @next: in the pool
 * @refs: descriptors that stand for it, and threads that are at it
 * @settings: how often it was set; goes round
 * @context: the context that @id is of
 * @id: its timeout in the wheel
 * @deadline_ns: first expiration that nobody has read; monotonic clock
 * @interval_ns: period, 0 for none
 * @armed: the timeout is pending, or has expired and nobody has read that
 * @exposed: the descriptor may be known elsewhere: in an epoll set, by a duplicate,
 *	in another process, in a thread that reads
 * @shared: another process may have it
 * @was_set: it has been set before
 *
 * All but @refs under the timer's lock; @settings and @exposed are read without.
 */
struct timer {
	struct timer *next;
	atomic_uint refs;
	atomic_uint settings;
	struct context *context;
	uint64_t id;
	uint64_t deadline_ns;
	uint64_t interval_ns;
	bool armed;
	atomic_bool exposed;
	bool shared;
	bool was_set;
};

int timer_open(int flags);
bool timer_try_get(struct timer *t);
void timer_put(struct timer *t);
void timer_expose(struct timer *t);
void timer_share(struct timer *t);
void timer_share_locked(struct timer *t);

int timer_set(struct timer *t, int fd, int flags, const struct itimerspec *new,
	      struct itimerspec *old);
int timer_get(struct timer *t, int fd, struct itimerspec *now);

enum timer_read {
	TIMER_READ,	/* what the kernel said is what the program gets */
	TIMER_COUNTED,	/* but with another number */
	TIMER_AGAIN,	/* there was nothing to read */
};

unsigned int timer_read_begins(struct timer *t);
enum timer_read timer_was_read(struct timer *t, int fd, unsigned int settings,
			       ssize_t len, uint64_t *expirations);

#endif /* TIMER_H */
