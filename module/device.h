/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device, /dev/timewheel.
 */
#ifndef TIMEWHEEL_DEVICE_H
#define TIMEWHEEL_DEVICE_H

int device_init(void);
void device_exit(void);

#endif /* TIMEWHEEL_DEVICE_H */
