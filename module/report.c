// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports: what a context tells about itself.  Looking changes nothing: a
 * context that has not chosen its wheel is shown the system wheel.
 */

#include <linux/errno.h>
#include <linux/string.h>

#include "context.h"
#include "report.h"

#define INFO_FEATURES	TIMEWHEEL_FEATURE_LEVELS

/**
 * report_info - TIMEWHEEL_IOC_INFO
 * @ctx: the context
 * @info: filled, but for its size
 */
void report_info(struct context *ctx, struct timewheel_info *info)
{
	struct timewheel *wheel = context_wheel(ctx);
	s64 shift = context_shift(ctx, wheel);

	*info = (struct timewheel_info) {
		.abi_version = TIMEWHEEL_ABI_VERSION,
		.features = INFO_FEATURES,
		.tick_ns = wheel->tick_ns,
		.slots = wheel->core.mask + 1,
		.levels = wheel->core.levels,
		.clockid = wheel->clockid,
		/* SETUP may just be setting it. */
		.max_pending = READ_ONCE(ctx->handles.max),
		/*
		 * Goes round rather than stop at 0: the opener's clock may be
		 * younger than the wheel, and a difference is then still right.
		 */
		.epoch_ns = wheel->epoch_ns + shift,
		.now_ns = timens_to_opener(shift, timewheel_now(wheel)),
		.min_tick_ns = TIMEWHEEL_MIN_TICK_NS,
		.max_tick_ns = TIMEWHEEL_MAX_TICK_NS,
		.max_slots = CORE_MAX_SLOTS,
		.max_levels = CORE_MAX_LEVELS,
	};
}

/**
 * report_stats - TIMEWHEEL_IOC_STATS
 * @ctx: the context
 * @stats: filled, but for its size
 *
 * The books are those of one moment.  The worker's counters are the wheel's, and
 * on the system wheel speak of all who use it.
 */
void report_stats(struct context *ctx, struct timewheel_stats *stats)
{
	struct timewheel *wheel = context_wheel(ctx);

	spin_lock(&ctx->lock);
	*stats = ctx->books;
	spin_unlock(&ctx->lock);
	stats->wakeups = READ_ONCE(wheel->books.wakeups);
	stats->passes = READ_ONCE(wheel->books.passes);
}

/**
 * report_query - TIMEWHEEL_IOC_QUERY
 * @ctx: the context
 * @query: says which timeout, and is filled
 *
 * Return: 0; -EINVAL; -ENOENT for an id that stands for nothing, or for a
 * timeout that was cancelled, or whose event was read.
 */
int report_query(struct context *ctx, struct timewheel_query *query)
{
	s64 shift = context_shift(ctx, context_wheel(ctx));
	struct entry *e;
	int ret = 0;

	if (query->pad || memchr_inv(query->reserved, 0, sizeof(query->reserved)))
		return -EINVAL;

	spin_lock(&ctx->lock);
	e = entry_find(ctx, query->id);
	if (!e || e->state == ENTRY_LEAVING || e->state == ENTRY_STOPPED) {
		ret = -ENOENT;
		goto out;
	}
	query->user_data = e->user_data;
	query->deadline_ns = timens_to_opener(shift,
					      timewheel_expires(&e->timeout));
	query->interval_ns = 0;
	query->state = e->state == ENTRY_PENDING ? TIMEWHEEL_STATE_PENDING :
						   TIMEWHEEL_STATE_EXPIRED;
out:
	spin_unlock(&ctx->lock);
	return ret;
}

/* In /proc/PID/fdinfo, one value a line. */
void report_fdinfo(struct context *ctx, struct seq_file *m)
{
	struct timewheel *wheel = context_wheel(ctx);
	struct timewheel_stats stats;

	report_stats(ctx, &stats);
	seq_printf(m, "timewheel-wheel:\t%s\n", wheel->name);
	seq_printf(m, "timewheel-tick-ns:\t%llu\n", wheel->tick_ns);
	seq_printf(m, "timewheel-slots:\t%u\n", wheel->core.mask + 1);
	seq_printf(m, "timewheel-levels:\t%u\n", wheel->core.levels);
	seq_printf(m, "timewheel-clockid:\t%d\n", wheel->clockid);
	seq_printf(m, "timewheel-max-pending:\t%u\n",
		   READ_ONCE(ctx->handles.max));
	seq_printf(m, "timewheel-armed:\t%llu\n", stats.armed);
	seq_printf(m, "timewheel-rearmed:\t%llu\n", stats.rearmed);
	seq_printf(m, "timewheel-fired:\t%llu\n", stats.fired);
	seq_printf(m, "timewheel-cancelled:\t%llu\n", stats.cancelled);
	seq_printf(m, "timewheel-unprocessed:\t%llu\n", stats.unprocessed);
	seq_printf(m, "timewheel-pending:\t%llu\n", stats.pending);
	seq_printf(m, "timewheel-rejected:\t%llu\n", stats.rejected);
	seq_printf(m, "timewheel-unread:\t%llu\n", stats.unread);
}
