/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What operations cost: those measured, and the table of them.
 */
#ifndef METER_H
#define METER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#define ROUNDS_MAX	99U

/**
 * struct meter - a measurement under way
 * @worker: a thread of the kernel that works for the caller, or 0
 * @wall_ns: the clock; between meter_called() and the end, the time it took
 * @cpu_ns: the same of the process's CPU time
 * @worker_ns: the same of the worker's
 */
struct meter {
	pid_t worker;
	uint64_t wall_ns, cpu_ns, worker_ns;
};

struct meter meter_start(pid_t worker);
void meter_calls(struct meter *m);
void meter_called(struct meter *m);
void meter_settled(struct meter *m);
void meter_record(const struct meter *m, enum measure what, unsigned int nr);

double median_caller(enum measure what);
double median_cpu(enum measure what);
bool measured(enum measure what);

#endif /* METER_H */
