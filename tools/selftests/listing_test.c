// SPDX-License-Identifier: GPL-2.0-only
/*
 * LIST: the pending timeouts, each once.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "support.h"

#define END	UINT64_MAX
#define PAGE	4096

static int list(int fd, uint64_t *cursor, struct timewheel_query *q, uint32_t *nr)
{
	struct timewheel_list l = {
		.cursor = *cursor, .entries = (uintptr_t)q, .nr = *nr,
	};
	int ret = ioctl(fd, TIMEWHEEL_IOC_LIST, &l);

	*cursor = l.cursor;
	*nr = l.nr;
	return ret;
}

/* All of them, @at_a_time, into room for more; returns how many. */
static uint32_t list_all(int fd, struct timewheel_query *q, uint32_t max,
			 uint32_t at_a_time)
{
	uint64_t cursor = 0, before;
	uint32_t nr, done = 0;

	while (cursor != END) {
		before = cursor;
		nr = max - done < at_a_time ? max - done : at_a_time;
		ASSERT_LT(0, nr);
		ASSERT_OK(list(fd, &cursor, q + done, &nr));
		/* U64_MAX, the end, is beyond all. */
		ASSERT_TRUE(cursor > before);
		done += nr;
	}
	return done;
}

TEST(nothing)
{
	struct timewheel_query q[2];
	uint64_t cursor = 0, id;
	uint32_t nr = 1;
	int fd = tw_open();

	ASSERT_OK(list(fd, &cursor, q, &nr));
	EXPECT_EQ(0, nr);
	EXPECT_EQ(END, cursor);

	/* Nor what was cancelled, or has expired, be it read or not. */
	id = arm(fd, HOUR, 1);
	ASSERT_OK(cancel(fd, id));
	arm(fd, 0, 2);
	wait_readable(fd);
	EXPECT_EQ(0, list_all(fd, q, 2, 1));
	read_event(fd);
	EXPECT_EQ(0, list_all(fd, q, 2, 1));
	arm(fd, HOUR, 3);
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
	EXPECT_EQ(0, list_all(fd, q, 2, 1));
}

TEST(what_it_tells)
{
	struct timewheel_query q[8], one;
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	int efd = eventfd(0, EFD_CLOEXEC), fd = tw_open();
	struct timewheel_op op;
	unsigned int i;

	op = op_arm_at(now + HOUR, 1);
	op.interval_ns = 5 * SEC;
	arm_op(fd, op);
	op = op_arm_at(now + 2 * HOUR, 2);
	op.slack_ns = 1ULL << 30;
	arm_op(fd, op);
	op = op_arm_at(now + 3 * HOUR, 3);
	op.eventfd = efd;
	op.flags |= TIMEWHEEL_NO_EVENT;
	arm_op(fd, op);
	arm_at(fd, END, 4);

	ASSERT_EQ(4, list_all(fd, q, 8, 8));
	for (i = 0; i < 4; i++) {
		/* The same as QUERY, field by field. */
		ASSERT_OK(query(fd, q[i].id, &one));
		EXPECT_EQ(0, memcmp(&one, &q[i], sizeof(one)));
		EXPECT_EQ(TIMEWHEEL_STATE_PENDING, q[i].state);
		EXPECT_EQ(q[i].user_data == 4 ? END : now + q[i].user_data * HOUR,
			  q[i].deadline_ns);
		EXPECT_EQ(q[i].user_data == 1 ? 5 * SEC : 0, q[i].interval_ns);
		EXPECT_EQ(q[i].user_data == 2 ? 1ULL << 30 : 0, q[i].slack_ns);
		EXPECT_EQ(q[i].user_data == 3 ? TIMEWHEEL_NO_EVENT : 0, q[i].flags);
	}
}

TEST(a_periodic_one_is_pending_though_unread)
{
	struct timewheel_query q[2];
	uint64_t id;
	int fd = tw_open();

	id = arm_op(fd, op_periodic(0, HOUR, 1));
	wait_readable(fd);
	ASSERT_EQ(1, list_all(fd, q, 2, 1));
	EXPECT_EQ(id, q[0].id);
	EXPECT_LT(now_ns(CLOCK_MONOTONIC), q[0].deadline_ns);
}

TEST(each_once)
{
	enum { NR = 2000 };
	static struct timewheel_query q[NR + 1];
	static const uint32_t steps[] = { 1, 3, 31, 32, 36, 37, 1000, NR };
	unsigned char seen[NR];
	unsigned int i, s, wrong;
	uint64_t ids[NR];
	int fd = tw_open();

	for (i = 0; i < NR; i++)
		ids[i] = arm(fd, HOUR, i);
	for (i = 0; i < NR; i += 3)
		ASSERT_OK(cancel(fd, ids[i]));
	for (s = 0; s < ARRAY_SIZE(steps); s++) {
		uint32_t nr = list_all(fd, q, NR + 1, steps[s]);

		EXPECT_EQ(NR - (NR + 2) / 3, nr);
		memset(seen, 0, sizeof(seen));
		for (i = 0; i < nr; i++) {
			ASSERT_LT(q[i].user_data, NR);
			EXPECT_EQ(ids[q[i].user_data], q[i].id);
			seen[q[i].user_data]++;
		}
		for (i = wrong = 0; i < NR; i++)
			wrong += seen[i] != (i % 3 != 0);
		EXPECT_EQ(0, wrong);
	}
}

/* Those that stay are seen once, whatever happens to the others. */
TEST(while_others_come_and_go)
{
	enum { NR = 500 };
	static struct timewheel_query q[64];
	unsigned int i, wrong = 0, seen[NR] = { };
	uint64_t cursor = 0, going[NR], state = 1;
	uint32_t nr;
	int fd = tw_open();

	for (i = 0; i < NR; i++) {
		arm(fd, HOUR, i);
		going[i] = arm(fd, HOUR, NR);
	}
	while (cursor != END) {
		nr = 1 + random_next(&state) % ARRAY_SIZE(q);
		ASSERT_OK(list(fd, &cursor, q, &nr));
		while (nr--)
			if (q[nr].user_data < NR)
				seen[q[nr].user_data]++;
		for (i = 0; i < 20; i++) {
			uint64_t *id = &going[random_next(&state) % NR];

			ASSERT_OK(cancel(fd, *id));
			*id = arm(fd, HOUR, NR);
		}
	}
	for (i = 0; i < NR; i++)
		wrong += seen[i] != 1;
	EXPECT_EQ(0, wrong);
}

TEST(hostile)
{
	static const uint64_t cursors[] = {
		1, 2, 36, 1ULL << 31, 1ULL << 32, 1ULL << 32 | 1, 1ULL << 63,
		END - 1, END,
	};
	struct timewheel_list l = { .nr = 1 };
	struct timewheel_query q[2];
	unsigned int i;
	uint64_t cursor;
	uint32_t nr;
	int fd = tw_open();

	arm(fd, HOUR, 0);
	for (i = 0; i < ARRAY_SIZE(cursors); i++) {
		cursor = cursors[i];
		nr = 2;
		ASSERT_OK(list(fd, &cursor, q, &nr));
		EXPECT_EQ(0, nr);
		EXPECT_EQ(END, cursor);
	}

	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_LIST, NULL));
	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_LIST, &l));
	l.entries = UINT64_MAX - 8;
	EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_LIST, &l));
	l.entries = (uintptr_t)q;
	l.pad = 1;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_LIST, &l));
	l.pad = 0;
	l.nr = 0;
	EXPECT_ERR(EINVAL, ioctl(fd, TIMEWHEEL_IOC_LIST, &l));
	/* More room than there can be timeouts. */
	l.nr = UINT32_MAX;
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_LIST, &l));
	EXPECT_EQ(1, l.nr);
}

/* Memory that ends in the middle: what fits is told, and the rest by the next. */
TEST(fault_in_the_middle)
{
	enum { NR = 200, ROOM = PAGE / sizeof(struct timewheel_query) };
	static struct timewheel_query rest[NR];
	unsigned int i, wrong = 0, seen[NR] = { };
	struct timewheel_query *q;
	uint64_t cursor = 0;
	uint32_t nr = NR, more = NR;
	char *pages;
	int fd = tw_open();

	for (i = 0; i < NR; i++)
		arm(fd, HOUR, i);
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(pages != MAP_FAILED);
	ASSERT_OK(munmap(pages + PAGE, PAGE));
	q = (void *)pages;
	ASSERT_OK(list(fd, &cursor, q, &nr));
	EXPECT_LT(0, nr);
	EXPECT_LE(nr, ROOM);
	ASSERT_NE(END, cursor);
	ASSERT_OK(list(fd, &cursor, rest, &more));
	EXPECT_EQ(END, cursor);
	EXPECT_EQ(NR, nr + more);
	while (nr--)
		seen[q[nr].user_data]++;
	while (more--)
		seen[rest[more].user_data]++;
	for (i = 0; i < NR; i++)
		wrong += seen[i] != 1;
	EXPECT_EQ(0, wrong);
}

/* One context never shows another's. */
TEST(own_ones_only)
{
	struct timewheel_query q[3];
	int a = tw_open(), b = tw_open();

	arm(a, HOUR, 1);
	arm(b, HOUR, 2);
	ASSERT_EQ(1, list_all(a, q, 3, 3));
	EXPECT_EQ(1, q[0].user_data);
	ASSERT_EQ(1, list_all(b, q, 3, 3));
	EXPECT_EQ(2, q[0].user_data);
}
