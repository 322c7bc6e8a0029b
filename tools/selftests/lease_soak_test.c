// SPDX-License-Identifier: GPL-2.0-only
/*
 * A million leases live as long as they are refreshed, and then expire once.
 *
 * TIMEWHEEL_SOAK_LEASES and TIMEWHEEL_SOAK_S in the environment say how many and
 * for how long.
 */
#include <stdlib.h>

#include "../bench/million/soak.h"
#include "support.h"

#define LEASES	1000000
#define IDLE_NS	(5 * SEC)

/* Three times the limit, and on a slow machine twice: both see that it is kept. */
#define REFRESH_S	15
#define REFRESH_SLOW_S	10

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : otherwise;
}

TEST_LIMIT(refreshed_and_left, 600)
{
	bool slow = from_environment("TIMEWHEEL_SLOW", 1) > 1;
	struct soak s = {
		.leases = from_environment("TIMEWHEEL_SOAK_LEASES", LEASES),
		.idle_ns = IDLE_NS,
		.refresh_ns = SEC * from_environment("TIMEWHEEL_SOAK_S",
						     slow ? REFRESH_SLOW_S : REFRESH_S),
	};

	soak_run(&s);
	test_say("%u leases, each refreshed %llu times, and left alone for %llu ms at most",
		 s.leases, (unsigned long long)s.sweeps, (unsigned long long)(s.longest_ns / MS));
	if (s.left_alone)
		test_say("the machine stood still: %u leases expired for that, of %u that could",
			 s.excused, s.left_alone);
	EXPECT_LE(s.leases, s.refreshes);
	EXPECT_EQ(0, s.wrong);
	EXPECT_EQ(0, s.early);
	EXPECT_EQ(0, s.twice);
	EXPECT_EQ(0, s.missing);
	EXPECT_EQ(s.leases, s.expired + s.excused);
}
