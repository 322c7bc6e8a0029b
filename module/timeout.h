/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a timeout, and what the worker does to it.
 */
#ifndef TIMEWHEEL_TIMEOUT_H
#define TIMEWHEEL_TIMEOUT_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/timewheel.h>

/*
 * timewheel_timeout.state.  0 is idle: the wheel holds no reference.
 *
 * ACTIVE	armed; whoever clears it decides how this arming ends
 * QUEUED	in the submit or the cancel queue: the worker will look at it
 * MOVED	moved or armed anew while QUEUED, so that its place in the queue
 *		is older than its seq
 * CLAIMED	somebody is writing expires and seq; he queues it when he is done
 * CANCELLED	its cancelled callback is owed
 */
#define TIMEOUT_ACTIVE		BIT(0)
#define TIMEOUT_QUEUED		BIT(1)
#define TIMEOUT_MOVED		BIT(2)
#define TIMEOUT_CLAIMED		BIT(3)
#define TIMEOUT_CANCELLED	BIT(4)
#define TIMEOUT_STATE		GENMASK(4, 0)

/*
 * What it was armed as, in the same word; changes with an add only.
 *
 * PERIODIC	embedded in a struct timewheel_periodic
 * SLACK	log2 of the nanoseconds it may be late, 0 for none
 */
#define TIMEOUT_PERIODIC	BIT(8)
#define TIMEOUT_SLACK		GENMASK(14, 9)

/*
 * Counts, in the same word, how often it changed wheels; goes round.  Who looked
 * at @wheel and then changes the state, changes it of that wheel's timeout.
 */
#define TIMEOUT_TURN		GENMASK(31, 16)
#define TIMEOUT_TURN_ONE	BIT(16)

/* How late it may be; what was asked for, rounded down to a power of two. */
static inline u64 timeout_slack_ns(int state)
{
	int slack = FIELD_GET(TIMEOUT_SLACK, state);

	return slack ? 1ULL << slack : 0;
}

/*
 * Whether the last move or cancel of an armed timeout put it into a queue.  If it
 * was there before it is MOVED, and if neither, the worker has taken it since.
 */
static inline bool timeout_pushed(const struct timewheel_timeout *t)
{
	return (atomic_read(&t->state) & (TIMEOUT_QUEUED | TIMEOUT_MOVED)) ==
	       TIMEOUT_QUEUED;
}

struct llist_node *timeout_take(struct timewheel *wheel,
				struct llist_node *queued, unsigned int budget);
void timeout_file(struct timewheel *wheel, struct timewheel_timeout *t);
void timeout_expire(struct timewheel *wheel, struct timewheel_timeout *t);
int timeout_arm_here(struct timewheel *wheel, struct timewheel_timeout *t,
		     u64 deadline_ns, u64 slack_ns, u64 interval_ns);
bool timeout_cancel_here(struct timewheel *wheel, struct timewheel_timeout *t);
bool timeout_rearm_here(struct timewheel *wheel, struct timewheel_timeout *t,
			u64 deadline_ns);
bool timeout_hand_back(struct timewheel *wheel, struct timewheel_timeout *t,
		       struct list_head *unprocessed);

#endif /* TIMEWHEEL_TIMEOUT_H */
