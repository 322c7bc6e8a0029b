// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports: what a context tells about itself.  Looking changes nothing: a
 * context that has not chosen its wheel is shown the system wheel.
 */

#include <linux/errno.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "context.h"
#include "report.h"
#include "timeout.h"

#define INFO_FEATURES	(TIMEWHEEL_FEATURE_LEVELS | \
			 TIMEWHEEL_FEATURE_PERIODIC | \
			 TIMEWHEEL_FEATURE_SLACK | TIMEWHEEL_FEATURE_LIST | \
			 TIMEWHEEL_FEATURE_OWN_IDS | TIMEWHEEL_FEATURE_RINGS | \
			 TIMEWHEEL_FEATURE_LEASES)

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

/* What LIST and QUERY tell of a timeout. */
static void report_entry(struct context *ctx, const struct entry *e,
			 struct timewheel_query *query)
{
	const struct timewheel_timeout *t = &e->periodic.timeout;
	bool pending = e->state == ENTRY_PENDING;
	u64 deadline_ns = pending || !e->periods ? timewheel_expires(t) :
						   e->due_ns;
	s64 shift = context_shift(ctx, context_wheel(ctx));

	lockdep_assert_held(&ctx->lock);

	/* What the worker will see when it looks. */
	if (pending && e->lease)
		deadline_ns = max(deadline_ns,
				  lease_deadline(ctx, entry_index(e)));

	*query = (struct timewheel_query) {
		.id = entry_id(e),
		.user_data = e->user_data,
		.deadline_ns = timens_to_opener(shift, deadline_ns),
		.interval_ns = e->periodic.interval_ns,
		.slack_ns = timeout_slack_ns(atomic_read(&t->state)),
		.state = pending ? TIMEWHEEL_STATE_PENDING :
				   TIMEWHEEL_STATE_EXPIRED,
		.flags = (e->no_event ? TIMEWHEEL_NO_EVENT : 0) |
			 (e->lease ? TIMEWHEEL_LEASE : 0),
	};
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
	struct entry *e;
	int ret = 0;

	if (query->flags || memchr_inv(query->reserved, 0, sizeof(query->reserved)))
		return -EINVAL;

	spin_lock(&ctx->lock);
	e = handles_find(&ctx->handles, query->id);
	if (!e || e->state == ENTRY_LEAVING || e->state == ENTRY_STOPPED)
		ret = -ENOENT;
	else
		report_entry(ctx, e, query);
	spin_unlock(&ctx->lock);
	return ret;
}

/*
 * The pending timeouts of the chunk that @cursor is in, from there on, at most
 * @max.  Moves @cursor on; at the end of all to U64_MAX.
 */
static u32 list_chunk(struct context *ctx, u64 *cursor,
		      struct timewheel_query *queries, u32 max)
{
	u64 at = *cursor;
	struct entry *e;
	u32 nr = 0;

	spin_lock(&ctx->lock);
	do {
		e = entry_at(ctx, at);
		if (!e)
			break;
		at++;
		if (e->state == ENTRY_PENDING)
			report_entry(ctx, e, &queries[nr++]);
	} while (nr < max && at % CHUNK_ENTRIES);
	spin_unlock(&ctx->lock);

	*cursor = e ? at : U64_MAX;
	return nr;
}

/**
 * report_list - TIMEWHEEL_IOC_LIST
 * @ctx: the context
 * @list: says where to begin and where to put them; is filled
 *
 * A timeout has its place for life, so those that are pending all along are
 * seen exactly once, those armed or ended meanwhile at most once.  A signal or a
 * fault ends the call early, with the cursor where the next is to go on.
 *
 * Return: 0; -EINVAL for no room at all; -EFAULT if not even the first could be
 * told; -ENOMEM.
 */
int report_list(struct context *ctx, struct timewheel_list *list)
{
	struct timewheel_query __user *user = u64_to_user_ptr(list->entries);
	u64 cursor = list->cursor;
	struct timewheel_query *queries;
	u32 nr, done = 0;
	int ret = 0;

	if (list->pad || !list->nr)
		return -EINVAL;
	queries = kmalloc_objs(*queries, CHUNK_ENTRIES, GFP_KERNEL);
	if (!queries)
		return -ENOMEM;

	while (done < list->nr && cursor != U64_MAX) {
		nr = list_chunk(ctx, &cursor, queries,
				min(list->nr - done, CHUNK_ENTRIES));
		if (copy_to_user(user + done, queries, nr * sizeof(*queries))) {
			ret = done ? 0 : -EFAULT;
			break;
		}
		done += nr;
		list->cursor = cursor;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	list->nr = done;
	kfree(queries);
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
	seq_printf(m, "timewheel-overruns:\t%llu\n", stats.overruns);
	seq_printf(m, "timewheel-rejected:\t%llu\n", stats.rejected);
	seq_printf(m, "timewheel-unread:\t%llu\n", stats.unread);
}
