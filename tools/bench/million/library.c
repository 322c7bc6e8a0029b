// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our side again, as a program has it: through libtimewheel.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../worker.h"
#include "costs.h"
#include "sides.h"

static void check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	errno = -ret;
	die(what);
}

static void library_open(struct library *l, unsigned int nr, unsigned int flags,
			 unsigned int cq_entries)
{
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_RINGS | TIMEWHEEL_OPEN_OWN_WHEEL | flags,
		.capacity = nr,
		.cq_entries = cq_entries,
	};

	check(timewheel_open(&l->tw, &options), "timewheel_open()");
	l->worker = worker_of(timewheel_fd(l->tw));
	l->nr = nr;
	l->ids = malloc(nr * sizeof(*l->ids));
	if (!l->worker || !l->ids)
		die("a handle");
}

void library_close(struct library *l)
{
	timewheel_close(l->tw);
	free(l->ids);
}

/* The kernel has heard of all that was asked for: so many are pending. */
static void expect_pending(struct library *l, uint64_t want)
{
	struct timewheel_stats stats;

	check(timewheel_stats(l->tw, &stats), "timewheel_stats()");
	if (stats.pending != want)
		die("timeouts that are not pending");
}

/* So many leases that are not to expire; their ids are in random order. */
void library_fill(struct library *l, unsigned int nr)
{
	unsigned int i, other;
	uint64_t swap;

	library_open(l, nr, TIMEWHEEL_OPEN_LEASES, 0);
	for (i = 0; i < nr; i++)
		check(timewheel_arm_lease(l->tw, timewheel_now(l->tw) + random_deadline(),
					  i, &l->ids[i]), "timewheel_arm_lease()");
	expect_pending(l, nr);
	for (i = nr - 1; i; i--) {
		other = random_below(i + 1);
		swap = l->ids[i];
		l->ids[i] = l->ids[other];
		l->ids[other] = swap;
	}
}

/* Refresh leases, in the order of their ids, from anywhere. */
void library_touch(struct library *l, unsigned int times)
{
	uint64_t deadline = 0;
	unsigned int i, at = random_below(l->nr);

	for (i = 0; i < times; i++) {
		if (i % REFRESHES_PER_CLOCK == 0)
			deadline = timewheel_now(l->tw) + FAR_NS;
		check(timewheel_touch(l->tw, l->ids[at], deadline), "timewheel_touch()");
		if (++at == l->nr)
			at = 0;
	}
}

/* Arm, and cancel some of them. */
void library_round(const struct plan *plan)
{
	struct library l;
	struct meter m;
	unsigned int i;

	library_open(&l, plan->armed, 0, 0);
	m = meter_start(l.worker);
	for (i = 0; i < plan->armed; i++)
		check(timewheel_arm(l.tw, random_deadline(), i, &l.ids[i]),
		      "timewheel_arm()");
	meter_called(&m);
	expect_pending(&l, plan->armed);
	meter_settled(&m);
	costs_record(&m, ARM_LIBRARY, plan->armed);

	m = meter_start(l.worker);
	for (i = 0; i < plan->cancels; i++)
		check(timewheel_cancel(l.tw, l.ids[plan->order[i]]), "timewheel_cancel()");
	meter_called(&m);
	expect_pending(&l, plan->armed - plan->cancels);
	meter_settled(&m);
	costs_record(&m, CANCEL_LIBRARY, plan->cancels);
	library_close(&l);
}

static void add_up(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	uint64_t *sum = data;

	(void)tw;
	*sum += event->user_data;
}

/* Many are due at once; when all have expired they are collected. */
void library_collect(const struct plan *plan)
{
	uint64_t due, sum = 0;
	struct library l;
	struct meter m;
	unsigned int i;
	int nr;

	library_open(&l, plan->collects, 0, power_of_two(plan->collects));
	due = timewheel_now(l.tw) + COLLECT_IN_NS;
	for (i = 0; i < plan->collects; i++)
		check(timewheel_arm_at(l.tw, due, i, &l.ids[i]), "timewheel_arm_at()");
	expect_pending(&l, plan->collects);
	m = meter_start(l.worker);
	meter_settled(&m);
	if (now_ns() >= due)
		die("armed too slowly to be collected");

	m = meter_start(l.worker);
	sleep_until(due);
	meter_settled(&m);
	meter_calls(&m);
	nr = timewheel_drain(l.tw, 0, add_up, &sum);
	meter_called(&m);
	costs_record(&m, COLLECT_LIBRARY, plan->collects);
	if (nr != (int)plan->collects ||
	    sum != plan->collects * (plan->collects - 1ULL) / 2)
		die("timeouts that have not expired");
	library_close(&l);
}
