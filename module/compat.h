/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only file that knows kernel versions: the code is written to the newest
 * API, and older kernels (6.1 at least) get it from here.
 */
#ifndef TIMEWHEEL_COMPAT_H
#define TIMEWHEEL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clockid, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clockid, mode);
	timer->function = function;
}
#endif

#endif /* TIMEWHEEL_COMPAT_H */
