// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to refresh, cancel and arm one of so many.
 *
 * Some of those that are live are cancelled, and the same are armed again: so there
 * are nearly as many all the time.
 */
#include "../meter.h"
#include "session.h"

static void measure(struct session *s, work_fn *fn, const struct work *work,
		    enum operation what)
{
	struct meter m = meter_start(s->worker);

	fn(s->self, work);
	meter_called(&m);
	/* It would come by itself: only so that its CPU time is counted. */
	session_flush(s);
	if (s->worker)
		meter_settled(&m);
	report_cost(what, (double)m.wall_ns / work->nr, (double)meter_cpu_ns(&m) / work->nr);
}

static void measure_refresh(struct session *s)
{
	unsigned int nr = session_affordable(s, s->peer->refresh);
	struct work work;

	/* Once for the caches, and for an emulator to have seen the code. */
	session_work_refresh(s, &work, nr);
	s->peer->refresh(s->self, &work);
	session_work_refresh(s, &work, nr);
	measure(s, s->peer->refresh, &work, REFRESH);
}

/* So many are cancelled, and of these so many armed; the others afterwards. */
static void cancel_arm(struct session *s, unsigned int cancels, unsigned int arms)
{
	struct work work, rest;

	session_work_order(s, &work, cancels);
	measure(s, s->peer->cancel, &work, CANCEL);
	work.nr = arms;
	measure(s, s->peer->arm, &work, ARM);
	rest = (struct work){ work.index + arms, work.deadline_ns + arms, cancels - arms };
	if (!rest.nr)
		return;
	s->peer->arm(s->self, &rest);
	session_flush(s);
	session_settle(s);
}

static void measure_cancel_arm(struct session *s, const bool *wanted)
{
	unsigned int cancels = session_affordable(s, s->peer->cancel);
	unsigned int arms = session_affordable(s, s->peer->arm);
	unsigned int i;

	/* Of few live not all; and what is cancelled is armed again. */
	cancels = least(cancels, s->live / 2);
	arms = least(arms, cancels);
	/* The first time is for the caches again. */
	for (i = 0; i < 2; i++)
		cancel_arm(s, cancels, arms);
	if (!wanted[CANCEL])
		report_none(CANCEL, "");
	if (!wanted[ARM])
		report_none(ARM, "");
}

/**
 * measure_costs() - refresh, cancel and arm
 * @s: the session, which is full
 * @wanted: by operation, whether it is
 */
void measure_costs(struct session *s, const bool *wanted)
{
	if (wanted[REFRESH])
		measure_refresh(s);
	if (wanted[CANCEL] || wanted[ARM])
		measure_cancel_arm(s, wanted);
}
