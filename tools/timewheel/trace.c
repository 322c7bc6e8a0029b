// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel trace: a synthetic trace of connections, for 'timewheel replay'.
 *
 * The connections come, and each has its requests, at intervals that have a Pareto
 * distribution: many are short, and a few are very long.  All of it is computed in
 * integers, so that the same options give the same bytes on every machine.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "argument.h"
#include "command.h"
#include "duration.h"
#include "error.h"
#include "heap.h"
#include "pareto.h"

#define NS_PER_S		UINT64_C(1000000000)
#define DEFAULT_CONNECTIONS	1000
#define MAX_CONNECTIONS		100000000
#define MAX_DURATION_NS		(366 * 86400 * NS_PER_S)

/* Of so many events after its opening a connection ... */
#define PARTS			64
#define PARTS_CLOSE		8	/* is closed by these, */
#define PARTS_VANISH		1	/* and falls silent for ever before this */

/* Has the intervals between arrivals apart from all that belongs to a connection. */
#define ARRIVALS		UINT64_MAX

/* What was asked for; @silence_ns is the mean between two events of a connection. */
struct shape {
	uint32_t connections;
	uint64_t duration_ns;
	uint64_t silence_ns;
	uint64_t seed;
};

/* A connection that is open: its number, and where its random numbers are. */
struct live {
	uint32_t number;
	uint32_t next_free;
	uint64_t random;
};

/**
 * struct writer - a trace that is being written
 * @sum: of the intervals up to the next arrival
 * @whole: of all intervals, which the duration is divided by
 * @shape: how it is to be
 * @arrivals: where the random numbers of the arrivals are
 * @arrived: connections so far
 * @queue: the next event of each that is open
 * @live: the open ones, by their index in @queue
 * @nr: indices given out
 * @free: the first that is free
 */
struct writer {
	unsigned __int128 sum;
	unsigned __int128 whole;
	struct shape shape;
	uint64_t arrivals;
	uint32_t arrived;
	struct heap queue;
	struct live *live;
	uint32_t nr;
	uint32_t free;
};

/* Intervals are of no unit here: their sum is made to be the duration. */
static uint64_t interval(struct writer *w)
{
	return pareto_next(&w->arrivals, NS_PER_S);
}

static void begin(struct writer *w)
{
	uint32_t i;

	w->arrivals = pareto_seed(w->shape.seed, ARRIVALS);
	for (i = 0; i <= w->shape.connections; i++)
		w->whole += interval(w);
	w->arrivals = pareto_seed(w->shape.seed, ARRIVALS);
	w->sum = interval(w);
	w->free = UINT32_MAX;
}

/* When the next connection comes; after the end if there is none. */
static uint64_t next_arrival(const struct writer *w)
{
	if (w->arrived == w->shape.connections)
		return UINT64_MAX;
	/* Both are below 2^77, and the duration below 2^55: drop what is too much. */
	return (w->sum >> 16) * w->shape.duration_ns / ((w->whole >> 16) + 1);
}

static void write_line(uint64_t ns, uint32_t number, const char *what)
{
	printf("%ju.%09ju %u %s\n", ns / NS_PER_S, ns % NS_PER_S, number, what);
	if (ferror(stdout))
		fail_errno(errno, "cannot write the trace");
}

static uint32_t take_index(struct writer *w)
{
	uint32_t index = w->free, size;

	if (index != UINT32_MAX) {
		w->free = w->live[index].next_free;
		return index;
	}
	/* Room for the next power of two, whenever that is full. */
	if (!(w->nr & (w->nr - 1))) {
		size = w->nr ? 2 * w->nr : 1;
		w->live = realloc(w->live, size * sizeof(*w->live));
		if (!w->live)
			fail("no memory");
	}
	return w->nr++;
}

static void give_index(struct writer *w, uint32_t index)
{
	w->live[index].next_free = w->free;
	w->free = index;
}

/* The next event of a connection is so much later; beyond the end there is none. */
static void go_on(struct writer *w, uint32_t index, uint64_t now)
{
	uint64_t at = now + pareto_next(&w->live[index].random, w->shape.silence_ns);

	if (at >= w->shape.duration_ns)
		give_index(w, index);
	else if (heap_set(&w->queue, index, at))
		fail("no memory");
}

static void arrive(struct writer *w, uint64_t now)
{
	uint32_t index = take_index(w);

	w->live[index].number = ++w->arrived;
	w->live[index].random = pareto_seed(w->shape.seed, w->arrived);
	write_line(now, w->arrived, "open");
	go_on(w, index, now);
	w->sum += interval(w);
}

static void act(struct writer *w, uint32_t index, uint64_t now)
{
	struct live *live = &w->live[index];
	uint64_t part = pareto_random(&live->random) % PARTS;

	if (part < PARTS_CLOSE)
		write_line(now, live->number, "close");
	else if (part >= PARTS_CLOSE + PARTS_VANISH)
		write_line(now, live->number, "request");
	if (part < PARTS_CLOSE + PARTS_VANISH)
		give_index(w, index);
	else
		go_on(w, index, now);
}

static void write_trace(struct writer *w)
{
	const struct heap_entry *first;
	uint64_t arrival, now;
	uint32_t index;

	printf("# timewheel trace --connections %u --duration %juns --silence %juns --seed %ju\n",
	       w->shape.connections, w->shape.duration_ns, w->shape.silence_ns,
	       w->shape.seed);
	for (;;) {
		first = heap_first(&w->queue);
		arrival = next_arrival(w);
		if (first && first->key < arrival) {
			now = first->key;
			index = first->index;
			heap_remove(&w->queue, index);
			act(w, index, now);
		} else if (arrival != UINT64_MAX) {
			arrive(w, arrival);
		} else {
			break;
		}
	}
	heap_clear(&w->queue);
	free(w->live);
}

static uint64_t parse_duration(const char *text, uint64_t max_ns)
{
	uint64_t ns;

	if (duration_parse(text, &ns))
		fail_usage("trace", "'%s' is no duration; write " DURATION_FORMS, text);
	if (!ns || ns > max_ns)
		fail_usage("trace", "'%s' is not from 1ns to 366d", text);
	return ns;
}

static uint64_t parse_seed(const char *text)
{
	uint64_t seed;
	char *end;

	errno = 0;
	seed = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9')
		fail_usage("trace", "'%s' is no seed; write a number", text);
	return seed;
}

static int run_trace(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "connections", required_argument, NULL, 'c' },
		{ "duration", required_argument, NULL, 'd' },
		{ "silence", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ }
	};
	struct writer w = {
		.shape = {
			.connections = DEFAULT_CONNECTIONS,
			.duration_ns = 60 * NS_PER_S,
			.silence_ns = NS_PER_S,
			.seed = 1,
		},
	};
	int c;

	while ((c = command_option(&command_trace, argc, argv, options)) != -1) {
		switch (c) {
		case 'c':
			w.shape.connections = argument_number("trace", "number of connections",
							      optarg, 1);
			if (w.shape.connections > MAX_CONNECTIONS)
				fail_usage("trace", "more than %d connections are too many",
					   MAX_CONNECTIONS);
			break;
		case 'd':
			w.shape.duration_ns = parse_duration(optarg, MAX_DURATION_NS);
			break;
		case 's':
			w.shape.silence_ns = parse_duration(optarg, MAX_DURATION_NS);
			break;
		case 'r':
			w.shape.seed = parse_seed(optarg);
			break;
		}
	}
	if (optind < argc)
		fail_usage("trace", "trace takes no argument, but got '%s'; what it writes\n"
			   "goes to the standard output", argv[optind]);
	begin(&w);
	write_trace(&w);
	return EXIT_SUCCESS;
}

const struct command command_trace = {
	.name = "trace",
	.args = "[--connections NUMBER] [--duration DURATION]\n"
		"       [--silence DURATION] [--seed NUMBER]",
	.summary = "write a synthetic trace of connections, for replay",
	.help = "Writes a synthetic trace of connections to the standard output, for 'timewheel\n"
		"replay'. The intervals between the connections and those between the events of\n"
		"one have a Pareto distribution: most are short, some very long. The same options\n"
		"give the same bytes on every machine.\n"
		"\n"
		"  --connections NUMBER  how many come (1000)\n"
		"  --duration DURATION   within this; the trace is as long (1m)\n"
		"  --silence DURATION    the mean between two events of a connection (1s)\n"
		"  --seed NUMBER         another for another trace (1)\n",
	.run = run_trace,
};
