// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leases: a deadline is put off by a store.
 */
#include "ring.h"

/* Refreshed again and again it does not expire; then it does, once, in time. */
TEST(refreshed_by_a_store)
{
	/* Longer than a slow machine stalls. */
	const uint64_t left = 2 * SEC;
	struct timewheel_event ev;
	struct timewheel_query q;
	uint64_t now, end, last = 0;
	struct rings r;

	rings_open(&r, 8, 8, 4, 0);
	rings_map_leases(&r);
	now = now_ns(CLOCK_MONOTONIC);
	lease_store(&r, 2, now + left);
	ring_ask(&r, op_lease(id_of(2, 9), 7));
	for (end = now + 3 * left; now < end; now = now_ns(CLOCK_MONOTONIC)) {
		last = now + left;
		lease_store(&r, 2, last);
		if (stats_of(r.fd).fired)
			break;
	}
	EXPECT_EQ(0, stats_of(r.fd).fired);
	ASSERT_OK(query(r.fd, id_of(2, 9), &q));
	EXPECT_EQ(last, q.deadline_ns);
	EXPECT_EQ(TIMEWHEEL_LEASE, q.flags);
	ev = ring_wait(&r);
	EXPECT_TRUE(ev.id == id_of(2, 9));
	EXPECT_EQ(7, ev.user_data);
	EXPECT_EQ(last, ev.deadline_ns);
	EXPECT_LE(last, now_ns(CLOCK_MONOTONIC));
	EXPECT_EQ(1, r.calls);
	EXPECT_EQ(1, stats_of(r.fd).fired);
	expect_balance(r.fd);
}

/* By a call, too; nearer takes REARM; later than any clock is never. */
TEST(armed_and_rearmed)
{
	struct timewheel_op op;
	struct timewheel_event ev;
	struct rings r;
	uint64_t due;

	rings_open(&r, 0, 8, 4, 0);
	op = op_lease(id_of(1, 1), 5);
	EXPECT_ERR(EINVAL, ioctl(r.fd, TIMEWHEEL_IOC_ARM, &op));
	rings_map_leases(&r);
	lease_store(&r, 1, UINT64_MAX);
	ASSERT_OK(ioctl(r.fd, TIMEWHEEL_IOC_ARM, &op));
	due = now_ns(CLOCK_MONOTONIC) + 10 * MS;
	lease_store(&r, 1, due);
	op = op_rearm(id_of(1, 1), 0);
	op.flags = TIMEWHEEL_LEASE;
	ASSERT_OK(ioctl(r.fd, TIMEWHEEL_IOC_REARM, &op));
	ev = ring_wait(&r);
	EXPECT_EQ(due, ev.deadline_ns);
	EXPECT_LE(due, now_ns(CLOCK_MONOTONIC));
	expect_balance(r.fd);
}

/* The first look decides; what is later than that is the next arming's. */
TEST(already_due)
{
	struct timewheel_event ev;
	struct rings r;

	rings_open(&r, 8, 8, 4, 0);
	rings_map_leases(&r);
	lease_store(&r, 0, 1);
	ring_ask(&r, op_lease(id_of(0, 1), 5));
	ev = ring_wait(&r);
	EXPECT_EQ(1, ev.deadline_ns);
	lease_store(&r, 0, 0);
	ring_ask(&r, op_lease(id_of(0, 2), 6));
	EXPECT_EQ(6, ring_wait(&r).user_data);
	expect_balance(r.fd);
}

TEST(malformed)
{
	struct timewheel_op op;
	struct rings r;

	rings_open(&r, 8, 8, 4, 0);
	rings_map_leases(&r);
	lease_store(&r, 1, UINT64_MAX);
	op = op_lease(id_of(1, 1), 5);
	op.interval_ns = SEC;
	EXPECT_ERR(EINVAL, ioctl(r.fd, TIMEWHEEL_IOC_ARM, &op));
	op = op_lease(id_of(1, 1), 5);
	op.flags &= ~TIMEWHEEL_OWN_ID;
	EXPECT_ERR(EINVAL, ioctl(r.fd, TIMEWHEEL_IOC_ARM, &op));
	op = op_lease(id_of(4, 1), 5);
	EXPECT_ERR(EINVAL, ioctl(r.fd, TIMEWHEEL_IOC_ARM, &op));
	op = op_lease(id_of(1U << 31, 1), 5);
	EXPECT_ERR(EINVAL, ioctl(r.fd, TIMEWHEEL_IOC_ARM, &op));

	/* One that was armed without a lease has none. */
	op = op_own(id_of(1, 1), UINT64_MAX - 1, 0);
	ASSERT_OK(ioctl(r.fd, TIMEWHEEL_IOC_ARM, &op));
	op = op_rearm(id_of(1, 1), 0);
	op.flags = TIMEWHEEL_LEASE;
	EXPECT_ERR(EINVAL, ioctl(r.fd, TIMEWHEEL_IOC_REARM, &op));
	EXPECT_EQ(1, stats_of(r.fd).pending);
	EXPECT_EQ(0, stats_of(r.fd).rearmed);
}

/* The even ones below @nr, so that they have @left to go. */
static void refresh_even(struct rings *r, uint32_t nr, uint64_t left)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	uint32_t i;

	for (i = 0; i < nr; i += 2)
		lease_store(r, i, now + left);
}

/* Many, some of them refreshed: these stay, the others go, each once. */
TEST(many)
{
	enum { NR = 2000 };
	/* Longer than a slow machine stalls, and shorter than the test. */
	const uint64_t left = 5 * SEC;
	static unsigned char seen[NR];
	struct timewheel_event ev;
	uint64_t start;
	struct rings r;
	uint32_t i, wrong = 0;

	rings_open(&r, 64, 4096, NR, 0);
	rings_map_leases(&r);
	start = now_ns(CLOCK_MONOTONIC);
	for (i = 0; i < NR; i++) {
		if (i % 16 == 0)
			refresh_even(&r, i, left);
		lease_store(&r, i, now_ns(CLOCK_MONOTONIC) + (i % 2 ? 10 * MS : left));
		ring_ask(&r, op_lease(id_of(i, 1), i));
	}
	while (stats_of(r.fd).fired < NR / 2 ||
	       now_ns(CLOCK_MONOTONIC) < start + 2 * left)
		refresh_even(&r, NR, left);
	while (ring_pop(&r, &ev))
		seen[ev.user_data]++;
	for (i = 0; i < NR; i++)
		wrong += seen[i] != i % 2;
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(NR / 2, stats_of(r.fd).pending);
	for (i = 0; i < NR; i += 2)
		ring_ask(&r, op_cancel(id_of(i, 1)));
	while (stats_of(r.fd).pending)
		usleep(1000);
	EXPECT_EQ(NR / 2, stats_of(r.fd).cancelled);
	expect_balance(r.fd);
}
