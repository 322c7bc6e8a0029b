/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was measured of one peer with so many live: filled by a child process, in
 * memory that it shares with the bench.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>

#include "peer.h"

/* What is measured; operations.c has the names. */
enum operation {
	ARM,
	REFRESH,
	CANCEL,
	EXPIRE,
	ARM_THREADS,
	REFRESH_THREADS,
	LATENESS,
	EARLY,
	IDLE_WAKEUPS,
	IDLE_SWITCHES,
	IDLE_CPU,
	MEMORY_KERNEL,
	MEMORY_PROCESS,
	ARM_SYSCALLS,
	REFRESH_SYSCALLS,
	CANCEL_SYSCALLS,
	EXPIRE_SYSCALLS,
	OPERATIONS
};

#define REASON_BYTES	200U

/**
 * struct figure - what an operation costs
 * @there: it was measured
 * @value: in the operation's unit
 * @cpu: all CPU time it caused, NAN if that is not known
 * @p50: quantiles of what @value is the mean of, NAN if there are none
 * @p99: see @p50
 * @p999: see @p50
 * @reason: why it is not @there
 */
struct figure {
	bool there;
	double value;
	double cpu;
	double p50;
	double p99;
	double p999;
	char reason[REASON_BYTES];
};

/**
 * struct report - what a child measured
 * @figures: of each operation
 * @reason: why it ended before it had measured all
 */
struct report {
	struct figure figures[OPERATIONS];
	char reason[REASON_BYTES];
};

struct report *report_begin(void);
void report_cost(enum operation what, double value, double cpu);
void report_value(enum operation what, double value);
void report_quantiles(enum operation what, double *sorted, unsigned int nr);
void report_none(enum operation what, const char *reason);

#endif /* REPORT_H */
