// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periodic timeouts, and timeouts with slack.
 *
 * However late the machine runs a test: the periods that events tell of are all
 * there were, each once, and the phase is that of the first deadline.
 */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "support.h"

#define EXPIRED		TIMEWHEEL_EVENT_EXPIRED
#define UNPROCESSED	TIMEWHEEL_EVENT_UNPROCESSED
#define LAST		TIMEWHEEL_EVENT_LAST

/* Until it has expired @nr times. */
static void wait_fired(int fd, uint64_t nr)
{
	while (stats_of(fd).fired < nr)
		usleep(1000);
}

TEST(keeps_phase)
{
	const uint64_t interval = 20 * MS;
	uint64_t id, start, periods = 0;
	struct timewheel_event ev;
	struct timewheel_op op;
	int i, fd = tw_open();

	start = now_ns(CLOCK_MONOTONIC) + 10 * MS;
	op = op_periodic(start, interval, 7);
	op.flags = TIMEWHEEL_ABS;
	id = arm_op(fd, op);
	for (i = 0; i < 20; i++) {
		ev = read_any_event(fd);
		EXPECT_EQ(id, ev.id);
		EXPECT_EQ(7, ev.user_data);
		EXPECT_EQ(EXPIRED, ev.flags);
		EXPECT_LE(1, ev.result);
		periods += ev.result;
		EXPECT_EQ(start + (periods - 1) * interval, ev.deadline_ns);
		EXPECT_LE(ev.deadline_ns, now_ns(CLOCK_MONOTONIC));
		EXPECT_EQ(1, stats_of(fd).pending);
		expect_balance(fd);
	}
	ASSERT_OK(cancel(fd, id));
	EXPECT_ERR(ENOENT, cancel(fd, id));
	EXPECT_EQ(0, stats_of(fd).pending);
	EXPECT_EQ(1, stats_of(fd).cancelled);
	expect_balance(fd);
}

/* It begins in the past: one event for all periods since, and the phase stays. */
TEST(a_pause_is_one_event)
{
	const uint64_t interval = MS / 2;
	uint64_t start, before, after;
	struct timewheel_event ev;
	struct timewheel_stats st;
	struct timewheel_op op;
	int fd = tw_open();

	before = now_ns(CLOCK_MONOTONIC);
	start = before - 1000 * interval;
	op = op_periodic(start, interval, 1);
	op.flags = TIMEWHEEL_ABS;
	op.id = arm_op(fd, op);
	wait_readable(fd);
	ASSERT_OK(cancel(fd, op.id));
	after = now_ns(CLOCK_MONOTONIC);

	ev = read_any_event(fd);
	/* Deadlines 0 to 1,000 had passed before it was armed. */
	EXPECT_LE(1001, ev.result);
	EXPECT_EQ(start + (ev.result - 1) * interval, ev.deadline_ns);
	EXPECT_LE(before, ev.deadline_ns);
	EXPECT_LE(ev.deadline_ns, after);
	st = stats_of(fd);
	EXPECT_EQ(ev.result, st.fired + st.overruns);
	expect_no_event(fd);
	expect_balance(fd);
}

TEST(unread_periods_add_up)
{
	struct timewheel_event ev;
	struct timewheel_stats st;
	uint64_t id;
	int fd = tw_open();

	id = arm_op(fd, op_periodic(0, 2 * MS, 3));
	wait_fired(fd, 20);
	EXPECT_EQ(1, stats_of(fd).unread);
	ASSERT_OK(cancel(fd, id));
	st = stats_of(fd);
	EXPECT_EQ(1, st.unread);

	ev = read_any_event(fd);
	EXPECT_EQ(id, ev.id);
	EXPECT_EQ(EXPIRED | LAST, ev.flags);
	EXPECT_EQ(st.fired + st.overruns, ev.result);
	EXPECT_EQ(0, stats_of(fd).unread);
	expect_no_event(fd);
	expect_balance(fd);
}

/* After CANCEL nothing expires any more, and the place is free again. */
TEST(cancelled_and_read)
{
	struct timewheel_setup s = { .size = sizeof(s), .max_pending = 1 };
	uint64_t id, fired;
	int i, fd = tw_open();

	ASSERT_OK(setup(fd, &s));
	for (i = 0; i < 50; i++) {
		id = arm_op(fd, op_periodic(0, 200000, i));
		if (i % 2)
			wait_readable(fd);
		ASSERT_OK(cancel(fd, id));
		fired = stats_of(fd).fired;
		if (i % 4 > 1)
			usleep(3000);
		EXPECT_EQ(fired, stats_of(fd).fired);
		if (readable(fd, 0))
			EXPECT_EQ(EXPIRED | LAST, read_any_event(fd).flags);
		expect_no_event(fd);
	}
	EXPECT_EQ(50, stats_of(fd).cancelled);
	expect_balance(fd);
}

/* What had ended before the STOP is told first. */
static void check_stop(size_t at_a_time)
{
	struct timewheel_event ev[2] = { };
	struct timewheel_stats st;
	uint64_t id;
	int fd = tw_open();

	id = arm_op(fd, op_periodic(0, HOUR, 4));
	wait_readable(fd);
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
	st = stats_of(fd);
	EXPECT_EQ(2, st.unread);
	EXPECT_EQ(1, st.fired);
	EXPECT_EQ(1, st.unprocessed);
	EXPECT_EQ(0, st.pending);
	expect_balance(fd);

	ASSERT_EQ(at_a_time * sizeof(ev[0]), read(fd, ev, at_a_time * sizeof(ev[0])));
	if (at_a_time == 1) {
		EXPECT_EQ(1, stats_of(fd).unread);
		ASSERT_EQ(sizeof(ev[1]), read(fd, &ev[1], sizeof(ev[1])));
	}
	EXPECT_EQ(id, ev[0].id);
	EXPECT_EQ(EXPIRED, ev[0].flags);
	EXPECT_EQ(1, ev[0].result);
	EXPECT_EQ(id, ev[1].id);
	EXPECT_EQ(4, ev[1].user_data);
	EXPECT_EQ(UNPROCESSED | LAST, ev[1].flags);
	EXPECT_EQ(0, ev[1].result);
	/* When the next period would have ended. */
	EXPECT_EQ(ev[0].deadline_ns + HOUR, ev[1].deadline_ns);
	EXPECT_EQ(0, stats_of(fd).unread);
	EXPECT_EQ(0, read(fd, ev, sizeof(ev)));
}

TEST(stopped)
{
	check_stop(2);
	check_stop(1);
}

/* Stopped while a reader copies: in the middle of that his memory is not there. */
static int read_fd;

static void *stop_and_provide(void *uffd)
{
	struct uffd_msg msg;
	struct uffdio_zeropage zero = { .range.len = 4096 };

	if (read((intptr_t)uffd, &msg, sizeof(msg)) != sizeof(msg))
		return "no fault came";
	if (ioctl(read_fd, TIMEWHEEL_IOC_STOP))
		return "STOP failed";
	zero.range.start = msg.arg.pagefault.address & ~4095ULL;
	return ioctl((intptr_t)uffd, UFFDIO_ZEROPAGE, &zero) ? "no page" : NULL;
}

TEST(stopped_while_being_read)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct timewheel_event *ev, more;
	intptr_t uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t thread;
	void *failed;
	char *pages;
	uint64_t id;

	if (uffd < 0)
		SKIP("no userfaultfd: %s", strerror(errno));
	pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(pages != MAP_FAILED);
	/* The first event ends where the page that is missing begins. */
	ev = (void *)(pages + 4096 - sizeof(*ev));
	ev->id = 0;
	reg.range.start = (uintptr_t)pages + 4096;
	reg.range.len = 4096;
	ASSERT_OK(ioctl(uffd, UFFDIO_API, &api));
	ASSERT_OK(ioctl(uffd, UFFDIO_REGISTER, &reg));

	read_fd = tw_open();
	id = arm_op(read_fd, op_periodic(0, HOUR, 1));
	wait_fired(read_fd, 1);
	arm(read_fd, 0, 2);
	wait_fired(read_fd, 2);
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_and_provide, (void *)uffd));
	ASSERT_LE(2 * sizeof(*ev), read(read_fd, ev, 2 * sizeof(*ev)));
	pthread_join(thread, &failed);
	if (failed)
		test_fail(__FILE__, __LINE__, "%s", (char *)failed);

	EXPECT_TRUE(ev[0].id == id);
	EXPECT_EQ(EXPIRED, ev[0].flags);
	EXPECT_EQ(2, ev[1].user_data);
	EXPECT_EQ(1, ev[1].result);
	ASSERT_EQ(sizeof(more), read(read_fd, &more, sizeof(more)));
	EXPECT_TRUE(more.id == id);
	EXPECT_EQ(UNPROCESSED | LAST, more.flags);
	EXPECT_EQ(0, more.result);
	EXPECT_EQ(0, read(read_fd, &more, sizeof(more)));
	EXPECT_EQ(0, stats_of(read_fd).unread);
	expect_balance(read_fd);
}

TEST(stopped_without_events)
{
	struct timewheel_event ev;
	int fd = tw_open();

	arm_op(fd, op_periodic(HOUR, HOUR, 4));
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
	ev = read_any_event(fd);
	EXPECT_EQ(UNPROCESSED | LAST, ev.flags);
	EXPECT_EQ(0, ev.result);
	expect_balance(fd);
}

/* What could not be copied is still there, with what came since. */
TEST(a_fault_loses_no_period)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timewheel_event ev;
	struct timewheel_stats st;
	uint64_t id;
	int i, fd = tw_open();

	id = arm_op(fd, op_periodic(0, MS, 5));
	for (i = 0; i < 20; i++) {
		wait_readable(fd);
		EXPECT_ERR(EFAULT, read(fd, nowhere, sizeof(ev)));
	}
	ASSERT_OK(cancel(fd, id));
	st = stats_of(fd);
	ev = read_any_event(fd);
	EXPECT_EQ(st.fired + st.overruns, ev.result);
	expect_no_event(fd);
}

/* Its eventfd is signalled at each expiry, and events or none. */
TEST(eventfd_each_time)
{
	struct timewheel_op op;
	uint64_t count = 0, id;
	int no_event, fd, efd;

	for (no_event = 0; no_event < 2; no_event++) {
		fd = tw_open();
		efd = eventfd(0, EFD_CLOEXEC);
		ASSERT_OK(efd);
		op = op_periodic(0, 2 * MS, 1);
		op.eventfd = efd;
		if (no_event)
			op.flags = TIMEWHEEL_NO_EVENT;
		id = arm_op(fd, op);
		wait_fired(fd, 10);
		ASSERT_OK(cancel(fd, id));
		/* STOP waits for what is about to be signalled. */
		ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
		count = eventfd_count(efd);
		EXPECT_EQ(stats_of(fd).fired, count);
		EXPECT_EQ(!no_event, stats_of(fd).unread);
		expect_balance(fd);
	}
}

TEST(rearm_moves_the_phase)
{
	struct timewheel_event ev;
	struct timewheel_query q;
	struct timewheel_op op;
	uint64_t id, due;
	int fd = tw_open();

	id = arm_op(fd, op_periodic(HOUR, 10 * MS, 1));
	due = now_ns(CLOCK_MONOTONIC) + 15 * MS;
	op = op_rearm(id, due);
	op.flags = TIMEWHEEL_ABS;
	/* What it was armed with may stand in the op, and does not count. */
	op.interval_ns = HOUR;
	op.slack_ns = HOUR;
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_REARM, &op));
	ev = read_any_event(fd);
	EXPECT_EQ(EXPIRED, ev.flags);
	EXPECT_EQ(due + (ev.result - 1) * 10 * MS, ev.deadline_ns);
	ASSERT_OK(rearm(fd, id, 2 * HOUR));
	ASSERT_OK(query(fd, id, &q));
	EXPECT_EQ(TIMEWHEEL_STATE_PENDING, q.state);
	EXPECT_EQ(10 * MS, q.interval_ns);
	EXPECT_LE(due + 2 * HOUR, q.deadline_ns);
	EXPECT_EQ(2, stats_of(fd).rearmed);
	EXPECT_EQ(1, stats_of(fd).pending);
	expect_balance(fd);
}

TEST(intervals_out_of_range)
{
	struct timewheel_op op = op_periodic(HOUR, 1ULL << 63, 0);
	struct timewheel_query q;
	uint64_t id;
	int fd = tw_open();

	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	op.interval_ns = UINT64_MAX;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	EXPECT_EQ(0, stats_of(fd).armed);
	EXPECT_EQ(2, stats_of(fd).rejected);

	/* The longest: its second deadline is centuries away. */
	id = arm_op(fd, op_periodic(0, (1ULL << 63) - 1, 0));
	EXPECT_EQ(1, read_any_event(fd).result);
	ASSERT_OK(query(fd, id, &q));
	EXPECT_EQ((1ULL << 63) - 1, q.interval_ns);
	EXPECT_LE(1ULL << 63, q.deadline_ns);
	EXPECT_EQ(TIMEWHEEL_STATE_PENDING, q.state);
}

/* The shortest: more periods a tick than can be counted for long. */
TEST(count_stops_at_its_end)
{
	struct timewheel_event ev;
	struct timewheel_stats st;
	uint64_t id;
	int fd = tw_open();

	id = arm_op(fd, op_periodic(0, 1, 0));
	do {
		usleep(10000);
		st = stats_of(fd);
	} while (st.fired + st.overruns < 1 << 25);
	ASSERT_OK(cancel(fd, id));
	ev = read_any_event(fd);
	EXPECT_EQ((1 << 24) - 1, ev.result);
	expect_balance(fd);
}

TEST(closed_with_periods_unread)
{
	int i, fd;

	for (i = 0; i < 20; i++) {
		fd = tw_open();
		arm_op(fd, op_periodic(0, 100000, 0));
		arm_op(fd, op_periodic(0, HOUR, 0));
		if (i % 2)
			wait_readable(fd);
		ASSERT_OK(close(fd));
	}
}

/* Many at once, read now and then: every period of each is told once. */
TEST(many)
{
	enum { NR = 500 };
	const uint64_t interval = 5 * MS;
	uint64_t start, ids[NR], periods[NR] = { };
	struct timewheel_event ev[64];
	struct timewheel_stats st;
	unsigned int i, wrong = 0;
	uint64_t sum = 0;
	ssize_t len;
	int fd = tw_open_with(O_NONBLOCK);

	start = now_ns(CLOCK_MONOTONIC);
	for (i = 0; i < NR; i++) {
		struct timewheel_op op = op_periodic(start + i * 10000, interval, i);

		op.flags = TIMEWHEEL_ABS;
		ids[i] = arm_op(fd, op);
	}
	for (i = 0; i < 400 + NR; i++) {
		/* The last ones are to be cancelled, one after the other. */
		if (i >= 400)
			ASSERT_OK(cancel(fd, ids[i - 400]));
		len = read(fd, ev, sizeof(ev));
		for (; len > 0; len -= sizeof(ev[0])) {
			struct timewheel_event *e = &ev[len / sizeof(ev[0]) - 1];

			periods[e->user_data] += e->result;
			wrong += e->id != ids[e->user_data];
			wrong += e->deadline_ns != start + e->user_data * 10000 +
				 (periods[e->user_data] - 1) * interval;
		}
	}
	while ((len = read(fd, ev, sizeof(ev[0]))) > 0) {
		periods[ev[0].user_data] += ev[0].result;
		wrong += !(ev[0].flags & LAST);
	}
	EXPECT_EQ(-1, len);
	EXPECT_EQ(EAGAIN, errno);
	for (i = 0; i < NR; i++)
		sum += periods[i];
	st = stats_of(fd);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(st.fired + st.overruns, sum);
	EXPECT_EQ(NR, st.cancelled);
	EXPECT_EQ(0, st.pending);
	expect_balance(fd);
}

/* With slack: never early, and QUERY tells what of it is kept. */
TEST(slack)
{
	static const struct {
		uint64_t asked, kept;
	} slack[] = {
		{ 0, 0 }, { 8 * MS, 1 << 22 }, { 1 << 20, 1 << 20 },
		{ UINT64_MAX, 1ULL << 63 },
	};
	struct timewheel_query q;
	struct timewheel_event ev;
	struct timewheel_op op;
	unsigned int i;
	int fd = tw_open();

	for (i = 0; i < ARRAY_SIZE(slack); i++) {
		op = op_arm(HOUR, 0);
		op.slack_ns = slack[i].asked;
		ASSERT_OK(query(fd, arm_op(fd, op), &q));
		EXPECT_EQ(slack[i].kept, q.slack_ns);
	}
	for (i = 0; i < 100; i++) {
		op = op_arm(i * MS / 2, i);
		op.slack_ns = 8 * MS;
		arm_op(fd, op);
	}
	for (i = 0; i < 100; i++) {
		ev = read_event(fd);
		EXPECT_LE(ev.deadline_ns, now_ns(CLOCK_MONOTONIC));
	}
	expect_balance(fd);

	op = op_periodic(0, 10 * MS, 0);
	op.slack_ns = 5 * MS;
	arm_op(fd, op);
	for (i = 0; i < 5; i++)
		EXPECT_LE(read_any_event(fd).deadline_ns, now_ns(CLOCK_MONOTONIC));
}
