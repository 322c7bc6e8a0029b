/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What operations cost: those measured, and their medians.
 */
#ifndef COSTS_H
#define COSTS_H

#include <stdbool.h>

#include "../meter.h"

/* What is measured. */
enum measure {
	REFRESH_STORE,
	REFRESH_TOUCH,
	REFRESH_SETTIME,
	ARM_RING,
	ARM_LIBRARY,
	ARM_IOCTL,
	ARM_TIMERFD,
	ARM_URING,
	CANCEL_RING,
	CANCEL_LIBRARY,
	CANCEL_CLOSE,
	CANCEL_URING,
	COLLECT_RING,
	COLLECT_LIBRARY,
	COLLECT_TIMERFD,
	MEASURES
};

void costs_record(const struct meter *m, enum measure what, unsigned int nr);

double median_caller(enum measure what);
double median_cpu(enum measure what);
bool measured(enum measure what);

#endif /* COSTS_H */
