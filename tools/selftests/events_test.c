// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events by read(): none lost, none twice.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "support.h"

#define PAGE 4096U

/* Timeouts due at once, with cookies from 0 up, in that order; all expired. */
static int expired(unsigned int nr)
{
	int fd = tw_open();
	unsigned int waited;

	arm_many(fd, nr, 0);
	for (waited = 0; stats_of(fd).unread < nr; waited++) {
		ASSERT_LT(waited, PATIENCE_MS);
		usleep(1000);
	}
	return fd;
}

TEST(short_buffer)
{
	struct timewheel_event ev;
	int fd = expired(1);

	EXPECT_ERR(EINVAL, read(fd, &ev, 0));
	EXPECT_ERR(EINVAL, read(fd, &ev, 1));
	EXPECT_ERR(EINVAL, read(fd, &ev, sizeof(ev) - 1));
	EXPECT_EQ(0, read_event(fd).user_data);

	/* The same when there is nothing to read: it does not wait. */
	EXPECT_ERR(EINVAL, read(fd, &ev, sizeof(ev) - 1));
}

TEST(as_many_as_fit)
{
	struct timewheel_event ev[8];
	unsigned int i, n = 0;
	int fd = expired(10);

	EXPECT_EQ(32, read(fd, ev, 32));
	EXPECT_EQ(n++, ev[0].user_data);
	EXPECT_EQ(32, read(fd, ev, 63));
	EXPECT_EQ(n++, ev[0].user_data);
	EXPECT_EQ(3 * 32, read(fd, ev, 100));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(n++, ev[i].user_data);
	/* Fewer than fit: what there is. */
	EXPECT_EQ(5 * 32, read(fd, ev, sizeof(ev)));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(n++, ev[i].user_data);
	expect_no_event(fd);
	EXPECT_EQ(0, stats_of(fd).unread);
}

TEST(nonblocking)
{
	struct timewheel_event ev;
	int fd = tw_open_with(O_NONBLOCK);

	EXPECT_ERR(EAGAIN, read(fd, &ev, sizeof(ev)));
	arm(fd, 20 * MS, 3);
	wait_readable(fd);
	EXPECT_EQ(sizeof(ev), read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(3, ev.user_data);
	EXPECT_ERR(EAGAIN, read(fd, &ev, sizeof(ev)));
}

TEST(blocking)
{
	struct timewheel_event ev;
	uint64_t due;
	int fd = tw_open();

	due = now_ns(CLOCK_MONOTONIC) + 100 * MS;
	arm_at(fd, due, 4);
	EXPECT_EQ(sizeof(ev), read(fd, &ev, sizeof(ev)));
	EXPECT_LE(due, now_ns(CLOCK_MONOTONIC));
	EXPECT_EQ(4, ev.user_data);
}

static void on_alarm(int sig)
{
	(void)sig;
}

TEST(interrupted)
{
	struct itimerval timer = {
		.it_value.tv_usec = 50000,
		/* Again, lest the first come before the read. */
		.it_interval.tv_usec = 50000,
	};
	struct sigaction sa = { .sa_handler = on_alarm };
	struct timewheel_event ev;
	uint64_t id;
	int fd = tw_open();

	ASSERT_OK(sigaction(SIGALRM, &sa, NULL));
	id = arm(fd, HOUR, 6);
	ASSERT_OK(setitimer(ITIMER_REAL, &timer, NULL));
	EXPECT_ERR(EINTR, read(fd, &ev, sizeof(ev)));
	timer = (struct itimerval){ };
	ASSERT_OK(setitimer(ITIMER_REAL, &timer, NULL));
	/* Nothing is lost by it. */
	ASSERT_OK(rearm(fd, id, 0));
	EXPECT_EQ(id, read_event(fd).id);
}

TEST(bad_buffer)
{
	struct iovec iov[] = { { NULL, 96 }, { (void *)-4096L, 96 } };
	int fd = expired(3);

	/* By readv(), for the compiler sees through a NULL in read(). */
	EXPECT_ERR(EFAULT, readv(fd, &iov[0], 1));
	EXPECT_ERR(EFAULT, readv(fd, &iov[1], 1));
	EXPECT_EQ(3, stats_of(fd).unread);
	EXPECT_EQ(0, read_event(fd).user_data);
	EXPECT_EQ(1, read_event(fd).user_data);
	EXPECT_EQ(2, read_event(fd).user_data);
}

/* The buffer ends in the middle: whole events before it, the rest stays. */
TEST(buffer_that_ends)
{
	struct timewheel_event *ev;
	unsigned int room;
	char *area;

	area = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE((uintptr_t)MAP_FAILED, (uintptr_t)area);
	ASSERT_OK(mprotect(area + PAGE, PAGE, PROT_NONE));

	for (room = 1; room < 100; room += 33) {
		unsigned int whole = room / sizeof(*ev), i, n = 0;
		int fd = expired(10);

		ev = (void *)(area + PAGE - room);
		if (whole) {
			EXPECT_EQ(whole * sizeof(*ev), read(fd, ev, 10 * sizeof(*ev)));
			for (i = 0; i < whole; i++) {
				struct timewheel_event copy;

				memcpy(&copy, (char *)ev + i * sizeof(copy), sizeof(copy));
				EXPECT_EQ(n++, copy.user_data);
			}
		} else {
			EXPECT_ERR(EFAULT, read(fd, ev, 10 * sizeof(*ev)));
		}
		while (n < 10)
			EXPECT_EQ(n++, read_event(fd).user_data);
		expect_no_event(fd);
		expect_balance(fd);
		close(fd);
	}
}

TEST(scattered_buffer)
{
	struct timewheel_event ev[2];
	struct iovec iov[] = {
		{ &ev[0], 16 },
		{ (char *)&ev[0] + 16, 16 },
		{ &ev[1], 32 },
	};
	int fd = expired(3);

	EXPECT_EQ(64, readv(fd, iov, 3));
	EXPECT_EQ(0, ev[0].user_data);
	EXPECT_EQ(1, ev[1].user_data);
	EXPECT_EQ(1, stats_of(fd).unread);
}

#define READERS		2
#define READ_EVENTS	20000

static int shared_fd;
static unsigned char seen[READ_EVENTS];
static unsigned int nr_seen;

static void *reader(void *arg)
{
	struct timewheel_event ev[7];
	ssize_t len;
	int i;

	(void)arg;
	while (__atomic_load_n(&nr_seen, __ATOMIC_RELAXED) < READ_EVENTS) {
		if (!readable(shared_fd, 100))
			continue;
		len = read(shared_fd, ev, sizeof(ev));
		if (len < 0 && errno == EAGAIN)
			continue;
		ASSERT_OK(len);
		for (i = 0; i < len / (ssize_t)sizeof(ev[0]); i++) {
			__atomic_add_fetch(&seen[ev[i].user_data], 1, __ATOMIC_RELAXED);
			__atomic_add_fetch(&nr_seen, 1, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

TEST(several_readers)
{
	pthread_t threads[READERS];
	unsigned int i, wrong = 0;

	shared_fd = tw_open_with(O_NONBLOCK);
	for (i = 0; i < READERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, reader, NULL));
	arm_many(shared_fd, READ_EVENTS, 5 * MS);
	for (i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < READ_EVENTS; i++)
		wrong += seen[i] != 1;
	EXPECT_EQ(0, wrong);
	expect_no_event(shared_fd);
	EXPECT_EQ(READ_EVENTS, stats_of(shared_fd).fired);
	expect_balance(shared_fd);
}

TEST(write_is_refused)
{
	int fd = tw_open();

	EXPECT_ERR(EINVAL, write(fd, "x", 1));
}
