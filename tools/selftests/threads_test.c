// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many threads in one context: each timeout ends in exactly one way.
 */
#include <pthread.h>
#include <stdlib.h>

#include "support.h"

#define WRITERS		4
#define READERS		2
#define ROUNDS		15000U
#define TIMEOUTS	(WRITERS * ROUNDS)

/* What became of each timeout: each bit is set once at most. */
enum fate {
	FATE_CANCELLED = 1,
	FATE_EXPIRED = 2,
	FATE_UNPROCESSED = 4,
};

static unsigned char fates[TIMEOUTS];
static unsigned int nr_rearmed, nr_cancelled, nr_expired, nr_unprocessed, nr_bad;
static unsigned int nr_refused;
static bool stop_readers;
static int fd;

static void count(unsigned int *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static void set_fate(uint64_t n, enum fate fate)
{
	if (n >= TIMEOUTS ||
	    __atomic_fetch_or(&fates[n], fate, __ATOMIC_RELAXED))
		count(&nr_bad);
}

static void *writer(void *arg)
{
	uint64_t me = (uintptr_t)arg, seed = me;
	uint64_t ids[64], names[64];
	unsigned int i, slot;

	for (i = 0; i < ROUNDS; i++) {
		uint64_t random = random_next(&seed);
		uint64_t name = me * ROUNDS + i;

		slot = i % ARRAY_SIZE(ids);
		if (i >= ARRAY_SIZE(ids)) {
			/* The timeout armed 64 rounds ago. */
			switch (random % 3) {
			case 0:
				if (!cancel(fd, ids[slot])) {
					set_fate(names[slot], FATE_CANCELLED);
					count(&nr_cancelled);
				} else {
					count(&nr_refused);
				}
				break;
			case 1:
				if (!rearm(fd, ids[slot], random >> 8 & 0x7fffff))
					count(&nr_rearmed);
				else
					count(&nr_refused);
				break;
			}
		}
		names[slot] = name;
		ids[slot] = arm(fd, random >> 16 & 0x3ffffff, name);
	}
	return NULL;
}

static void take(const struct timewheel_event *ev)
{
	if (ev->flags & TIMEWHEEL_EVENT_EXPIRED) {
		set_fate(ev->user_data, FATE_EXPIRED);
		count(&nr_expired);
	} else {
		set_fate(ev->user_data, FATE_UNPROCESSED);
		count(&nr_unprocessed);
	}
}

static void *reader(void *arg)
{
	struct timewheel_event ev[50];
	ssize_t len;
	int i;

	(void)arg;
	while (!__atomic_load_n(&stop_readers, __ATOMIC_RELAXED)) {
		if (!readable(fd, 20))
			continue;
		len = read(fd, ev, sizeof(ev));
		if (len < 0 && errno == EAGAIN)
			continue;
		ASSERT_OK(len);
		for (i = 0; i < len / (ssize_t)sizeof(ev[0]); i++)
			take(&ev[i]);
	}
	return NULL;
}

static void run(void)
{
	pthread_t threads[WRITERS + READERS];
	unsigned int i, unknown = 0;
	struct timewheel_stats st;
	struct timewheel_event ev;

	for (i = 0; i < WRITERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, writer,
					    (void *)(uintptr_t)i));
	for (; i < WRITERS + READERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, reader, NULL));
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
	__atomic_store_n(&stop_readers, true, __ATOMIC_RELAXED);
	for (; i < WRITERS + READERS; i++)
		pthread_join(threads[i], NULL);
	while (read(fd, &ev, sizeof(ev)) == sizeof(ev))
		take(&ev);

	st = stats_of(fd);
	EXPECT_EQ(TIMEOUTS, st.armed);
	EXPECT_EQ(nr_rearmed, st.rearmed);
	EXPECT_EQ(nr_cancelled, st.cancelled);
	EXPECT_EQ(nr_expired, st.fired);
	EXPECT_EQ(nr_unprocessed, st.unprocessed);
	EXPECT_EQ(nr_refused, st.rejected);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(0, st.unread);
	expect_balance(fd);
	for (i = 0; i < TIMEOUTS; i++)
		unknown += !fates[i];
	EXPECT_EQ(0, unknown);
	EXPECT_EQ(0, nr_bad);
	close(fd);
}

TEST_LIMIT(all_at_once, 240)
{
	fd = tw_open_with(O_NONBLOCK);
	run();
}

TEST_LIMIT(all_at_once_on_an_own_wheel, 240)
{
	fd = own_wheel(100000, CLOCK_MONOTONIC);
	ASSERT_OK(fcntl(fd, F_SETFL, O_NONBLOCK));
	run();
}

static bool armed[TIMEOUTS];

static void *arms_until_stopped(void *arg)
{
	uint64_t me = (uintptr_t)arg, i;

	for (i = 0; i < ROUNDS; i++) {
		struct timewheel_op op = op_arm(i % 2 ? HOUR : i % 64 * MS, me * ROUNDS + i);

		if (ioctl(fd, TIMEWHEEL_IOC_ARM, &op)) {
			EXPECT_EQ(ESHUTDOWN, errno);
			break;
		}
		armed[me * ROUNDS + i] = true;
	}
	return NULL;
}

/* An arm that races STOP is handed back or refused, and never lost. */
TEST_LIMIT(stop_while_arming, 240)
{
	unsigned int round, i, wrong = 0;
	pthread_t threads[WRITERS];
	struct timewheel_event ev;

	for (round = 0; round < 20; round++) {
		memset(fates, 0, sizeof(fates));
		memset(armed, 0, sizeof(armed));
		fd = round % 2 ? own_wheel(MS, CLOCK_MONOTONIC) : tw_open();
		ASSERT_OK(fcntl(fd, F_SETFL, O_NONBLOCK));
		for (i = 0; i < WRITERS; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, arms_until_stopped,
						    (void *)(uintptr_t)i));
		usleep(round * 2000);
		ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
		for (i = 0; i < WRITERS; i++)
			pthread_join(threads[i], NULL);
		while (read(fd, &ev, sizeof(ev)) == sizeof(ev))
			take(&ev);
		for (i = 0; i < TIMEOUTS; i++)
			wrong += armed[i] != !!fates[i];
		EXPECT_EQ(0, stats_of(fd).pending);
		expect_balance(fd);
		close(fd);
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, nr_bad);
}

static void *own_context(void *arg)
{
	uint64_t i;

	(void)arg;
	for (i = 0; i < 300; i++) {
		int mine = i % 3 ? tw_open() : own_wheel(MS, CLOCK_MONOTONIC);

		arm(mine, HOUR, 1);
		arm(mine, i % 4 * MS, 2);
		if (i % 2)
			EXPECT_EQ(2, read_event(mine).user_data);
		close(mine);
	}
	return NULL;
}

/* Contexts and wheels come and go on several CPUs. */
TEST_LIMIT(contexts_come_and_go, 240)
{
	pthread_t threads[WRITERS];
	unsigned int i;

	close(tw_open());
	for (i = 0; i < WRITERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, own_context, NULL));
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
}
