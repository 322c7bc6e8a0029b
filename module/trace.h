/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints.  Timeouts are told apart by a hashed address; no cookie of a
 * program and nothing of who it is shows here.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM timewheel

#if !defined(TIMEWHEEL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TIMEWHEEL_TRACE_H

#include <linux/tracepoint.h>

#include "compat.h"
#include "wheel.h"

DECLARE_EVENT_CLASS(timewheel_deadline,
	TP_PROTO(const struct timewheel *wheel,
		 const struct timewheel_timeout *t, u64 deadline_ns),
	TP_ARGS(wheel, t, deadline_ns),
	TP_STRUCT__entry(
		__string(wheel, wheel->name)
		__field(const void *, timeout)
		__field(u64, deadline_ns)
	),
	TP_fast_assign(
		compat_assign_str(wheel, wheel->name);
		__entry->timeout = t;
		__entry->deadline_ns = deadline_ns;
	),
	TP_printk("wheel=%s timeout=%p deadline_ns=%llu", __get_str(wheel),
		  __entry->timeout, __entry->deadline_ns)
);

DEFINE_EVENT(timewheel_deadline, timewheel_arm,
	TP_PROTO(const struct timewheel *wheel,
		 const struct timewheel_timeout *t, u64 deadline_ns),
	TP_ARGS(wheel, t, deadline_ns)
);

DEFINE_EVENT(timewheel_deadline, timewheel_rearm,
	TP_PROTO(const struct timewheel *wheel,
		 const struct timewheel_timeout *t, u64 deadline_ns),
	TP_ARGS(wheel, t, deadline_ns)
);

/* The timeout may be gone: its address only. */
TRACE_EVENT(timewheel_cancel,
	TP_PROTO(const struct timewheel *wheel,
		 const struct timewheel_timeout *t),
	TP_ARGS(wheel, t),
	TP_STRUCT__entry(
		__string(wheel, wheel->name)
		__field(const void *, timeout)
	),
	TP_fast_assign(
		compat_assign_str(wheel, wheel->name);
		__entry->timeout = t;
	),
	TP_printk("wheel=%s timeout=%p", __get_str(wheel), __entry->timeout)
);

TRACE_EVENT(timewheel_expire,
	TP_PROTO(const struct timewheel *wheel,
		 const struct timewheel_timeout *t, u64 deadline_ns),
	TP_ARGS(wheel, t, deadline_ns),
	TP_STRUCT__entry(
		__string(wheel, wheel->name)
		__field(const void *, timeout)
		__field(u64, deadline_ns)
		__field(u64, late_ns)
	),
	TP_fast_assign(
		compat_assign_str(wheel, wheel->name);
		__entry->timeout = t;
		__entry->deadline_ns = deadline_ns;
		__entry->late_ns = wheel->now_ns - deadline_ns;
	),
	TP_printk("wheel=%s timeout=%p deadline_ns=%llu late_ns=%llu",
		  __get_str(wheel), __entry->timeout, __entry->deadline_ns,
		  __entry->late_ns)
);

TRACE_EVENT(timewheel_pass,
	TP_PROTO(const struct timewheel *wheel, u64 fired, bool more),
	TP_ARGS(wheel, fired, more),
	TP_STRUCT__entry(
		__string(wheel, wheel->name)
		__field(u64, now_ns)
		__field(u64, fired)
		__field(u64, filed)
		__field(bool, more)
	),
	TP_fast_assign(
		compat_assign_str(wheel, wheel->name);
		__entry->now_ns = wheel->now_ns;
		__entry->fired = fired;
		__entry->filed = wheel->core.nr;
		__entry->more = more;
	),
	TP_printk("wheel=%s now_ns=%llu fired=%llu filed=%llu%s",
		  __get_str(wheel), __entry->now_ns, __entry->fired,
		  __entry->filed, __entry->more ? " more" : "")
);

#endif /* TIMEWHEEL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
