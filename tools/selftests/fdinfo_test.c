// SPDX-License-Identifier: GPL-2.0-only
/*
 * fdinfo says what STATS and INFO say.
 */
#include <stdlib.h>

#include "support.h"

/* The number behind "timewheel-NAME:<tab>". */
static long long value_of(int fd, const char *name)
{
	char path[64], key[64], line[256];
	long long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	snprintf(key, sizeof(key), "timewheel-%s:\t", name);
	file = fopen(path, "r");
	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = strtoll(line + strlen(key), NULL, 10);
	fclose(file);
	if (value < 0)
		test_fail(__FILE__, __LINE__, "no timewheel-%s in fdinfo", name);
	return value;
}

TEST(fdinfo)
{
	struct timewheel_info info;
	uint64_t ids[5];
	int i, fd = tw_open();

	for (i = 0; i < 5; i++)
		ids[i] = arm(fd, HOUR, i);
	ASSERT_OK(cancel(fd, ids[0]));
	ASSERT_OK(rearm(fd, ids[1], 2 * HOUR));
	ASSERT_OK(rearm(fd, ids[2], 0));
	wait_readable(fd);

	info = info_of(fd);
	EXPECT_EQ(info.tick_ns, value_of(fd, "tick-ns"));
	EXPECT_EQ(info.slots, value_of(fd, "slots"));
	EXPECT_EQ(info.levels, value_of(fd, "levels"));
	EXPECT_EQ(info.clockid, value_of(fd, "clockid"));
	EXPECT_EQ(info.max_pending, value_of(fd, "max-pending"));
	EXPECT_EQ(5, value_of(fd, "armed"));
	EXPECT_EQ(2, value_of(fd, "rearmed"));
	EXPECT_EQ(1, value_of(fd, "fired"));
	EXPECT_EQ(1, value_of(fd, "cancelled"));
	EXPECT_EQ(0, value_of(fd, "unprocessed"));
	EXPECT_EQ(3, value_of(fd, "pending"));
	EXPECT_EQ(0, value_of(fd, "overruns"));
	EXPECT_EQ(0, value_of(fd, "rejected"));
	EXPECT_EQ(1, value_of(fd, "unread"));
}
