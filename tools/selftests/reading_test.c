// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes while a reader copies events: its buffer is not there yet, and the
 * test says when it is.
 */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ring.h"

#define EVENTS	2

/**
 * struct reader - a thread in the middle of a read()
 * @fd: the context
 * @uffd: tells of the fault that it waits in, and ends it
 * @buffer: what it reads into
 * @size: of a page
 * @thread: itself
 * @ret: what read() returned
 */
struct reader {
	int fd;
	int uffd;
	struct timewheel_event *buffer;
	size_t size;
	pthread_t thread;
	ssize_t ret;
};

static void *reader_run(void *arg)
{
	struct reader *r = arg;

	r->ret = read(r->fd, r->buffer, EVENTS * sizeof(*r->buffer));
	return NULL;
}

/* When it returns the events were looked at, and none has been copied. */
static void reader_start(struct reader *r, int fd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffd_msg msg;

	r->fd = fd;
	r->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (r->uffd < 0)
		SKIP("no userfaultfd: %s", strerror(errno));
	ASSERT_OK(ioctl(r->uffd, UFFDIO_API, &api));
	r->size = sysconf(_SC_PAGESIZE);
	r->buffer = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(r->buffer != MAP_FAILED);
	reg.range.start = (uintptr_t)r->buffer;
	reg.range.len = r->size;
	ASSERT_OK(ioctl(r->uffd, UFFDIO_REGISTER, &reg));
	ASSERT_EQ(0, pthread_create(&r->thread, NULL, reader_run, r));
	ASSERT_EQ(sizeof(msg), read(r->uffd, &msg, sizeof(msg)));
	ASSERT_EQ(UFFD_EVENT_PAGEFAULT, msg.event);
}

static void reader_end(struct reader *r)
{
	struct uffdio_zeropage zero = { };

	zero.range.start = (uintptr_t)r->buffer;
	zero.range.len = r->size;
	ASSERT_OK(ioctl(r->uffd, UFFDIO_ZEROPAGE, &zero));
	ASSERT_EQ(0, pthread_join(r->thread, NULL));
	close(r->uffd);
}

/* A periodic timeout that has expired once, and a one-shot behind it. */
static uint64_t two_expired(int fd)
{
	uint64_t id = arm_op(fd, op_periodic(0, HOUR, 1));

	wait_readable(fd);
	arm(fd, 0, 2);
	while (stats_of(fd).unread < EVENTS)
		usleep(1000);
	return id;
}

static void expect_two(const struct reader *r)
{
	EXPECT_EQ(EVENTS * sizeof(*r->buffer), r->ret);
	EXPECT_EQ(1, r->buffer[0].user_data);
	EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED, r->buffer[0].flags);
	EXPECT_EQ(1, r->buffer[0].result);
	EXPECT_EQ(2, r->buffer[1].user_data);
	EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST,
		  r->buffer[1].flags);
	EXPECT_EQ(1, r->buffer[1].result);
}

TEST(cancelled)
{
	struct reader r;
	uint64_t id;
	int fd = tw_open();

	id = two_expired(fd);
	reader_start(&r, fd);
	ASSERT_OK(cancel(fd, id));
	reader_end(&r);
	expect_two(&r);
	expect_no_event(fd);
	EXPECT_EQ(0, stats_of(fd).unread);
	expect_balance(fd);
}

/* It expires once more, and that is told later. */
TEST(expired_again)
{
	struct timewheel_event ev;
	struct reader r;
	uint64_t id;
	int fd = tw_open();

	id = two_expired(fd);
	reader_start(&r, fd);
	ASSERT_OK(rearm(fd, id, 0));
	while (stats_of(fd).fired < 3)
		usleep(1000);
	reader_end(&r);
	expect_two(&r);
	EXPECT_EQ(1, stats_of(fd).unread);
	ev = read_any_event(fd);
	EXPECT_EQ(id, ev.id);
	EXPECT_EQ(1, ev.result);
	expect_no_event(fd);
	expect_balance(fd);
}

/* The completion ring gets what comes behind those, and nothing twice. */
TEST(with_a_ring)
{
	struct timewheel_event ev;
	struct reader r;
	struct rings rings;
	int i;

	rings_open(&rings, 0, 1, 0, 0);
	/* The first fills the ring, and two wait behind it. */
	for (i = 0; i < 3; i++) {
		arm(rings.fd, 0, i);
		while (stats_of(rings.fd).fired < (uint64_t)i + 1)
			usleep(1000);
	}
	while (!(__atomic_load_n(&rings.cq->flags, __ATOMIC_ACQUIRE) &
		 TIMEWHEEL_RING_OVERFLOW))
		usleep(1000);
	reader_start(&r, rings.fd);
	ASSERT_TRUE(ring_pop(&rings, &ev));
	EXPECT_EQ(0, ev.user_data);
	arm(rings.fd, 0, 3);
	while (stats_of(rings.fd).fired < 4)
		usleep(1000);
	ASSERT_OK(ring_enter(&rings));
	EXPECT_TRUE(!ring_pop(&rings, &ev));
	reader_end(&r);
	EXPECT_EQ(EVENTS * sizeof(ev), r.ret);
	EXPECT_EQ(1, r.buffer[0].user_data);
	EXPECT_EQ(2, r.buffer[1].user_data);
	EXPECT_EQ(3, ring_wait(&rings).user_data);
	expect_no_event(rings.fd);
	expect_balance(rings.fd);
}

/* What it brings to the ring then was told before it was there: it is told again. */
TEST(with_a_ring_and_an_eventfd)
{
	struct timewheel_setup s = {
		.size = sizeof(s), .cq_entries = 1,
		.eventfd = eventfd(0, EFD_CLOEXEC),
	};
	struct rings rings = { .fd = tw_open(), .cq_entries = 1 };
	struct timewheel_event ev;
	struct reader r;
	int i;

	ASSERT_OK(s.eventfd);
	ASSERT_OK(setup(rings.fd, &s));
	rings.cq = mmap(NULL, sizeof(*rings.cq) + sizeof(ev), PROT_READ | PROT_WRITE,
			MAP_SHARED, rings.fd, TIMEWHEEL_OFF_CQ);
	ASSERT_TRUE(rings.cq != MAP_FAILED);
	rings.events = (void *)(rings.cq + 1);
	for (i = 0; i < 3; i++) {
		arm(rings.fd, 0, i);
		wait_readable(s.eventfd);
		eventfd_count(s.eventfd);
	}
	reader_start(&r, rings.fd);
	ASSERT_TRUE(ring_pop(&rings, &ev));
	arm(rings.fd, 0, 3);
	wait_readable(s.eventfd);
	eventfd_count(s.eventfd);
	EXPECT_TRUE(!ring_pop(&rings, &ev));
	reader_end(&r);
	EXPECT_EQ(EVENTS * sizeof(ev), r.ret);
	wait_readable(s.eventfd);
	ASSERT_TRUE(ring_pop(&rings, &ev));
	EXPECT_EQ(3, ev.user_data);
	expect_balance(rings.fd);
}
