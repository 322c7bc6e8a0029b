// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much kernel memory a pending timeout takes, all in.
 */
#include <stdio.h>

#include "../../timewheel/memory.h"
#include "parts.h"
#include "sides.h"

#define TIMERFDS	10000U

/* The bytes that a timeout may take, and a lease. */
#define GOAL_TIMEOUT	128
#define GOAL_LEASE	136

static int fill_timeouts(unsigned int nr)
{
	static struct rings r;

	wheel_fill(&r, nr, false);
	return 0;
}

static int fill_leases(unsigned int nr)
{
	static struct rings r;

	wheel_fill(&r, nr, true);
	return 0;
}

static void report(const char *what, unsigned int nr, memory_fill *fill, int goal)
{
	struct memory_use use;

	memory_measure(nr, fill, &use);
	printf("  %-34s %9u  ", what, nr);
	if (use.bytes < 0)
		printf("could not be measured\n");
	else if (goal)
		printf("%8.2f B  %8d B  %s\n", use.bytes, goal,
		       use.bytes <= goal ? "met" : "not met");
	else
		printf("%8.2f B\n", use.bytes);
	fflush(stdout);
}

/* @nr: how many are pending at once. */
void memory_report(unsigned int nr)
{
	printf("kernel memory for each that is pending: entries, slots, rings, tables\n"
	       "(what a memory control group is charged)\n"
	       "  %-34s %9s  %10s  %10s\n", "", "pending", "each", "at most");
	report("timeout, armed through the ring", nr, fill_timeouts, GOAL_TIMEOUT);
	report("lease, with its table", nr, fill_leases, GOAL_LEASE);
	report("timeout, armed by calls", nr, memory_fill_wheel, GOAL_TIMEOUT);
	report("timerfd in an epoll set", TIMERFDS, memory_fill_timerfd, 0);
	printf("\n");
}
