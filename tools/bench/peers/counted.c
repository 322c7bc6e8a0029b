// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many system calls the operations take.
 */
#include <stdlib.h>

#include "../syscalls.h"
#include "session.h"

#define COUNTED		1000U

/* Until what is due has expired, and longer. */
#define EXPIRED_NS	(500 * MS)

/**
 * struct counted - an operation whose system calls are counted
 * @s: who does it
 * @fn: the operation; NULL to collect what expired
 * @work: for it; or how many are to be collected
 */
struct counted {
	const struct session *s;
	work_fn *fn;
	struct work work;
};

static void run(void *arg)
{
	const struct counted *c = arg;
	unsigned int done = 0;

	if (c->fn) {
		c->fn(c->s->self, &c->work);
		return;
	}
	while (done < c->work.nr)
		done += c->s->peer->collect(c->s->self, c->s->expired, false);
}

static void count(const struct session *s, work_fn *fn, const struct work *work,
		  enum operation what)
{
	struct counted c = { s, fn, *work };
	long nr = syscalls_of(run, &c);

	if (nr >= 0) {
		report_value(what, (double)nr / work->nr);
		return;
	}
	report_none(what, "this kernel does not trace system calls, or not for us");
	/* It was not done, and what comes next counts on it. */
	run(&c);
}

/**
 * measure_syscalls() - system calls of each operation
 * @s: the session, which is full
 */
void measure_syscalls(struct session *s)
{
	unsigned int nr = least(COUNTED, s->live);
	struct work work;

	session_work_refresh(s, &work, least(nr, session_affordable(s, s->peer->refresh)));
	count(s, s->peer->refresh, &work, REFRESH_SYSCALLS);

	nr = least(nr, session_affordable(s, s->peer->cancel));
	session_affordable(s, s->peer->arm);
	session_work_order(s, &work, nr);
	count(s, s->peer->cancel, &work, CANCEL_SYSCALLS);
	count(s, s->peer->arm, &work, ARM_SYSCALLS);
	session_settle(s);

	nr = least(COUNTED, s->extra);
	sleep_until(session_arm_extra(s, nr, 0) + EXPIRED_NS);
	work.nr = nr;
	count(s, NULL, &work, EXPIRE_SYSCALLS);
}
