// SPDX-License-Identifier: GPL-2.0-only
/*
 * How late a program learns that a timeout has expired: many are due within some
 * seconds, and it waits for each.  What is early is late by less than nothing.
 */
#include <stdlib.h>

#include "session.h"

#define SPAN_NS		(3 * SEC)

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * measure_lateness() - the time from a deadline to when it is known
 * @s: the session, which is full
 */
void measure_lateness(struct session *s)
{
	double *late = malloc(s->extra * sizeof(*late));
	bool *seen = calloc(s->extra, sizeof(*seen));
	unsigned int done = 0, early = 0, nr, i;
	uint64_t now;

	if (!late || !seen)
		fail("no memory for the bench itself");
	session_arm_extra(s, s->extra, SPAN_NS);
	while (done < s->extra) {
		nr = s->peer->collect(s->self, s->expired, true);
		now = now_ns();
		session_take(s, seen, nr, 0);
		for (i = 0; i < nr; i++) {
			late[done] = (double)now - s->deadline[s->expired[i] - s->live];
			early += late[done++] < 0;
		}
	}
	qsort(late, done, sizeof(*late), compare);
	report_quantiles(LATENESS, late, done);
	report_value(EARLY, early);
	free(late);
	free(seen);
}
