// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer at work, with so many timeouts live.
 */
#include <stdlib.h>

#include "../meter.h"
#include "session.h"

/* What is done first to see what it costs: little, as there are those that walk lists. */
#define TRIAL		4U
/* How long an operation may take for one figure. */
#define BUDGET_NS	(500 * MS)
/* A peer that has no deadlines but delays is told these soon after its clock was read. */
#define CHUNK		16U
/* Arming what is due soon takes no longer than so many times what it seemed to. */
#define CAUTION		4U
#define SOON_NS		(300 * MS)
#define TRIES		4U

static void *allocate(size_t nr, size_t size)
{
	void *p = malloc(nr * size);

	if (!p)
		fail("no memory for the bench itself");
	return p;
}

/**
 * session_open() - begin
 * @s: the session
 * @peer: who
 * @live: how many are to be live
 * @extra: how many more can expire
 * @patience_s: how long filling may take
 */
void session_open(struct session *s, const struct peer *peer, unsigned int live,
		  unsigned int extra, unsigned int patience_s)
{
	const char *reason = peer->limit ? peer->limit(live + extra) : NULL;

	if (reason)
		fail("%s", reason);
	*s = (struct session){
		.peer = peer,
		.live = live,
		.extra = extra,
		.patience_s = patience_s,
		.order = shuffled(live),
		.index = allocate(WORK_MAX, sizeof(*s->index)),
		.deadline = allocate(WORK_MAX, sizeof(*s->deadline)),
		.expired = allocate(live + extra, sizeof(*s->expired)),
		.self = peer->open(live + extra),
	};
	s->worker = peer->worker ? peer->worker(s->self) : 0;
}

void session_flush(const struct session *s)
{
	if (s->peer->flush)
		s->peer->flush(s->self);
}

/* Until nobody works for us any more. */
void session_settle(const struct session *s)
{
	struct meter m;

	if (!s->worker)
		return;
	m = meter_start(s->worker);
	meter_settled(&m);
}

/**
 * session_fill() - arm all that are to be live
 * @s: the session
 *
 * It gives up when that takes too long.
 */
void session_fill(struct session *s)
{
	uint64_t begin = now_ns(), now = begin;
	struct work work = { s->index, s->deadline, 0 };
	unsigned int done, i;

	for (done = 0; done < s->live; done += work.nr) {
		if (now - begin > s->patience_s * SEC)
			fail("to arm %u takes longer than %u s: it had come to %u", s->live,
			     s->patience_s, done);
		work.nr = least(s->live - done, BATCH);
		for (i = 0; i < work.nr; i++) {
			s->index[i] = done + i;
			s->deadline[i] = now + random_deadline();
		}
		s->peer->arm(s->self, &work);
		now = now_ns();
	}
	session_flush(s);
	session_settle(s);
	s->arm_ns = (now - begin) / s->live + 1;
}

/* To what is later than anything that was armed: a lease knows no other refresh. */
void session_work_refresh(const struct session *s, struct work *work, unsigned int nr)
{
	uint64_t now = now_ns();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		s->index[i] = s->order[random_below(s->live)];
		s->deadline[i] = now + FAR_NS + random_deadline();
	}
	*work = (struct work){ s->index, s->deadline, nr };
}

/* Random ones, none twice, and the same each time. */
void session_work_order(const struct session *s, struct work *work, unsigned int nr)
{
	uint64_t now = now_ns();
	unsigned int i;

	for (i = 0; i < nr; i++)
		s->deadline[i] = now + random_deadline();
	*work = (struct work){ s->order, s->deadline, nr };
}

/* How often @fn can be done, by what it takes to do it a few times. */
unsigned int session_affordable(const struct session *s, work_fn *fn)
{
	struct work work;
	uint64_t took;

	if (fn == s->peer->refresh)
		session_work_refresh(s, &work, TRIAL);
	else
		session_work_order(s, &work, TRIAL);
	took = now_ns();
	fn(s->self, &work);
	session_flush(s);
	took = (now_ns() - took) / TRIAL + 1;
	if (took > BUDGET_NS / TRIAL)
		return TRIAL;
	return least(BUDGET_NS / took, WORK_MAX);
}

/* All of them, whenever they expire. */
static void collect_late(const struct session *s, unsigned int nr)
{
	while (nr)
		nr -= s->peer->collect(s->self, s->expired, true);
}

static void arm_chunks(const struct session *s, unsigned int nr)
{
	unsigned int done;
	struct work work;

	for (done = 0; done < nr; done += work.nr) {
		work = (struct work){ s->index + done, s->deadline + done,
				      least(nr - done, CHUNK) };
		s->peer->arm(s->self, &work);
	}
	session_flush(s);
}

/**
 * session_arm_extra() - arm some that expire, before the first of them does
 * @s: the session
 * @nr: how many, up to what it has
 * @span_ns: for how long some of them are due, at random; 0 for all at once
 *
 * A machine that is shared may take longer to arm them than was left for it: then all
 * are let go by, and it is tried again with more time.
 *
 * Return: from when on they are due.
 */
uint64_t session_arm_extra(const struct session *s, unsigned int nr, uint64_t span_ns)
{
	uint64_t ahead_ns = SOON_NS + CAUTION * s->arm_ns * nr, from_ns;
	unsigned int try, i;

	for (try = 0; try < TRIES; try++) {
		from_ns = now_ns() + ahead_ns;
		for (i = 0; i < nr; i++) {
			s->index[i] = s->live + i;
			s->deadline[i] = from_ns + (span_ns ? random_next() % span_ns : 0);
		}
		arm_chunks(s, nr);
		if (now_ns() < from_ns)
			return from_ns;
		collect_late(s, nr);
		ahead_ns *= 4;
	}
	fail("%u were armed too slowly to see them expire", nr);
}

/* What was collected, @from_ns or later, is of the extra ones, and each comes once. */
void session_take(const struct session *s, bool *seen, unsigned int nr, uint64_t from_ns)
{
	unsigned int i;

	if (nr && now_ns() < from_ns)
		fail("timeouts have expired before any was due");
	for (i = 0; i < nr; i++) {
		if (s->expired[i] < s->live || s->expired[i] >= s->live + s->extra ||
		    seen[s->expired[i] - s->live])
			fail("a timeout expired that was not due, or twice");
		seen[s->expired[i] - s->live] = true;
	}
}
