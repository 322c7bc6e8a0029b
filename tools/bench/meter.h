/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a piece of a program costs.
 */
#ifndef METER_H
#define METER_H

#include <stdint.h>
#include <sys/types.h>

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
uint64_t meter_cpu_ns(const struct meter *m);

#endif /* METER_H */
