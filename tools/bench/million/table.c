// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table: each operation, the peer's, and what is to be of the two.
 */
#include <stddef.h>
#include <stdio.h>

#include "costs.h"
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

/* @goal: 0 for none. */
static void line(const char *what, const char *peer, double ours, double theirs,
		 unsigned int goal)
{
	char of_goal[16] = "";
	double times = theirs / ours;

	if (goal)
		snprintf(of_goal, sizeof(of_goal), "1/%u", goal);
	printf("%-27s %-36s %9.1f %10.0f  1/%-6.*f %-6s %s\n", what, peer, ours, theirs,
	       times < 10, times, of_goal,
	       !goal ? "" : times >= goal ? "met" : "not met");
}

static void heading(const char *what)
{
	printf("\n%-27s %-36s %9s %10s  %-8s %s\n", what, "against", "timewheel", "peer",
	       "ratio", "goal");
}

void table_report(const struct plan *plan)
{
	const struct comparison *c;
	size_t i;

	printf("\nnanoseconds for each, medians; %u armed, %u of them cancelled; %u due at once\n",
	       plan->armed, plan->cancels, plan->collects);
	heading("the caller's time");
	for (i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++) {
		c = &comparisons[i];
		if (measured(c->ours) && measured(c->theirs))
			line(c->what, c->peer, median_caller(c->ours),
			     median_caller(c->theirs), c->goal);
	}

	heading("CPU time, with the kernel's");
	for (i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++) {
		c = &comparisons[i];
		if (measured(c->ours) && measured(c->theirs))
			line(c->what, c->peer, median_cpu(c->ours),
			     median_cpu(c->theirs),
			     /* This has the expiry in it, of which no goal speaks. */
			     c->theirs == COLLECT_TIMERFD ? 0 : c->goal);
	}
	printf("\n");
	fflush(stdout);
}
