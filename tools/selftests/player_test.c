// SPDX-License-Identifier: GPL-2.0-only
/*
 * 'timewheel replay' notices a backend that is wrong: one that is right is spoilt, each
 * time in another way.  Needs no module.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "decimal.h"
#include "player.h"
#include "support.h"

/* 200 connections: a quarter each is closed, puts it off and is closed, expires. */
#define CONNECTIONS	200U
#define EACH		(CONNECTIONS / 4)
#define IDLE_NS		(300 * MS)

static struct play play;
static struct trace_file trace;

static void write_mixed(int fd)
{
	unsigned int i;

	for (i = 0; i < CONNECTIONS; i++)
		dprintf(fd, "0 %u open\n", i);
	for (i = 0; i < EACH; i++)
		dprintf(fd, "0.1 %u close\n", i);
	for (i = EACH; i < 2 * EACH; i++)
		dprintf(fd, "0.1 %u request\n", i);
	for (i = EACH; i < 2 * EACH; i++)
		dprintf(fd, "0.35 %u close\n", i);
	/* Expired, and armed anew. */
	for (i = 2 * EACH; i < 3 * EACH; i++)
		dprintf(fd, "2 %u request\n", i);
	for (i = 2 * EACH; i < 3 * EACH; i++)
		dprintf(fd, "2.1 %u close\n", i);
}

static void play_trace(const struct backend_ops *ops, void write_trace(int fd),
		       uint64_t speed)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	ASSERT_OK(fd);
	write_trace(fd);
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	play = (struct play){
		.ops = ops,
		.speed = speed,
		.ref.idle_ns = IDLE_NS,
	};
	trace_start(&trace, fd, "trace");
	player_play(&play, &trace);
	close(fd);
}

static void play_with(const struct backend_ops *ops)
{
	play_trace(ops, write_mixed, DECIMAL_ONE);
	EXPECT_EQ(5 * EACH, play.ref.armed);
	EXPECT_EQ(EACH, play.ref.refreshed);
	EXPECT_EQ(3 * EACH, play.ref.cancelled);
	EXPECT_EQ(2 * EACH, play.ref.expired);
}

static void expect_right(const struct backend_ops *ops)
{
	play_with(ops);
	EXPECT_EQ(0, play.early);
	EXPECT_EQ(0, play.missing);
	EXPECT_EQ(0, play.twice);
	/* What the machine decided is counted; all the rest is as the trace says. */
	EXPECT_EQ(5 * EACH + play.edge.rearmed, play.armed);
	EXPECT_EQ(2 * EACH + play.edge.late_expired - play.edge.unarmed, play.expired);
	EXPECT_EQ(play.armed, play.expired + play.cancelled);
	EXPECT_LE(play.edge.late_expired, play.edge.late);
	EXPECT_EQ(play.expired, play.late.nr);
}

TEST(a_heap_is_right)
{
	expect_right(&backend_heap);
}

TEST(timerfds_are_right)
{
	expect_right(&backend_timerfd);
}

/* Ten connections, and each expires before each of its requests. */
#define FEW	10U
#define TURNS	50U

static void write_few(int fd)
{
	unsigned int i, turn;

	for (i = 0; i < FEW; i++)
		dprintf(fd, "0 %u open\n", i);
	for (turn = 1; turn < TURNS; turn++)
		for (i = 0; i < FEW; i++)
			dprintf(fd, "%u %u request\n", turn, i);
}

static void open_small(struct backend *b)
{
	backend_heap.open(b);
	b->capacity = FEW;
}

static int arm_within(struct backend *b, uint32_t index)
{
	unsigned int i, there = 0;

	for (i = 0; i < b->timeouts->nr; i++)
		there += b->timeouts->all[i].state == TIMEOUT_PENDING ||
			 b->timeouts->all[i].state == TIMEOUT_DUE;
	EXPECT_LT(there, b->capacity);
	return backend_heap.arm(b, index);
}

/* As fast as can be, each is to be armed anew while the one before is yet to expire. */
TEST(a_backend_that_is_full_is_waited_for)
{
	struct backend_ops ops = backend_heap;

	ops.open = open_small;
	ops.arm = arm_within;
	play_trace(&ops, write_few, 1000000 * DECIMAL_ONE);
	EXPECT_EQ(FEW * TURNS, play.armed);
	EXPECT_EQ(FEW * TURNS, play.expired);
	EXPECT_EQ(0, player_wrong(&play));
}

/* Nothing is taken before events have been collected: each call is made again. */
static bool refused;

static bool refuse_once(void)
{
	refused = !refused;
	return refused;
}

static int arm_at_last(struct backend *b, uint32_t index)
{
	return refuse_once() ? -EAGAIN : backend_heap.arm(b, index);
}

static int refresh_at_last(struct backend *b, uint32_t index)
{
	return refuse_once() ? -EAGAIN : backend_heap.refresh(b, index);
}

static int cancel_at_last(struct backend *b, uint32_t index)
{
	return refuse_once() ? -EAGAIN : backend_heap.cancel(b, index);
}

TEST(a_backend_that_refuses_is_asked_again)
{
	struct backend_ops ops = backend_heap;

	ops.arm = arm_at_last;
	ops.refresh = refresh_at_last;
	ops.cancel = cancel_at_last;
	expect_right(&ops);
}

/* The index of every second timeout is spoilt. */
static bool spoilt(uint32_t index)
{
	return index % 2;
}

static int arm_early(struct backend *b, uint32_t index)
{
	struct timeout *t = &b->timeouts->all[index];
	uint64_t deadline_ns = t->deadline_ns;
	int err;

	if (spoilt(index))
		t->deadline_ns -= 250 * MS;
	err = backend_heap.arm(b, index);
	b->timeouts->all[index].deadline_ns = deadline_ns;
	return err;
}

TEST(early_is_noticed)
{
	struct backend_ops ops = backend_heap;

	ops.arm = arm_early;
	play_with(&ops);
	EXPECT_NE(0, play.early);
	EXPECT_EQ(0, play.twice);
}

static int refresh_not(struct backend *b, uint32_t index)
{
	return spoilt(index) ? 0 : backend_heap.refresh(b, index);
}

/* To the timeout that was put off in vain, it is early. */
TEST(what_is_not_put_off_is_noticed)
{
	struct backend_ops ops = backend_heap;

	ops.refresh = refresh_not;
	play_with(&ops);
	/* Unless the machine slept over the time between. */
	if (play.behind.max < 40 * MS)
		EXPECT_EQ(EACH / 2, play.early);
	EXPECT_EQ(0, play.twice);
}

static int arm_never(struct backend *b, uint32_t index)
{
	struct timeout *t = &b->timeouts->all[index];
	uint64_t deadline_ns = t->deadline_ns;
	int err;

	if (spoilt(index))
		t->deadline_ns = UINT64_MAX;
	err = backend_heap.arm(b, index);
	b->timeouts->all[index].deadline_ns = deadline_ns;
	return err;
}

TEST(missing_is_noticed)
{
	struct backend_ops ops = backend_heap;

	ops.arm = arm_never;
	play_with(&ops);
	/* Those that are silent to the end, and those that were armed anew after it. */
	EXPECT_EQ(EACH, play.missing);
	EXPECT_EQ(play.armed, play.expired + play.cancelled + play.missing);
	EXPECT_EQ(0, play.early);
	EXPECT_EQ(0, play.twice);
}

static void (*tell_once)(void *data, uint64_t cookie);

static void tell_twice(void *data, uint64_t cookie)
{
	tell_once(data, cookie);
	if (spoilt(cookie))
		tell_once(data, cookie);
}

static void collect_twice(struct backend *b)
{
	tell_once = b->expired;
	b->expired = tell_twice;
	backend_heap.collect(b);
	b->expired = tell_once;
}

TEST(twice_is_noticed)
{
	struct backend_ops ops = backend_heap;

	ops.collect = collect_twice;
	play_with(&ops);
	EXPECT_LE(EACH, play.twice);
	EXPECT_EQ(0, play.early);
	EXPECT_EQ(0, play.missing);
}

/* A file for each timeout: what is not cancelled expires under its old cookie. */
struct uncancelled {
	uint64_t cookie;
	uint64_t at_ns;
};

static struct uncancelled left[CONNECTIONS];
static unsigned int nr_left;

static int cancel_not(struct backend *b, uint32_t index)
{
	if (spoilt(index) && nr_left < CONNECTIONS) {
		left[nr_left].cookie = timeouts_cookie(b->timeouts, index);
		left[nr_left++].at_ns = b->timeouts->all[index].deadline_ns;
	}
	return backend_heap.cancel(b, index);
}

static void collect_left(struct backend *b)
{
	unsigned int i;

	for (i = 0; i < nr_left; i++) {
		if (left[i].at_ns > now_ns(CLOCK_MONOTONIC))
			continue;
		b->expired(b->data, left[i].cookie);
		left[i--] = left[--nr_left];
	}
	backend_heap.collect(b);
}

TEST(an_expiry_after_the_close_is_noticed)
{
	struct backend_ops ops = backend_heap;

	ops.cancel = cancel_not;
	ops.collect = collect_left;
	play_with(&ops);
	EXPECT_NE(0, play.twice);
	EXPECT_EQ(0, play.missing);
}
