// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library on calls: threads, contexts that are handed over, large batches.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib_support.h"

/* --- threads --------------------------------------------------------------- */

#define THREADS		4
#define ROUNDS		2000
#define CANCELLED	1
#define DELIVERED	2

/*
 * What became of each, by cookie: 0, then CANCELLED or DELIVERED, once.
 */
struct fates {
	struct timewheel *tw;
	unsigned char fate[THREADS * ROUNDS];
	unsigned int cancelled, delivered, gone, twice;
	unsigned int begun;
	bool done;
};

static void decide(struct fates *f, uint64_t user_data, unsigned char fate)
{
	unsigned char none = 0;

	if (user_data >= THREADS * ROUNDS ||
	    !__atomic_compare_exchange_n(&f->fate[user_data], &none, fate, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_add_fetch(&f->twice, 1, __ATOMIC_RELAXED);
}

/* Arms what is due at once, and cancels two of three, early or late. */
static void *arm_and_cancel(void *arg)
{
	struct fates *f = arg;
	uint64_t first = ROUNDS * __atomic_fetch_add(&f->begun, 1, __ATOMIC_RELAXED);
	uint64_t id, seed = first + 1;
	unsigned int i;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, timewheel_arm(f->tw, random_next(&seed) % MS, first + i, &id));
		if (i % 3 == 0)
			continue;
		if (random_next(&seed) % 2)
			usleep(random_next(&seed) % 2000);
		ret = timewheel_cancel(f->tw, id);
		if (!ret) {
			decide(f, first + i, CANCELLED);
			__atomic_add_fetch(&f->cancelled, 1, __ATOMIC_RELAXED);
		} else {
			EXPECT_EQ(-ENOENT, ret);
			__atomic_add_fetch(&f->gone, 1, __ATOMIC_RELAXED);
		}
		EXPECT_EQ(-ENOENT, timewheel_cancel(f->tw, id));
	}
	return NULL;
}

static void note(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct fates *f = data;

	EXPECT_LE(event->deadline_ns, timewheel_now(tw));
	decide(f, event->user_data, DELIVERED);
	__atomic_add_fetch(&f->delivered, 1, __ATOMIC_RELAXED);
}

static void *drain(void *arg)
{
	struct fates *f = arg;

	while (!__atomic_load_n(&f->done, __ATOMIC_ACQUIRE)) {
		timewheel_wait(f->tw, 10);
		ASSERT_LE(0, timewheel_drain(f->tw, 7, note, f));
	}
	return NULL;
}

/* All on one handle: each timeout is cancelled or delivered, and never both. */
static void check_threads(struct timewheel *tw)
{
	static struct fates f;
	pthread_t armers[THREADS], drainers[2];
	struct timewheel_stats st;
	unsigned int i;

	f = (struct fates){ .tw = tw };
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&drainers[i], NULL, drain, &f));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&armers[i], NULL, arm_and_cancel, &f));
	for (i = 0; i < THREADS; i++)
		pthread_join(armers[i], NULL);
	while (lib_stats(tw).pending)
		usleep(1000);
	__atomic_store_n(&f.done, true, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_join(drainers[i], NULL);
	ASSERT_LE(0, timewheel_drain(tw, 0, note, &f));
	expect_drained(tw);

	EXPECT_EQ(0, f.twice);
	EXPECT_EQ(THREADS * ROUNDS, f.cancelled + f.delivered);
	for (i = 0; i < THREADS * ROUNDS; i++)
		EXPECT_NE(0, f.fate[i]);
	st = lib_stats(tw);
	EXPECT_LE(st.cancelled, f.cancelled);
	test_say("cancelled %u, %llu after the expiry; delivered %u, %u before the cancelling",
		 f.cancelled, f.cancelled - (unsigned long long)st.cancelled,
		 f.delivered, f.gone);
	lib_close(tw);
}

TEST_LIMIT(threads, 600)
{
	check_threads(lib_open(NULL));
}

/* The same with a handle that has had a periodic timeout: it looks more closely. */
TEST_LIMIT(threads_and_periodic, 600)
{
	struct timewheel *tw = lib_open(NULL);
	struct timewheel_op op = op_periodic(HOUR, HOUR, 0);

	ASSERT_EQ(1, timewheel_batch(tw, &op, 1));
	ASSERT_EQ(0, op.result);
	EXPECT_EQ(0, timewheel_cancel(tw, op.id));
	check_threads(tw);
}

/* --- handed over ----------------------------------------------------------- */

TEST(adopted)
{
	struct timewheel_query found[4];
	struct timewheel_list list = { .entries = (uintptr_t)found, .nr = 4 };
	struct timewheel_op op = op_periodic(0, HOUR, 5);
	int flags, fd = tw_open();
	struct timewheel *tw;
	uint64_t id;

	/* One has expired, one has a period that has, one is far. */
	arm(fd, 0, 4);
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	id = arm(fd, HOUR, 6);
	while (stats_of(fd).fired < 2)
		usleep(1000);
	ASSERT_EQ(0, timewheel_adopt(&tw, fd));
	EXPECT_EQ(fd, timewheel_fd(tw));
	flags = fcntl(fd, F_GETFL);
	EXPECT_EQ(O_NONBLOCK, flags & O_NONBLOCK);
	ASSERT_EQ(0, timewheel_list(tw, &list));
	EXPECT_EQ(2, list.nr);
	EXPECT_EQ(0, timewheel_cancel(tw, op.id));
	EXPECT_EQ(4, collect_one(tw).user_data);
	expect_drained(tw);
	EXPECT_EQ(0, timewheel_cancel(tw, id));
	EXPECT_EQ(-ENOENT, timewheel_cancel(tw, id));
	lib_close(tw);
	EXPECT_ERR(EBADF, fcntl(fd, F_GETFD));
}

TEST(not_adopted)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct timewheel *tw = (void *)&null;

	ASSERT_OK(null);
	EXPECT_EQ(-ENOTTY, timewheel_adopt(&tw, null));
	EXPECT_EQ(-EBADF, timewheel_adopt(&tw, -1));
	EXPECT_EQ(-EBADF, timewheel_adopt(&tw, 999));
	EXPECT_TRUE(tw == (void *)&null);
	/* It is as it was, and the caller's. */
	EXPECT_EQ(0, fcntl(null, F_GETFL) & O_NONBLOCK);
	ASSERT_OK(close(null));
}

/* --- events that nobody wants ---------------------------------------------- */

/* One that signals an eventfd only leaves no event, and none is waited for. */
TEST(cancelled_without_an_event)
{
	struct timewheel *tw = lib_open(NULL);
	struct timewheel_op op = op_arm(0, 1);

	op.flags = TIMEWHEEL_NO_EVENT;
	op.eventfd = eventfd(0, EFD_CLOEXEC);
	ASSERT_OK(op.eventfd);
	ASSERT_EQ(1, timewheel_batch(tw, &op, 1));
	ASSERT_EQ(0, op.result);
	wait_readable(op.eventfd);
	EXPECT_EQ(1, eventfd_count(op.eventfd));
	EXPECT_EQ(-ENOENT, timewheel_cancel(tw, op.id));
	expect_drained(tw);
	lib_close(tw);
}

/* By malloc(). */
static size_t memory_taken(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* So many that the set of them grows, and shrinks with what is read. */
TEST(many_cancelled_late)
{
	enum { NR = 3000 };
	struct timewheel *tw = lib_open(NULL);
	static uint64_t ids[NR];
	static struct collected c;
	unsigned int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < NR; i++)
			ids[i] = lib_arm(tw, 0, i);
		wait_fired(tw, (round + 1) * NR);
		for (i = 0; i < NR; i++)
			if (i % 10)
				EXPECT_EQ(0, timewheel_cancel(tw, ids[i]));
		c.nr = 0;
		EXPECT_EQ(NR / 10, timewheel_drain(tw, 0, collect, &c));
		for (i = 0; i < NR / 10; i++)
			EXPECT_EQ(10 * i, c.events[i].user_data);
		expect_drained(tw);
	}
	lib_close(tw);
}

/*
 * With a periodic one about, each that is cancelled may have an event that waits.  When
 * none does, nothing of them is kept, however many there were.
 */
TEST(many_cancelled_and_nothing_to_drain)
{
	enum { NR = 5000 };
	struct timewheel *tw = lib_open(NULL);
	struct timewheel_op op = op_periodic(HOUR, HOUR, 0);
	size_t before, after;
	unsigned int i;

	ASSERT_EQ(1, timewheel_batch(tw, &op, 1));
	ASSERT_EQ(0, op.result);
	before = memory_taken();
	for (i = 0; i < NR; i++)
		EXPECT_EQ(0, timewheel_cancel(tw, lib_arm(tw, HOUR, i)));
	after = memory_taken();
	/* A word each would be five times that. */
	EXPECT_LE(after, before + NR * sizeof(uint64_t) / 5);
	EXPECT_EQ(0, timewheel_cancel(tw, op.id));
	EXPECT_EQ(-ENOENT, timewheel_cancel(tw, op.id));
	lib_close(tw);
}

/* --- large batches --------------------------------------------------------- */

/* More than one SUBMIT takes. */
TEST_LIMIT(batch_beyond_one_call, 300)
{
	const unsigned int nr = TIMEWHEEL_SUBMIT_MAX + 5;
	struct timewheel_op *ops = calloc(nr, sizeof(*ops));
	struct timewheel *tw = lib_open(NULL);
	unsigned int i;

	ASSERT_TRUE(ops);
	for (i = 0; i < nr; i++)
		ops[i] = op_rearm(i + 1, HOUR);
	ops[nr - 1] = op_arm(HOUR, 3);
	EXPECT_EQ(nr, timewheel_batch(tw, ops, nr));
	for (i = 0; i < nr - 1; i++)
		ASSERT_EQ(-ENOENT, ops[i].result);
	EXPECT_EQ(0, ops[nr - 1].result);
	EXPECT_EQ(1, lib_stats(tw).pending);
	lib_close(tw);
	free(ops);
}
