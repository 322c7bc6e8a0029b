// SPDX-License-Identifier: GPL-2.0-only
/*
 * 100,000 timeouts spread over 10 s: 100,000 events, none early, none twice.
 */
#include "support.h"

#define NR	100000U
#define SPREAD	(10 * SEC)

TEST_LIMIT(hundred_thousand_over_ten_seconds, 300)
{
	static struct timewheel_op ops[1000];
	static struct timewheel_event events[1000];
	static uint64_t deadlines[NR];
	static unsigned char seen[NR];
	uint64_t start, now, late, seed = 100000, worst = 0;
	unsigned int i, n, early = 0, wrong = 0, nr = 0;
	struct timewheel_stats st;
	ssize_t len;
	int fd = tw_open_with(O_NONBLOCK);

	start = now_ns(CLOCK_MONOTONIC) + 3 * SEC;
	for (n = 0; n < NR; n += ARRAY_SIZE(ops)) {
		for (i = 0; i < ARRAY_SIZE(ops); i++) {
			/* One in each 100 us, somewhere in it, armed in no order. */
			uint64_t place = (n + i) * 7919ULL % NR;

			deadlines[n + i] = start + place * (SPREAD / NR) +
				random_next(&seed) % (SPREAD / NR);
			ops[i] = op_arm_at(deadlines[n + i], n + i);
		}
		ASSERT_EQ(ARRAY_SIZE(ops), submit(fd, ops, ARRAY_SIZE(ops)));
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			ASSERT_EQ(0, ops[i].result);
	}
	EXPECT_EQ(NR, stats_of(fd).armed);

	while (nr < NR) {
		wait_readable(fd);
		len = read(fd, events, sizeof(events));
		ASSERT_LT(0, len);
		now = now_ns(CLOCK_MONOTONIC);
		for (i = 0; i < len / sizeof(events[0]); i++, nr++) {
			uint64_t which = events[i].user_data;

			ASSERT_LT(which, NR);
			seen[which]++;
			wrong += events[i].deadline_ns != deadlines[which];
			early += now < deadlines[which];
			late = now - deadlines[which];
			if (late > worst)
				worst = late;
		}
	}
	EXPECT_EQ(0, early);
	EXPECT_EQ(0, wrong);
	for (i = 0; i < NR; i++)
		wrong += seen[i] != 1;
	EXPECT_EQ(0, wrong);
	expect_no_event(fd);
	st = stats_of(fd);
	EXPECT_EQ(NR, st.armed);
	EXPECT_EQ(NR, st.fired);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(0, st.cancelled);
	EXPECT_EQ(0, st.rejected);
	expect_balance(fd);
	/* Said, not judged: the machine may be emulated, and busy. */
	test_say("the latest was read %llu us after its deadline",
		 (unsigned long long)worst / 1000);
}
