// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do the server, the module and the clients' sockets tell the same story?
 */
#include <stdint.h>
#include <stdio.h>

#include "demo.h"

static unsigned int expect(const char *what, uint64_t a, const char *whose_a,
			   uint64_t b, const char *whose_b)
{
	if (a == b)
		return 0;
	fflush(stdout);
	fprintf(stderr, "timewheel: %s: %ju by %s, but %ju by %s\n",
		what, a, whose_a, b, whose_b);
	return 1;
}

static unsigned int check_stats(const struct demo_run *run)
{
	const struct timewheel_stats *st = &run->stats;
	const struct server_books *b = &run->books;
	const char *stats = "the module's books", *server = "the server's count";
	/* Cancelled when it had just expired: to the module it fired. */
	uint64_t late = st->rejected - b->refused - b->failed;
	unsigned int bad = 0;

	bad += expect("armed", st->armed, stats, b->armed, server);
	bad += expect("rearmed", st->rearmed, stats, b->rearmed, server);
	bad += expect("cancelled in time or late", st->cancelled + late, stats,
		      b->cancelled, server);
	bad += expect("fired", st->fired, stats, b->fired + late, server);
	bad += expect("unread events", st->unread, stats, 0, "the end");
	bad += expect("unprocessed", st->unprocessed, stats, 0, "the end");
	bad += expect("still pending", st->pending, stats, 0, "the end");
	bad += expect("armed", st->armed, stats,
		      st->fired + st->cancelled + st->unprocessed + st->pending,
		      "the sum of what became of them");
	return bad;
}

/**
 * demo_check() - compare all accounts of a run
 * @run: the run
 * @connections: how many there were to be
 *
 * Return: how many of them disagree, each said on stderr.
 */
unsigned int demo_check(const struct demo_run *run, unsigned int connections)
{
	const struct server_books *b = &run->books;
	const struct clients_result *c = &run->clients;
	const char *server = "the server's count", *clients = "the clients' sockets";
	unsigned int bad = 0;

	if (!run->ok) {
		fprintf(stderr, "timewheel: the run with %s did not reach its end\n",
			run->name);
		return 1;
	}
	bad += expect("connections", b->accepted, server, connections, "the command line");
	bad += expect("refused connections", b->failed, server, 0, "the rule");
	bad += expect("closed for silence", b->closed_idle, server,
		      c->silent_closed + c->starved, clients);
	bad += expect("closed for silence", c->silent_closed, clients, c->silent,
		      "the number of silent ones");
	bad += expect("closed by the peer", b->closed_peer, server,
		      c->active + c->closing - c->starved, "the number of these clients");
	bad += expect("closed although not silent", c->wrongly_closed, clients, 0, "the rule");
	bad += expect("closed before the idle time was over", c->early, clients, 0, "the rule");
	bad += expect("fired early", b->early, server, 0, "the rule");
	bad += expect("armed", b->armed, server, b->fired + b->cancelled,
		      "the sum of fired and cancelled");
	if (run->wheel)
		bad += check_stats(run);
	return bad;
}
