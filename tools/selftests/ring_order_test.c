// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ops come before expiries.  What was put into a ring before a deadline holds for
 * the timeout of that deadline, however much lies in front of it, in its own ring
 * or in others'; and it took no call.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

/* Entries: what lies in front, a witness at the end, and those it is about. */
enum { FRONT, WITNESS, FIRST };

/* More than the worker does in a row for one ring, and for all in one pass. */
enum { SQ_ENTRIES = 4096, IN_FRONT = 3000, RINGS = 4 };

static uint64_t now(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

static struct timewheel_op rearm_at(uint64_t id, uint64_t expires_ns)
{
	struct timewheel_op op = op_rearm(id, expires_ns);

	op.flags = TIMEWHEEL_ABS;
	return op;
}

/*
 * With @nr timeouts, four in each tick from @due on, and one that is far away,
 * whose moves are what lies in front.  They are armed through the ring: a call's
 * would have the worker come before they are due, and empty it.
 */
static void open_armed(struct rings *r, uint64_t own_tick_ns, uint32_t nr,
		       uint64_t due)
{
	uint32_t i;

	rings_open(r, SQ_ENTRIES, 64, 64, own_tick_ns);
	ring_push(r, op_own(id_of(FRONT, 0), now() + HOUR, FRONT));
	for (i = 0; i < nr; i++)
		ring_push(r, op_own(id_of(FIRST + i, 0), due + i / 4 * MS, FIRST + i));
	ASSERT_OK(ring_enter(r));
	while (stats_of(r->fd).armed != 1 + nr)
		usleep(1000);
	/* Let that pass end, or it may take what comes with it. */
	usleep(10 * 1000);
}

static void push_far(struct rings *r, uint32_t nr)
{
	while (nr--)
		ring_push(r, rearm_at(id_of(FRONT, 0), now() + HOUR));
}

/* By a call. */
static void arm_own(struct rings *r, uint32_t index, uint64_t due)
{
	struct timewheel_op op = op_own(id_of(index, 0), due, index);

	ASSERT_OK(ioctl(r->fd, TIMEWHEEL_IOC_ARM, &op));
}

static void wait_drained(struct rings *r)
{
	while (__atomic_load_n(&r->sq->head, __ATOMIC_ACQUIRE) != r->sq->tail)
		usleep(1000);
}

/* All that expired is there: one more comes, and is the next. */
static void expect_next_is_witness(struct rings *r)
{
	arm_own(r, WITNESS, 0);
	EXPECT_EQ(WITNESS, ring_wait(r).user_data);
}

/* All was put in before the deadline; or else the test says nothing. */
static bool in_time(uint64_t due)
{
	return now() < due;
}

/* Again and further ahead, where the machine is slow. */
static void until_in_time(bool (*try_ahead)(uint64_t ahead))
{
	uint64_t ahead = 200 * MS;

	while (!try_ahead(ahead))
		ahead *= 2;
}

static bool rearm_behind_many(uint64_t ahead)
{
	struct timewheel_query q;
	uint64_t due = now() + ahead, to;
	struct rings r;
	bool ret;

	open_armed(&r, MS, 1, due);
	push_far(&r, IN_FRONT);
	to = now() + HOUR;
	ring_push(&r, rearm_at(id_of(FIRST, 0), to));
	ret = in_time(due);
	if (ret) {
		wait_drained(&r);
		EXPECT_LE(due, now());
		ASSERT_OK(query(r.fd, id_of(FIRST, 0), &q));
		EXPECT_EQ(TIMEWHEEL_STATE_PENDING, q.state);
		EXPECT_EQ(to, q.deadline_ns);
		expect_next_is_witness(&r);
		EXPECT_EQ(1, stats_of(r.fd).fired);
		expect_balance(r.fd);
	}
	rings_close(&r);
	return ret;
}

TEST(rearm_behind_many_others)
{
	until_in_time(rearm_behind_many);
}

static bool cancel_behind_many(uint64_t ahead)
{
	uint64_t due = now() + ahead;
	struct timewheel_stats st;
	struct rings r;
	bool ret;

	open_armed(&r, MS, 1, due);
	push_far(&r, IN_FRONT);
	ring_push(&r, op_cancel(id_of(FIRST, 0)));
	ret = in_time(due);
	if (ret) {
		wait_drained(&r);
		expect_next_is_witness(&r);
		st = stats_of(r.fd);
		EXPECT_EQ(1, st.cancelled);
		EXPECT_EQ(1, st.fired);
		EXPECT_EQ(0, st.rejected);
		expect_balance(r.fd);
	}
	rings_close(&r);
	return ret;
}

TEST(cancel_behind_many_others)
{
	until_in_time(cancel_behind_many);
}

/* What was put off by nothing comes all the same, in the order of its deadlines. */
static bool wait_in_order(uint64_t ahead)
{
	enum { NR = 32 };
	uint64_t due = now() + ahead;
	struct timewheel_event ev;
	struct rings r;
	uint32_t i;
	bool ret;

	open_armed(&r, MS, NR, due);
	push_far(&r, SQ_ENTRIES);
	ret = in_time(due);
	if (ret) {
		for (i = 0; i < NR; i++) {
			ev = ring_wait(&r);
			EXPECT_EQ(FIRST + i, ev.user_data);
			EXPECT_EQ(due + i / 4 * MS, ev.deadline_ns);
		}
		EXPECT_EQ(SQ_ENTRIES, stats_of(r.fd).rearmed);
		expect_balance(r.fd);
	}
	rings_close(&r);
	return ret;
}

TEST(those_that_wait_expire_in_order)
{
	until_in_time(wait_in_order);
}

/* The pass has done as much as it may when it comes to the last ring. */
static bool cancel_behind_full_rings(uint64_t ahead)
{
	uint64_t due = now() + ahead;
	struct rings full[RINGS], r;
	bool ret;
	int i;

	for (i = 0; i < RINGS; i++)
		open_armed(&full[i], 0, 0, 0);
	open_armed(&r, 0, 1, due);
	for (i = 0; i < RINGS; i++)
		push_far(&full[i], SQ_ENTRIES);
	ring_push(&r, op_cancel(id_of(FIRST, 0)));
	ret = in_time(due);
	if (ret) {
		wait_drained(&r);
		expect_next_is_witness(&r);
		EXPECT_EQ(1, stats_of(r.fd).cancelled);
		EXPECT_EQ(1, stats_of(r.fd).fired);
		for (i = 0; i < RINGS; i++) {
			wait_drained(&full[i]);
			EXPECT_EQ(SQ_ENTRIES, stats_of(full[i].fd).rearmed);
			EXPECT_EQ(0, stats_of(full[i].fd).rejected);
		}
	}
	for (i = 0; i < RINGS; i++)
		rings_close(&full[i]);
	rings_close(&r);
	return ret;
}

TEST(cancel_behind_full_rings_of_others)
{
	until_in_time(cancel_behind_full_rings);
}

/*
 * A program that leaves its failures unread has its ring wait, and what is due with
 * it: a REARM lies further back.
 */
TEST(behind_failures_that_nobody_reads)
{
	struct timewheel_event ev;
	struct timewheel_query q;
	uint32_t i, failed = 0;
	uint64_t due, to;
	struct rings r;

	/* Without a completion ring nothing is read but by read(). */
	rings_open(&r, 256, 0, 8, MS);
	due = now() + 200 * MS;
	ring_push(&r, op_own(id_of(FIRST, 0), due, FIRST));
	for (i = 0; i < 200; i++)
		ring_push(&r, op_cancel(id_of(7, i)));
	to = now() + HOUR;
	ring_push(&r, rearm_at(id_of(FIRST, 0), to));
	if (!in_time(due))
		SKIP("this machine takes 200 ms to write 202 ops");
	while (!ring_enter(&r))
		;
	EXPECT_EQ(EAGAIN, errno);
	/* A pass when it is due, and more than one. */
	arm_at(r.fd, due + 5 * MS, WITNESS);
	while (now() < due + 20 * MS)
		usleep(1000);
	EXPECT_EQ(0, stats_of(r.fd).fired);
	while (failed < 200) {
		ev = read_any_event(r.fd);
		EXPECT_EQ(TIMEWHEEL_EVENT_FAILED, ev.flags);
		failed++;
	}
	/* Now the rest is done, and what waited for nothing comes. */
	EXPECT_EQ(WITNESS, read_event(r.fd).user_data);
	ASSERT_OK(query(r.fd, id_of(FIRST, 0), &q));
	EXPECT_EQ(to, q.deadline_ns);
	EXPECT_EQ(1, stats_of(r.fd).fired);
	expect_balance(r.fd);
	rings_close(&r);
}

/* Keeps a ring full of what its entries hold already. */
static void *keep_full(void *arg)
{
	struct rings *r = arg;
	uint32_t head;

	while (__atomic_load_n(&r->own_ids, __ATOMIC_RELAXED)) {
		head = __atomic_load_n(&r->sq->head, __ATOMIC_ACQUIRE);
		__atomic_store_n(&r->sq->tail, head + r->sq_entries, __ATOMIC_RELEASE);
	}
	return NULL;
}

/*
 * The ring has been seen up to a time within the tick: those whose deadline is before
 * that must not overtake the others of the tick, which were armed before them.
 */
TEST(order_within_a_tick)
{
	enum { NR = 60 };
	const uint64_t tick = 200 * MS;
	struct timewheel_info info;
	uint64_t begin, end;
	pthread_t thread;
	struct rings r;
	uint32_t i;

	rings_open(&r, SQ_ENTRIES, 64, 64, tick);
	info = info_of(r.fd);
	ring_push(&r, op_own(id_of(FRONT, 0), now() + HOUR, FRONT));
	ASSERT_OK(ring_enter(&r));
	while (stats_of(r.fd).armed != 1)
		usleep(1000);
	begin = info.epoch_ns + ((now() - info.epoch_ns) / tick + 2) * tick;
	end = begin + tick;
	/* What is armed later has the earlier deadline. */
	for (i = 0; i < NR; i++)
		arm_own(&r, FIRST + i, end - i * 3 * MS);
	for (i = 0; i < SQ_ENTRIES; i++)
		r.ops[i] = rearm_at(id_of(FRONT, 0), now() + 2 * HOUR);
	ASSERT_EQ(0, pthread_create(&thread, NULL, keep_full, &r));
	while (now() < begin + tick / 2)
		usleep(1000);
	ring_enter(&r);
	for (i = 0; i < NR; i++)
		EXPECT_EQ(FIRST + i, ring_wait(&r).user_data);
	__atomic_store_n(&r.own_ids, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	rings_close(&r);
}

/* Nor does a tail that is turned back, before the pass or in the middle of it. */
TEST(a_tail_turned_back_holds_nothing)
{
	static const uint32_t tails[] = { 0, 1, 1U << 31, UINT32_MAX };
	struct rings r;
	uint64_t due;
	uint32_t i;

	for (i = 0; i < 20; i++) {
		due = now() + 30 * MS;
		open_armed(&r, MS, 1, due);
		push_far(&r, SQ_ENTRIES);
		if (i % 2) {
			/* Or else the pass for the timeout may have been before that. */
			if (!in_time(due))
				ASSERT_OK(ring_enter(&r));
			/* The pass has begun, and counted them all. */
			while (__atomic_load_n(&r.sq->head, __ATOMIC_ACQUIRE) == 2)
				;
		}
		__atomic_store_n(&r.sq->tail, tails[i / 2 % ARRAY_SIZE(tails)],
				 __ATOMIC_RELEASE);
		EXPECT_EQ(FIRST, ring_wait(&r).user_data);
		rings_close(&r);
	}
}

/* The system wheel's thread. */
static pid_t system_worker(void)
{
	char path[300], name[64];
	struct dirent *entry;
	pid_t pid = 0;
	FILE *file;
	DIR *dir;

	dir = opendir("/proc");
	ASSERT_TRUE(dir);
	while (!pid && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && !strncmp(name, "timewheel/s", 11))
			pid = atoi(entry->d_name);
		fclose(file);
	}
	closedir(dir);
	ASSERT_TRUE(pid);
	return pid;
}

/* From here on the worker does not run but when we wait, or not so again. */
static void ahead_of_worker(bool yes)
{
	struct sched_param param = { .sched_priority = yes ? 10 : 0 };
	pid_t worker = system_worker();
	cpu_set_t cpus;
	int i;

	CPU_ZERO(&cpus);
	for (i = 0; i < (yes ? 1 : CPU_SETSIZE); i++)
		CPU_SET(i, &cpus);
	ASSERT_OK(sched_setaffinity(worker, sizeof(cpus), &cpus));
	ASSERT_OK(sched_setaffinity(0, sizeof(cpus), &cpus));
	ASSERT_OK(sched_setscheduler(0, yes ? SCHED_FIFO : SCHED_OTHER, &param));
}

/* By one call, all at one time. */
static void arm_all_at(int fd, uint32_t nr, uint64_t due)
{
	struct timewheel_op *ops = calloc(nr, sizeof(*ops));
	uint32_t i;

	ASSERT_TRUE(ops);
	for (i = 0; i < nr; i++)
		ops[i] = op_arm_at(due, i);
	ASSERT_EQ((int)nr, submit(fd, ops, nr));
	free(ops);
}

/*
 * More than a pass takes out of the queue lies there, armed by calls; and then one more
 * is armed, or moved, by the ring.
 */
enum { CALLED = 8000 };

static bool come_last(bool moved, uint64_t ahead)
{
	uint64_t due = now() + ahead;
	uint32_t i, wrong = 0;
	int other = tw_open();
	struct rings r;
	bool ret;

	rings_open(&r, 8, 0, 1, 0);
	if (moved) {
		ring_push(&r, op_own(id_of(0, 0), now() + HOUR, CALLED));
		ASSERT_OK(ring_enter(&r));
		wait_drained(&r);
	}
	ahead_of_worker(true);
	arm_all_at(other, CALLED, due);
	arm_all_at(r.fd, CALLED, due);
	if (moved)
		ring_push(&r, rearm_at(id_of(0, 0), due));
	else
		ring_push(&r, op_own(id_of(0, 0), due, CALLED));
	ASSERT_OK(ring_enter(&r));
	ahead_of_worker(false);

	wait_drained(&r);
	ret = in_time(due);
	if (ret) {
		for (i = 0; i <= CALLED; i++)
			wrong += read_event(r.fd).user_data != i;
		EXPECT_EQ(0, wrong);
		expect_balance(r.fd);
	}
	rings_close(&r);
	close(other);
	return ret;
}

static bool armed_last(uint64_t ahead)
{
	return come_last(false, ahead);
}

TEST(armed_after_a_call_expires_after_it)
{
	until_in_time(armed_last);
}

static bool moved_last(uint64_t ahead)
{
	return come_last(true, ahead);
}

TEST(moved_after_a_call_expires_after_it)
{
	until_in_time(moved_last);
}
