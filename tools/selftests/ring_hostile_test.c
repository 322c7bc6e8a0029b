// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared memory in hostile hands: whatever is scribbled there, the kernel neither
 * crashes nor hangs, and other contexts do not notice.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ring.h"

#define OWN	64
/* A minute where the kernel checks what it reads and writes. */
#define SECONDS	(test_slowness() > 1 ? 60 : 10)

static bool end;

struct scribbler {
	pthread_t thread;
	struct rings *rings;
	uint64_t seed;
};

static bool ended(void)
{
	return __atomic_load_n(&end, __ATOMIC_RELAXED);
}

static uint32_t near(uint64_t *state, uint32_t value)
{
	switch (random_next(state) % 4) {
	case 0:
		return value + random_next(state) % 5 - 2;
	case 1:
		return value + (1U << random_next(state) % 32);
	case 2:
		return random_next(state);
	default:
		return value;
	}
}

static struct timewheel_op random_op(uint64_t *state)
{
	struct timewheel_op op = {
		.opcode = random_next(state) % 5,
		.flags = random_next(state) % 16 | TIMEWHEEL_OWN_ID,
		.id = id_of(random_next(state) % (OWN + 4), random_next(state) % 4),
		.eventfd = random_next(state) % 8 ? -1 : 0,
	};

	op.expires_ns = random_next(state) % 4 ?
			now_ns(CLOCK_MONOTONIC) + random_next(state) % (4 * MS) :
			random_next(state);
	if (random_next(state) % 8 == 0)
		op.interval_ns = random_next(state) >> random_next(state) % 64;
	if (random_next(state) % 8 == 0)
		op.slack_ns = random_next(state) >> random_next(state) % 64;
	if (random_next(state) % 32 == 0)
		op.reserved = 1;
	return op;
}

/* Writes all over the rings and the leases. */
static void *scribble(void *data)
{
	struct scribbler *s = data;
	struct rings *r = s->rings;
	uint64_t *state = &s->seed;

	while (!ended()) {
		switch (random_next(state) % 8) {
		case 0:
			r->sq->tail = near(state, r->sq->head);
			break;
		case 1:
			r->sq->head = near(state, r->sq->head);
			break;
		case 2:
			r->cq->head = near(state, r->cq->tail);
			break;
		case 3:
			r->cq->tail = near(state, r->cq->tail);
			break;
		case 4:
			r->sq->mask = near(state, r->sq->mask);
			r->cq->mask = near(state, r->cq->mask);
			r->sq->wake_ns = random_next(state);
			r->cq->flags = random_next(state);
			break;
		case 5:
			r->leases[random_next(state) % OWN] =
				now_ns(CLOCK_MONOTONIC) + random_next(state) % (8 * MS);
			break;
		case 6:
			r->leases[random_next(state) % OWN] = random_next(state);
			break;
		default:
			r->ops[random_next(state) % r->sq_entries] = random_op(state);
		}
	}
	return NULL;
}

/* Calls as well as it can meanwhile. */
static void *call(void *data)
{
	struct scribbler *s = data;
	struct rings *r = s->rings;
	uint64_t *state = &s->seed;
	struct timewheel_submit submit = { .nr = 1 };
	struct timewheel_event ev[4];
	struct timewheel_op op;

	while (!ended()) {
		switch (random_next(state) % 6) {
		case 0:
			op = random_op(state);
			submit.ops = (uintptr_t)&op;
			submit.nr = 1;
			ioctl(r->fd, TIMEWHEEL_IOC_SUBMIT, &submit);
			break;
		case 1:
			if (read(r->fd, ev, sizeof(ev)) < 0)
				EXPECT_TRUE(errno == EAGAIN || errno == EINTR);
			break;
		case 2:
			readable(r->fd, 0);
			break;
		case 3:
			stats_of(r->fd);
			break;
		default:
			/* May wait for room in the ring: a signal ends that. */
			submit.nr = 0;
			ioctl(r->fd, TIMEWHEEL_IOC_SUBMIT, &submit);
		}
	}
	return NULL;
}

/* Maps and unmaps, at every size. */
static void *remap(void *data)
{
	static const off_t offsets[] = {
		TIMEWHEEL_OFF_SQ, TIMEWHEEL_OFF_CQ, TIMEWHEEL_OFF_LEASE,
	};
	struct scribbler *s = data;
	uint64_t *state = &s->seed;

	while (!ended()) {
		size_t size = 4096 * (1 + random_next(state) % 3);
		void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       s->rings->fd, offsets[random_next(state) % 3]);

		if (p == MAP_FAILED)
			continue;
		__atomic_store_n((uint64_t *)p, random_next(state), __ATOMIC_RELAXED);
		munmap(p, size);
	}
	return NULL;
}

static void ignore(int sig)
{
	(void)sig;
}

TEST_LIMIT(scribbled_over, 280)
{
	struct scribbler s[5] = { };
	void *(*run[5])(void *) = { scribble, scribble, call, call, remap };
	struct timewheel_stats st;
	struct rings r, other;
	uint64_t until, due;
	unsigned int i, rounds = 0;

	/* No SA_RESTART: what waits for room in the ring is to come back. */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = ignore }, NULL);
	rings_open(&r, 64, 16, OWN, 0);
	rings_map_leases(&r);
	ASSERT_OK(fcntl(r.fd, F_SETFL, O_NONBLOCK));
	rings_open(&other, 8, 8, 4, 0);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		s[i] = (struct scribbler){ .rings = &r, .seed = i + 1 };
		ASSERT_EQ(0, pthread_create(&s[i].thread, NULL, run[i], &s[i]));
	}
	until = now_ns(CLOCK_MONOTONIC) + SECONDS * SEC;
	while (now_ns(CLOCK_MONOTONIC) < until) {
		/* On the same wheel; nobody scribbles over this one. */
		due = now_ns(CLOCK_MONOTONIC) + MS;
		ring_ask(&other, op_own(id_of(1, rounds), due, rounds));
		EXPECT_EQ(due, ring_wait(&other).deadline_ns);
		rounds++;
		pthread_kill(s[2].thread, SIGALRM);
		pthread_kill(s[3].thread, SIGALRM);
	}
	__atomic_store_n(&end, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		while (pthread_tryjoin_np(s[i].thread, NULL)) {
			/* Out of a call that waits for room. */
			r.sq->tail = r.sq->head;
			pthread_kill(s[i].thread, SIGALRM);
			usleep(1000);
		}
	}
	st = stats_of(r.fd);
	test_say("seeds 1 to 5: %llu armed, %llu rejected, %llu fired; beside it %u rounds",
		 (unsigned long long)st.armed, (unsigned long long)st.rejected,
		 (unsigned long long)st.fired, rounds);
	EXPECT_LT(0, st.armed);
	EXPECT_LT(0, st.rejected);
	EXPECT_LT(0, rounds);
	expect_balance(r.fd);
	expect_balance(other.fd);
	EXPECT_EQ(rounds, stats_of(other.fd).fired);
	rings_close(&r);
	rings_close(&other);
}

/* SETUP, mapping and calls race on one context. */
static void *setup_race(void *data)
{
	struct rings *r = data;
	struct timewheel_setup s = {
		.size = sizeof(s), .sq_entries = 8, .cq_entries = 8, .own_ids = 8,
	};
	struct timewheel_submit submit = { };
	void *p;

	setup(r->fd, &s);
	ioctl(r->fd, TIMEWHEEL_IOC_SUBMIT, &submit);
	readable(r->fd, 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (p != MAP_FAILED) {
		((struct timewheel_ring *)p)->tail = 3;
		ioctl(r->fd, TIMEWHEEL_IOC_SUBMIT, &submit);
		munmap(p, 4096);
	}
	return NULL;
}

TEST_LIMIT(setup_races, 280)
{
	pthread_t threads[3];
	struct rings r = { };
	int round, i;

	for (round = 0; round < 50; round++) {
		r.fd = tw_open();
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, setup_race, &r));
		for (i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
		ASSERT_OK(close(r.fd));
	}
}
