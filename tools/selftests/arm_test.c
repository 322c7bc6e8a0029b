// SPDX-License-Identifier: GPL-2.0-only
/*
 * ARM, and every way to refuse it.
 */
#include <sys/mman.h>

#include "support.h"

static void expect_refused(int fd, int err, struct timewheel_op op)
{
	struct timewheel_stats before = stats_of(fd), after;

	errno = 0;
	EXPECT_EQ(-1, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	EXPECT_EQ(err, errno);

	/* It changes nothing, but for the count of refusals. */
	after = stats_of(fd);
	EXPECT_EQ(before.armed, after.armed);
	EXPECT_EQ(before.pending, after.pending);
	EXPECT_EQ(before.rejected + 1, after.rejected);
}

TEST(arm_fires)
{
	struct timewheel_event ev;
	uint64_t before, after, id;
	int fd = tw_open();

	before = now_ns(CLOCK_MONOTONIC);
	id = arm(fd, 20 * MS, 0x1234);
	after = now_ns(CLOCK_MONOTONIC);
	ev = read_event(fd);
	EXPECT_LE(ev.deadline_ns, now_ns(CLOCK_MONOTONIC));
	EXPECT_LE(before + 20 * MS, ev.deadline_ns);
	EXPECT_GE(after + 20 * MS, ev.deadline_ns);
	EXPECT_EQ(id, ev.id);
	EXPECT_EQ(0x1234, ev.user_data);
	EXPECT_EQ(1, stats_of(fd).fired);
	expect_balance(fd);
	expect_no_event(fd);
}

TEST(opcode)
{
	struct timewheel_op op = op_arm(HOUR, 0);
	int fd = tw_open();

	/* The command says it; the op says the same, or nothing. */
	op.opcode = 0;
	EXPECT_EQ(0, ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	EXPECT_EQ(0, cancel(fd, op.id));
	op.opcode = TIMEWHEEL_OP_CANCEL;
	expect_refused(fd, EINVAL, op);
	op.opcode = 255;
	expect_refused(fd, EINVAL, op);
}

TEST(unknown_flags_and_padding)
{
	struct timewheel_op op;
	int fd = tw_open(), bit;

	for (bit = 4; bit < 8; bit++) {
		op = op_arm(HOUR, 0);
		op.flags = 1 << bit;
		expect_refused(fd, EINVAL, op);
	}
	op = op_arm(HOUR, 0);
	op.pad = 1;
	expect_refused(fd, EINVAL, op);
	op = op_arm(HOUR, 0);
	op.pad2 = 1U << 31;
	expect_refused(fd, EINVAL, op);
	op = op_arm(HOUR, 0);
	op.reserved = 1ULL << 63;
	expect_refused(fd, EINVAL, op);
}

TEST(wrong_eventfd)
{
	struct timewheel_op op = op_arm(HOUR, 0);
	int fd = tw_open(), null = open("/dev/null", O_RDONLY);

	ASSERT_OK(null);
	op.eventfd = 4095;
	expect_refused(fd, EBADF, op);
	op.eventfd = -2;
	expect_refused(fd, EBADF, op);
	op.eventfd = null;
	expect_refused(fd, EINVAL, op);
	op.eventfd = fd;
	expect_refused(fd, EINVAL, op);
}

/* A timeout that nobody hears of. */
TEST(no_event_needs_an_eventfd)
{
	struct timewheel_setup s = { .size = sizeof(s) };
	struct timewheel_op op = op_arm(0, 0);
	int fd = tw_open();

	op.flags = TIMEWHEEL_NO_EVENT;
	expect_refused(fd, EINVAL, op);
	close(fd);

	fd = tw_open();
	s.eventfd = eventfd(0, EFD_CLOEXEC);
	ASSERT_OK(s.eventfd);
	ASSERT_OK(setup(fd, &s));
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	wait_readable(s.eventfd);
	EXPECT_EQ(1, eventfd_count(s.eventfd));
	expect_no_event(fd);
	EXPECT_EQ(1, stats_of(fd).fired);
	EXPECT_EQ(0, stats_of(fd).unread);
	expect_balance(fd);
}

TEST(bad_addresses)
{
	struct timewheel_op *op;
	int fd = tw_open();

	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_ARM, NULL));
	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_ARM, (void *)-64L));

	/* A result that can't be written: nobody would know the id. */
	op = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE((uintptr_t)MAP_FAILED, (uintptr_t)op);
	*op = op_arm(HOUR, 0);
	ASSERT_OK(mprotect(op, 4096, PROT_READ));
	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_ARM, op));
	EXPECT_EQ(0, stats_of(fd).pending);
	expect_balance(fd);
}

TEST(ids_are_unique)
{
	uint64_t ids[100];
	unsigned int i, j;
	int fd = tw_open();

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		ids[i] = arm(fd, HOUR, i);
		for (j = 0; j < i; j++)
			EXPECT_NE(ids[j], ids[i]);
	}
}

/* The place is used again, under another id. */
TEST(ids_are_not_used_again)
{
	uint64_t seen[200];
	unsigned int i, j;
	int fd = tw_open();

	for (i = 0; i < ARRAY_SIZE(seen); i++) {
		seen[i] = arm(fd, i % 2 ? HOUR : 0, i);
		for (j = 0; j < i; j++)
			EXPECT_NE(seen[j], seen[i]);
		if (i % 2)
			ASSERT_OK(cancel(fd, seen[i]));
		else
			EXPECT_EQ(seen[i], read_event(fd).id);
	}
	EXPECT_EQ(0, stats_of(fd).pending);
	expect_balance(fd);
}

/* Two contexts do not see each other's. */
TEST(contexts_are_apart)
{
	struct timewheel_query q;
	int a = tw_open(), b = tw_open();
	uint64_t id = arm(a, HOUR, 1);

	EXPECT_ERR(ENOENT, cancel(b, id));
	EXPECT_ERR(ENOENT, rearm(b, id, 0));
	EXPECT_ERR(ENOENT, query(b, id, &q));
	arm(b, 0, 2);
	EXPECT_EQ(2, read_event(b).user_data);
	expect_no_event(a);
	EXPECT_EQ(1, stats_of(a).pending);
	EXPECT_EQ(1, stats_of(a).armed);
}
