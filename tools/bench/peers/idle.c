// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes on while nothing does: a thread waits for the first of so many that are
 * far away, and it and the kernel's worker are looked at for some seconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../worker.h"
#include "session.h"

#define IDLE_S		4U
/* Longer than anything waits for the housekeeping. */
#define BEFORE_NS	(500 * MS)

/**
 * struct waiter - the thread that waits
 * @s: for whose timeouts
 * @thread: itself
 * @tid: its id, 0 until it runs
 */
struct waiter {
	const struct session *s;
	pthread_t thread;
	pid_t tid;
};

/**
 * struct switches - how often threads went from the CPU
 * @voluntary: to sleep; so often they were woken
 * @all: and because another was to run
 * @cpu_ns: how long they ran
 */
struct switches {
	double voluntary;
	double all;
	double cpu_ns;
};

static void *wait_for_ever(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, gettid(), __ATOMIC_RELEASE);
	/* Some wake for what is nobody's timeout. */
	while (!waiter->s->peer->collect(waiter->s->self, waiter->s->expired, true))
		;
	fail("a timeout expired that was far away");
}

static void add_up(struct switches *sum, pid_t tid)
{
	static const char voluntary[] = "voluntary_ctxt_switches:";
	static const char other[] = "nonvoluntary_ctxt_switches:";
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		fail("%s cannot be read", path);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, voluntary, strlen(voluntary))) {
			sum->voluntary += atoll(line + strlen(voluntary));
			sum->all += atoll(line + strlen(voluntary));
		} else if (!strncmp(line, other, strlen(other))) {
			sum->all += atoll(line + strlen(other));
		}
	}
	fclose(file);
}

static double ran_ns(const struct waiter *waiter)
{
	struct timespec ts;
	clockid_t clock;

	if (pthread_getcpuclockid(waiter->thread, &clock) || clock_gettime(clock, &ts))
		fail("the CPU time of a thread cannot be read");
	return ts.tv_sec * (double)SEC + ts.tv_nsec;
}

static struct switches look(const struct waiter *waiter)
{
	struct switches sum = { .cpu_ns = ran_ns(waiter) };

	add_up(&sum, waiter->tid);
	if (waiter->s->worker) {
		sum.cpu_ns += worker_ran_ns(waiter->s->worker);
		add_up(&sum, waiter->s->worker);
	}
	return sum;
}

/* Until it has looked at all there is and sleeps; and the last housekeeping is done. */
static void wait_for_sleep(const struct waiter *waiter)
{
	double before, after = 0;

	session_settle(waiter->s);
	do {
		before = after;
		sleep_until(now_ns() + BEFORE_NS);
		after = ran_ns(waiter);
	} while (after - before > 0 || !__atomic_load_n(&waiter->tid, __ATOMIC_ACQUIRE));
}

/**
 * measure_idle() - wake-ups, context switches and CPU time of a second
 * @s: the session, which is full; the thread still waits when this returns
 */
void measure_idle(struct session *s)
{
	struct waiter waiter = { .s = s };
	struct switches before, after;

	if (pthread_create(&waiter.thread, NULL, wait_for_ever, &waiter))
		fail("no thread to wait");
	wait_for_sleep(&waiter);
	before = look(&waiter);
	sleep_until(now_ns() + IDLE_S * SEC);
	after = look(&waiter);
	report_value(IDLE_WAKEUPS, (after.voluntary - before.voluntary) / IDLE_S);
	report_value(IDLE_SWITCHES, (after.all - before.all) / IDLE_S);
	report_value(IDLE_CPU, (after.cpu_ns - before.cpu_ns) / IDLE_S);
}
