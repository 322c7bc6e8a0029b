// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library: what its functions do, on both transports.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "lib_support.h"

#define NOBODY	65534

/* --- arming ---------------------------------------------------------------- */

ON_BOTH(arm_and_drain)
{
	struct timewheel *tw = lib_open(&options);
	static struct collected c;
	uint64_t ids[100], due[100], base;
	unsigned int i;

	c.nr = 0;
	base = timewheel_now(tw);
	for (i = 0; i < 100; i++) {
		due[i] = base + i / 10 * MS;
		ids[i] = lib_arm_at(tw, due[i], 1000 + i);
	}
	collect_nr(tw, &c, 100);
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(1000 + i, c.events[i].user_data);
		EXPECT_TRUE(c.events[i].id == ids[i]);
		EXPECT_EQ(due[i], c.events[i].deadline_ns);
		EXPECT_EQ(1, c.events[i].result);
		EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST, c.events[i].flags);
	}
	expect_drained(tw);
	EXPECT_EQ(100, lib_stats(tw).fired);
	EXPECT_EQ(0, lib_stats(tw).rejected);
	lib_close(tw);
}

ON_BOTH(a_delay_is_from_now)
{
	struct timewheel *tw = lib_open(&options);
	struct timewheel_event event;
	uint64_t before, after;

	before = timewheel_now(tw);
	lib_arm(tw, 20 * MS, 1);
	after = timewheel_now(tw);
	event = collect_one(tw);
	EXPECT_LE(before + 20 * MS, event.deadline_ns);
	EXPECT_LE(event.deadline_ns, after + 20 * MS);
	lib_close(tw);
}

ON_BOTH(never)
{
	struct timewheel *tw = lib_open(&options);
	uint64_t a = lib_arm(tw, UINT64_MAX, 1), b = lib_arm_at(tw, UINT64_MAX, 2);

	EXPECT_EQ(2, lib_stats(tw).pending);
	lib_arm(tw, 0, 3);
	EXPECT_EQ(3, collect_one(tw).user_data);
	EXPECT_EQ(0, timewheel_cancel(tw, a));
	EXPECT_EQ(0, timewheel_cancel(tw, b));
	expect_drained(tw);
	EXPECT_EQ(2, lib_stats(tw).cancelled);
	lib_close(tw);
}

ON_BOTH(capacity)
{
	struct timewheel_info info;
	uint64_t ids[10], id = 77;
	struct timewheel *tw;
	unsigned int i;

	options.capacity = 10;
	tw = lib_open(&options);
	ASSERT_EQ(0, timewheel_info(tw, &info));
	EXPECT_EQ(10, info.max_pending);
	for (i = 0; i < 10; i++)
		ids[i] = lib_arm(tw, HOUR, i);
	EXPECT_EQ(-ENOSPC, timewheel_arm(tw, HOUR, 0, &id));
	EXPECT_EQ(-ENOSPC, timewheel_arm_at(tw, 0, 0, &id));
	EXPECT_EQ(77, id);
	EXPECT_EQ(0, timewheel_cancel(tw, ids[3]));
	id = lib_arm(tw, 0, 33);
	EXPECT_FALSE(id == ids[3]);
	/* Until its event is delivered it holds its place. */
	wait_fired(tw, 1);
	EXPECT_EQ(-ENOSPC, timewheel_arm(tw, HOUR, 0, &id));
	EXPECT_EQ(33, collect_one(tw).user_data);
	lib_arm(tw, HOUR, 0);
	EXPECT_EQ(10, lib_stats(tw).pending);
	lib_close(tw);
}

/* --- ids ------------------------------------------------------------------- */

static void expect_no_id(struct timewheel *tw, uint64_t id)
{
	struct timewheel_query query = { .id = id };
	struct timewheel_op ops[] = { op_cancel(id), op_rearm(id, HOUR) };

	EXPECT_EQ(-ENOENT, timewheel_cancel(tw, id));
	EXPECT_EQ(-ENOENT, timewheel_rearm(tw, id, UINT64_MAX));
	EXPECT_EQ(-ENOENT, timewheel_touch(tw, id, UINT64_MAX));
	EXPECT_EQ(-ENOENT, timewheel_query(tw, &query));
	EXPECT_EQ(2, timewheel_batch(tw, ops, 2));
	EXPECT_EQ(-ENOENT, ops[0].result);
	EXPECT_EQ(-ENOENT, ops[1].result);
}

ON_BOTH(ids_that_are_no_more)
{
	struct timewheel *tw;
	uint64_t old[50], id;
	unsigned int i, j;

	/* So few that indices come again at once. */
	options.capacity = 2;
	tw = lib_open(&options);
	for (i = 0; i < 50; i++) {
		old[i] = lib_arm(tw, i % 3 ? HOUR : 0, i);
		for (j = 0; j < i; j++)
			EXPECT_FALSE(old[i] == old[j]);
		if (i % 3)
			EXPECT_EQ(0, timewheel_cancel(tw, old[i]));
		else
			EXPECT_EQ(i, collect_one(tw).user_data);
	}
	id = lib_arm(tw, HOUR, 1);
	for (i = 0; i < 50; i++)
		expect_no_id(tw, old[i]);
	expect_no_id(tw, 0);
	expect_no_id(tw, 1);
	expect_no_id(tw, UINT64_MAX);
	for (i = 0; i < 64; i++)
		expect_no_id(tw, id ^ 1ULL << i);
	EXPECT_EQ(1, lib_stats(tw).pending);
	EXPECT_EQ(0, timewheel_cancel(tw, id));
	expect_no_id(tw, id);
	lib_close(tw);
}

/* --- moving ---------------------------------------------------------------- */

ON_BOTH(moved)
{
	struct timewheel *tw = lib_open(&options);
	struct timewheel_event event;
	uint64_t id, due;

	id = lib_arm(tw, HOUR, 1);
	due = timewheel_now(tw) + 10 * MS;
	EXPECT_EQ(0, timewheel_rearm(tw, id, due));
	event = collect_one(tw);
	EXPECT_EQ(due, event.deadline_ns);
	EXPECT_TRUE(event.id == id);

	id = lib_arm(tw, HOUR, 2);
	due = timewheel_now(tw) + 2 * HOUR;
	EXPECT_EQ(0, timewheel_touch(tw, id, due));
	EXPECT_EQ(2, lib_stats(tw).rearmed);
	EXPECT_EQ(0, timewheel_rearm(tw, id, 5));
	EXPECT_EQ(5, collect_one(tw).deadline_ns);
	expect_drained(tw);
	lib_close(tw);
}

/* What has expired cannot be called back, and is heard of once. */
ON_BOTH(moved_too_late)
{
	struct timewheel *tw = lib_open(&options);
	bool rings = options.flags & TIMEWHEEL_OPEN_RINGS;
	uint64_t id = lib_arm(tw, 0, 1);

	wait_fired(tw, 1);
	EXPECT_EQ(rings ? 0 : -ENOENT, timewheel_rearm(tw, id, UINT64_MAX));
	EXPECT_EQ(rings ? 0 : -ENOENT, timewheel_touch(tw, id, UINT64_MAX));
	EXPECT_EQ(2, lib_stats(tw).rejected);
	EXPECT_TRUE(collect_one(tw).id == id);
	expect_drained(tw);
	expect_no_id(tw, id);
	lib_close(tw);
}

/* --- cancelling ------------------------------------------------------------ */

ON_BOTH(cancelled_with_its_event_on_its_way)
{
	struct timewheel *tw = lib_open(&options);
	static struct collected c;
	uint64_t ids[300];
	unsigned int i;

	for (i = 0; i < 300; i++)
		ids[i] = lib_arm(tw, 0, i);
	wait_fired(tw, 300);
	for (i = 0; i < 300; i += 3)
		EXPECT_EQ(0, timewheel_cancel(tw, ids[i]));
	for (i = 0; i < 300; i += 3)
		expect_no_id(tw, ids[i]);
	c.nr = 0;
	collect_nr(tw, &c, 200);
	for (i = 0; i < 200; i++)
		EXPECT_EQ(i / 2 * 3 + i % 2 + 1, c.events[i].user_data);
	expect_drained(tw);
	EXPECT_EQ(300, lib_stats(tw).fired);
	EXPECT_EQ(0, lib_stats(tw).cancelled);
	lib_close(tw);
}

struct killer {
	struct collected c;
	uint64_t victims[10];
	int results[10];
};

/* Each that is delivered cancels those behind it with an odd number, and itself. */
static void kill_odd(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct killer *k = data;
	unsigned int i;

	collect(tw, event, &k->c);
	for (i = event->user_data + 1; i < 10; i++)
		if (i % 2)
			k->results[i] += timewheel_cancel(tw, k->victims[i]);
	k->results[event->user_data] = timewheel_cancel(tw, event->id);
}

ON_BOTH(cancelled_from_the_callback)
{
	struct timewheel *tw = lib_open(&options);
	static struct killer k;
	unsigned int i;

	k = (struct killer){ };
	for (i = 0; i < 10; i++)
		k.victims[i] = lib_arm(tw, 0, i);
	wait_fired(tw, 10);
	EXPECT_EQ(5, timewheel_drain(tw, 0, kill_odd, &k));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(2 * i, k.c.events[i].user_data);
	for (i = 0; i < 10; i++)
		/* Once it is 0, and from then on there is no such id. */
		EXPECT_EQ(i % 2 ? (int)(i / 2) * -ENOENT : -ENOENT, k.results[i]);
	expect_drained(tw);
	lib_close(tw);
}

struct chain {
	struct collected c;
	unsigned int left;
};

static void arm_next(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct chain *chain = data;

	collect(tw, event, &chain->c);
	if (chain->left) {
		chain->left--;
		lib_arm(tw, 0, event->user_data + 1);
	}
	/* Another drain in this one. */
	timewheel_drain(tw, 1, arm_next, data);
}

ON_BOTH(all_calls_from_the_callback)
{
	struct timewheel *tw = lib_open(&options);
	static struct chain chain;
	unsigned int i;

	chain = (struct chain){ .left = 20 };
	lib_arm(tw, 0, 0);
	while (chain.c.nr < 21) {
		ASSERT_EQ(1, timewheel_wait(tw, PATIENCE_MS));
		ASSERT_LE(0, timewheel_drain(tw, 0, arm_next, &chain));
	}
	for (i = 0; i < 21; i++)
		EXPECT_EQ(i, chain.c.events[i].user_data);
	expect_drained(tw);
	lib_close(tw);
}

/* --- draining -------------------------------------------------------------- */

ON_BOTH(no_more_than_asked_for)
{
	struct timewheel *tw = lib_open(&options);
	static struct collected c;
	unsigned int i;

	for (i = 0; i < 10; i++)
		lib_arm(tw, 0, i);
	wait_fired(tw, 10);
	c.nr = 0;
	EXPECT_EQ(3, timewheel_drain(tw, 3, collect, &c));
	EXPECT_EQ(3, c.nr);
	/* Whoever waits for the descriptor is told of the rest. */
	EXPECT_TRUE(readable(timewheel_fd(tw), 0));
	EXPECT_EQ(1, timewheel_wait(tw, 0));
	EXPECT_EQ(6, timewheel_drain(tw, 6, collect, &c));
	EXPECT_EQ(1, timewheel_drain(tw, 6, collect, &c));
	EXPECT_EQ(0, timewheel_drain(tw, 6, collect, &c));
	EXPECT_FALSE(readable(timewheel_fd(tw), 0));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(i, c.events[i].user_data);
	lib_close(tw);
}

static void ignore(int signal)
{
	(void)signal;
}

ON_BOTH(waiting)
{
	const struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, no_more = { };
	struct sigaction action = { .sa_handler = ignore };
	struct timewheel *tw = lib_open(&options);

	EXPECT_EQ(0, timewheel_wait(tw, 0));
	lib_arm(tw, HOUR, 0);
	EXPECT_EQ(0, timewheel_wait(tw, 20));
	ASSERT_OK(sigaction(SIGALRM, &action, NULL));
	/* It comes again and again: one of them while it waits. */
	ASSERT_OK(setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(-EINTR, timewheel_wait(tw, PATIENCE_MS));
	ASSERT_OK(setitimer(ITIMER_REAL, &no_more, NULL));
	lib_arm(tw, 30 * MS, 1);
	EXPECT_EQ(1, timewheel_wait(tw, -1));
	EXPECT_EQ(1, collect_one(tw).user_data);
	lib_close(tw);
}

ON_BOTH(eventfd_of_the_context)
{
	struct timewheel *tw;

	options.eventfd = eventfd(0, EFD_CLOEXEC);
	ASSERT_OK(options.eventfd);
	tw = lib_open(&options);
	EXPECT_EQ(0, eventfd_count(options.eventfd));
	lib_arm(tw, 0, 1);
	wait_readable(options.eventfd);
	EXPECT_EQ(1, eventfd_count(options.eventfd));
	EXPECT_EQ(1, collect_one(tw).user_data);
	lib_close(tw);
	/* It is the program's. */
	EXPECT_EQ(0, eventfd_count(options.eventfd));
	ASSERT_OK(close(options.eventfd));
}

/* --- batches --------------------------------------------------------------- */

ON_BOTH(batch)
{
	struct timewheel_op ops[16] = { };
	struct timewheel *tw = lib_open(&options);
	bool rings = options.flags & TIMEWHEEL_OPEN_RINGS;
	uint64_t id = lib_arm(tw, HOUR, 1), other = lib_arm(tw, HOUR, 2);
	static struct collected c;
	int results[16];
	unsigned int nr = 0, i;

#define ADD(op, wanted) (ops[nr] = (op), results[nr++] = (wanted))
	ADD(op_arm(0, 10), 0);
	ADD(op_arm_at(timewheel_now(tw) + HOUR, 11), 0);
	ADD(op_cancel(id), 0);
	ADD(op_cancel(id), -ENOENT);
	ADD(op_rearm(id, 0), -ENOENT);
	ADD(op_rearm(other, 0), 0);		/* from now */
	ADD(op_arm(HOUR, 0), -EINVAL);
	ops[nr - 1].opcode = 9;
	ADD(op_arm(HOUR, 0), -EINVAL);
	ops[nr - 1].pad2 = 1;
	ADD(op_cancel(id), -EINVAL);
	ops[nr - 1].reserved = 1;
	ADD(op_arm(HOUR, 0), -EINVAL);		/* ids are the library's */
	ops[nr - 1].flags = TIMEWHEEL_OWN_ID;
	ADD(op_arm(HOUR, 0), -EINVAL);		/* there is no table */
	ops[nr - 1].flags = TIMEWHEEL_LEASE | TIMEWHEEL_ABS;
	ADD(op_arm(HOUR, 0), -EINVAL);		/* nobody would hear of it */
	ops[nr - 1].flags = TIMEWHEEL_NO_EVENT;
	ADD(op_periodic(HOUR, 1ULL << 63, 0), -EINVAL);
	ADD(op_arm(HOUR, 0), rings ? -EINVAL : -EBADF);
	ops[nr - 1].eventfd = 1000;
	ADD(op_periodic(HOUR, HOUR, 12), 0);
#undef ADD
	EXPECT_EQ(nr, timewheel_batch(tw, ops, nr));
	for (i = 0; i < nr; i++)
		EXPECT_EQ(results[i], ops[i].result);
	c.nr = 0;
	collect_nr(tw, &c, 2);
	/* The first was due first, or both at once. */
	EXPECT_EQ(10, c.events[0].user_data);
	EXPECT_TRUE(c.events[0].id == ops[0].id);
	EXPECT_EQ(2, c.events[1].user_data);
	EXPECT_EQ(0, timewheel_cancel(tw, ops[1].id));
	EXPECT_EQ(0, timewheel_cancel(tw, ops[nr - 1].id));
	expect_drained(tw);
	EXPECT_EQ(0, timewheel_batch(tw, ops, 0));
	EXPECT_EQ(0, lib_stats(tw).pending);
	lib_close(tw);
}

/* More of them than the submission ring has places for. */
ON_BOTH(batch_of_many)
{
	static struct timewheel_op ops[1024];
	static struct collected c;
	struct timewheel *tw;
	unsigned int i;

	if (options.flags & TIMEWHEEL_OPEN_RINGS)
		options.sq_entries = 16;
	tw = lib_open(&options);
	for (i = 0; i < 1024; i++)
		ops[i] = op_arm(0, i);
	EXPECT_EQ(1024, timewheel_batch(tw, ops, 1024));
	c.nr = 0;
	collect_nr(tw, &c, 1024);
	for (i = 0; i < 1024; i++) {
		EXPECT_EQ(0, ops[i].result);
		ASSERT_LT(c.events[i].user_data, 1024);
		EXPECT_TRUE(ops[c.events[i].user_data].id == c.events[i].id);
	}
	for (i = 0; i < 1024; i++)
		ops[i] = op_arm(HOUR, i);
	EXPECT_EQ(1024, timewheel_batch(tw, ops, 1024));
	for (i = 0; i < 1024; i++) {
		EXPECT_EQ(0, ops[i].result);
		ops[i] = op_cancel(ops[i].id);
	}
	EXPECT_EQ(1024, timewheel_batch(tw, ops, 1024));
	for (i = 0; i < 1024; i++)
		EXPECT_EQ(0, ops[i].result);
	EXPECT_EQ(1024, lib_stats(tw).cancelled);
	expect_drained(tw);
	lib_close(tw);
}

/* The same op once more to the batch: it is too late, and the event is dropped. */
ON_BOTH(batch_cancels_late)
{
	struct timewheel_op ops[4];
	struct timewheel *tw = lib_open(&options);
	unsigned int i;

	for (i = 0; i < 4; i++)
		ops[i] = op_cancel(lib_arm(tw, 0, i));
	ops[3].id = ops[2].id;
	wait_fired(tw, 4);
	EXPECT_EQ(4, timewheel_batch(tw, ops, 4));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, ops[i].result);
	EXPECT_EQ(-ENOENT, ops[3].result);
	EXPECT_EQ(3, collect_one(tw).user_data);
	expect_drained(tw);
	lib_close(tw);
}

/* --- periodic -------------------------------------------------------------- */

ON_BOTH(periodic)
{
	struct timewheel *tw = lib_open(&options);
	struct timewheel_event event;
	struct timewheel_op op;
	uint64_t start, periods = 0;

	start = timewheel_now(tw);
	op = op_periodic(start, 3 * MS, 9);
	op.flags = TIMEWHEEL_ABS;
	EXPECT_EQ(1, timewheel_batch(tw, &op, 1));
	EXPECT_EQ(0, op.result);
	while (periods < 20) {
		event = collect_one(tw);
		EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED, event.flags);
		EXPECT_TRUE(event.id == op.id);
		periods += event.result;
		EXPECT_EQ(start + (periods - 1) * 3 * MS, event.deadline_ns);
	}
	/* By now one waits, or soon would. */
	while (lib_stats(tw).fired + lib_stats(tw).overruns <= periods)
		usleep(1000);
	EXPECT_EQ(0, timewheel_cancel(tw, op.id));
	expect_no_id(tw, op.id);
	expect_drained(tw);
	lib_arm(tw, 0, 10);
	EXPECT_EQ(10, collect_one(tw).user_data);
	lib_close(tw);
}

/* Cancelled in a batch, with and without an event that waits, and others between. */
ON_BOTH(periodic_in_batches)
{
	struct timewheel *tw = lib_open(&options);
	struct timewheel_op ops[8];
	static struct collected c;
	unsigned int i;

	for (i = 0; i < 4; i++)
		ops[i] = op_periodic(i % 2 ? HOUR : 0, HOUR, i);
	ASSERT_EQ(4, timewheel_batch(tw, ops, 4));
	wait_fired(tw, 2);
	for (i = 4; i-- > 0;) {
		ASSERT_EQ(0, ops[i].result);
		ops[2 * i] = op_cancel(ops[i].id);
		ops[2 * i + 1] = op_arm(0, 100 + i);
	}
	ASSERT_EQ(8, timewheel_batch(tw, ops, 8));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, ops[i].result);
	ASSERT_EQ(8, timewheel_batch(tw, ops, 8));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(i % 2 ? 0 : -ENOENT, ops[i].result);
	c.nr = 0;
	collect_nr(tw, &c, 8);
	for (i = 0; i < 8; i++)
		EXPECT_LE(100, c.events[i].user_data);
	EXPECT_EQ(4, lib_stats(tw).cancelled);
	expect_drained(tw);
	lib_close(tw);
}

/* --- stopping -------------------------------------------------------------- */

ON_BOTH(stopped)
{
	struct timewheel *tw = lib_open(&options);
	static struct collected c;
	bool seen[500] = { };
	uint64_t ids[500], id;
	unsigned int i;

	for (i = 0; i < 500; i++)
		ids[i] = lib_arm(tw, HOUR, i);
	EXPECT_EQ(0, timewheel_stop(tw));
	EXPECT_EQ(-ESHUTDOWN, timewheel_arm(tw, HOUR, 0, &id));
	EXPECT_EQ(-ESHUTDOWN, timewheel_rearm(tw, ids[0], 0));
	EXPECT_EQ(-ESHUTDOWN, timewheel_touch(tw, ids[0], 0));
	/* That it was handed back is an event like others. */
	EXPECT_EQ(0, timewheel_cancel(tw, ids[7]));
	EXPECT_EQ(-ENOENT, timewheel_cancel(tw, ids[7]));
	c.nr = 0;
	EXPECT_EQ(499, timewheel_drain(tw, 0, collect, &c));
	for (i = 0; i < 499; i++) {
		EXPECT_EQ(TIMEWHEEL_EVENT_UNPROCESSED | TIMEWHEEL_EVENT_LAST, c.events[i].flags);
		EXPECT_EQ(0, c.events[i].result);
		ASSERT_LT(c.events[i].user_data, 500);
		EXPECT_FALSE(seen[c.events[i].user_data]);
		seen[c.events[i].user_data] = true;
		EXPECT_TRUE(c.events[i].id == ids[c.events[i].user_data]);
	}
	EXPECT_FALSE(seen[7]);
	expect_drained(tw);
	EXPECT_EQ(0, timewheel_stop(tw));
	EXPECT_EQ(0, lib_stats(tw).pending);
	lib_close(tw);
}

/* --- looking --------------------------------------------------------------- */

ON_BOTH(looking)
{
	struct timewheel *tw = lib_open(&options);
	struct timewheel_query query = { }, found[8];
	struct timewheel_list list = { .entries = (uintptr_t)found, .nr = 8 };
	struct timewheel_info info;
	uint64_t id, due;

	ASSERT_EQ(0, timewheel_info(tw, &info));
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(TIMEWHEEL_ABI_VERSION, info.abi_version);
	EXPECT_EQ(CLOCK_MONOTONIC, info.clockid);
	EXPECT_LE(info.now_ns, timewheel_now(tw));

	/* What was asked for is seen at once, however far it is. */
	due = timewheel_now(tw) + HOUR;
	id = lib_arm_at(tw, due, 5);
	query.id = id;
	ASSERT_EQ(0, timewheel_query(tw, &query));
	EXPECT_EQ(5, query.user_data);
	EXPECT_EQ(due, query.deadline_ns);
	EXPECT_EQ(TIMEWHEEL_STATE_PENDING, query.state);
	EXPECT_EQ(1, lib_stats(tw).armed);
	ASSERT_EQ(0, timewheel_list(tw, &list));
	EXPECT_EQ(1, list.nr);
	EXPECT_TRUE(found[0].id == id);

	ASSERT_EQ(0, timewheel_rearm(tw, id, 3));
	wait_fired(tw, 1);
	query = (struct timewheel_query){ .id = id };
	ASSERT_EQ(0, timewheel_query(tw, &query));
	EXPECT_EQ(TIMEWHEEL_STATE_EXPIRED, query.state);
	EXPECT_EQ(5, query.user_data);
	EXPECT_EQ(3, query.deadline_ns);
	list = (struct timewheel_list){ .entries = (uintptr_t)found, .nr = 8 };
	ASSERT_EQ(0, timewheel_list(tw, &list));
	EXPECT_EQ(0, list.nr);
	list.nr = 0;
	EXPECT_EQ(-EINVAL, timewheel_list(tw, &list));
	EXPECT_TRUE(collect_one(tw).id == id);
	EXPECT_EQ(-ENOENT, timewheel_query(tw, &query));
	lib_close(tw);
}

/* --- opening and closing --------------------------------------------------- */

static unsigned int open_fds(void)
{
	unsigned int fd, nr = 0;

	for (fd = 0; fd < 1000; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static bool is_mapped(const char *path)
{
	char line[512];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "r");

	ASSERT_TRUE(maps);
	while (fgets(line, sizeof(line), maps))
		found |= !!strstr(line, path);
	fclose(maps);
	return found;
}

#define RINGS(...) { .flags = TIMEWHEEL_OPEN_RINGS, .capacity = 4, __VA_ARGS__ }

TEST(options_refused)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct {
		struct timewheel_options options;
		int error;
	} bad[] = {
		{ { .flags = 1U << 4 }, -EINVAL },
		{ { .flags = 1U << 31 }, -EINVAL },
		{ { .reserved[3] = 1 }, -EINVAL },
		{ { .flags = TIMEWHEEL_OPEN_RINGS }, -EINVAL },
		{ { .flags = TIMEWHEEL_OPEN_LEASES, .capacity = 4 }, -EINVAL },
		{ { .sq_entries = 4 }, -EINVAL },
		{ { .cq_entries = 4 }, -EINVAL },
		{ RINGS(.sq_entries = 3), -EINVAL },
		{ RINGS(.cq_entries = 3), -EINVAL },
		{ RINGS(.sq_entries = 2 * TIMEWHEEL_RING_MAX), -EINVAL },
		{ { .tick_ns = MS }, -EINVAL },
		{ { .flags = TIMEWHEEL_OPEN_OWN_WHEEL, .tick_ns = 1 }, -EINVAL },
		{ { .flags = TIMEWHEEL_OPEN_OWN_WHEEL, .clockid = CLOCK_REALTIME + 99 }, -EINVAL },
		{ { .capacity = UINT32_MAX }, -EINVAL },
		{ { .eventfd = 999 }, -EBADF },
		{ { .eventfd = null }, -EINVAL },
	};
	struct timewheel *tw = (void *)&bad;
	unsigned int i, fds = open_fds();

	timewheel_close(lib_open(NULL));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(bad[i].error, timewheel_open(&tw, &bad[i].options));
		EXPECT_TRUE(tw == (void *)&bad);
	}
	EXPECT_EQ(fds, open_fds());
	EXPECT_FALSE(is_mapped(DEVICE));
	timewheel_close(NULL);
}

/* In a child of the test: what it does to itself ends with it. */
static int open_in_child(void (*spoil)(void))
{
	struct timewheel *tw;
	int status;
	pid_t pid = fork();

	ASSERT_OK(pid);
	if (!pid) {
		spoil();
		_exit(-timewheel_open(&tw, &by_rings));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void hide_device(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev", "tmpfs", 0, NULL))
		_exit(99);
}

static void other_device(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("/dev/null", DEVICE, NULL, MS_BIND, NULL))
		_exit(99);
}

static void be_nobody(void)
{
	if (setgid(NOBODY) || setuid(NOBODY))
		_exit(99);
}

static void open_no_more(void)
{
	if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, 0 }))
		_exit(99);
}

TEST(device_refused)
{
	timewheel_close(lib_open(NULL));
	if (getuid())
		SKIP("this is not root");
	EXPECT_EQ(-ENOENT, open_in_child(hide_device));
	EXPECT_EQ(-ENOTTY, open_in_child(other_device));
	EXPECT_EQ(-EACCES, open_in_child(be_nobody));
	EXPECT_EQ(-EMFILE, open_in_child(open_no_more));
}

ON_BOTH(closed_with_pending)
{
	struct timewheel *tw = lib_open(&options);
	unsigned int i, fds = open_fds();

	for (i = 0; i < 100; i++)
		lib_arm(tw, i % 2 ? HOUR : 0, i);
	timewheel_close(tw);
	EXPECT_EQ(fds - 1, open_fds());
	EXPECT_FALSE(is_mapped(DEVICE));
}

ON_BOTH(closed_on_exec)
{
	struct timewheel *tw = lib_open(&options);

	EXPECT_EQ(FD_CLOEXEC, fcntl(timewheel_fd(tw), F_GETFD));
	timewheel_close(tw);
	options.flags |= TIMEWHEEL_OPEN_INHERIT;
	tw = lib_open(&options);
	EXPECT_EQ(0, fcntl(timewheel_fd(tw), F_GETFD));
	timewheel_close(tw);
}

ON_BOTH(own_wheel_of_another_clock)
{
	struct timewheel_event event;
	struct timewheel_info info;
	struct timewheel *tw;
	uint64_t now;

	options.flags |= TIMEWHEEL_OPEN_OWN_WHEEL;
	options.tick_ns = 5 * MS;
	options.slots = 64;
	options.levels = 2;
	options.clockid = CLOCK_BOOTTIME;
	tw = lib_open(&options);
	ASSERT_EQ(0, timewheel_info(tw, &info));
	EXPECT_EQ(5 * MS, info.tick_ns);
	EXPECT_EQ(64, info.slots);
	EXPECT_EQ(2, info.levels);
	EXPECT_EQ(CLOCK_BOOTTIME, info.clockid);
	now = now_ns(CLOCK_BOOTTIME);
	EXPECT_LE(now, timewheel_now(tw));
	lib_arm(tw, MS, 1);
	event = collect_one(tw);
	EXPECT_LE(now + MS, event.deadline_ns);
	EXPECT_LE(event.deadline_ns, now_ns(CLOCK_BOOTTIME));
	lib_close(tw);
}

/* The child has the same context; what it closes is its own. */
ON_BOTH(closed_in_a_child)
{
	struct timewheel *tw = lib_open(&options);
	uint64_t seen;
	int status;
	pid_t pid;

	lib_arm(tw, 50 * MS, 1);
	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		timewheel_close(tw);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	lib_arm(tw, 0, 2);
	/* Which comes first depends on how long the child took. */
	seen = collect_one(tw).user_data;
	EXPECT_EQ(3, seen + collect_one(tw).user_data);
	lib_close(tw);
}
