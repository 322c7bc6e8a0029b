/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports: what a context tells about itself.
 */
#ifndef TIMEWHEEL_REPORT_H
#define TIMEWHEEL_REPORT_H

#include <linux/seq_file.h>
#include <linux/timewheel.h>

#include "context.h"

void report_info(struct context *ctx, struct timewheel_info *info);
void report_stats(struct context *ctx, struct timewheel_stats *stats);
int report_list(struct context *ctx, struct timewheel_list *list);
int report_query(struct context *ctx, struct timewheel_query *query);
void report_fdinfo(struct context *ctx, struct seq_file *m);

#endif /* TIMEWHEEL_REPORT_H */
