// SPDX-License-Identifier: GPL-2.0-only
/*
 * expire: many are due in one tick, on top of what is live.
 * refile: the same, but they were touched, and the wheel files them again.
 *
 * Counted is what all CPUs do from shortly before they are due until the last has
 * expired.  Nobody calls anything meanwhile.  A peer that moves them about before
 * they are due has them due at a time when that is counted, too.
 */

#include <linux/jiffies.h>
#include <linux/time64.h>
#include <linux/ktime.h>

#include "bench.h"

/* How long before they are due they are armed, at first and at last. */
#define EXPIRE_LEAD_MS		500U
#define EXPIRE_MAX_LEAD_MS	16000U

/* Some jiffies of the slowest kernels: a timer_list may be early by one. */
#define EXPIRE_MARGIN_NS	(40 * NSEC_PER_MSEC)

#define EXPIRE_TOO_SLOW		"arming them takes longer than 16 s"

/*
 * Arm @b->extra timeouts, all due in @lead_ms, and put off all but the last if
 * they are to be refiled.  Returns 1 if that was done in time, 0 if not, or
 * -EINTR.
 */
static int expire_arm(struct bench *b, unsigned int lead_ms, bool refile)
{
	const u32 *which = b->in_order + b->live;
	int ret;

	b->due_ns = ktime_get_ns() + (u64)lead_ms * NSEC_PER_MSEC;
	if (b->peer->dear)
		b->due_ns = b->peer->dear(b, b->due_ns);
	b->due_jiffies = jiffies + msecs_to_jiffies(lead_ms);
	meter_expect(refile ? 1 : b->extra);
	ret = meter_do(b, b->peer->add_due, which, b->extra);
	if (!ret && refile) {
		b->later_us = 0;
		ret = meter_do(b, b->peer->touch, which, b->extra - 1);
	}
	if (ret)
		return ret;
	return !meter_fired() && ktime_get_ns() + EXPIRE_MARGIN_NS < b->due_ns;
}

static int expire_measure(struct bench *b, enum bench_operation op, bool refile)
{
	const u32 *which = b->in_order + b->live;
	struct soak_mark mark;
	unsigned int lead_ms;
	int ret;

	for (lead_ms = EXPIRE_LEAD_MS; ; lead_ms *= 2) {
		if (lead_ms > EXPIRE_MAX_LEAD_MS) {
			result_refuse(b, op, EXPIRE_TOO_SLOW);
			return 0;
		}
		ret = expire_arm(b, lead_ms, refile);
		if (ret)
			break;
		/* Without those that were put off, the last expires in any case. */
		ret = refile ? meter_do(b, b->peer->cancel, which, b->extra) :
			       meter_await();
		if (ret)
			return ret;
	}
	if (ret < 0)
		return ret;

	ret = meter_sleep_until(b->due_ns - EXPIRE_MARGIN_NS);
	if (ret)
		return ret;
	ret = soak_begin();
	if (ret)
		return ret;
	soak_mark(&mark);
	ret = meter_await();
	if (!ret)
		result_spent(b, op, soak_spent_ns(&mark), b->extra);
	soak_end();
	return ret;
}

int measure_expire(struct bench *b)
{
	return expire_measure(b, BENCH_EXPIRE, false);
}

int measure_refile(struct bench *b)
{
	int ret;

	if (!b->peer->touch)
		return 0;
	ret = expire_measure(b, BENCH_REFILE, true);
	if (ret)
		return ret;
	return meter_do(b, b->peer->cancel, b->in_order + b->live, b->extra);
}
