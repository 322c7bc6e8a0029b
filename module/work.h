/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timeouts with a work item, as the rest of the module sees them.
 */
#ifndef TIMEWHEEL_WORK_H
#define TIMEWHEEL_WORK_H

#include <linux/timewheel.h>

int work_init(void);
void work_exit(void);
bool work_is_current(const struct timewheel *wheel);
void work_flush(struct timewheel *wheel);

#endif /* TIMEWHEEL_WORK_H */
