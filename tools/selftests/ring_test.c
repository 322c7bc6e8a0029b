// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings: ops that are asked for, and events that are told, without a call.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ring.h"

#define PAGE	4096

TEST(arm_and_collect)
{
	struct timewheel_event ev;
	struct rings r;
	uint64_t due;
	uint32_t i;

	rings_open(&r, 8, 8, 16, 0);
	for (i = 0; i < 100; i++) {
		due = now_ns(CLOCK_MONOTONIC) + i % 3 * MS;
		ring_ask(&r, op_own(id_of(i % 16, i), due, i));
		ev = ring_wait(&r);
		EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST, ev.flags);
		EXPECT_EQ(1, ev.result);
		EXPECT_EQ(i, ev.user_data);
		EXPECT_TRUE(ev.id == id_of(i % 16, i));
		EXPECT_EQ(due, ev.deadline_ns);
		EXPECT_LE(due, now_ns(CLOCK_MONOTONIC));
	}
	EXPECT_EQ(100, stats_of(r.fd).fired);
	EXPECT_EQ(0, stats_of(r.fd).unread);
	expect_balance(r.fd);
	rings_close(&r);
}

/* The ring is filled, and a call made, just as the kernel has made room in it. */
static void *fill_again_and_again(void *data)
{
	enum { NR = 24000, SPINS = 20000 };
	unsigned long *no_room = data;
	struct rings r;
	uint32_t i, spins;

	rings_open(&r, 2, 2, NR, MS);
	for (i = 0; i < NR && !*no_room; i += 3) {
		ring_push(&r, op_own(id_of(i, 0), UINT64_MAX, i));
		ASSERT_OK(ring_enter(&r));
		for (spins = 0; spins < SPINS; spins++)
			if (__atomic_load_n(&r.sq->head, __ATOMIC_ACQUIRE) == r.sq->tail)
				break;
		ring_push(&r, op_own(id_of(i + 1, 0), UINT64_MAX, i));
		if (ring_room(&r))
			ring_push(&r, op_own(id_of(i + 2, 0), UINT64_MAX, i));
		ASSERT_OK(ring_enter(&r));
		*no_room += !ring_room(&r);
	}
	rings_close(&r);
	return NULL;
}

/* A call that finds the ring full comes back when there is room, and not before. */
TEST(room_after_a_call)
{
	enum { THREADS = 4 };
	unsigned long no_room[THREADS] = { };
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, fill_again_and_again,
					    &no_room[i]));
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, no_room[i]);
	}
}

/* A far deadline needs no call: the pass that comes anyway takes it along. */
TEST(no_call_for_what_can_wait)
{
	struct rings r;
	uint64_t base;
	uint32_t i;

	rings_open(&r, 256, 256, 256, MS);
	base = now_ns(CLOCK_MONOTONIC) + 300 * MS;
	ring_ask(&r, op_own(id_of(0, 0), base, 0));
	EXPECT_EQ(1, r.calls);
	/* Until that one is taken, its promise is that of the call. */
	while (stats_of(r.fd).pending != 1)
		usleep(1000);
	usleep(1000);
	/* What is due with that one can wait, and what is due later. */
	for (i = 1; i < 200; i++)
		ring_ask(&r, op_own(id_of(i, 0), base + i / 10 * MS, i));
	EXPECT_EQ(1, r.calls);
	for (i = 0; i < 200; i++)
		EXPECT_EQ(i, ring_wait(&r).user_data);
	EXPECT_EQ(200, stats_of(r.fd).fired);
	expect_balance(r.fd);
}

TEST(cancel_and_arm_in_one_ring)
{
	struct timewheel_stats st;
	struct timewheel_query q;
	struct rings r;
	uint32_t i;

	rings_open(&r, 128, 8, 4, 0);
	ring_push(&r, op_own(id_of(2, 0), UINT64_MAX - 1, 0));
	for (i = 1; i <= 50; i++) {
		ring_push(&r, op_cancel(id_of(2, i - 1)));
		ring_push(&r, op_own(id_of(2, i), UINT64_MAX - 1, i));
	}
	ASSERT_OK(ring_enter(&r));
	while (stats_of(r.fd).armed != 51)
		usleep(1000);
	ASSERT_OK(query(r.fd, id_of(2, 50), &q));
	EXPECT_EQ(50, q.user_data);
	st = stats_of(r.fd);
	EXPECT_EQ(50, st.cancelled);
	EXPECT_EQ(1, st.pending);
	EXPECT_EQ(0, st.rejected);
	expect_balance(r.fd);
}

/* By call and by ring, on the same ids. */
TEST(calls_and_ring_mixed)
{
	struct timewheel_op op;
	struct rings r;
	uint32_t i;

	rings_open(&r, 128, 128, 64, 0);
	for (i = 0; i < 64; i++) {
		op = op_own(id_of(i, 1), UINT64_MAX - 1, 1);
		ASSERT_OK(ioctl(r.fd, TIMEWHEEL_IOC_ARM, &op));
		if (i % 3 == 0)
			ASSERT_OK(cancel(r.fd, id_of(i, 1)));
		else if (i % 3 == 1)
			ring_push(&r, op_cancel(id_of(i, 1)));
		else
			ring_push(&r, op_cancel(id_of(i, 1)));
		ring_push(&r, op_own(id_of(i, 2), 0, i));
		if (i % 16 == 15)
			ASSERT_OK(ring_enter(&r));
	}
	for (i = 0; i < 64; i++)
		EXPECT_TRUE(ring_wait(&r).flags & TIMEWHEEL_EVENT_EXPIRED);
	EXPECT_EQ(128, stats_of(r.fd).armed);
	EXPECT_EQ(64, stats_of(r.fd).cancelled);
	EXPECT_EQ(64, stats_of(r.fd).fired);
	expect_balance(r.fd);
}

TEST(rearm_by_ring)
{
	struct timewheel_event ev;
	struct timewheel_op op;
	struct rings r;
	uint64_t due;

	rings_open(&r, 8, 8, 4, 0);
	ring_ask(&r, op_own(id_of(1, 1), now_ns(CLOCK_MONOTONIC) + HOUR, 1));
	due = now_ns(CLOCK_MONOTONIC) + 5 * MS;
	op = op_rearm(id_of(1, 1), due);
	op.flags = TIMEWHEEL_ABS;
	ring_ask(&r, op);
	ev = ring_wait(&r);
	EXPECT_EQ(due, ev.deadline_ns);
	EXPECT_EQ(1, stats_of(r.fd).rearmed);
	expect_balance(r.fd);
}

TEST(periodic_by_ring)
{
	struct timewheel_event ev;
	struct timewheel_stats st;
	uint64_t start, periods = 0;
	struct timewheel_op op;
	struct rings r;
	int i;

	rings_open(&r, 8, 4, 4, 0);
	start = now_ns(CLOCK_MONOTONIC);
	op = op_own(id_of(3, 1), start, 9);
	op.interval_ns = 3 * MS;
	ring_ask(&r, op);
	for (i = 0; i < 20; i++) {
		ev = ring_wait(&r);
		EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED, ev.flags);
		periods += ev.result;
		EXPECT_EQ(start + (periods - 1) * 3 * MS, ev.deadline_ns);
	}
	ring_push(&r, op_cancel(id_of(3, 1)));
	ASSERT_OK(ring_enter(&r));
	while (stats_of(r.fd).pending)
		usleep(1000);
	while (ring_pop(&r, &ev))
		periods += ev.result;
	while (readable(r.fd, 0)) {
		ev = ring_wait(&r);
		periods += ev.result;
	}
	st = stats_of(r.fd);
	EXPECT_EQ(st.fired + st.overruns, periods);
	expect_balance(r.fd);
}

/* What a ring can't have, and what went wrong: each is told, in order. */
TEST(failures_are_events)
{
	uint64_t far = UINT64_MAX - 1;
	struct timewheel_op ops[16];
	int errors[16];
	struct timewheel_event ev;
	unsigned int nr = 0, i;
	struct rings r;

	rings_open(&r, 32, 32, 4, 0);
#define ADD(op, error) (ops[nr] = (op), ops[nr].user_data = 100 + nr, errors[nr++] = (error))
	ADD(op_own(id_of(4, 1), far, 0), EINVAL);	/* not reserved */
	ADD(op_own(id_of(1, 1), far, 0), 0);
	ADD(op_own(id_of(1, 2), far, 0), EBUSY);
	ADD(op_cancel(id_of(1, 2)), ENOENT);
	ADD(op_arm_at(far, 0), EINVAL);			/* no own id */
	ADD(op_own(id_of(2, 1), 0, 0), EINVAL);		/* from now */
	ops[nr - 1].flags &= ~TIMEWHEEL_ABS;
	ADD(op_own(id_of(2, 1), far, 0), EINVAL);	/* an eventfd of its own */
	ops[nr - 1].eventfd = 1;
	ADD(op_own(id_of(2, 1), far, 0), EINVAL);	/* nobody hears of it */
	ops[nr - 1].flags |= TIMEWHEEL_NO_EVENT;
	ADD(op_own(id_of(2, 1), far, 0), EINVAL);
	ops[nr - 1].reserved = 1;
	ADD(op_own(id_of(2, 1), far, 0), EINVAL);
	ops[nr - 1].opcode = 77;
	ADD(op_own(id_of(2, 1), far, 0), EINVAL);	/* no table is mapped */
	ops[nr - 1].flags |= TIMEWHEEL_LEASE;
	ADD(op_rearm(id_of(3, 1), far), EINVAL);	/* from now, too */
	ADD(op_cancel(id_of(1, 1)), 0);
#undef ADD
	for (i = 0; i < nr; i++)
		ring_push(&r, ops[i]);
	ASSERT_OK(ring_enter(&r));
	for (i = 0; i < nr; i++) {
		if (!errors[i])
			continue;
		ev = ring_wait(&r);
		EXPECT_EQ(TIMEWHEEL_EVENT_FAILED, ev.flags);
		EXPECT_EQ(100 + i, ev.user_data);
		EXPECT_TRUE(ev.id == ops[i].id);
		EXPECT_EQ(-errors[i], ev.result);
	}
	EXPECT_EQ(nr - 2, stats_of(r.fd).rejected);
	EXPECT_EQ(1, stats_of(r.fd).armed);
	EXPECT_EQ(1, stats_of(r.fd).cancelled);
	expect_balance(r.fd);
}

/* More failures than there is room to tell: the ring waits, and goes on. */
TEST(failures_unread)
{
	struct timewheel_event ev;
	uint32_t pushed, told = 0;
	struct rings r;

	rings_open(&r, 256, 0, 1, 0);
	for (pushed = 0; pushed < 256; pushed++) {
		struct timewheel_op op = op_cancel(id_of(0, 7));

		op.user_data = pushed;
		ring_push(&r, op);
	}
	/* It does not move until somebody reads. */
	while (!ring_enter(&r))
		;
	EXPECT_EQ(EAGAIN, errno);
	while (told < 256) {
		ev = read_any_event(r.fd);
		EXPECT_EQ(TIMEWHEEL_EVENT_FAILED, ev.flags);
		EXPECT_EQ(-ENOENT, ev.result);
		EXPECT_EQ(told, ev.user_data);
		told++;
	}
	EXPECT_EQ(256, stats_of(r.fd).rejected);
	/* It works as before. */
	ring_ask(&r, op_own(id_of(0, 1), 0, 5));
	EXPECT_EQ(5, read_event(r.fd).user_data);
	expect_balance(r.fd);
}

/* What the completion ring has no room for stays, in order, and none is lost. */
TEST(completion_ring_full)
{
	enum { NR = 100 };
	struct timewheel_event ev;
	struct rings r;
	uint32_t i, seen = 0;

	rings_open(&r, 128, 8, NR, 0);
	for (i = 0; i < NR; i++)
		ring_push(&r, op_own(id_of(i, 0), 0, i));
	ASSERT_OK(ring_enter(&r));
	while (stats_of(r.fd).fired != NR)
		usleep(1000);
	/* The pass has ended when the flag is there. */
	while (!(__atomic_load_n(&r.cq->flags, __ATOMIC_RELAXED) &
		 TIMEWHEEL_RING_OVERFLOW))
		usleep(1000);
	EXPECT_EQ(NR - 8, stats_of(r.fd).unread);
	while (seen < NR) {
		while (ring_pop(&r, &ev))
			EXPECT_EQ(seen++, ev.user_data);
		/* The next eight by a call, and then some by read(). */
		if (seen < NR / 2) {
			ASSERT_OK(ring_enter(&r));
		} else if (seen < NR) {
			ASSERT_EQ(sizeof(ev), read(r.fd, &ev, sizeof(ev)));
			EXPECT_EQ(seen++, ev.user_data);
		}
	}
	EXPECT_EQ(0, __atomic_load_n(&r.cq->flags, __ATOMIC_RELAXED));
	EXPECT_EQ(0, stats_of(r.fd).unread);
	EXPECT_FALSE(readable(r.fd, 0));
	expect_balance(r.fd);
}

/* Says that it has read what it has not: so fast nobody reads. */
static void *make_room(void *arg)
{
	struct rings *r = arg;
	uint32_t tail, last = 0;

	while (__atomic_load_n(&r->own_ids, __ATOMIC_RELAXED)) {
		tail = __atomic_load_n(&r->cq->tail, __ATOMIC_ACQUIRE);
		__atomic_store_n(&r->cq->head, tail, __ATOMIC_RELEASE);
		/* On UML threads of a process take turns. */
		if (tail == last)
			sched_yield();
		last = tail;
	}
	return NULL;
}

static void check_room_made(void)
{
	enum { ENTRIES = 64, EVENTS = 30000 };
	uint32_t before, most = 0, moved;
	pthread_t thread;
	struct rings r;

	rings_open(&r, 0, ENTRIES, 1, 0);
	arm_many(r.fd, EVENTS, 0);
	while (stats_of(r.fd).fired < EVENTS)
		usleep(1000);
	/* After the last pass: from now on only calls look. */
	ASSERT_OK(ioctl(r.fd, TIMEWHEEL_IOC_STOP));
	EXPECT_EQ(EVENTS - ENTRIES, stats_of(r.fd).unread);
	ASSERT_EQ(0, pthread_create(&thread, NULL, make_room, &r));
	while (stats_of(r.fd).unread) {
		before = __atomic_load_n(&r.cq->tail, __ATOMIC_RELAXED);
		ASSERT_OK(ring_enter(&r));
		moved = __atomic_load_n(&r.cq->tail, __ATOMIC_RELAXED) - before;
		most = moved > most ? moved : most;
	}
	/* It ends. */
	__atomic_store_n(&r.own_ids, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_LE(most, ENTRIES);
	EXPECT_LT(0, most);
	EXPECT_EQ(EVENTS, __atomic_load_n(&r.cq->tail, __ATOMIC_RELAXED));
	expect_balance(r.fd);
	rings_close(&r);
}

/* However fast a program makes room, one look at its ring moves no more than fit. */
TEST(a_ring_at_a_time)
{
	int i;

	/* The two threads run at the same time most of the time, not all. */
	for (i = 0; i < 4; i++)
		check_room_made();
}

TEST(poll_and_eventfd)
{
	struct timewheel_setup s = {
		.size = sizeof(s), .cq_entries = 4,
		.eventfd = eventfd(0, EFD_CLOEXEC),
	};
	struct timewheel_ring *cq;
	int fd = tw_open();

	ASSERT_OK(s.eventfd);
	ASSERT_OK(setup(fd, &s));
	cq = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, TIMEWHEEL_OFF_CQ);
	ASSERT_TRUE(cq != MAP_FAILED);
	arm(fd, 0, 1);
	wait_readable(fd);
	wait_readable(s.eventfd);
	EXPECT_EQ(1, eventfd_count(s.eventfd));
	EXPECT_EQ(1, __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE));
	/* Until it is taken. */
	EXPECT_TRUE(readable(fd, 0));
	__atomic_store_n(&cq->head, 1, __ATOMIC_RELEASE);
	EXPECT_FALSE(readable(fd, 0));
}

/* More than the worker moves at the end of a pass: the next ones bring it, and tell. */
TEST(more_than_a_pass_brings)
{
	enum { NR = 16000, ENTRIES = 16384, CHUNK = 1000 };
	struct timewheel_setup s = {
		.size = sizeof(s), .cq_entries = ENTRIES,
		.eventfd = eventfd(0, EFD_CLOEXEC),
	};
	struct rings r = { .fd = tw_open(), .cq_entries = ENTRIES };
	static struct timewheel_op ops[CHUNK];
	struct timewheel_event ev;
	size_t size = sizeof(*r.cq) + ENTRIES * sizeof(ev);
	uint32_t armed, i, seen = 0;
	uint64_t due;

	ASSERT_OK(s.eventfd);
	ASSERT_OK(setup(r.fd, &s));
	r.cq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd,
		    TIMEWHEEL_OFF_CQ);
	ASSERT_TRUE(r.cq != MAP_FAILED);
	r.events = (void *)(r.cq + 1);
	due = now_ns(CLOCK_MONOTONIC) + 300 * MS;
	for (armed = 0; armed < NR; armed += CHUNK) {
		for (i = 0; i < CHUNK; i++)
			ops[i] = op_arm_at(due, armed + i);
		ASSERT_EQ(CHUNK, submit(r.fd, ops, CHUNK));
	}
	/* No call from here on. */
	while (seen < NR) {
		wait_readable(s.eventfd);
		eventfd_count(s.eventfd);
		while (ring_pop(&r, &ev)) {
			EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST, ev.flags);
			seen++;
		}
	}
	EXPECT_EQ(0, stats_of(r.fd).unread);
	EXPECT_FALSE(readable(r.fd, 0));
	expect_balance(r.fd);
	ASSERT_OK(munmap(r.cq, size));
	ASSERT_OK(close(r.fd));
}

/* However many rings have room all at once, one pass does not fill them all. */
TEST(many_rings_to_fill)
{
	enum { RINGS = 64, ENTRIES = 2048 };
	static struct rings rings[RINGS];
	uint64_t passes, due;
	int i;

	for (i = 0; i < RINGS; i++) {
		rings_open(&rings[i], 0, ENTRIES, 1, 0);
		/* A head that makes no sense leaves no room. */
		__atomic_store_n(&rings[i].cq->head, UINT32_MAX / 2, __ATOMIC_RELEASE);
		arm_many(rings[i].fd, ENTRIES - 1, 0);
		while (stats_of(rings[i].fd).unread != ENTRIES - 1)
			usleep(1000);
	}
	due = now_ns(CLOCK_MONOTONIC) + 100 * MS;
	for (i = 0; i < RINGS; i++) {
		__atomic_store_n(&rings[i].cq->head, 0, __ATOMIC_RELEASE);
		arm_at(rings[i].fd, due, i);
	}
	passes = stats_of(rings[0].fd).passes;
	for (i = 0; i < RINGS; i++)
		while (__atomic_load_n(&rings[i].cq->tail, __ATOMIC_ACQUIRE) != ENTRIES)
			usleep(1000);
	/* 8192 in each, and a batch of 32 for each ring, after the one that files them. */
	passes = stats_of(rings[0].fd).passes - passes;
	for (i = 0; i < RINGS; i++)
		rings_close(&rings[i]);
	EXPECT_LE(RINGS * ENTRIES / (8192 + RINGS * 32) + 1, passes);
}

TEST(stopped)
{
	struct timewheel_event ev;
	struct rings r;

	rings_open(&r, 8, 8, 4, 0);
	ring_ask(&r, op_own(id_of(1, 1), UINT64_MAX - 1, 1));
	ASSERT_OK(ring_enter(&r));
	while (stats_of(r.fd).pending != 1)
		usleep(1000);
	ASSERT_OK(ioctl(r.fd, TIMEWHEEL_IOC_STOP));
	ev = ring_wait(&r);
	EXPECT_EQ(TIMEWHEEL_EVENT_UNPROCESSED | TIMEWHEEL_EVENT_LAST, ev.flags);
	ring_push(&r, op_own(id_of(2, 1), 0, 2));
	ASSERT_OK(ring_enter(&r));
	ev = ring_wait(&r);
	EXPECT_EQ(TIMEWHEEL_EVENT_FAILED, ev.flags);
	EXPECT_EQ(-ESHUTDOWN, ev.result);
	expect_balance(r.fd);
}

TEST(mappings)
{
	size_t size = sizeof(struct timewheel_ring) + 64 * sizeof(struct timewheel_op);
	size_t pages = (size + PAGE - 1) / PAGE * PAGE;
	struct rings r;
	unsigned int i;
	int fd = tw_open();
	void *p;
	const struct {
		size_t size;
		int prot, flags;
		off_t offset;
		int error;
	} maps[] = {
		{ pages, PROT_READ | PROT_WRITE, MAP_SHARED, TIMEWHEEL_OFF_SQ, 0 },
		{ PAGE, PROT_READ, MAP_SHARED, TIMEWHEEL_OFF_SQ, 0 },
		{ PAGE, PROT_READ, MAP_SHARED, TIMEWHEEL_OFF_CQ, 0 },
		{ pages + PAGE, PROT_READ, MAP_SHARED, TIMEWHEEL_OFF_SQ, EINVAL },
		{ PAGE, PROT_READ, MAP_PRIVATE, TIMEWHEEL_OFF_SQ, EINVAL },
		{ PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, TIMEWHEEL_OFF_SQ, EINVAL },
		{ PAGE, PROT_READ, MAP_SHARED, TIMEWHEEL_OFF_SQ + PAGE, EINVAL },
		{ PAGE, PROT_READ, MAP_SHARED, TIMEWHEEL_OFF_LEASE + PAGE, EINVAL },
		{ PAGE, PROT_READ, MAP_SHARED, TIMEWHEEL_OFF_LEASE, 0 },
		{ 2 * PAGE, PROT_READ, MAP_SHARED, TIMEWHEEL_OFF_LEASE, EINVAL },
		{ PAGE, PROT_READ, MAP_SHARED, 0x30000000, EINVAL },
		{ 1UL << 30, PROT_READ, MAP_SHARED, TIMEWHEEL_OFF_SQ, EINVAL },
	};

	/* Nothing to map before SETUP, and no table without own ids. */
	EXPECT_TRUE(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	EXPECT_EQ(EINVAL, errno);
	close(fd);
	rings_open(&r, 0, 1, 0, 0);
	EXPECT_TRUE(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, r.fd, 0) == MAP_FAILED);
	EXPECT_EQ(EINVAL, errno);
	EXPECT_TRUE(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, r.fd,
			 TIMEWHEEL_OFF_LEASE) == MAP_FAILED);
	EXPECT_EQ(EINVAL, errno);
	rings_close(&r);

	rings_open(&r, 64, 8, 512, 0);
	for (i = 0; i < ARRAY_SIZE(maps); i++) {
		errno = 0;
		p = mmap(NULL, maps[i].size, maps[i].prot, maps[i].flags, r.fd,
			 maps[i].offset);
		EXPECT_EQ(maps[i].error, p == MAP_FAILED ? errno : 0);
		if (p != MAP_FAILED) {
			EXPECT_EQ(0, munmap(p, PAGE));
			munmap(p, maps[i].size);
		}
	}
}

/* A mapping holds the context, and a child has it too. */
TEST(mapping_outlives_the_descriptor)
{
	struct rings r;
	int status;
	pid_t pid;

	rings_open(&r, 8, 8, 4, 0);
	rings_map_leases(&r);
	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		ring_push(&r, op_own(id_of(1, 1), 0, 3));
		_exit(ring_enter(&r) ? 1 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(3, ring_wait(&r).user_data);
	ASSERT_OK(close(r.fd));
	r.ops[0] = op_own(id_of(1, 2), 0, 3);
	r.leases[1] = 1;
	r.sq->tail += 1;
	r.cq->head = 77;
	EXPECT_EQ(7, r.sq->mask);
}
