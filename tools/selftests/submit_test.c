// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT: many ops in one call.
 */
#include <sys/mman.h>

#include "support.h"

#define PAGE	4096U
#define PER_PAGE	(PAGE / sizeof(struct timewheel_op))

static int submit_raw(int fd, uint64_t ops, uint32_t nr, uint32_t flags)
{
	struct timewheel_submit s = { .ops = ops, .nr = nr, .flags = flags };

	return ioctl(fd, TIMEWHEEL_IOC_SUBMIT, &s);
}

static struct timewheel_op *pages(unsigned int nr)
{
	void *p = mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE((uintptr_t)MAP_FAILED, (uintptr_t)p);
	return p;
}

TEST(ops_are_done_in_order)
{
	struct timewheel_op ops[4];
	uint64_t id;
	int fd = tw_open();

	id = arm(fd, HOUR, 1);
	ops[0] = op_rearm(id, 2 * HOUR);
	ops[1] = op_cancel(id);
	ops[2] = op_cancel(id);
	ops[3] = op_arm(HOUR, 2);
	EXPECT_EQ(4, submit(fd, ops, 4));
	EXPECT_EQ(0, ops[0].result);
	EXPECT_EQ(0, ops[1].result);
	EXPECT_EQ(-ENOENT, ops[2].result);
	EXPECT_EQ(0, ops[3].result);
	EXPECT_EQ(0, cancel(fd, ops[3].id));
	expect_balance(fd);
}

/* One that is refused does not keep the others from being done. */
TEST(each_op_has_its_result)
{
	struct timewheel_op ops[6];
	struct timewheel_stats st;
	int fd = tw_open();

	ops[0] = op_arm(HOUR, 0);
	ops[1] = op_arm(HOUR, 1);
	ops[1].flags = 1 << 7;
	ops[2] = op_arm(HOUR, 2);
	ops[2].opcode = 0;
	ops[3] = op_arm(HOUR, 3);
	ops[3].eventfd = 4095;
	ops[4] = op_arm(HOUR, 4);
	ops[4].opcode = 200;
	ops[5] = op_arm(HOUR, 5);
	EXPECT_EQ(6, submit(fd, ops, 6));
	EXPECT_EQ(0, ops[0].result);
	EXPECT_EQ(-EINVAL, ops[1].result);
	EXPECT_EQ(-EINVAL, ops[2].result);
	EXPECT_EQ(-EBADF, ops[3].result);
	EXPECT_EQ(-EINVAL, ops[4].result);
	EXPECT_EQ(0, ops[5].result);
	st = stats_of(fd);
	EXPECT_EQ(2, st.armed);
	EXPECT_EQ(4, st.rejected);
	EXPECT_EQ(2, st.pending);
}

/* What is not the result or a new id is left as it was. */
TEST(inputs_are_left_alone)
{
	struct timewheel_op op = op_arm(HOUR, 77), was;
	int fd = tw_open();

	op.result = -12345;
	was = op;
	EXPECT_EQ(1, submit(fd, &op, 1));
	EXPECT_EQ(0, op.result);
	was.result = op.result;
	was.id = op.id;
	EXPECT_EQ(0, memcmp(&was, &op, sizeof(op)));
}

/* Without rings there is nothing that no ops could mean. */
TEST(nr_is_bounded)
{
	struct timewheel_op *ops = pages(1);
	int fd = tw_open();

	ops[0] = op_arm(HOUR, 0);
	if (!(info_of(fd).features & TIMEWHEEL_FEATURE_RINGS))
		EXPECT_ERR(EINVAL, submit_raw(fd, (uintptr_t)ops, 0, 0));
	EXPECT_ERR(EINVAL, submit_raw(fd, (uintptr_t)ops, TIMEWHEEL_SUBMIT_MAX + 1, 0));
	EXPECT_ERR(EINVAL, submit_raw(fd, (uintptr_t)ops, UINT32_MAX, 0));
	EXPECT_ERR(EINVAL, submit_raw(fd, (uintptr_t)ops, 1, 1));
	EXPECT_EQ(0, stats_of(fd).armed);
}

TEST(bad_addresses)
{
	struct timewheel_op *ops = pages(1);
	int fd = tw_open();

	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_SUBMIT, NULL));
	EXPECT_ERR(EFAULT, submit_raw(fd, 0, 1, 0));
	EXPECT_ERR(EFAULT, submit_raw(fd, UINT64_MAX - 63, 1, 0));
	EXPECT_ERR(EFAULT, submit_raw(fd, 1ULL << 63, 1, 0));
	munmap(ops, PAGE);
	EXPECT_ERR(EFAULT, submit_raw(fd, (uintptr_t)ops, 1, 0));
	EXPECT_EQ(0, stats_of(fd).armed);
}

/* The ops before the fault are done, and no other. */
TEST(fault_in_the_middle)
{
	struct timewheel_op *ops = pages(2);
	unsigned int i;
	int fd = tw_open();

	for (i = 0; i < 2 * PER_PAGE; i++)
		ops[i] = op_arm(HOUR, i);
	munmap((char *)ops + PAGE, PAGE);
	EXPECT_EQ(PER_PAGE, submit_raw(fd, (uintptr_t)ops, 2 * PER_PAGE, 0));
	for (i = 0; i < PER_PAGE; i++) {
		EXPECT_EQ(0, ops[i].result);
		EXPECT_EQ(0, cancel(fd, ops[i].id));
	}
	EXPECT_EQ(PER_PAGE, stats_of(fd).armed);
	EXPECT_EQ(0, stats_of(fd).pending);
	expect_balance(fd);
}

/* The fault is within an op: that one is not looked at. */
TEST(fault_in_the_middle_of_an_op)
{
	char *area = (char *)pages(2);
	struct timewheel_op *ops = (void *)(area + PAGE - 2 * sizeof(*ops) - 32);
	int fd = tw_open();

	ops[0] = op_arm(HOUR, 0);
	ops[1] = op_arm(HOUR, 1);
	ops[2] = op_arm(HOUR, 2);
	munmap(area + PAGE, PAGE);
	EXPECT_EQ(2, submit_raw(fd, (uintptr_t)ops, 3, 0));
	EXPECT_EQ(2, stats_of(fd).armed);
	EXPECT_EQ(2, stats_of(fd).pending);
}

/* Results that can't be written: not even the first op is done. */
TEST(read_only_results)
{
	struct timewheel_op *ops = pages(1);
	uint64_t id;
	int fd = tw_open();

	id = arm(fd, HOUR, 9);
	ops[0] = op_cancel(id);
	ops[1] = op_arm(HOUR, 1);
	ASSERT_OK(mprotect(ops, PAGE, PROT_READ));
	EXPECT_ERR(EFAULT, submit_raw(fd, (uintptr_t)ops, 2, 0));
	/* Either way nothing is armed that nobody knows the id of. */
	EXPECT_EQ(1, stats_of(fd).armed);
	EXPECT_EQ(1, stats_of(fd).pending);
	EXPECT_EQ(0, cancel(fd, id));
	expect_balance(fd);
}

TEST(read_only_in_the_middle)
{
	struct timewheel_op *ops = pages(2);
	unsigned int i;
	int fd = tw_open();

	for (i = 0; i < 2 * PER_PAGE; i++)
		ops[i] = op_arm(HOUR, i);
	ASSERT_OK(mprotect((char *)ops + PAGE, PAGE, PROT_READ));
	EXPECT_EQ(PER_PAGE, submit_raw(fd, (uintptr_t)ops, 2 * PER_PAGE, 0));
	EXPECT_EQ(PER_PAGE, stats_of(fd).pending);
	expect_balance(fd);
}

TEST(many_at_once)
{
	const unsigned int nr = 50000;
	size_t size = nr * sizeof(struct timewheel_op);
	struct timewheel_op *ops = pages(size / PAGE + 1);
	unsigned int i, bad = 0;
	int fd = tw_open();

	for (i = 0; i < nr; i++)
		ops[i] = op_arm(HOUR, i);
	ASSERT_EQ(nr, submit(fd, ops, nr));
	EXPECT_EQ(nr, stats_of(fd).pending);
	for (i = 0; i < nr; i++) {
		bad += !!ops[i].result;
		ops[i].opcode = TIMEWHEEL_OP_REARM;
	}
	ASSERT_EQ(nr, submit(fd, ops, nr));
	EXPECT_EQ(nr, stats_of(fd).rearmed);
	for (i = 0; i < nr; i++) {
		bad += !!ops[i].result;
		ops[i].opcode = TIMEWHEEL_OP_CANCEL;
	}
	ASSERT_EQ(nr, submit(fd, ops, nr));
	for (i = 0; i < nr; i++)
		bad += !!ops[i].result;
	EXPECT_EQ(0, bad);
	EXPECT_EQ(nr, stats_of(fd).cancelled);
	EXPECT_EQ(0, stats_of(fd).pending);
	expect_balance(fd);
}
