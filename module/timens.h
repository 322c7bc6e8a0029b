/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time namespaces: what a context's opener calls a time, and what the wheel
 * calls it.
 */
#ifndef TIMEWHEEL_TIMENS_H
#define TIMEWHEEL_TIMENS_H

#include <linux/time64.h>
#include <linux/time_namespace.h>
#include <linux/types.h>

/**
 * struct timens_shift - how far the opener's clocks are ahead of the host's
 * @monotonic_ns: of CLOCK_MONOTONIC; negative when they are behind
 * @boottime_ns: of CLOCK_BOOTTIME
 *
 * Taken once, at open.  The offsets of a namespace can't change any more once
 * a process lives in it.
 */
struct timens_shift {
	s64 monotonic_ns;
	s64 boottime_ns;
};

/* From the current process.  Adding to nothing leaves the offset itself. */
static inline void timens_shift_take(struct timens_shift *shift)
{
	struct timespec64 monotonic = {}, boottime = {};

	timens_add_monotonic(&monotonic);
	timens_add_boottime(&boottime);
	shift->monotonic_ns = timespec64_to_ns(&monotonic);
	shift->boottime_ns = timespec64_to_ns(&boottime);
}

static inline s64 timens_shift_of(const struct timens_shift *shift,
				  clockid_t clockid)
{
	return clockid == CLOCK_BOOTTIME ? shift->boottime_ns :
					   shift->monotonic_ns;
}

/* Stops at both ends, and never is never on every clock. */
static inline u64 timens_add(u64 ns, u64 ahead)
{
	return ns > U64_MAX - ahead ? U64_MAX : ns + ahead;
}

static inline u64 timens_sub(u64 ns, u64 behind)
{
	if (ns == U64_MAX)
		return U64_MAX;
	return ns < behind ? 0 : ns - behind;
}

/* What the wheel calls @ns of the opener's clock. */
static inline u64 timens_to_wheel(s64 shift, u64 ns)
{
	return shift < 0 ? timens_add(ns, -shift) : timens_sub(ns, shift);
}

/* What the opener calls @ns of the wheel's clock. */
static inline u64 timens_to_opener(s64 shift, u64 ns)
{
	return shift < 0 ? timens_sub(ns, -shift) : timens_add(ns, shift);
}

#endif /* TIMEWHEEL_TIMENS_H */
