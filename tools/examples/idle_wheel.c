// SPDX-License-Identifier: MIT
/*
 * Idle timeouts in the timer wheel: one descriptor for all of them.
 *
 * What is asked for in a round of the epoll loop is gathered, and handed over in one
 * batch.  The handle's eventfd tells when something expired; which timeouts those were
 * is what draining it tells.
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server.h"

#define BATCH	256
#define EVENTS	128

/* The calls that timewheel_open() makes: open(), INFO, SETUP, INFO. */
#define OPEN_CALLS	4

static struct timewheel_op batch[BATCH];
static unsigned int nr_batch;

static int wheel_open(struct server *s)
{
	/* Edge-triggered: the eventfd's count need never be read. */
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLET,
		.data.u64 = SERVER_TIMEOUT,
	};
	struct timewheel_options options = { };
	int err;

	options.eventfd = COUNTED(s, CALL_SETUP, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	if (options.eventfd < 0)
		return -1;
	err = timewheel_open(&s->wheel, &options);
	if (err) {
		errno = -err;
		return -1;
	}
	s->calls[CALL_SETUP] += OPEN_CALLS;
	return COUNTED(s, CALL_SETUP,
		       epoll_ctl(s->epfd, EPOLL_CTL_ADD, options.eventfd, &ev));
}

static void wheel_flush(struct server *s);

static void add(struct server *s, int opcode, int fd)
{
	if (nr_batch == BATCH)
		wheel_flush(s);
	batch[nr_batch++] = (struct timewheel_op){
		.opcode = opcode,
		.id = opcode == TIMEWHEEL_OP_ARM ? 0 : s->conns[fd].id,
		.user_data = fd,
		.expires_ns = opcode == TIMEWHEEL_OP_CANCEL ? 0 : s->idle_ns,
		.eventfd = -1,
	};
}

static void wheel_arm(struct server *s, int fd)
{
	add(s, TIMEWHEEL_OP_ARM, fd);
}

static void wheel_rearm(struct server *s, int fd)
{
	/* Without an id its ARM waits in the batch, and counts from then. */
	if (s->conns[fd].id != NO_ID)
		add(s, TIMEWHEEL_OP_REARM, fd);
}

static void wheel_cancel(struct server *s, int fd)
{
	/* An ARM that waits in the batch is for this connection, not the next. */
	if (s->conns[fd].id == NO_ID)
		wheel_flush(s);
	if (s->conns[fd].id == NO_ID)
		return;
	add(s, TIMEWHEEL_OP_CANCEL, fd);
	s->conns[fd].id = NO_ID;
}

/* What became of an op.  Returns whether its timeout is to be armed anew. */
static bool op_done(struct server *s, const struct timewheel_op *op)
{
	struct conn *c = &s->conns[op->user_data];

	if (op->result) {
		if (op->opcode == TIMEWHEEL_OP_ARM) {
			server_drop(s, op->user_data);
			return false;
		}
		/* Expired just before; its event is on the way, and not wanted. */
		s->books.refused++;
		if (op->opcode == TIMEWHEEL_OP_CANCEL || c->id != op->id)
			return false;
		c->id = NO_ID;
		return true;
	}
	switch (op->opcode) {
	case TIMEWHEEL_OP_ARM:
		s->books.armed++;
		c->id = op->id;
		break;
	case TIMEWHEEL_OP_REARM:
		s->books.rearmed++;
		break;
	case TIMEWHEEL_OP_CANCEL:
		s->books.cancelled++;
		break;
	}
	return false;
}

/* Hands the batch over; what is not even looked at has failed. */
static void submit(struct server *s, unsigned int nr)
{
	int done = COUNTED(s, CALL_SUBMIT, timewheel_batch(s->wheel, batch, nr));

	if (done < 0)
		done = 0;
	for (; done < (int)nr; done++)
		batch[done].result = -EIO;
}

static void wheel_flush(struct server *s)
{
	unsigned int nr, i;
	uint64_t fd;

	while (nr_batch) {
		nr = nr_batch;
		nr_batch = 0;
		submit(s, nr);
		for (i = 0; i < nr; i++) {
			if (!op_done(s, &batch[i]))
				continue;
			/* Its place is at i at most, and that is dealt with. */
			fd = batch[i].user_data;
			add(s, TIMEWHEEL_OP_ARM, fd);
		}
	}
}

static void expired(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct server *s = data;
	struct conn *c = &s->conns[event->user_data];

	server_fired(s, event->deadline_ns, timewheel_now(tw));
	if (!c->open || c->id != event->id) {
		s->books.stale++;
		return;
	}
	c->id = NO_ID;
	server_idle(s, event->user_data);
}

static void wheel_expired(struct server *s, uint64_t data)
{
	int nr;

	(void)data;
	do {
		nr = COUNTED(s, CALL_READ_EVENTS,
			     timewheel_drain(s->wheel, EVENTS, expired, s));
	} while (nr == EVENTS);
}

const struct idle_ops idle_wheel = {
	.open = wheel_open,
	.arm = wheel_arm,
	.rearm = wheel_rearm,
	.cancel = wheel_cancel,
	.flush = wheel_flush,
	.expired = wheel_expired,
};
