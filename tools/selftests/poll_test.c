// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a program is woken: poll, epoll, and the eventfds.
 */
#include <sys/epoll.h>

#include "support.h"

static int make_eventfd(void)
{
	int efd = eventfd(0, EFD_CLOEXEC);

	ASSERT_OK(efd);
	return efd;
}

static uint64_t arm_with(int fd, int efd, int flags, uint64_t expires_ns, uint64_t user_data)
{
	struct timewheel_op op = op_arm(expires_ns, user_data);

	op.eventfd = efd;
	op.flags = flags;
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	return op.id;
}

static void wait_fired(int fd, uint64_t nr)
{
	unsigned int waited;

	for (waited = 0; stats_of(fd).fired < nr; waited++) {
		ASSERT_LT(waited, PATIENCE_MS);
		usleep(1000);
	}
}

TEST(poll_while_events_wait)
{
	int fd = tw_open();

	EXPECT_FALSE(readable(fd, 0));
	arm(fd, 30 * MS, 1);
	arm(fd, 30 * MS, 2);
	wait_readable(fd);
	/* It stays so until the last has been read. */
	EXPECT_TRUE(readable(fd, 0));
	wait_fired(fd, 2);
	read_event(fd);
	EXPECT_TRUE(readable(fd, 0));
	read_event(fd);
	EXPECT_FALSE(readable(fd, 0));
}

TEST(epoll)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = 7 };
	int fd = tw_open(), ep = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_OK(ep);
	ASSERT_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	arm(fd, 30 * MS, 1);
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, PATIENCE_MS));
	EXPECT_EQ(EPOLLIN, ev.events);
	EXPECT_EQ(7, ev.data.u32);
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, 0));
	read_event(fd);
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
}

TEST(epoll_edge_triggered)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int fd = tw_open(), ep = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_OK(ep);
	ASSERT_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	arm(fd, 0, 1);
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, PATIENCE_MS));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 50));
	/* A new event is a new edge, although the old one is still there. */
	arm(fd, 0, 2);
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, PATIENCE_MS));
	EXPECT_EQ(1, read_event(fd).user_data);
	EXPECT_EQ(2, read_event(fd).user_data);
}

/* A timeout's own eventfd: once for each expiry, and the event comes as well. */
TEST(own_eventfd)
{
	const unsigned int nr = 50;
	int fd = tw_open(), efd = make_eventfd();
	unsigned int i;
	uint64_t count = 0;

	for (i = 0; i < nr; i++)
		arm_with(fd, efd, 0, i % 5 * 10 * MS, i);
	for (i = 0; i < nr; i++)
		read_event(fd);
	while (count < nr) {
		wait_readable(efd);
		count += eventfd_count(efd);
	}
	EXPECT_EQ(nr, count);
	EXPECT_FALSE(readable(efd, 100));
	expect_no_event(fd);
	expect_balance(fd);
}

TEST(own_eventfd_without_event)
{
	const unsigned int nr = 50;
	int fd = tw_open(), efd = make_eventfd();
	unsigned int i;
	uint64_t count = 0;

	for (i = 0; i < nr; i++)
		arm_with(fd, efd, TIMEWHEEL_NO_EVENT, i % 5 * 10 * MS, i);
	while (count < nr) {
		wait_readable(efd);
		count += eventfd_count(efd);
	}
	EXPECT_EQ(nr, count);
	EXPECT_FALSE(readable(efd, 100));
	expect_no_event(fd);
	EXPECT_EQ(nr, stats_of(fd).fired);
	EXPECT_EQ(0, stats_of(fd).unread);
	expect_balance(fd);
}

/* Without an event the id is gone with the expiry. */
TEST(id_of_an_expiry_without_event)
{
	struct timewheel_query q;
	int fd = tw_open(), efd = make_eventfd();
	uint64_t id = arm_with(fd, efd, TIMEWHEEL_NO_EVENT, 0, 1);

	wait_readable(efd);
	EXPECT_ERR(ENOENT, query(fd, id, &q));
	EXPECT_ERR(ENOENT, cancel(fd, id));
	EXPECT_ERR(ENOENT, rearm(fd, id, 0));
}

TEST(cancelled_is_not_signalled)
{
	int fd = tw_open(), efd = make_eventfd();
	uint64_t id;

	id = arm_with(fd, efd, 0, 50 * MS, 1);
	ASSERT_OK(cancel(fd, id));
	arm(fd, 200 * MS, 2);
	EXPECT_EQ(2, read_event(fd).user_data);
	EXPECT_EQ(0, eventfd_count(efd));
}

/* The eventfd is taken at ARM: what the number stands for later is no matter. */
TEST(eventfd_is_held)
{
	int fd = tw_open(), efd = make_eventfd(), copy = dup(efd), other;

	ASSERT_OK(copy);
	arm_with(fd, efd, 0, 50 * MS, 1);
	ASSERT_OK(close(efd));
	other = make_eventfd();
	ASSERT_EQ(efd, other);
	wait_readable(copy);
	EXPECT_EQ(1, eventfd_count(copy));
	EXPECT_EQ(0, eventfd_count(other));
	read_event(fd);

	/* Nobody is left to hear of it: the event still comes. */
	arm_with(fd, other, 0, 20 * MS, 2);
	ASSERT_OK(close(other));
	EXPECT_EQ(2, read_event(fd).user_data);
}

/* The context's: at least once after an event came, at most once for each. */
TEST(context_eventfd)
{
	struct timewheel_setup s = { .size = sizeof(s) };
	int fd = tw_open(), efd = make_eventfd();
	uint64_t signals = 0;
	unsigned int i, n = 0;

	s.eventfd = efd;
	ASSERT_OK(setup(fd, &s));
	arm_many(fd, 1000, 20 * MS);
	while (n < 1000) {
		wait_readable(efd);
		signals += eventfd_count(efd);
		/* What was there when it was signalled can be read. */
		while (readable(fd, 0)) {
			read_event(fd);
			n++;
		}
	}
	EXPECT_LE(1, signals);
	EXPECT_GE(1000, signals);
	close(fd);

	/* Each after the other: each is a pass of its own. */
	fd = tw_open();
	s.eventfd = make_eventfd();
	efd = s.eventfd;
	ASSERT_OK(setup(fd, &s));
	for (i = 0; i < 20; i++) {
		arm(fd, 5 * MS, i);
		wait_readable(efd);
		EXPECT_EQ(1, eventfd_count(efd));
		read_event(fd);
	}
	EXPECT_EQ(0, eventfd_count(efd));
}

/* Once a pass, not once an expiry: a thousand due in one tick. */
TEST(context_eventfd_is_signalled_once_a_pass)
{
	struct timewheel_setup s = {
		.size = sizeof(s),
		.flags = TIMEWHEEL_SETUP_OWN_WHEEL,
	};
	int fd = tw_open(), efd = make_eventfd();
	struct timewheel_stats st;
	uint64_t passes;

	s.eventfd = efd;
	ASSERT_OK(setup(fd, &s));
	arm_many(fd, 1000, 500 * MS);
	wait_fired(fd, 1000);
	/* The pass that brought the last may not have ended. */
	wait_readable(efd);
	usleep(100000);
	st = stats_of(fd);
	passes = st.passes;
	EXPECT_GE(passes, eventfd_count(efd));
}

/* A timeout's own eventfd is signalled besides, not instead of the event. */
TEST(own_and_context_eventfd)
{
	struct timewheel_setup s = { .size = sizeof(s) };
	int fd = tw_open(), of_context = make_eventfd(), of_timeout = make_eventfd();

	s.eventfd = of_context;
	ASSERT_OK(setup(fd, &s));
	arm_with(fd, of_timeout, 0, 20 * MS, 1);
	wait_readable(of_timeout);
	EXPECT_EQ(1, eventfd_count(of_timeout));
	EXPECT_EQ(1, read_event(fd).user_data);

	arm_with(fd, -1, 0, 20 * MS, 2);
	EXPECT_EQ(2, read_event(fd).user_data);
	wait_readable(of_context);
	EXPECT_EQ(0, eventfd_count(of_timeout));
}
