// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace, played against a backend, and the backend checked against the rule.
 *
 * What is due is played in rounds, as an event loop does it: the lines are read and
 * judged, handed to the backend, and what has expired is collected.
 *
 * The rule goes by the times of the trace; the backend, and this player, by the clock,
 * and each is a little late.  So a request may be handed over only after the deadline
 * that it was to put off, and be too late or just in time; and an expiry may be heard
 * of only after the request that came too late for it.  That is counted as on the edge.
 * All else is right or wrong: an expiry that the rule asks for has to come, however
 * late, since such a timeout is not cancelled but left alone, and its connection has
 * another from then on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../bench/worker.h"
#include "decimal.h"
#include "device.h"
#include "error.h"
#include "player.h"
#include "syscalls.h"

#define NS_PER_S	1000000000ULL

/* Events that are played before what has expired is collected. */
#define ROUND		256U

/* What has not expired when nothing has for so long, and all are due, never will. */
#define PATIENCE_NS	(30 * NS_PER_S)

/* No deadline is later: 146 years, and all clocks can be set to it. */
#define NEVER_NS	(1ULL << 62)

#define NONE		TIMEOUTS_NONE

/**
 * struct op - an event, judged
 * @action: what to do
 * @index: to which timeout
 * @was: the timeout that has expired before, or NONE
 * @deadline_ns: the new deadline
 * @old_ns: the deadline that it has put off or cancelled, 0 if there was none any more
 * @marked: it has set edge_ns of the timeout to @old_ns
 */
struct op {
	enum reference_action action;
	uint32_t index;
	uint32_t was;
	uint64_t deadline_ns;
	uint64_t old_ns;
	bool marked;
};

/**
 * struct player - what goes on
 * @play: what is to be done, and the counts
 * @backend: who does it
 * @timeouts: all timeouts
 * @base_ns: the clock at the first event
 * @armed: timeouts that are with the backend
 * @due: those of them that the rule says have expired
 * @last_ns: the last deadline of all
 * @ops: a round
 */
struct player {
	struct play *play;
	struct backend backend;
	struct timeouts timeouts;
	uint64_t base_ns;
	uint32_t armed;
	uint32_t due;
	uint64_t last_ns;
	struct op ops[ROUND];
};

static uint64_t clock_ns(void)
{
	return device_now(CLOCK_MONOTONIC);
}

static noreturn void fail_trace(const struct trace_file *trace, const char *error)
{
	if (!trace->line)
		fail("%s: %s", trace->name, error);
	fail("%s, line %ju: %s", trace->name, trace->line, error);
}

/* The next event and what the rule says of it; false at the end. */
static bool judge_next(struct trace_file *trace, struct reference *ref,
		       struct trace_event *event, struct verdict *verdict)
{
	char error[128];
	int ret = trace_next(trace, event);

	if (ret < 0)
		fail_trace(trace, trace->error);
	if (!ret)
		return false;
	switch (reference_event(ref, event, verdict)) {
	case 0:
		return true;
	case -EEXIST:
		snprintf(error, sizeof(error),
			 "connection %ju is open already: close it first, or give the\n"
			 "new one another number", event->connection);
		break;
	case -ENOENT:
		snprintf(error, sizeof(error),
			 "connection %ju is not open: it begins with 'open', and after\n"
			 "'close' it is no more", event->connection);
		break;
	default:
		fail("no memory for so many connections at once");
	}
	fail_trace(trace, error);
}

/**
 * player_read() - read a trace to its end, and judge it
 * @trace: the trace; of one that is wrong it says where, and does not return
 * @ref: the rule; its idle time is set
 */
void player_read(struct trace_file *trace, struct reference *ref)
{
	struct trace_event event;
	struct verdict verdict;

	while (judge_next(trace, ref, &event, &verdict))
		;
	reference_end(ref);
}

/* When it is time for what the trace says is at @ns, or after. */
static uint64_t when(const struct player *p, uint64_t ns)
{
	unsigned __int128 after = ns - p->play->ref.first_ns;

	after = p->base_ns + after * DECIMAL_ONE / p->play->speed;
	return after < NEVER_NS ? after : NEVER_NS;
}

static uint64_t deadline_of(const struct player *p, uint64_t ns)
{
	uint64_t deadline;

	if (__builtin_add_overflow(ns, p->play->ref.idle_ns, &deadline))
		deadline = UINT64_MAX;
	return when(p, deadline);
}

/* A timeout has expired for its deadline, for one that it had on the edge, or early. */
static void note_expiry(struct play *play, const struct timeout *t, uint64_t now)
{
	play->expired++;
	if (now >= t->deadline_ns) {
		lateness_add(&play->late, now - t->deadline_ns);
	} else if (t->edge_ns && now >= t->edge_ns) {
		lateness_add(&play->late, now - t->edge_ns);
		play->edge.late_expired++;
		/* The rule says that it has expired for the deadline that it has now. */
		play->edge.unarmed += t->state == TIMEOUT_DUE;
	} else {
		play->early++;
	}
}

/* The timeout that a cookie stands for, NULL if that has ended before. */
static struct timeout *find_timeout(struct player *p, uint64_t cookie)
{
	uint32_t index = cookie;

	if (index >= p->timeouts.nr ||
	    timeouts_cookie(&p->timeouts, index) != cookie)
		return NULL;
	switch (p->timeouts.all[index].state) {
	case TIMEOUT_PENDING:
	case TIMEOUT_CANCELLED:
	case TIMEOUT_DUE:
		return &p->timeouts.all[index];
	default:
		return NULL;
	}
}

/* The backend says that a timeout has expired. */
static void expired(void *data, uint64_t cookie)
{
	struct player *p = data;
	struct play *play = p->play;
	struct timeout *t = find_timeout(p, cookie);
	uint64_t now = clock_ns();

	if (!t) {
		play->twice++;
		return;
	}
	note_expiry(play, t, now);
	switch (t->state) {
	case TIMEOUT_PENDING:
		p->armed--;
		t->state = now >= t->deadline_ns ? TIMEOUT_HEARD : TIMEOUT_EDGE;
		return;
	case TIMEOUT_DUE:
		p->armed--;
		p->due--;
		timeouts_free(&p->timeouts, cookie);
		return;
	default:
		/* Cancelled, and the backend had not heard of that, which was late. */
		play->cancelled--;
		play->edge.late_expired += now >= t->deadline_ns;
		t->state = TIMEOUT_EDGE;
	}
}

/* Wait until a time, or until something has expired, which is collected. */
static void wait_until(struct player *p, uint64_t until)
{
	struct pollfd fd = { .fd = p->backend.fd, .events = POLLIN };
	uint64_t now = clock_ns(), left = until > now ? until - now : 0;
	struct timespec timeout = {
		.tv_sec = left / NS_PER_S,
		.tv_nsec = left % NS_PER_S,
	};
	int ret = ppoll(&fd, 1, &timeout, NULL);

	if (ret < 0 && errno != EINTR)
		fail_errno(errno, "cannot wait for timeouts");
	if (ret <= 0)
		return;
	now = clock_ns();
	p->backend.ops->collect(&p->backend);
	p->play->calls_ns += clock_ns() - now;
}

static void flush(struct player *p)
{
	while (p->backend.ops->flush(&p->backend) == -EAGAIN)
		p->backend.ops->collect(&p->backend);
}

/*
 * Wait until no more than @at_most are due.  Returns false if nothing comes any more,
 * @from_ns being a time from which on something has to.
 */
static bool wait_for_due(struct player *p, uint32_t at_most, uint64_t from_ns)
{
	uint64_t until = 0;
	uint32_t due = UINT32_MAX;

	while (p->due > at_most) {
		if (p->due != due) {
			due = p->due;
			until = clock_ns();
			until = (until > from_ns ? until : from_ns) + PATIENCE_NS;
		}
		if (clock_ns() >= until)
			return false;
		wait_until(p, until);
	}
	return true;
}

/* With a backend that is full, those that are due will make room. */
static void make_room(struct player *p)
{
	if (p->armed < p->backend.capacity)
		return;
	if (!p->due)
		fail("more connections are open at once than %s was told: %u.\n"
		     "Say how many there are with --capacity.",
		     p->backend.ops->name, p->backend.capacity);
	flush(p);
	if (!wait_for_due(p, p->due - 1, 0))
		fail("%s has expired nothing for %ju seconds, and %u timeouts are due.\n"
		     "Look into the kernel log.", p->backend.ops->name,
		     (uintmax_t)(PATIENCE_NS / NS_PER_S), p->due);
}

/* Each of the three: -EAGAIN if it is to be tried again, after a look at the state. */
static int arm(struct player *p, struct op *op, struct timeout *t)
{
	uint64_t old = t->deadline_ns;
	int err;

	t->deadline_ns = op->deadline_ns;
	err = p->backend.ops->arm(&p->backend, op->index);
	if (err) {
		t->deadline_ns = old;
		return err;
	}
	t->edge_ns = 0;
	t->state = TIMEOUT_PENDING;
	p->armed++;
	p->play->armed++;
	return 0;
}

static int refresh(struct player *p, struct op *op, struct timeout *t)
{
	uint64_t old = t->deadline_ns;
	int err;

	t->deadline_ns = op->deadline_ns;
	err = p->backend.ops->refresh(&p->backend, op->index);
	if (err) {
		t->deadline_ns = old;
		return err;
	}
	op->old_ns = old;
	op->marked = !t->edge_ns;
	if (op->marked)
		t->edge_ns = old;
	p->play->refreshed++;
	return 0;
}

static int cancel(struct player *p, struct op *op, struct timeout *t)
{
	int err = p->backend.ops->cancel(&p->backend, op->index);

	if (err)
		return err;
	op->old_ns = t->deadline_ns;
	t->state = TIMEOUT_CANCELLED;
	p->armed--;
	p->play->cancelled++;
	return 0;
}

/* By the trace it was to be put off or cancelled, and it has expired: on the edge. */
static void expired_before(struct play *play, const struct timeout *t)
{
	/* That it was late was counted when it was put off, in vain. */
	if (t->state == TIMEOUT_HEARD) {
		play->edge.late++;
		play->edge.late_expired++;
	}
}

static int do_op(struct player *p, struct op *op)
{
	struct timeout *t = &p->timeouts.all[op->index];
	bool pending = t->state == TIMEOUT_PENDING;
	int err;

	switch (op->action) {
	case REFERENCE_ARM:
		make_room(p);
		return arm(p, op, t);
	case REFERENCE_REFRESH:
		if (pending)
			return refresh(p, op, t);
		expired_before(p->play, t);
		t->state = TIMEOUT_EDGE;
		make_room(p);
		err = arm(p, op, t);
		p->play->edge.rearmed += !err;
		return err;
	case REFERENCE_CANCEL:
		if (pending)
			return cancel(p, op, t);
		expired_before(p->play, t);
		timeouts_free(&p->timeouts, op->index);
		return 0;
	default:
		return 0;
	}
}

/* The rule says that a timeout has expired: it is to be heard of, if it was not yet. */
static void is_due(struct player *p, uint32_t index)
{
	struct timeout *t = &p->timeouts.all[index];

	switch (t->state) {
	case TIMEOUT_PENDING:
		t->state = TIMEOUT_DUE;
		p->due++;
		return;
	case TIMEOUT_EDGE:
		p->play->edge.unarmed++;
	}
	timeouts_free(&p->timeouts, index);
}

static void play_op(struct player *p, struct op *op)
{
	if (op->was != NONE) {
		p->play->edge.unheard +=
			p->timeouts.all[op->was].state == TIMEOUT_PENDING;
		is_due(p, op->was);
	}
	while (do_op(p, op) == -EAGAIN)
		p->backend.ops->collect(&p->backend);
}

/* The backend had heard of @op by @now: was it in time? */
static void settle(struct player *p, const struct op *op, uint64_t now)
{
	struct timeout *t = &p->timeouts.all[op->index];

	if (op->old_ns && now > op->old_ns)
		p->play->edge.late++;
	if (op->action == REFERENCE_REFRESH && op->old_ns) {
		if (now > op->old_ns && !t->edge_ns)
			t->edge_ns = op->old_ns;
		if (now <= op->old_ns && op->marked)
			t->edge_ns = 0;
	}
	if (op->action == REFERENCE_CANCEL && op->old_ns)
		timeouts_free(&p->timeouts, op->index);
}

static void play_round(struct player *p, unsigned int nr)
{
	uint64_t begin = clock_ns(), end;
	unsigned int i;

	for (i = 0; i < nr; i++)
		play_op(p, &p->ops[i]);
	flush(p);
	end = clock_ns();
	p->play->calls_ns += end - begin;
	for (i = 0; i < nr; i++)
		settle(p, &p->ops[i], end);
}

static void note(struct player *p, struct op *op, const struct trace_event *event,
		 const struct verdict *verdict)
{
	*op = (struct op){
		.action = verdict->action,
		.index = verdict->had,
		.was = verdict->expired ? verdict->had : NONE,
		.deadline_ns = deadline_of(p, event->time_ns),
	};
	if (op->action == REFERENCE_ARM) {
		op->index = timeouts_new(&p->timeouts);
		*verdict->timeout = op->index;
	}
	if (op->deadline_ns > p->last_ns)
		p->last_ns = op->deadline_ns;
}

static void play_events(struct player *p, struct trace_file *trace)
{
	struct reference *ref = &p->play->ref;
	struct trace_event event;
	struct verdict verdict;
	uint64_t now, at;
	unsigned int nr;
	bool more;

	more = judge_next(trace, ref, &event, &verdict);
	while (more) {
		at = when(p, event.time_ns);
		now = clock_ns();
		if (at > now) {
			wait_until(p, at);
			continue;
		}
		for (nr = 0; nr < ROUND && more; nr++) {
			at = when(p, event.time_ns);
			if (at > now)
				break;
			lateness_add(&p->play->behind, now - at);
			note(p, &p->ops[nr], &event, &verdict);
			more = judge_next(trace, ref, &event, &verdict);
		}
		play_round(p, nr);
		wait_until(p, 0);
	}
}

/* The trace is over: all that are pending have to expire. */
static void play_end(struct player *p)
{
	uint32_t i;

	for (i = 0; i < p->timeouts.nr; i++)
		if (p->timeouts.all[i].state != TIMEOUT_FREE &&
		    p->timeouts.all[i].state != TIMEOUT_DUE)
			is_due(p, i);
	wait_for_due(p, 0, p->last_ns);
	p->play->missing = p->due + p->backend.lost;
	reference_end(&p->play->ref);
}

/**
 * player_play() - play a trace
 * @play: what, against whom, and how; filled with the counts
 * @trace: the trace, at its beginning
 */
void player_play(struct play *play, struct trace_file *trace)
{
	static struct player p;
	uint64_t worker_ns;
	int calls;

	p = (struct player){
		.play = play,
		.timeouts.free = NONE,
		.backend = {
			.ops = play->ops,
			.timeouts = &p.timeouts,
			.capacity = play->capacity,
			.expired = expired,
			.data = &p,
		},
	};
	play->ops->open(&p.backend);
	play->tick_ns = p.backend.tick_ns;
	play->worker = p.backend.worker;
	calls = play->count_calls ? syscalls_open() : -1;
	worker_ns = play->worker ? worker_ran_ns(p.backend.worker) : 0;
	play->process_ns = device_now(CLOCK_PROCESS_CPUTIME_ID);
	p.base_ns = clock_ns();

	play_events(&p, trace);
	play_end(&p);

	play->took_ns = clock_ns() - p.base_ns;
	play->process_ns = device_now(CLOCK_PROCESS_CPUTIME_ID) - play->process_ns;
	if (play->worker)
		play->worker_ns = worker_ran_ns(p.backend.worker) - worker_ns;
	play->calls = syscalls_read(calls);
	if (calls >= 0)
		close(calls);
	play->ops->close(&p.backend);
	timeouts_clear(&p.timeouts);
}
