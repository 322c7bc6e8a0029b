// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library on rings: leases, full rings, and indices that are used again while
 * the kernel is behind.
 */
#include "lib_support.h"

static uint32_t index_of(uint64_t id)
{
	return id;
}

static struct timewheel *open_rings(uint32_t capacity, uint32_t sq_entries,
				    uint32_t cq_entries, uint32_t flags)
{
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_RINGS | flags,
		.capacity = capacity,
		.sq_entries = sq_entries,
		.cq_entries = cq_entries,
	};

	return lib_open(&options);
}

/* --- indices used again ---------------------------------------------------- */

/*
 * Two that have expired, of which one fills the completion ring: so the event of the
 * other waits in the kernel, and its index is in use there.  It is cancelled, too late,
 * and as it is the only one that is free, the next timeout gets its index.
 */
static struct timewheel *open_behind(uint32_t flags, uint64_t *late)
{
	struct timewheel *tw = open_rings(2, 16, 1, flags);

	lib_arm(tw, 0, 1);
	*late = lib_arm(tw, 0, 2);
	wait_fired(tw, 2);
	EXPECT_EQ(1, lib_stats(tw).unread);
	EXPECT_EQ(0, timewheel_cancel(tw, *late));
	return tw;
}

/* The kernel has refused the cancelling, and the arming: that is what is tested. */
static void expect_refused(struct timewheel *tw, unsigned int nr)
{
	EXPECT_EQ(nr, lib_stats(tw).rejected);
	EXPECT_EQ(0, lib_stats(tw).pending);
}

TEST(armed_again)
{
	struct timewheel_query query = { };
	static struct collected c;
	struct timewheel *tw;
	uint64_t late, id, due;

	tw = open_behind(0, &late);
	due = timewheel_now(tw) + 20 * MS;
	id = lib_arm_at(tw, due, 3);
	EXPECT_EQ(index_of(late), index_of(id));
	EXPECT_FALSE(late == id);
	expect_refused(tw, 2);
	/* To the program that is not visible. */
	query.id = id;
	ASSERT_EQ(0, timewheel_query(tw, &query));
	EXPECT_EQ(TIMEWHEEL_STATE_PENDING, query.state);
	EXPECT_EQ(due, query.deadline_ns);
	EXPECT_EQ(3, query.user_data);
	c.nr = 0;
	collect_nr(tw, &c, 2);
	EXPECT_EQ(1, c.events[0].user_data);
	EXPECT_EQ(3, c.events[1].user_data);
	EXPECT_EQ(due, c.events[1].deadline_ns);
	EXPECT_TRUE(c.events[1].id == id);
	expect_drained(tw);
	EXPECT_EQ(3, lib_stats(tw).armed);
	lib_close(tw);
}

/* What became of it in the meantime holds. */
TEST(armed_again_as_moved)
{
	static struct collected c;
	struct timewheel *tw;
	uint64_t late, id;

	tw = open_behind(0, &late);
	id = lib_arm(tw, HOUR, 3);
	EXPECT_EQ(0, timewheel_rearm(tw, id, 55));
	EXPECT_EQ(index_of(late), index_of(id));
	expect_refused(tw, 3);
	c.nr = 0;
	collect_nr(tw, &c, 2);
	EXPECT_EQ(55, c.events[1].deadline_ns);
	expect_drained(tw);
	lib_close(tw);
}

TEST(not_armed_again_if_cancelled)
{
	struct timewheel *tw;
	uint64_t late, id;

	tw = open_behind(0, &late);
	id = lib_arm(tw, 0, 3);
	EXPECT_EQ(0, timewheel_cancel(tw, id));
	expect_refused(tw, 3);
	EXPECT_EQ(1, collect_one(tw).user_data);
	expect_drained(tw);
	EXPECT_EQ(2, lib_stats(tw).armed);
	/* Both indices are there. */
	lib_arm(tw, 0, 4);
	lib_arm(tw, HOUR, 5);
	EXPECT_EQ(4, collect_one(tw).user_data);
	lib_close(tw);
}

/* Several, one after the other: the last is armed, and the others are not. */
TEST(the_last_is_armed_again)
{
	static struct collected c;
	struct timewheel *tw;
	uint64_t late, id;
	unsigned int i;

	tw = open_behind(0, &late);
	id = late;
	for (i = 0; i < 10; i++) {
		id = lib_arm(tw, 0, 10 + i);
		EXPECT_EQ(index_of(late), index_of(id));
		if (i < 9)
			EXPECT_EQ(0, timewheel_cancel(tw, id));
	}
	expect_refused(tw, 20);
	c.nr = 0;
	collect_nr(tw, &c, 2);
	EXPECT_EQ(1, c.events[0].user_data);
	EXPECT_EQ(19, c.events[1].user_data);
	EXPECT_TRUE(c.events[1].id == id);
	expect_drained(tw);
	EXPECT_EQ(3, lib_stats(tw).fired);
	lib_close(tw);
}

TEST(armed_again_with_its_lease)
{
	static struct collected c;
	struct timewheel *tw;
	uint64_t late, id, due;

	tw = open_behind(TIMEWHEEL_OPEN_LEASES, &late);
	due = timewheel_now(tw);
	ASSERT_EQ(0, timewheel_arm_lease(tw, due, 3, &id));
	EXPECT_EQ(index_of(late), index_of(id));
	expect_refused(tw, 2);
	due = timewheel_now(tw) + 50 * MS;
	EXPECT_EQ(0, timewheel_touch(tw, id, due));
	EXPECT_EQ(-ENOENT, timewheel_touch(tw, late, due + HOUR));
	c.nr = 0;
	collect_nr(tw, &c, 2);
	EXPECT_EQ(due, c.events[1].deadline_ns);
	expect_drained(tw);
	lib_close(tw);
}

TEST(armed_again_with_its_period)
{
	static struct collected c;
	struct timewheel_query query = { };
	struct timewheel_op op;
	struct timewheel *tw;
	uint64_t late;

	tw = open_behind(0, &late);
	op = op_periodic(0, HOUR, 3);
	op.slack_ns = MS;
	ASSERT_EQ(1, timewheel_batch(tw, &op, 1));
	ASSERT_EQ(0, op.result);
	EXPECT_EQ(index_of(late), index_of(op.id));
	expect_refused(tw, 2);
	c.nr = 0;
	collect_nr(tw, &c, 2);
	EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED, c.events[1].flags);
	query.id = op.id;
	ASSERT_EQ(0, timewheel_query(tw, &query));
	EXPECT_EQ(HOUR, query.interval_ns);
	EXPECT_LT(0, query.slack_ns);
	EXPECT_LE(query.slack_ns, MS);
	EXPECT_EQ(1, lib_stats(tw).pending);
	lib_close(tw);
}

TEST(handed_back_if_stopped_meanwhile)
{
	static struct collected c;
	struct timewheel *tw;
	uint64_t late, id;

	tw = open_behind(0, &late);
	id = lib_arm(tw, HOUR, 3);
	EXPECT_EQ(0, timewheel_stop(tw));
	c.nr = 0;
	EXPECT_EQ(2, timewheel_drain(tw, 0, collect, &c));
	EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST, c.events[0].flags);
	EXPECT_EQ(TIMEWHEEL_EVENT_UNPROCESSED | TIMEWHEEL_EVENT_LAST, c.events[1].flags);
	EXPECT_TRUE(c.events[1].id == id);
	EXPECT_EQ(3, c.events[1].user_data);
	expect_drained(tw);
	lib_close(tw);
}

/* The same, drained one by one: the descriptor says that there is one more. */
TEST(handed_back_one_by_one)
{
	struct timewheel *tw = open_rings(4, 16, 2, TIMEWHEEL_OPEN_OWN_WHEEL);
	static struct collected c;
	uint64_t late, far, id;
	unsigned int i;

	for (i = 0; i < 2; i++)
		lib_arm(tw, 0, i);
	late = lib_arm(tw, 0, 2);
	far = lib_arm(tw, HOUR, 3);
	wait_fired(tw, 3);
	EXPECT_EQ(0, timewheel_cancel(tw, late));
	id = lib_arm_at(tw, UINT64_MAX, 4);
	EXPECT_EQ(index_of(late), index_of(id));
	/* Both have been refused before the stop, which is told after that. */
	EXPECT_EQ(2, lib_stats(tw).rejected);
	EXPECT_EQ(0, timewheel_stop(tw));
	c.nr = 0;
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(1, timewheel_wait(tw, PATIENCE_MS));
		ASSERT_EQ(1, timewheel_drain(tw, 1, collect, &c));
	}
	EXPECT_TRUE(c.events[2].id == far);
	EXPECT_TRUE(c.events[3].id == id);
	EXPECT_EQ(TIMEWHEEL_EVENT_UNPROCESSED | TIMEWHEEL_EVENT_LAST, c.events[3].flags);
	expect_drained(tw);
	lib_close(tw);
}

/* The kernel has told of two, and the library has looked when there was one. */
TEST(expired_after_the_last_look)
{
	struct timewheel *tw = open_rings(2, 16, 16, 0);
	struct timewheel_query query = { };
	static struct collected c;

	lib_arm(tw, 0, 1);
	ASSERT_EQ(1, timewheel_wait(tw, PATIENCE_MS));
	query.id = lib_arm(tw, 0, 2);
	wait_fired(tw, 2);
	EXPECT_EQ(0, lib_stats(tw).unread);
	ASSERT_EQ(0, timewheel_query(tw, &query));
	EXPECT_EQ(TIMEWHEEL_STATE_EXPIRED, query.state);
	c.nr = 0;
	collect_nr(tw, &c, 2);
	expect_drained(tw);
	lib_close(tw);
}

/* An index rests while others are free: those armed in a row have all of them. */
TEST(indices_take_turns)
{
	enum { NR = 8 };
	struct timewheel *tw = open_rings(NR, 16, 16, 0);
	uint64_t id;
	unsigned int i;

	for (i = 0; i < 3 * NR; i++) {
		id = lib_arm(tw, HOUR, i);
		EXPECT_EQ(i % NR, index_of(id));
		EXPECT_EQ(0, timewheel_cancel(tw, id));
	}
	lib_close(tw);
}

/* --- full rings ------------------------------------------------------------ */

/* The submission ring is smaller than what is asked for: the kernel makes room. */
TEST(small_submission_ring)
{
	struct timewheel *tw = open_rings(500, 1, 512, 0);
	static struct collected c;
	uint64_t ids[500];
	unsigned int i;

	for (i = 0; i < 500; i++)
		ids[i] = lib_arm(tw, HOUR, i);
	for (i = 0; i < 500; i++) {
		if (i % 2)
			EXPECT_EQ(0, timewheel_cancel(tw, ids[i]));
		else
			EXPECT_EQ(0, timewheel_rearm(tw, ids[i], i));
	}
	c.nr = 0;
	collect_nr(tw, &c, 250);
	EXPECT_EQ(250, lib_stats(tw).cancelled);
	EXPECT_EQ(0, lib_stats(tw).rejected);
	expect_drained(tw);
	lib_close(tw);
}

/* The completion ring is smaller than what expires: a drain brings all of it. */
TEST(small_completion_ring)
{
	struct timewheel *tw = open_rings(500, 512, 4, 0);
	static struct collected c;
	unsigned int i;

	for (i = 0; i < 500; i++)
		lib_arm(tw, 0, i);
	wait_fired(tw, 500);
	c.nr = 0;
	EXPECT_EQ(500, timewheel_drain(tw, 0, collect, &c));
	for (i = 0; i < 500; i++)
		EXPECT_EQ(i, c.events[i].user_data);
	expect_drained(tw);
	lib_close(tw);
}

/*
 * A program that leaves its events and cancels what has expired: at some point the
 * kernel can tell it of no more, and takes nothing.
 */
TEST(no_room_until_drained)
{
	enum { NR = 400 };
	struct timewheel *tw = open_rings(NR, 8, 2, 0);
	static struct collected c;
	struct timewheel_op ops[3];
	struct timewheel_stats st;
	struct timewheel_query query;
	uint64_t ids[NR], id = 77;
	unsigned int i, cancelled;
	int ret = 0;

	for (i = 0; i < NR; i++)
		ids[i] = lib_arm(tw, 0, i);
	wait_fired(tw, NR);
	for (cancelled = 0; cancelled < NR; cancelled++) {
		ret = timewheel_cancel(tw, ids[cancelled]);
		if (ret)
			break;
	}
	ASSERT_EQ(-EAGAIN, ret);
	ASSERT_LT(cancelled, NR - 10);

	/* Nothing is taken, and nothing is changed. */
	EXPECT_EQ(-EAGAIN, timewheel_arm(tw, 0, 0, &id));
	EXPECT_EQ(77, id);
	EXPECT_EQ(-EAGAIN, timewheel_rearm(tw, ids[NR - 1], 0));
	EXPECT_EQ(-EAGAIN, timewheel_stats(tw, &st));
	query = (struct timewheel_query){ .id = ids[NR - 1] };
	EXPECT_EQ(-EAGAIN, timewheel_query(tw, &query));
	for (i = 0; i < 3; i++)
		ops[i] = op_cancel(ids[NR - 1 - i]);
	EXPECT_EQ(-EAGAIN, timewheel_batch(tw, ops, 3));
	/* What is no operation for the ring is told. */
	ops[0].pad = 1;
	EXPECT_EQ(1, timewheel_batch(tw, ops, 3));
	EXPECT_EQ(-EINVAL, ops[0].result);

	c.nr = 0;
	EXPECT_EQ(NR - cancelled, timewheel_drain(tw, 0, collect, &c));
	for (i = 0; i < c.nr; i++)
		EXPECT_EQ(cancelled + i, c.events[i].user_data);
	/* The last cancellings and their failures may be still on their way. */
	expect_drained(tw);
	EXPECT_EQ(cancelled, lib_stats(tw).rejected);
	lib_arm(tw, 0, 9);
	EXPECT_EQ(9, collect_one(tw).user_data);
	lib_close(tw);
}

/* --- leases ---------------------------------------------------------------- */

TEST(lease)
{
	/* Longer than a slow machine stalls. */
	const uint64_t left = 2 * SEC;
	struct timewheel *tw = open_rings(4, 8, 8, TIMEWHEEL_OPEN_LEASES);
	struct timewheel_event event;
	struct timewheel_query query = { };
	uint64_t id, now, end, last;

	now = timewheel_now(tw);
	last = now + left;
	ASSERT_EQ(0, timewheel_arm_lease(tw, last, 7, &id));
	for (end = now + 3 * left; now < end; now = timewheel_now(tw)) {
		last = now + left;
		ASSERT_EQ(0, timewheel_touch(tw, id, last));
		if (lib_stats(tw).fired)
			break;
	}
	EXPECT_EQ(0, lib_stats(tw).fired);
	EXPECT_EQ(0, lib_stats(tw).rearmed);
	query.id = id;
	ASSERT_EQ(0, timewheel_query(tw, &query));
	EXPECT_EQ(last, query.deadline_ns);
	EXPECT_EQ(TIMEWHEEL_LEASE, query.flags);
	event = collect_one(tw);
	EXPECT_TRUE(event.id == id);
	EXPECT_EQ(7, event.user_data);
	EXPECT_EQ(last, event.deadline_ns);
	EXPECT_EQ(-ENOENT, timewheel_touch(tw, id, UINT64_MAX));
	expect_drained(tw);
	lib_close(tw);
}

/* A rearm brings it nearer, and a batch does all of that. */
TEST(lease_moved)
{
	struct timewheel *tw = open_rings(4, 8, 8, TIMEWHEEL_OPEN_LEASES);
	struct timewheel_event event;
	struct timewheel_op ops[3];
	uint64_t id, due;

	ASSERT_EQ(0, timewheel_arm_lease(tw, UINT64_MAX, 1, &id));
	due = timewheel_now(tw) + 10 * MS;
	EXPECT_EQ(0, timewheel_rearm(tw, id, due));
	EXPECT_EQ(due, collect_one(tw).deadline_ns);

	ops[0] = op_arm_at(UINT64_MAX, 2);
	ops[0].flags |= TIMEWHEEL_LEASE;
	ops[1] = op_arm_at(UINT64_MAX, 3);
	EXPECT_EQ(2, timewheel_batch(tw, ops, 2));
	EXPECT_EQ(0, ops[0].result);
	EXPECT_EQ(0, ops[1].result);
	/* Only the first has one. */
	ops[2] = op_rearm(ops[1].id, 5);
	ops[2].flags = TIMEWHEEL_LEASE;
	ops[1] = op_rearm(ops[0].id, 5);
	ops[1].flags = TIMEWHEEL_LEASE;
	EXPECT_EQ(2, timewheel_batch(tw, ops + 1, 2));
	EXPECT_EQ(0, ops[1].result);
	EXPECT_EQ(-EINVAL, ops[2].result);
	event = collect_one(tw);
	EXPECT_EQ(2, event.user_data);
	EXPECT_EQ(5, event.deadline_ns);
	expect_drained(tw);
	lib_close(tw);
}

TEST(lease_cancelled)
{
	struct timewheel *tw = open_rings(1, 8, 8, TIMEWHEEL_OPEN_LEASES);
	uint64_t id, next;

	ASSERT_EQ(0, timewheel_arm_lease(tw, timewheel_now(tw) + HOUR, 1, &id));
	EXPECT_EQ(0, timewheel_cancel(tw, id));
	EXPECT_EQ(-ENOENT, timewheel_touch(tw, id, 0));
	/* The same index, without a lease, and with one. */
	next = lib_arm(tw, HOUR, 2);
	EXPECT_EQ(-ENOENT, timewheel_touch(tw, id, 0));
	EXPECT_EQ(0, timewheel_touch(tw, next, UINT64_MAX));
	EXPECT_EQ(1, lib_stats(tw).rearmed);
	EXPECT_EQ(0, timewheel_cancel(tw, next));
	ASSERT_EQ(0, timewheel_arm_lease(tw, 5, 3, &next));
	EXPECT_EQ(-ENOENT, timewheel_touch(tw, id, UINT64_MAX));
	EXPECT_EQ(5, collect_one(tw).deadline_ns);
	lib_close(tw);
}

ON_BOTH(no_leases)
{
	struct timewheel *tw = lib_open(&options);
	uint64_t id = 77;

	EXPECT_EQ(-EINVAL, timewheel_arm_lease(tw, UINT64_MAX, 1, &id));
	EXPECT_EQ(77, id);
	timewheel_close(tw);
}

/* Handed back, and the next touch finds that out only when that was delivered. */
TEST(lease_stopped)
{
	struct timewheel *tw = open_rings(2, 8, 8, TIMEWHEEL_OPEN_LEASES);
	uint64_t id, other;

	ASSERT_EQ(0, timewheel_arm_lease(tw, UINT64_MAX, 1, &id));
	EXPECT_EQ(0, timewheel_stop(tw));
	EXPECT_EQ(-ESHUTDOWN, timewheel_arm_lease(tw, UINT64_MAX, 1, &other));
	EXPECT_EQ(0, timewheel_touch(tw, id, UINT64_MAX - 1));
	EXPECT_EQ(TIMEWHEEL_EVENT_UNPROCESSED | TIMEWHEEL_EVENT_LAST, collect_one(tw).flags);
	EXPECT_EQ(-ENOENT, timewheel_touch(tw, id, UINT64_MAX));
	expect_drained(tw);
	lib_close(tw);
}
