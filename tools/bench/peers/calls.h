/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A context of /dev/timewheel that is used by calls: what the two peers that do so
 * have in common.
 */
#ifndef CALLS_H
#define CALLS_H

#include <linux/timewheel.h>

#include "../common.h"
#include "peer.h"

/**
 * struct calls - a context with a wheel of its own
 * @fd: the open file
 * @worker: the wheel's thread
 * @ids: of each timeout the id that the kernel gave it
 * @ops: what is asked for in one call
 * @events: what was read
 */
struct calls {
	int fd;
	pid_t worker;
	uint64_t *ids;
	struct timewheel_op ops[BATCH];
	struct timewheel_event events[BATCH];
};

void *calls_open(unsigned int capacity);
unsigned int calls_collect(void *self, uint32_t *expired, bool wait);
pid_t calls_worker(void *self);
void calls_close(void *self);
const char *timewheel_missing(void);

#endif /* CALLS_H */
