// SPDX-License-Identifier: MIT
/*
 * The transport of rings: operations.
 *
 * The kernel does them in the order in which they were put, and tells what came of
 * them only if they failed.  What the program is told at once is decided here, by
 * the ids: an id that is live has not had its last event delivered.
 *
 * An ARM carries the program's cookie, and so does its event if it fails.  That of a
 * REARM carries the complement, by which the two are told apart.
 */
#include <stdint.h>
#include <time.h>

#include "lib.h"

#define NEVER	UINT64_MAX

/* Room for an op, 0 or -EAGAIN.  What was put is published before this waits. */
static int room(struct timewheel *tw)
{
	int ret;

	while (ring_full(&tw->ring)) {
		ring_publish(&tw->ring);
		ret = ring_enter(&tw->ring);
		/* The kernel may have got stuck, and have made some room before. */
		if (ret && ring_full(&tw->ring))
			return ret;
	}
	return 0;
}

/* @id and its record say what; there is room. */
static void put_arm(struct timewheel *tw, uint64_t id)
{
	const struct record *record = &tw->ids.records[id_index(id)];

	*ring_next(&tw->ring) = (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = TIMEWHEEL_OWN_ID |
			 (id_is_lease(id) ? TIMEWHEEL_LEASE : TIMEWHEEL_ABS),
		.id = id,
		.user_data = record->user_data,
		.expires_ns = record->deadline_ns,
		.interval_ns = record->interval_ns,
		.slack_ns = record->slack_ns,
		.eventfd = -1,
	};
}

static void put_rearm(struct timewheel *tw, uint64_t id)
{
	const struct record *record = &tw->ids.records[id_index(id)];

	*ring_next(&tw->ring) = (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_REARM,
		.flags = id_is_lease(id) ? TIMEWHEEL_LEASE : TIMEWHEEL_ABS,
		.id = id,
		.user_data = ~record->user_data,
		.expires_ns = record->deadline_ns,
		.eventfd = -1,
	};
}

static void put_cancel(struct timewheel *tw, uint64_t id)
{
	*ring_next(&tw->ring) = (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_CANCEL,
		.id = id,
		.eventfd = -1,
	};
}

/* As asked for with @op, of which @flags, @expires_ns and what is behind count. */
static int arm(struct timewheel *tw, const struct timewheel_op *op, uint64_t deadline_ns,
	       uint64_t *id)
{
	struct record *record;
	int ret;

	if (tw->stopped)
		return -ESHUTDOWN;
	if (!tw->ids.nr_free)
		return -ENOSPC;
	ret = room(tw);
	if (ret)
		return ret;
	*id = ids_take(&tw->ids, op->flags & TIMEWHEEL_LEASE);
	record = &tw->ids.records[id_index(*id)];
	record->user_data = op->user_data;
	record->interval_ns = op->interval_ns;
	record->slack_ns = op->slack_ns;
	ids_set_deadline(&tw->ids, *id, deadline_ns);
	put_arm(tw, *id);
	return 0;
}

static int rearm(struct timewheel *tw, uint64_t id, uint64_t deadline_ns)
{
	int ret;

	if (!ids_live(&tw->ids, id))
		return -ENOENT;
	if (tw->stopped)
		return -ESHUTDOWN;
	ret = room(tw);
	if (ret)
		return ret;
	ids_set_deadline(&tw->ids, id, deadline_ns);
	put_rearm(tw, id);
	return 0;
}

static int cancel(struct timewheel *tw, uint64_t id)
{
	int ret;

	if (!ids_live(&tw->ids, id))
		return -ENOENT;
	ret = room(tw);
	if (ret)
		return ret;
	put_cancel(tw, id);
	ids_give(&tw->ids, id);
	return 0;
}

static void go(struct timewheel *tw, uint64_t deadline_ns)
{
	ring_publish(&tw->ring);
	ring_hurry(&tw->ring, deadline_ns);
}

static int rings_arm(struct timewheel *tw, unsigned int flags, uint64_t time_ns,
		     uint64_t user_data, uint64_t *id)
{
	const struct timewheel_op op = { .flags = flags, .user_data = user_data };
	uint64_t deadline_ns = flags ? time_ns : deadline_after(tw, time_ns);
	int ret = arm(tw, &op, deadline_ns, id);

	if (!ret)
		go(tw, deadline_ns);
	return ret;
}

/* @id was armed, and the kernel could not take it; false if there is no room. */
bool rings_arm_again(struct timewheel *tw, uint64_t id)
{
	if (room(tw))
		return false;
	put_arm(tw, id);
	/*
	 * After a stop what comes of it is one more event to wait for, with poll(), too:
	 * no deadline would have the kernel look.
	 */
	go(tw, tw->stopped ? 0 : ids_deadline(&tw->ids, id));
	tw->settled = false;
	return true;
}

static int rings_rearm(struct timewheel *tw, uint64_t id, uint64_t deadline_ns)
{
	int ret = rearm(tw, id, deadline_ns);

	if (!ret)
		go(tw, deadline_ns);
	return ret;
}

/* No hurry: whenever the timeout is due, the kernel looks at the ring first. */
static int rings_cancel(struct timewheel *tw, uint64_t id)
{
	int ret = cancel(tw, id);

	if (!ret)
		ring_publish(&tw->ring);
	return ret;
}

/* What the kernel would say of it, and what rings or the library do not take. */
static int check(const struct timewheel *tw, const struct timewheel_op *op)
{
	if (op_malformed(op) || op->flags & (TIMEWHEEL_OWN_ID | TIMEWHEEL_NO_EVENT))
		return -EINVAL;
	if (op->opcode == TIMEWHEEL_OP_CANCEL)
		return 0;
	if (op->opcode == TIMEWHEEL_OP_REARM)
		return op->flags & TIMEWHEEL_LEASE && !id_is_lease(op->id) ? -EINVAL : 0;
	if (op->opcode != TIMEWHEEL_OP_ARM || op->eventfd != -1 ||
	    op->interval_ns > INT64_MAX)
		return -EINVAL;
	if (op->flags & TIMEWHEEL_LEASE && (!tw->ids.leases || op->interval_ns))
		return -EINVAL;
	return 0;
}

/* @next_ns: the nearest deadline so far. */
static int put(struct timewheel *tw, struct timewheel_op *op, uint64_t *next_ns)
{
	uint64_t deadline_ns = op->expires_ns, id = op->id;
	int ret = check(tw, op);

	if (ret)
		return ret;
	if (op->opcode == TIMEWHEEL_OP_CANCEL)
		return cancel(tw, id);
	if (!(op->flags & (TIMEWHEEL_ABS | TIMEWHEEL_LEASE)))
		deadline_ns = deadline_after(tw, op->expires_ns);
	if (op->opcode == TIMEWHEEL_OP_ARM)
		ret = arm(tw, op, deadline_ns, &id);
	else
		ret = rearm(tw, id, deadline_ns);
	op->id = id;
	if (!ret && deadline_ns < *next_ns)
		*next_ns = deadline_ns;
	return ret;
}

/*
 * A ring that fills in the middle is published, and the kernel called to take it; so
 * what was put before that needs no look at wake_ns of its own.  One look at the end
 * is for all the rest.
 */
static int rings_batch(struct timewheel *tw, struct timewheel_op *ops, unsigned int nr)
{
	uint64_t next_ns = NEVER;
	unsigned int done;
	int ret = 0;

	for (done = 0; done < nr; done++) {
		ret = put(tw, &ops[done], &next_ns);
		/* Nothing moves until events have been drained. */
		if (ret == -EAGAIN)
			break;
		ops[done].result = ret;
	}
	go(tw, next_ns);
	return nr && !done ? ret : (int)done;
}

/*
 * When the ring was seen empty, the call after that brings the events of what was in
 * it, as many as there is room for.  The worker has been told, and takes a pass; a
 * caller of real-time priority must let it, so it sleeps and does not just yield.
 */
int rings_settle(struct timewheel *tw)
{
	const struct timespec a_pass = { .tv_nsec = 20 * 1000 };
	bool taken;
	int ret;

	do {
		taken = ring_taken(&tw->ring);
		ret = ring_enter(&tw->ring);
		if (!taken)
			nanosleep(&a_pass, NULL);
	} while (!ret && !taken);
	return ret;
}

static int rings_stop(struct timewheel *tw)
{
	int ret;

	ret = lib_ioctl(tw->fd, TIMEWHEEL_IOC_STOP, NULL);
	if (ret)
		return ret;
	tw->stopped = true;
	/* What was still in the ring is handed back, too, now or in rings_drain(). */
	tw->settled = !rings_settle(tw);
	return 0;
}

/*
 * The kernel has forgotten it: what its last event says is in the completion ring.  Or
 * it is about to be armed once more.
 */
static void query_forgotten(struct timewheel *tw, struct timewheel_query *query)
{
	const struct record *record = &tw->ids.records[id_index(query->id)];

	query->user_data = record->user_data;
	query->deadline_ns = ids_deadline(&tw->ids, query->id);
	query->interval_ns = record->interval_ns;
	query->slack_ns = record->slack_ns;
	query->state = rings_last_waits(tw, query->id) ? TIMEWHEEL_STATE_EXPIRED :
							 TIMEWHEEL_STATE_PENDING;
	query->flags = id_is_lease(query->id) ? TIMEWHEEL_LEASE : 0;
}

static int rings_query(struct timewheel *tw, struct timewheel_query *query)
{
	int ret;

	if (!ids_live(&tw->ids, query->id))
		return -ENOENT;
	ret = lib_ioctl(tw->fd, TIMEWHEEL_IOC_QUERY, query);
	if (ret != -ENOENT)
		return ret;
	query_forgotten(tw, query);
	return 0;
}

const struct transport rings_transport = {
	.arm = rings_arm,
	.rearm = rings_rearm,
	.cancel = rings_cancel,
	.batch = rings_batch,
	.drain = rings_drain,
	.ready = rings_ready,
	.stop = rings_stop,
	.settle = rings_settle,
	.query = rings_query,
};
