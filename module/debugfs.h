/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a wheel shows in debugfs.
 */
#ifndef TIMEWHEEL_DEBUGFS_H
#define TIMEWHEEL_DEBUGFS_H

struct timewheel;

void debugfs_init(void);
void debugfs_exit(void);
void debugfs_show_wheel(struct timewheel *wheel);
void debugfs_hide_wheel(struct timewheel *wheel);

#endif /* TIMEWHEEL_DEBUGFS_H */
