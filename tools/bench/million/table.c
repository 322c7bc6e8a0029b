// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table: each operation, the peer's, and what is to be of the two.
 */
#include <stddef.h>
#include <stdio.h>

#include "meter.h"
#include "parts.h"

/**
 * struct comparison - a line of the table
 * @what: our operation
 * @peer: theirs
 * @ours: what it costs
 * @theirs: what that costs
 * @goal: it is to cost no more than one part of so many
 */
struct comparison {
	const char *what;
	const char *peer;
	enum measure ours;
	enum measure theirs;
	unsigned int goal;
};

static const char timerfd_arm[] = "timerfd: create, settime, epoll_ctl";
static const char uring_arm[] = "io_uring timeout, batched";

static const struct comparison comparisons[] = {
	{ "refresh a lease: a store", "timerfd_settime()",
	  REFRESH_STORE, REFRESH_SETTIME, 50 },
	{ "  by the library", "timerfd_settime()",
	  REFRESH_TOUCH, REFRESH_SETTIME, 50 },
	{ "arm through the ring", timerfd_arm, ARM_RING, ARM_TIMERFD, 10 },
	{ "", uring_arm, ARM_RING, ARM_URING, 4 },
	{ "  by the library", timerfd_arm, ARM_LIBRARY, ARM_TIMERFD, 10 },
	{ "", uring_arm, ARM_LIBRARY, ARM_URING, 4 },
	{ "arm by a batched ioctl", timerfd_arm, ARM_IOCTL, ARM_TIMERFD, 5 },
	{ "", uring_arm, ARM_IOCTL, ARM_URING, 2 },
	{ "cancel through the ring", "io_uring timeout remove",
	  CANCEL_RING, CANCEL_URING, 100 },
	{ "", "close() of a timerfd", CANCEL_RING, CANCEL_CLOSE, 4 },
	{ "  by the library", "close() of a timerfd",
	  CANCEL_LIBRARY, CANCEL_CLOSE, 4 },
	{ "collect from the ring", "read() of a timerfd",
	  COLLECT_RING, COLLECT_TIMERFD, 10 },
	{ "  by the library", "read() of a timerfd",
	  COLLECT_LIBRARY, COLLECT_TIMERFD, 10 },
};

static void line(const char *what, const char *peer, double ours, double theirs,
		 unsigned int goal)
{
	printf("%-26s %-36s %9.1f %12.1f  1/%-7.1f 1/%-4u %s\n", what, peer, ours, theirs,
	       theirs / ours, goal, ours * goal <= theirs ? "met" : "not met");
}

void table_report(const struct plan *plan)
{
	const struct comparison *c;
	size_t i;

	printf("\nmedians, nanoseconds for each; armed and cancelled of %u, collected %u\n"
	       "%-26s %-36s %9s %12s  %-9s %-6s\n", plan->armed, plan->collects,
	       "the caller's time", "against", "timewheel", "peer", "ratio", "goal");
	for (i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++) {
		c = &comparisons[i];
		if (measured(c->ours) && measured(c->theirs))
			line(c->what, c->peer, median_caller(c->ours),
			     median_caller(c->theirs), c->goal);
	}
	printf("\n%-26s %-36s\n", "CPU time, the kernel's", "");
	for (i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++) {
		c = &comparisons[i];
		if (measured(c->ours) && measured(c->theirs))
			line(c->what, c->peer, median_cpu(c->ours),
			     median_cpu(c->theirs), c->goal);
	}
	printf("\n");
	fflush(stdout);
}
