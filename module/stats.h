/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The books of a wheel: every armed timeout ends in exactly one way, and these
 * counters prove it.
 */
#ifndef TIMEWHEEL_STATS_H
#define TIMEWHEEL_STATS_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/timewheel.h>

#include <asm/local64.h>

/**
 * struct books_producer - what producers count, each on its own CPU
 * @armed: adds that succeeded
 * @rearmed: moves by rearm; a touch is one store and leaves no trace
 * @cancelled: cancels that prevented an expiry
 * @rejected: adds refused
 *
 * Counted by whoever runs on the CPU, an interrupt in the middle of a count too.
 */
struct books_producer {
	local64_t armed;
	local64_t rearmed;
	local64_t cancelled;
	local64_t rejected;
};

/**
 * struct timewheel_books - the books of a wheel, as far as the worker keeps them; the
 *	rest is &struct timewheel.producer
 * @fired: expiries
 * @unprocessed: timeouts that a stop ended
 * @overruns: periods without an expiry of their own
 * @wakeups: times the worker woke
 * @passes: times it went over the wheel
 * @lateness: expiries by lateness, see lateness_bucket()
 */
struct timewheel_books {
	u64 fired;
	u64 unprocessed;
	u64 overruns;
	u64 wakeups;
	u64 passes;
	u64 lateness[TIMEWHEEL_LATENESS_BUCKETS];
};

/**
 * struct books_sum - a look at the books; they balance when nothing is under way
 * @armed: adds that succeeded
 * @rearmed: moves
 * @cancelled: cancels that prevented an expiry
 * @rejected: adds refused
 * @fired: expiries
 * @unprocessed: timeouts that a stop ended
 * @pending: armed, and not yet any of the others
 */
struct books_sum {
	u64 armed;
	u64 rearmed;
	u64 cancelled;
	u64 rejected;
	u64 fired;
	u64 unprocessed;
	u64 pending;
};

/* One more of what producers count; the caller can't be preempted. */
static inline void books_count(local64_t __percpu *what)
{
	local64_inc(this_cpu_ptr(what));
}

/* The same for the worker, which can. */
static inline void books_count_here(local64_t __percpu *what)
{
	preempt_disable();
	books_count(what);
	preempt_enable();
}

/* Bucket 0 is 0 ns, bucket n is 2^(n-1) to 2^n - 1 ns, the last all above. */
static inline unsigned int lateness_bucket(u64 late_ns)
{
	return min_t(unsigned int, fls64(late_ns),
		     TIMEWHEEL_LATENESS_BUCKETS - 1);
}

int books_init(struct timewheel *wheel);
void books_destroy(struct timewheel *wheel);
void books_read(const struct timewheel *wheel, struct books_sum *sum);

#endif /* TIMEWHEEL_STATS_H */
