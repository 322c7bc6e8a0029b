// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a timeout costs a program, with timewheel and with everything else.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operations.h"
#include "rows.h"
#include "run.h"
#include "tally.h"

#define LIVE_MAX	(1U << 22)
#define LIVES_MAX	16U

/**
 * struct plan - what is to be measured
 * @lives: with how many timeouts live, one after the other
 * @nr_lives: how many of those
 * @peers: the list of peers; NULL for all
 * @operations: the list of groups of operations; NULL for all
 * @runs: how many runs
 * @patience_s: how long arming them all may take
 * @json: rows rather than a table
 * @time_unit: what the clock counts
 */
struct plan {
	unsigned int lives[LIVES_MAX];
	unsigned int nr_lives;
	const char *peers;
	const char *operations;
	unsigned int runs;
	unsigned int patience_s;
	bool json;
	const char *time_unit;
};

static void usage(FILE *to)
{
	fputs("usage: timewheel-peers [OPTION]...\n"
	      "  --live LIST        with so many timeouts live (1000,10000,100000,1000000)\n"
	      "  --peers LIST       only these, of\n"
	      "                    ", to);
	for (unsigned int i = 0; peers[i]; i++)
		fprintf(to, "%s%s", i % 5 ? " " : i ? "\n                     " : " ",
			peers[i]->name);
	fputs("\n"
	      "  --operations LIST  only these, of arm,refresh,cancel,expire,threads,lateness,\n"
	      "                     idle,memory,syscalls\n"
	      "  --runs N           runs, of which the median is taken (5); lateness, idle,\n"
	      "                     memory and syscalls are measured in the first alone\n"
	      "  --patience SECONDS how long arming all that are live may take (120)\n"
	      "  --instructions     the clock counts instructions (qemu -icount)\n"
	      "  --json             one JSON object on a line for each figure\n", to);
}

static noreturn void refuse(const char *what, const char *text)
{
	fprintf(stderr, "timewheel-peers: %s: '%s'; see --help\n", what, text);
	exit(2);
}

static unsigned int number(const char *text, unsigned int max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!value || value > max || (*end && *end != ','))
		refuse("no number in range", text);
	return value;
}

static void take_lives(struct plan *plan, const char *list)
{
	const char *at = list;

	plan->nr_lives = 0;
	while (at) {
		if (plan->nr_lives == LIVES_MAX)
			refuse("too many numbers", list);
		/* Half of them go to each of two threads, and half of those are cancelled. */
		plan->lives[plan->nr_lives] = number(at, LIVE_MAX);
		if (plan->lives[plan->nr_lives++] < 100)
			refuse("less than 100 timeouts say nothing", list);
		at = strchr(at, ',');
		at += !!at;
	}
}

static void check_peers(const char *list)
{
	size_t len;
	unsigned int i;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		for (i = 0; peers[i]; i++)
			if (strlen(peers[i]->name) == len && !memcmp(peers[i]->name, list, len))
				break;
		if (!peers[i])
			refuse("no such peer", list);
	}
}

static void check_operations(const char *list)
{
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (!group_known(list, len))
			refuse("no such operation", list);
	}
}

/* In the first run all, and then what there are medians of. */
static void choose(const struct plan *plan, unsigned int run, bool *wanted)
{
	unsigned int i;

	for (i = 0; i < OPERATIONS; i++)
		wanted[i] = listed(plan->operations, operation_names[i].group) &&
			    (!run || !operation_names[i].unit);
}

/* What failed once is not tried again. */
static void drop_failed(const struct tally *tally, bool *wanted)
{
	unsigned int i;

	for (i = 0; i < OPERATIONS; i++)
		wanted[i] = wanted[i] && tally->figures[i].there;
}

static void run_all(const struct plan *plan, unsigned int live, struct tally *tallies)
{
	struct run run = { .live = live, .patience_s = plan->patience_s };
	struct figure figures[OPERATIONS];
	unsigned int round, i;

	for (round = 0; round < plan->runs; round++) {
		for (i = 0; peers[i]; i++) {
			if (!listed(plan->peers, peers[i]->name))
				continue;
			fprintf(stderr, "timewheel-peers: %u live, run %u of %u, %s\n", live,
				round + 1, plan->runs, peers[i]->name);
			run.peer = peers[i];
			choose(plan, round, run.wanted);
			if (round)
				drop_failed(&tallies[i], run.wanted);
			memset(figures, 0, sizeof(figures));
			run_peer(&run, figures);
			tally_add(&tallies[i], run.wanted, figures);
		}
	}
}

static void print_all(const struct plan *plan, unsigned int live, const struct tally *tallies)
{
	bool wanted[OPERATIONS];
	struct figure figure;
	unsigned int what, i;

	choose(plan, 0, wanted);
	for (what = 0; what < OPERATIONS; what++) {
		if (!wanted[what])
			continue;
		if (!plan->json)
			rows_heading(what, live, plan->time_unit);
		for (i = 0; peers[i]; i++) {
			if (!listed(plan->peers, peers[i]->name))
				continue;
			figure = tally_figure(&tallies[i], what);
			if (plan->json)
				rows_json(peers[i], what, live, plan->time_unit, &figure);
			else
				rows_line(peers[i], &figure);
		}
	}
}

static void measure(const struct plan *plan, unsigned int live)
{
	struct tally *tallies = calloc(PEERS_MAX, sizeof(*tallies));

	if (!tallies)
		die("memory");
	run_all(plan, live, tallies);
	print_all(plan, live, tallies);
	free(tallies);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "live", required_argument, NULL, 'l' },
		{ "peers", required_argument, NULL, 'p' },
		{ "operations", required_argument, NULL, 'o' },
		{ "runs", required_argument, NULL, 'r' },
		{ "patience", required_argument, NULL, 't' },
		{ "instructions", no_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct plan plan = {
		.lives = { 1000, 10000, 100000, 1000000 }, .nr_lives = 4,
		.runs = 5, .patience_s = 120, .time_unit = "ns",
	};
	unsigned int i;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'l':
			take_lives(&plan, optarg);
			break;
		case 'p':
			check_peers(optarg);
			plan.peers = optarg;
			break;
		case 'o':
			check_operations(optarg);
			plan.operations = optarg;
			break;
		case 'r':
			plan.runs = number(optarg, ROUNDS_MAX);
			break;
		case 't':
			plan.patience_s = number(optarg, 3600);
			break;
		case 'i':
			plan.time_unit = "instructions";
			break;
		case 'j':
			plan.json = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc)
		refuse("an argument too many", argv[optind]);
	for (i = 0; i < plan.nr_lives; i++)
		measure(&plan, plan.lives[i]);
	return 0;
}
