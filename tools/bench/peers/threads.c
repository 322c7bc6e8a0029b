// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs when two threads are at it at once: each with a place of its own, or
 * both with one that they share.
 */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "../meter.h"
#include "session.h"

#define THREADS		2U

/**
 * struct side - a thread, and what it does
 * @s: with whose timeouts
 * @fn: the operation
 * @work: for it
 * @begin: both begin at once
 * @took_ns: how long it took
 */
struct side {
	struct session s;
	work_fn *fn;
	struct work work;
	pthread_barrier_t *begin;
	uint64_t took_ns;
};

static void *run(void *arg)
{
	struct side *side = arg;

	pthread_barrier_wait(side->begin);
	side->took_ns = now_ns();
	side->fn(side->s.self, &side->work);
	side->took_ns = now_ns() - side->took_ns;
	session_flush(&side->s);
	return NULL;
}

static void run_both(struct side *sides, work_fn *fn, enum operation what)
{
	double took = 0, cpu = 0;
	struct meter m[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t begin;
	unsigned int i;

	pthread_barrier_init(&begin, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		sides[i].fn = fn;
		sides[i].begin = &begin;
		m[i] = meter_start(sides[i].s.worker);
		if (pthread_create(&threads[i], NULL, run, &sides[i]))
			fail("no thread");
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	meter_called(&m[0]);
	cpu = m[0].cpu_ns;
	for (i = 0; i < THREADS; i++) {
		took += (double)sides[i].took_ns / sides[i].work.nr / THREADS;
		if (sides[i].s.worker) {
			meter_settled(&m[i]);
			cpu += m[i].worker_ns;
		}
	}
	report_cost(what, took, cpu / sides[0].work.nr / THREADS);
	pthread_barrier_destroy(&begin);
}

/* The second thread's timeouts are those of the second half, if they share a place. */
static void move_up(struct side *side, unsigned int by)
{
	unsigned int i;

	for (i = 0; i < side->s.live; i++)
		side->s.order[i] += by;
}

static void open_sides(struct side *sides, const struct peer *peer, unsigned int live,
		       unsigned int patience_s)
{
	const char *reason = peer->limit ? peer->limit(live) : NULL;
	struct session all;

	/* It is for both together. */
	if (reason)
		fail("%s", reason);
	if (!peer->share) {
		session_open(&sides[0].s, peer, live / THREADS, 0, patience_s);
		session_open(&sides[1].s, peer, live / THREADS, 0, patience_s);
		session_fill(&sides[0].s);
		session_fill(&sides[1].s);
		return;
	}
	session_open(&all, peer, live, 0, patience_s);
	session_fill(&all);
	/* These two are for what a thread has of its own. */
	session_open(&sides[0].s, peer, live / THREADS, 0, patience_s);
	session_open(&sides[1].s, peer, live / THREADS, 0, patience_s);
	peer->close(sides[0].s.self);
	peer->close(sides[1].s.self);
	sides[0].s.self = all.self;
	sides[1].s.self = all.self;
	peer->share(all.self);
	move_up(&sides[1], live / THREADS);
}

/**
 * measure_threads() - refresh and arm from two threads at once
 * @peer: whose
 * @live: how many are live, of both together
 * @patience_s: how long filling may take
 */
void measure_threads(const struct peer *peer, unsigned int live, unsigned int patience_s)
{
	static struct side sides[THREADS];
	unsigned int nr, i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < (long)THREADS)
		fail("two threads at once take two CPUs");
	open_sides(sides, peer, live, patience_s);

	nr = session_affordable(&sides[0].s, peer->refresh);
	for (i = 0; i < THREADS; i++)
		session_work_refresh(&sides[i].s, &sides[i].work, nr);
	run_both(sides, peer->refresh, REFRESH_THREADS);

	nr = session_affordable(&sides[0].s, peer->cancel);
	session_affordable(&sides[0].s, peer->arm);
	if (nr > live / THREADS / 2)
		nr = live / THREADS / 2;
	for (i = 0; i < THREADS; i++) {
		session_work_order(&sides[i].s, &sides[i].work, nr);
		peer->cancel(sides[i].s.self, &sides[i].work);
		session_flush(&sides[i].s);
		session_settle(&sides[i].s);
	}
	run_both(sides, peer->arm, ARM_THREADS);
}
