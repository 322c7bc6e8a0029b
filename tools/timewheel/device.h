/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/timewheel, opened with errors that name cause and cure.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdint.h>
#include <stdnoreturn.h>
#include <time.h>
#include <timewheel.h>

#define DEVICE_PATH "/dev/timewheel"

struct timewheel *device_open(void);
noreturn void device_fail_open(int err);
void device_info(int fd, struct timewheel_info *info);
void device_stats(int fd, struct timewheel_stats *stats);
uint64_t device_now(clockid_t clockid);
int64_t device_wall_ahead(int fd);

#endif /* DEVICE_H */
