// SPDX-License-Identifier: GPL-2.0-only
/*
 * A million timeouts against the peers, in one process.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "parts.h"

#define ARMED		100000U
#define CANCELS		20000U
#define COLLECTS	10000U
#define IDLE_NS		(5 * SEC)

static void usage(FILE *to)
{
	fputs("usage: million [--live N] [--armed N] [--runs N] [--soak SECONDS] [--parts LIST]\n"
	      "  --live N       leases and timerfds to refresh, and pending at once (1000000)\n"
	      "  --armed N      timeouts to arm and cancel (100000)\n"
	      "  --runs N       rounds, of which the median is taken (5)\n"
	      "  --soak SECONDS how long the leases of the soak are refreshed (60)\n"
	      "  --parts LIST   of memory,refresh,arm,collect,soak (all)\n", to);
}

static unsigned int number(const char *text, unsigned int max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (value && value <= max && !*end)
		return value;
	fprintf(stderr, "million: '%s' is no number from 1 to %u\n", text, max);
	exit(2);
}

/* Whether @part is in a list with commas. */
static bool wanted(const char *parts, const char *part)
{
	size_t len = strlen(part);
	const char *at = parts;

	while ((at = strstr(at, part))) {
		if ((at == parts || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
		at += len;
	}
	return false;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "live", required_argument, NULL, 'l' },
		{ "armed", required_argument, NULL, 'a' },
		{ "runs", required_argument, NULL, 'r' },
		{ "soak", required_argument, NULL, 's' },
		{ "parts", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct plan plan = { .live = 1000000, .armed = ARMED };
	const char *parts = "memory,refresh,arm,collect,soak";
	unsigned int runs = 5, soak_s = 60;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'l':
			plan.live = number(optarg, 1U << 24);
			break;
		case 'a':
			plan.armed = number(optarg, 1U << 20);
			break;
		case 'r':
			runs = number(optarg, ROUNDS_MAX);
			break;
		case 's':
			soak_s = number(optarg, 86400);
			break;
		case 'p':
			parts = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	plan.order = shuffled(plan.armed);
	plan.cancels = plan.armed < CANCELS ? plan.armed : CANCELS;
	plan.collects = COLLECTS;

	/* While this process is small: it is forked for that. */
	if (wanted(parts, "memory"))
		memory_report(plan.live);
	if (wanted(parts, "refresh"))
		refresh_rounds(&plan, runs);
	if (wanted(parts, "arm"))
		arm_rounds(&plan, runs);
	if (wanted(parts, "collect"))
		collect_rounds(&plan, runs);
	if (wanted(parts, "refresh") || wanted(parts, "arm") || wanted(parts, "collect"))
		table_report(&plan);
	if (wanted(parts, "soak"))
		soak_report(plan.live, IDLE_NS, soak_s * SEC);
	free(plan.order);
	return 0;
}
