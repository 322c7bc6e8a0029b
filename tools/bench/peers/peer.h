/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A peer: something that keeps timeouts for a program.  One file for each, and the
 * rest of the bench knows them by this alone.
 */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

#include "../common.h"

/**
 * struct work - what a peer is asked to do, to one timeout after the other
 * @index: which ones, by a number below the capacity
 * @deadline_ns: when they are due, on CLOCK_MONOTONIC; NULL to cancel
 * @nr: how many
 *
 * A peer that takes many in a call takes them by BATCH, the others one by one.
 */
struct work {
	const uint32_t *index;
	const uint64_t *deadline_ns;
	unsigned int nr;
};

/**
 * struct peer - what it can do
 * @name: as in the rows
 * @in_interrupt: it expires in an interrupt of the CPU that armed it, of whose time
 *	nobody keeps account
 * @missing: why there is no such peer here, or NULL; optional
 * @limit: raises the limits that so many timeouts meet; why there cannot be as many,
 *	or NULL; optional
 * @open: a place for so many timeouts
 * @share: from now on several threads use it at once; without it, each opens its own
 * @arm: timeouts that are not armed
 * @refresh: timeouts that are, to other deadlines
 * @cancel: timeouts that are armed
 * @flush: have done at once what was asked for and may still lie about; nobody has to
 *	call it, for all is done in time without; optional
 * @collect: the timeouts that have expired since last time, with room for all; waits
 *	for the first if told to
 * @worker: the thread of the kernel that works for it; optional
 * @close: gives all back
 *
 * Whatever fails ends the process, by fail().
 */
struct peer {
	const char *name;
	bool in_interrupt;
	const char *(*missing)(void);
	const char *(*limit)(unsigned int capacity);
	void *(*open)(unsigned int capacity);
	void (*share)(void *self);
	void (*arm)(void *self, const struct work *work);
	void (*refresh)(void *self, const struct work *work);
	void (*cancel)(void *self, const struct work *work);
	void (*flush)(void *self);
	unsigned int (*collect)(void *self, uint32_t *expired, bool wait);
	pid_t (*worker)(void *self);
	void (*close)(void *self);
};

/* How many go into the next call, of those that take many. */
static inline unsigned int batch_at(const struct work *work, unsigned int done)
{
	return least(work->nr - done, BATCH);
}

extern const struct peer peer_ioctl, peer_batch, peer_ring, peer_lease;
extern const struct peer peer_timerfd, peer_timerfd_epoll;
extern const struct peer peer_posix_timer;
extern const struct peer peer_uring;
extern const struct peer peer_user_wheel;
extern const struct peer peer_libevent, peer_libuv;

/* In the order of the rows. */
extern const struct peer *const peers[];
#define PEERS_MAX	16U

/* report.c: ends the process; the reason is that of all that it did not measure. */
__attribute__((__format__(printf, 1, 2)))
noreturn void fail(const char *format, ...);

/* limits.c: why there may be no more of @resource, or NULL */
const char *raise_limit(int resource, unsigned long want, const char *what);

#endif /* PEER_H */
