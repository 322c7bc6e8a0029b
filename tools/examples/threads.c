// SPDX-License-Identifier: MIT
/*
 * usage: threads [THREADS [TIMEOUTS]]
 *
 * A handle for each thread, so that none waits for another: operations and events go
 * through rings in shared memory.  Each thread arms TIMEOUTS of one to two seconds,
 * cancels every other of them, and collects the rest.
 *
 *	cc -pthread threads.c -o threads $(pkg-config --cflags --libs libtimewheel)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timewheel.h>

#define NS_PER_S	1000000000ULL

struct worker {
	pthread_t thread;
	unsigned int timeouts;
	unsigned int cancelled, fired, early;
	int err;
};

static void fired(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct worker *worker = data;

	worker->fired++;
	worker->early += timewheel_now(tw) < event->deadline_ns;
}

static int collect(struct timewheel *tw, struct worker *worker)
{
	int ret = timewheel_wait(tw, -1);

	return ret < 0 ? ret : timewheel_drain(tw, 0, fired, worker);
}

static int work(struct timewheel *tw, struct worker *worker)
{
	uint64_t id, last = 0;
	unsigned int i;
	int ret;

	for (i = 0; i < worker->timeouts; i++) {
		ret = timewheel_arm(tw, NS_PER_S + i * NS_PER_S / worker->timeouts, i, &id);
		if (ret)
			return ret;
		/* The one before may have fired, on a slow machine. */
		if (i % 2 && !timewheel_cancel(tw, last))
			worker->cancelled++;
		last = id;
	}
	while (worker->cancelled + worker->fired < worker->timeouts) {
		ret = collect(tw, worker);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static void *run(void *arg)
{
	struct worker *worker = arg;
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_RINGS,
		.capacity = worker->timeouts,
	};
	struct timewheel *tw;

	worker->err = timewheel_open(&tw, &options);
	if (worker->err)
		return NULL;
	worker->err = work(tw, worker);
	timewheel_close(tw);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, bad = 0, nr = argc > 1 ? atoi(argv[1]) : 4;
	int timeouts = argc > 2 ? atoi(argv[2]) : 10000;
	unsigned int cancelled = 0, fired = 0, early = 0;
	struct worker *workers;

	if (argc > 3 || nr < 1 || timeouts < 1) {
		fputs("usage: threads [THREADS [TIMEOUTS]]\n", stderr);
		return 2;
	}
	workers = calloc(nr, sizeof(*workers));
	for (i = 0; workers && i < nr; i++) {
		workers[i].timeouts = timeouts;
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			break;
	}
	if (!workers || i < nr) {
		fputs("threads: no memory for so many threads\n", stderr);
		return 1;
	}
	for (i = 0; i < nr; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].err)
			fprintf(stderr, "threads: thread %d: %s\n", i, strerror(-workers[i].err));
		bad |= workers[i].err;
		cancelled += workers[i].cancelled;
		fired += workers[i].fired;
		early += workers[i].early;
	}
	free(workers);
	printf("%d threads armed %llu timeouts: %u cancelled, %u fired, %u early\n", nr,
	       (unsigned long long)nr * timeouts, cancelled, fired, early);
	return bad || early;
}
