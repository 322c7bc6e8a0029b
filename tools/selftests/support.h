/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What many selftests do: open, arm, wait, read, look at the books.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <fcntl.h>
#include <linux/timewheel.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#define DEVICE	"/dev/timewheel"
#define MS	1000000ULL
#define SEC	1000000000ULL
#define HOUR	(3600 * SEC)

/* How long something that must happen may take on a slow machine. */
#define PATIENCE_MS	60000

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

int tw_open(void);
int tw_open_with(int flags);
uint64_t now_ns(clockid_t clockid);

struct timewheel_op op_arm(uint64_t expires_ns, uint64_t user_data);
struct timewheel_op op_arm_at(uint64_t expires_ns, uint64_t user_data);
struct timewheel_op op_cancel(uint64_t id);
struct timewheel_op op_rearm(uint64_t id, uint64_t expires_ns);
struct timewheel_op op_periodic(uint64_t expires_ns, uint64_t interval_ns,
				uint64_t user_data);
uint64_t arm_op(int fd, struct timewheel_op op);
uint64_t arm(int fd, uint64_t expires_ns, uint64_t user_data);
uint64_t arm_at(int fd, uint64_t expires_ns, uint64_t user_data);
int cancel(int fd, uint64_t id);
int rearm(int fd, uint64_t id, uint64_t expires_ns);
int query(int fd, uint64_t id, struct timewheel_query *query);
int submit(int fd, struct timewheel_op *ops, unsigned int nr);
void arm_many(int fd, unsigned int nr, uint64_t expires_ns);
int setup(int fd, const struct timewheel_setup *setup);
int own_wheel(uint64_t tick_ns, int clockid);

struct timewheel_info info_of(int fd);
struct timewheel_stats stats_of(int fd);
void expect_balance(int fd);

bool readable(int fd, int timeout_ms);
void wait_readable(int fd);
struct timewheel_event read_any_event(int fd);
struct timewheel_event read_event(int fd);
void expect_no_event(int fd);
uint64_t eventfd_count(int fd);

uint64_t random_next(uint64_t *state);

#endif /* SUPPORT_H */
