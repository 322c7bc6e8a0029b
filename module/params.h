/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's parameters, checked when it is loaded (main.c).
 */
#ifndef TIMEWHEEL_PARAMS_H
#define TIMEWHEEL_PARAMS_H

#include <linux/types.h>

extern unsigned int param_tick_us;	/* tick of the system wheel */
extern unsigned int param_slots;	/* its slots, rounded up to a power of two */
extern unsigned int param_levels;	/* its levels */
extern unsigned int param_housekeeping_ms; /* see worker.c */
extern unsigned int param_max_wheels;	/* wheels at once, the system wheel not counted */
extern unsigned int param_max_timeouts;	/* entries of all contexts together */
extern unsigned int param_max_user_timeouts; /* entries of one user's contexts */
extern unsigned int param_max_user_wheels; /* own wheels of one user's contexts */
extern unsigned int param_max_user_rings; /* their submission rings on the system wheel */
extern bool param_realtime;		/* the system wheel's worker has low real-time priority */

#endif /* TIMEWHEEL_PARAMS_H */
