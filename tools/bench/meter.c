// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a piece of a program costs.
 *
 * Two figures: the time the caller took, by the clock, and the CPU time that the
 * process and the wheel's worker together took until all was done.
 */
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "meter.h"
#include "worker.h"

/* Longer than anything lies in a wheel's queue or ring. */
#define SETTLE_US	150000
/* What a worker that looks into an empty ring takes meanwhile, and more. */
#define SETTLED_NS	(1 * MS)

static uint64_t process_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

struct meter meter_start(pid_t worker)
{
	struct meter m = {
		.worker = worker,
		.worker_ns = worker ? worker_ran_ns(worker) : 0,
		.cpu_ns = process_ns(),
	};

	m.wall_ns = now_ns();
	return m;
}

/* The caller's part begins now, after what the kernel did first. */
void meter_calls(struct meter *m)
{
	m->wall_ns = now_ns();
}

/* The caller is done; the worker may not be. */
void meter_called(struct meter *m)
{
	m->wall_ns = now_ns() - m->wall_ns;
	m->cpu_ns = process_ns() - m->cpu_ns;
}

/* Wait until the worker has nothing left to do: then it takes no CPU time. */
void meter_settled(struct meter *m)
{
	uint64_t last, ran = worker_ran_ns(m->worker);

	do {
		last = ran;
		usleep(SETTLE_US);
		ran = worker_ran_ns(m->worker);
	} while (ran - last > SETTLED_NS);
	m->worker_ns = ran - m->worker_ns;
}

/* All CPU time that it took. */
uint64_t meter_cpu_ns(const struct meter *m)
{
	return m->cpu_ns + (m->worker ? m->worker_ns : 0);
}
