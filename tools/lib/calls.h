/* SPDX-License-Identifier: MIT */
/*
 * What the threads that use a handle with calls have in common.
 */
#ifndef CALLS_H
#define CALLS_H

#include <linux/timewheel.h>
#include <pthread.h>
#include <stdbool.h>

#include "late.h"

#define CALLS_EVENTS	128U

/**
 * struct calls - events on their way from read() to the program
 * @lock: guards what is below, and makes reading one
 * @events: events read and not yet delivered
 * @nr: how many there were
 * @at: the first of them that is left
 * @late: ids cancelled whose event was on its way
 * @periodic: there may be periodic timeouts
 *
 * It holds no more events than the timewheel_drain() calls under way are going to
 * deliver: whoever fills it asks for as many as he lacks.  So between two of them
 * all that waits is in the kernel, and the descriptor says so.
 */
struct calls {
	pthread_mutex_t lock; /* the events read */
	struct timewheel_event events[CALLS_EVENTS];
	unsigned int nr;
	unsigned int at;
	struct late late;
	bool periodic;
};

void calls_init(struct calls *calls);
void calls_destroy(struct calls *calls);

#endif /* CALLS_H */
