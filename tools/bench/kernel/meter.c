// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks, and waiting.
 */

#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "bench.h"

struct meter_expiries meter_expiries;

void meter_init(void)
{
	init_completion(&meter_expiries.done);
}

/* Between batches: others may run, and the module may be unloaded. */
int meter_pause(void)
{
	cond_resched();
	return kthread_should_stop() ? -EINTR : 0;
}

/*
 * Do a step to timeouts, and after each batch have done what it left to others.
 * On one CPU they don't run while the caller does, for a batch is shorter than
 * the 100 ms that the timewheel's worker leaves things lying.
 */
int meter_run(struct bench *b, bench_step step, const u32 *which, u32 nr,
	      struct bench_cost *cost)
{
	u64 begun, called;
	int ret = 0;
	u32 n;

	for (; nr && !ret; nr -= n, which += n) {
		n = min(nr, METER_BATCH);
		begun = ktime_get_ns();
		step(b, which, n);
		called = ktime_get_ns();
		cost->caller_ns += called - begun;
		if (b->peer->settle) {
			b->peer->settle(b);
			cost->settle_ns += ktime_get_ns() - called;
		}
		ret = meter_pause();
	}
	return ret;
}

/* The same, and nobody wants to know. */
int meter_do(struct bench *b, bench_step step, const u32 *which, u32 nr)
{
	struct bench_cost cost = {};

	return meter_run(b, step, which, nr, &cost);
}

/* Nothing is pending that could expire now. */
void meter_expect(u32 nr)
{
	atomic_set(&meter_expiries.fired, 0);
	meter_expiries.due = nr;
	reinit_completion(&meter_expiries.done);
}

u32 meter_fired(void)
{
	return atomic_read(&meter_expiries.fired);
}

/* Until as many have expired as are expected. */
int meter_await(void)
{
	while (!wait_for_completion_timeout(&meter_expiries.done, HZ))
		if (kthread_should_stop())
			return -EINTR;
	return 0;
}

int meter_sleep_until(u64 ns)
{
	ktime_t at = ns_to_ktime(ns);

	while (ktime_get_ns() < ns) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop()) {
			__set_current_state(TASK_RUNNING);
			return -EINTR;
		}
		schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
	}
	return 0;
}
