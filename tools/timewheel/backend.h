/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who keeps the timeouts of a replay.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include <stdint.h>
#include <sys/types.h>

#include "timeouts.h"

/* Is given the cookie of a timeout that has expired. */
typedef void backend_expired_fn(void *data, uint64_t cookie);

/**
 * struct backend - one that is in use
 * @ops: what it can do
 * @timeouts: what it keeps
 * @capacity: at most so many at once
 * @expired: called by the op collect
 * @data: for @expired
 * @fd: readable when something may have expired
 * @worker: a thread of the kernel that works for it alone, or 0
 * @tick_ns: how exact it is, 0 if it has no tick
 * @lost: timeouts that it did not know of when they were cancelled, and that had
 *	not expired
 * @own: its own
 */
struct backend {
	const struct backend_ops *ops;
	struct timeouts *timeouts;
	uint32_t capacity;
	backend_expired_fn *expired;
	void *data;
	int fd;
	pid_t worker;
	uint64_t tick_ns;
	uint64_t lost;
	void *own;
};

/**
 * struct backend_ops - what a kind of them can do
 * @name: what is typed
 * @open: make ready; it fills in what is not for the caller to fill
 * @arm: arm the timeout @index, whose deadline is set
 * @refresh: the same for one that is armed, and has another deadline now
 * @cancel: see that one which is armed does not expire
 * @flush: have done what was asked for
 * @collect: tell what has expired; it does not wait
 * @close: give all back
 *
 * @arm, @refresh, @cancel and @flush return 0, or -EAGAIN: nothing more is taken until
 * events have been collected.  On all other errors they do not return.
 */
struct backend_ops {
	const char *name;
	void (*open)(struct backend *b);
	int (*arm)(struct backend *b, uint32_t index);
	int (*refresh)(struct backend *b, uint32_t index);
	int (*cancel)(struct backend *b, uint32_t index);
	int (*flush)(struct backend *b);
	void (*collect)(struct backend *b);
	void (*close)(struct backend *b);
};

extern const struct backend_ops backend_batch;
extern const struct backend_ops backend_ring;
extern const struct backend_ops backend_lease;
extern const struct backend_ops backend_timerfd;
extern const struct backend_ops backend_heap;

#endif /* BACKEND_H */
