// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer that has a file for each timeout.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "costs.h"
#include "sides.h"

/* How long all that is due at once takes to expire, and longer. */
#define EXPIRE_NS	(200 * MS)
/* Between two looks at the clock: longer is an interrupt. */
#define GAP_NS		20000U

static struct itimerspec after(uint64_t ns)
{
	return (struct itimerspec){ .it_value = { ns / SEC, ns % SEC } };
}

static int timerfd_new(void)
{
	return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
}

static void set(int fd, int flags, uint64_t ns)
{
	struct itimerspec its = after(ns);

	if (timerfd_settime(fd, flags, &its, NULL))
		die("timerfd_settime()");
}

/* Timerfds that are not to expire; returns how many there can be. */
unsigned int timerfds_open(int *fds, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		fds[i] = timerfd_new();
		if (fds[i] < 0)
			break;
		set(fds[i], 0, random_deadline());
	}
	return i;
}

void timerfds_close(const int *fds, unsigned int nr)
{
	while (nr--)
		close(fds[nr]);
}

/* Refresh timerfds, in the order of @fds, from anywhere. */
void timerfds_settime(const int *fds, unsigned int nr, unsigned int times)
{
	unsigned int i, at = random_below(nr);

	for (i = 0; i < times; i++) {
		set(fds[at], 0, FAR_NS);
		if (++at == nr)
			at = 0;
	}
}

/* Arm, into an epoll set, and cancel some of them. */
void timerfd_round(const struct plan *plan)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct meter m;
	unsigned int i;
	int *fds;

	fds = malloc(plan->armed * sizeof(*fds));
	if (!fds || ep < 0)
		die("timerfds");
	m = meter_start(0);
	for (i = 0; i < plan->armed; i++) {
		fds[i] = timerfd_new();
		if (fds[i] < 0)
			die("timerfd_create()");
		set(fds[i], 0, random_deadline());
		event.data.u32 = i;
		if (epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &event))
			die("epoll_ctl()");
	}
	meter_called(&m);
	costs_record(&m, ARM_TIMERFD, plan->armed);

	m = meter_start(0);
	for (i = 0; i < plan->cancels; i++)
		close(fds[plan->order[i]]);
	meter_called(&m);
	costs_record(&m, CANCEL_CLOSE, plan->cancels);

	for (; i < plan->armed; i++)
		close(fds[plan->order[i]]);
	close(ep);
	free(fds);
}

/* Look at the clock until @end; returns how long somebody else had the CPU. */
static uint64_t spin_until(uint64_t end)
{
	uint64_t last = now_ns(), now, lost = 0;

	while (last < end) {
		now = now_ns();
		if (now - last > GAP_NS)
			lost += now - last;
		last = now;
	}
	return lost;
}

/*
 * Many are due at once; when all have expired they are read.  They expire in an
 * interrupt of the CPU they were armed on, which is the only one this runs on
 * meanwhile: what it takes is what is missing here.
 */
void timerfd_collect(const struct plan *plan)
{
	uint64_t due, count, lost, sum = 0;
	cpu_set_t before, one;
	struct meter m;
	unsigned int i;
	int *fds;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	fds = malloc(plan->collects * sizeof(*fds));
	if (!fds || sched_getaffinity(0, sizeof(before), &before) ||
	    sched_setaffinity(0, sizeof(one), &one))
		die("one CPU");
	due = now_ns() + COLLECT_IN_NS;
	for (i = 0; i < plan->collects; i++) {
		fds[i] = timerfd_new();
		if (fds[i] < 0)
			die("timerfd_create()");
		set(fds[i], TFD_TIMER_ABSTIME, due);
	}
	if (now_ns() >= due)
		die("armed too slowly to be collected");

	sleep_until(due - MS);
	lost = spin_until(due + EXPIRE_NS);
	m = meter_start(0);
	for (i = 0; i < plan->collects; i++)
		if (read(fds[i], &count, sizeof(count)) == sizeof(count))
			sum += count;
	meter_called(&m);
	m.cpu_ns += lost;
	costs_record(&m, COLLECT_TIMERFD, plan->collects);
	if (sum != plan->collects)
		die("timerfds that have not expired");

	timerfds_close(fds, plan->collects);
	sched_setaffinity(0, sizeof(before), &before);
	free(fds);
}
