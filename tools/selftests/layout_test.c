// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ABI's layout is the same for 32- and 64-bit programs: it is checked when
 * this is compiled, and compiled for both.
 */
#include <assert.h>
#include <stddef.h>

#include "support.h"

#define SIZE(type, size) static_assert(sizeof(struct type) == (size), #type)
#define AT(type, field, offset) \
	static_assert(offsetof(struct type, field) == (offset), #type "." #field)

SIZE(timewheel_op, 64);
AT(timewheel_op, opcode, 0);
AT(timewheel_op, flags, 1);
AT(timewheel_op, pad, 2);
AT(timewheel_op, result, 4);
AT(timewheel_op, id, 8);
AT(timewheel_op, user_data, 16);
AT(timewheel_op, expires_ns, 24);
AT(timewheel_op, interval_ns, 32);
AT(timewheel_op, slack_ns, 40);
AT(timewheel_op, eventfd, 48);
AT(timewheel_op, pad2, 52);
AT(timewheel_op, reserved, 56);

SIZE(timewheel_event, 32);
AT(timewheel_event, user_data, 0);
AT(timewheel_event, id, 8);
AT(timewheel_event, deadline_ns, 16);
AT(timewheel_event, result, 24);
AT(timewheel_event, flags, 28);

SIZE(timewheel_info, 88);
AT(timewheel_info, features, 8);
AT(timewheel_info, clockid, 32);
AT(timewheel_info, max_pending, 40);
AT(timewheel_info, max_levels, 84);

SIZE(timewheel_setup, 56);
AT(timewheel_setup, tick_ns, 8);
AT(timewheel_setup, max_pending, 24);
AT(timewheel_setup, own_ids, 48);

SIZE(timewheel_submit, 16);
SIZE(timewheel_query, 64);
AT(timewheel_query, state, 32);
AT(timewheel_query, slack_ns, 40);
SIZE(timewheel_list, 24);

SIZE(timewheel_stats, 8 + 11 * 8 + TIMEWHEEL_LATENESS_BUCKETS * 8);
AT(timewheel_stats, armed, 8);
AT(timewheel_stats, lateness, 96);

SIZE(timewheel_ring, 192);
AT(timewheel_ring, tail, 64);
AT(timewheel_ring, mask, 128);
AT(timewheel_ring, wake_ns, 136);

/* The numbers are the ABI too. */
TEST(ioctl_numbers)
{
	EXPECT_EQ(0xc058bc00, TIMEWHEEL_IOC_INFO);
	EXPECT_EQ(0x4038bc01, TIMEWHEEL_IOC_SETUP);
	EXPECT_EQ(0x4010bc02, TIMEWHEEL_IOC_SUBMIT);
	EXPECT_EQ(0xc040bc03, TIMEWHEEL_IOC_ARM);
	EXPECT_EQ(0xc040bc04, TIMEWHEEL_IOC_CANCEL);
	EXPECT_EQ(0xc040bc05, TIMEWHEEL_IOC_REARM);
	EXPECT_EQ(0xc040bc06, TIMEWHEEL_IOC_QUERY);
	EXPECT_EQ(0xc018bc07, TIMEWHEEL_IOC_LIST);
	EXPECT_EQ(0x0000bc08, TIMEWHEEL_IOC_STOP);
	EXPECT_EQ(0xc1a0bc09, TIMEWHEEL_IOC_STATS);
}

/* All of an op's 64 bits go through, also from a 32-bit program. */
TEST(wide_fields_survive)
{
	struct timewheel_query q;
	struct timewheel_event ev;
	uint64_t cookie = 0xfedcba9876543210ULL, id, deadline;
	int fd = tw_open();

	deadline = now_ns(CLOCK_MONOTONIC) + (1ULL << 50);
	id = arm_at(fd, deadline, cookie);
	ASSERT_OK(query(fd, id, &q));
	EXPECT_EQ(id, q.id);
	EXPECT_EQ(cookie, q.user_data);
	EXPECT_EQ(deadline, q.deadline_ns);

	ASSERT_OK(rearm(fd, id, 0));
	ev = read_event(fd);
	EXPECT_EQ(cookie, ev.user_data);
	EXPECT_EQ(id, ev.id);
}
