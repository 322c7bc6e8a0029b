/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events: how a program hears of its timeouts.
 */
#ifndef TIMEWHEEL_EVENT_H
#define TIMEWHEEL_EVENT_H

#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/timewheel.h>

#include "context.h"

extern const struct timewheel_ops event_ops, event_lease_ops;

bool event_first(struct context *ctx, struct timewheel_event *event);
void event_drop(struct context *ctx, const struct timewheel_event *event);
void event_fail(struct context *ctx, struct entry *e, u64 id, u64 user_data,
		int error);

void event_notify(struct timewheel_notifier *n, unsigned int *budget);
ssize_t event_read(struct kiocb *iocb, struct iov_iter *to);
__poll_t event_poll(struct file *file, poll_table *wait);

#endif /* TIMEWHEEL_EVENT_H */
