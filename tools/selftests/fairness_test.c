// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with a million timeouts, and others that use the same wheel.
 *
 * While the worker is busy with the million, another context arms, cancels, reads
 * and closes.  How long that takes is counted in timeouts of the million that the
 * worker did meanwhile, for the machine may be slow.  It may also not run the
 * other program for a while, so each thing is tried several times, and the best
 * of them counts: if it had to wait for the million, none would be good.
 */
#include <pthread.h>
#include <stdlib.h>

#include "support.h"

#define MILLION		1000000U
#define TRIES		12
/*
 * The worker does some 8,000 in a pass, and the million may be ahead by twice as
 * many before its program has to wait.
 */
#define FEW		100000

/* The one with the million: what it has in hand, and what is done of it. */
struct crowd {
	int fd;
	uint64_t (*done)(const struct timewheel_stats *stats);
	bool over;
};

static void crowd_end(struct crowd *crowd)
{
	__atomic_store_n(&crowd->over, true, __ATOMIC_RELEASE);
}

static bool crowd_over(struct crowd *crowd)
{
	return __atomic_load_n(&crowd->over, __ATOMIC_ACQUIRE);
}

static uint64_t crowd_done(const struct crowd *crowd)
{
	struct timewheel_stats stats = stats_of(crowd->fd);

	return crowd->done(&stats);
}

/* Events there are when the worker has let go of so many. */
static uint64_t unread(const struct timewheel_stats *stats)
{
	return stats->unread;
}

static uint64_t fired(const struct timewheel_stats *stats)
{
	return stats->fired;
}

/* The other one: an event to be read, and some timeouts that are far away. */
struct other {
	int fd;
	uint64_t ids[100];
};

static struct other other_open(void)
{
	struct other other = { .fd = tw_open_with(O_NONBLOCK) };
	unsigned int i;

	arm(other.fd, 0, 7);
	wait_readable(other.fd);
	for (i = 0; i < ARRAY_SIZE(other.ids); i++)
		other.ids[i] = arm(other.fd, HOUR, i);
	return other;
}

static void other_read(struct other *other)
{
	struct timewheel_event ev;

	ASSERT_EQ(sizeof(ev), read(other->fd, &ev, sizeof(ev)));
	EXPECT_EQ(7, ev.user_data);
	EXPECT_ERR(EAGAIN, read(other->fd, &ev, sizeof(ev)));
}

static void other_arm(struct other *other)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		arm(other->fd, HOUR, 1000 + i);
}

static void other_cancel(struct other *other)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(other->ids); i++)
		ASSERT_OK(cancel(other->fd, other->ids[i]));
}

static void other_stop(struct other *other)
{
	ASSERT_OK(ioctl(other->fd, TIMEWHEEL_IOC_STOP));
}

static void other_close(struct other *other)
{
	close(other->fd);
	other->fd = -1;
}

static const struct step {
	const char *name;
	void (*run)(struct other *other);
} steps[] = {
	{ "read", other_read },
	{ "arm", other_arm },
	{ "cancel", other_cancel },
	{ "stop", other_stop },
	{ "close", other_close },
};

/* Each step, while the worker is at the million: how far does it get meanwhile? */
static void expect_no_wait(struct crowd *crowd, struct other *others)
{
	uint64_t best[ARRAY_SIZE(steps)];
	unsigned int tries, i;

	memset(best, 0xff, sizeof(best));
	while (crowd_done(crowd) < 1000 && !crowd_over(crowd))
		usleep(1000);
	for (tries = 0; tries < TRIES; tries++)
		for (i = 0; i < ARRAY_SIZE(steps); i++) {
			uint64_t begin = crowd_done(crowd), took;

			steps[i].run(&others[tries]);
			took = crowd_done(crowd) - begin;
			/* There must have been enough left to wait for. */
			if (begin <= MILLION - 2 * FEW && took < best[i])
				best[i] = took;
		}
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		test_say("%s: %lld of the million at best", steps[i].name,
			 (long long)best[i]);
		EXPECT_LE(0, (long long)best[i]);
		EXPECT_GE(FEW, (long long)best[i]);
	}
}

static void others_open(struct other *others)
{
	unsigned int i;

	for (i = 0; i < TRIES; i++)
		others[i] = other_open();
}

static void *stop_crowd(void *arg)
{
	struct crowd *crowd = arg;

	ASSERT_OK(ioctl(crowd->fd, TIMEWHEEL_IOC_STOP));
	crowd_end(crowd);
	return NULL;
}

TEST_LIMIT(while_a_million_are_stopped, 600)
{
	struct crowd crowd = { .fd = tw_open(), .done = unread };
	static struct other others[TRIES];
	pthread_t thread;

	arm_many(crowd.fd, MILLION, HOUR);
	others_open(others);
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_crowd, &crowd));
	expect_no_wait(&crowd, others);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(MILLION, stats_of(crowd.fd).unprocessed);
	expect_balance(crowd.fd);
}

static void arm_at_many(int fd, unsigned int nr, uint64_t due)
{
	static struct timewheel_op ops[1000];
	unsigned int i, j;

	for (i = 0; i < nr; i += ARRAY_SIZE(ops)) {
		for (j = 0; j < ARRAY_SIZE(ops); j++)
			ops[j] = op_arm_at(due, i + j);
		ASSERT_EQ(ARRAY_SIZE(ops), submit(fd, ops, ARRAY_SIZE(ops)));
	}
}

TEST_LIMIT(while_a_million_fire, 600)
{
	struct crowd crowd = { .fd = tw_open(), .done = fired };
	static struct other others[TRIES];
	int fd = tw_open();
	uint64_t due;

	others_open(others);
	/* All in one tick, and that only when they have been armed. */
	due = now_ns(CLOCK_MONOTONIC);
	arm_at_many(fd, MILLION / 10, UINT64_MAX);
	due = now_ns(CLOCK_MONOTONIC) - due;
	close(fd);
	due = now_ns(CLOCK_MONOTONIC) + 20 * due + 2 * SEC;
	arm_at_many(crowd.fd, MILLION, due);
	if (now_ns(CLOCK_MONOTONIC) >= due)
		SKIP("the machine took twice as long to arm a million as it said");
	expect_no_wait(&crowd, others);
	while (stats_of(crowd.fd).fired < MILLION)
		usleep(10000);
	expect_balance(crowd.fd);
}
