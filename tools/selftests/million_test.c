// SPDX-License-Identifier: GPL-2.0-only
/*
 * A million pending timeouts, and then none.
 */
#include <stdlib.h>

#include "module.h"
#include "support.h"

#define MILLION		1000000U
/* What other parts of the system may take meanwhile. */
#define TOLERANCE_KIB	(4 * 1024LL)

static long long memory_kib(const char *key)
{
	long long value = -1;
	char line[256];
	FILE *file = fopen("/proc/meminfo", "r");

	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = strtoll(line + strlen(key) + 1, NULL, 10);
	fclose(file);
	ASSERT_LE(0, value);
	return value;
}

/*
 * Pages that are free but kept by the CPUs for the next one who asks.  MemFree
 * does not count them, and there can be many after so many were freed.
 */
static long long kept_by_cpus_kib(void)
{
	long long pages = 0, count;
	bool in_pageset = false;
	char line[256];
	FILE *file = fopen("/proc/zoneinfo", "r");

	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, "cpu:"))
			in_pageset = true;
		if (in_pageset && sscanf(line, " count: %lld", &count) == 1) {
			pages += count;
			in_pageset = false;
		}
	}
	fclose(file);
	return pages * (getpagesize() / 1024);
}

static long long free_kib(void)
{
	return memory_kib("MemFree") + kept_by_cpus_kib();
}

/* Memory comes back by and by: what is freed after a grace period, say. */
static bool returns(long long before)
{
	int i;

	for (i = 0; i < 300; i++) {
		if (free_kib() + TOLERANCE_KIB >= before)
			return true;
		usleep(100000);
	}
	return false;
}

static void need_memory(void)
{
	if (memory_kib("MemAvailable") < 400 * 1024)
		SKIP("too little memory for a million timeouts");
}

TEST_LIMIT(close_with_a_million_pending, 300)
{
	long long before, full, slab;
	int fd;

	need_module();
	need_memory();
	/* What the first use costs once and for all is not counted. */
	fd = tw_open();
	arm_many(fd, 10000, HOUR);
	close(fd);
	before = free_kib();
	slab = memory_kib("SUnreclaim");

	fd = tw_open();
	arm_many(fd, MILLION, HOUR);
	EXPECT_EQ(MILLION, stats_of(fd).pending);
	full = free_kib();
	test_say("a million timeouts took %lld KiB", before - full);
	EXPECT_LT(full, before);
	/* Nobody else can take the module away meanwhile. */
	EXPECT_ERR(EWOULDBLOCK, module_unload());
	close(fd);
	EXPECT_EQ(0, module_unload());
	EXPECT_TRUE(returns(before));
	test_say("free: %lld KiB before, %lld after, of which CPUs keep %lld", before,
		 free_kib(), kept_by_cpus_kib());
	test_say("SUnreclaim: %lld KiB before, %lld after", slab,
		 memory_kib("SUnreclaim"));
	module_restore();
}

TEST_LIMIT(stop_with_a_million_pending, 300)
{
	static struct timewheel_event events[4096];
	uint64_t nr = 0, sum = 0;
	ssize_t len;
	int fd, i;

	need_memory();
	fd = tw_open_with(O_NONBLOCK);
	arm_many(fd, MILLION, HOUR);
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STOP));
	while ((len = read(fd, events, sizeof(events))) > 0)
		for (i = 0; i < len / (ssize_t)sizeof(events[0]); i++) {
			nr++;
			sum += events[i].user_data;
		}
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(MILLION, nr);
	EXPECT_EQ(MILLION * (MILLION - 1ULL) / 2, sum);
	EXPECT_EQ(MILLION, stats_of(fd).unprocessed);
	expect_balance(fd);
}

/* A million due in one tick: all are told, and none is told early. */
TEST_LIMIT(a_million_at_once, 300)
{
	static struct timewheel_event events[4096];
	uint64_t due, nr = 0, sum = 0, early = 0;
	ssize_t len;
	int fd, i;

	need_memory();
	fd = tw_open_with(O_NONBLOCK);
	arm_many(fd, MILLION, HOUR);
	close(fd);

	fd = tw_open_with(O_NONBLOCK);
	due = now_ns(CLOCK_MONOTONIC) + 10 * SEC;
	for (i = 0; i < 1000; i++) {
		static struct timewheel_op ops[1000];
		int j;

		for (j = 0; j < 1000; j++)
			ops[j] = op_arm_at(due, i * 1000 + j);
		ASSERT_EQ(1000, submit(fd, ops, 1000));
	}
	while (nr < MILLION) {
		wait_readable(fd);
		early += now_ns(CLOCK_MONOTONIC) < due;
		len = read(fd, events, sizeof(events));
		ASSERT_LT(0, len);
		for (i = 0; i < len / (ssize_t)sizeof(events[0]); i++) {
			nr++;
			sum += events[i].user_data;
		}
	}
	EXPECT_EQ(0, early);
	EXPECT_EQ(MILLION * (MILLION - 1ULL) / 2, sum);
	EXPECT_EQ(MILLION, stats_of(fd).fired);
	expect_balance(fd);
}
