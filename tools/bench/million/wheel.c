// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our side: leases, rings and batched calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "costs.h"
#include "sides.h"

#define SQ_ENTRIES	4096U
#define CQ_ENTRIES	4096U

static void arm(struct rings *r, uint32_t index, unsigned int flags, uint64_t deadline_ns)
{
	*rings_next(r) = (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = TIMEWHEEL_OWN_ID | flags,
		.id = rings_id(index),
		.user_data = index,
		.expires_ns = deadline_ns,
		.eventfd = -1,
	};
	rings_ask(r, deadline_ns);
}

/* It can wait for the next pass: nothing is late for it. */
static void cancel(struct rings *r, uint32_t index)
{
	*rings_next(r) = (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_CANCEL,
		.id = rings_id(index),
	};
	rings_ask(r, UINT64_MAX);
}

static struct timewheel_stats stats_of(const struct rings *r)
{
	struct timewheel_stats stats = { .size = sizeof(stats) };

	if (ioctl(r->fd, TIMEWHEEL_IOC_STATS, &stats))
		die("STATS");
	return stats;
}

static void expect(const char *what, uint64_t want, uint64_t seen)
{
	if (want == seen)
		return;
	fprintf(stderr, "million: %s: %llu of %llu\n", what,
		(unsigned long long)seen, (unsigned long long)want);
	exit(1);
}

/* A context with so many timeouts, or leases, that are not to expire. */
void wheel_fill(struct rings *r, unsigned int nr, bool leases)
{
	uint64_t deadline;
	uint32_t i;

	rings_open(r, SQ_ENTRIES, CQ_ENTRIES, nr, leases);
	for (i = 0; i < nr; i++) {
		deadline = now_ns() + random_deadline();
		if (leases)
			lease_store(r, i, deadline);
		arm(r, i, leases ? TIMEWHEEL_LEASE : TIMEWHEEL_ABS, deadline);
	}
	/* The last ones could lie in the ring until the first deadline comes. */
	rings_enter(r);
	while (stats_of(r).pending < nr)
		usleep(10000);
}

/* Refresh leases, in the order of @order, which has all of them, from anywhere. */
void leases_store(struct rings *r, const uint32_t *order, unsigned int times)
{
	uint64_t deadline = 0;
	unsigned int i, at = random_below(r->own_ids);

	for (i = 0; i < times; i++) {
		if (i % REFRESHES_PER_CLOCK == 0)
			deadline = now_ns() + FAR_NS;
		lease_store(r, order[at], deadline);
		if (++at == r->own_ids)
			at = 0;
	}
}

/* Arm through the ring, and cancel some of them. */
void wheel_round_ring(const struct plan *plan)
{
	struct rings r;
	struct meter m;
	uint64_t base;
	uint32_t i;

	rings_open(&r, SQ_ENTRIES, CQ_ENTRIES, plan->armed, false);
	m = meter_start(r.worker);
	base = now_ns();
	for (i = 0; i < plan->armed; i++)
		arm(&r, i, TIMEWHEEL_ABS, base + random_deadline());
	rings_enter(&r);
	meter_called(&m);
	meter_settled(&m);
	costs_record(&m, ARM_RING, plan->armed);
	expect("armed through the ring", plan->armed, stats_of(&r).pending);

	m = meter_start(r.worker);
	for (i = 0; i < plan->cancels; i++)
		cancel(&r, plan->order[i]);
	rings_enter(&r);
	meter_called(&m);
	meter_settled(&m);
	costs_record(&m, CANCEL_RING, plan->cancels);
	expect("cancelled through the ring", plan->cancels, stats_of(&r).cancelled);
	rings_close(&r);
}

/* Arm by calls that take many. */
void wheel_round_ioctl(const struct plan *plan)
{
	static struct timewheel_op ops[BATCH];
	struct timewheel_submit submit = { .ops = (uintptr_t)ops };
	unsigned int done, i;
	struct rings r;
	struct meter m;

	rings_open(&r, 1, 1, 0, false);
	m = meter_start(r.worker);
	for (done = 0; done < plan->armed; done += submit.nr) {
		submit.nr = plan->armed - done < BATCH ? plan->armed - done : BATCH;
		for (i = 0; i < submit.nr; i++)
			ops[i] = (struct timewheel_op){
				.opcode = TIMEWHEEL_OP_ARM,
				.user_data = done + i,
				.expires_ns = random_deadline(),
				.eventfd = -1,
			};
		if (ioctl(r.fd, TIMEWHEEL_IOC_SUBMIT, &submit) != (int)submit.nr)
			die("SUBMIT");
	}
	meter_called(&m);
	meter_settled(&m);
	costs_record(&m, ARM_IOCTL, plan->armed);
	expect("armed by calls", plan->armed, stats_of(&r).pending);
	rings_close(&r);
}

/* Many are due at once; when all have expired they are collected. */
void wheel_collect(const struct plan *plan)
{
	uint64_t due, sum = 0;
	struct timewheel_event event;
	unsigned int nr = 0;
	uint32_t i;
	struct rings r;
	struct meter m;

	rings_open(&r, SQ_ENTRIES, power_of_two(plan->collects), plan->collects, false);
	due = now_ns() + COLLECT_IN_NS;
	for (i = 0; i < plan->collects; i++)
		arm(&r, i, TIMEWHEEL_ABS, due);
	rings_enter(&r);
	m = meter_start(r.worker);
	meter_settled(&m);
	if (now_ns() >= due)
		die("armed too slowly to be collected");

	m = meter_start(r.worker);
	sleep_until(due);
	meter_settled(&m);
	meter_calls(&m);
	while (rings_pop(&r, &event)) {
		sum += event.user_data;
		nr++;
	}
	meter_called(&m);
	costs_record(&m, COLLECT_RING, nr);
	expect("collected from the ring", plan->collects, nr);
	expect("the sum of what was collected", plan->collects * (plan->collects - 1ULL) / 2,
	       sum);
	rings_close(&r);
}
