// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wheels as they are made: parameters, and how many.
 */

#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/sched.h>

#include "kunit_util.h"
#include "params.h"

/* Each of these parameters alone is wrong. */
static void create_refuses(struct kunit *test)
{
	static const struct timewheel_params cases[] = {
		{ .name = NULL },
		{ .name = "" },
		{ .name = "k", .tick_ns = 1 },
		{ .name = "k", .tick_ns = 999 },
		{ .name = "k", .tick_ns = 3600 * (u64)NSEC_PER_SEC + 1 },
		{ .name = "k", .tick_ns = U64_MAX },
		{ .name = "k", .slots = (1U << 20) + 1 },
		{ .name = "k", .slots = U32_MAX },
		{ .name = "k", .levels = 9 },
		{ .name = "k", .levels = U32_MAX },
		{ .name = "k", .slots = 1, .levels = 2 },
		{ .name = "k", .slots = 1U << 20, .levels = 4 },
		{ .name = "k", .slots = 256, .levels = 8 },
		{ .name = "k", .clockid = CLOCK_TAI },
		{ .name = "k", .clockid = CLOCK_MONOTONIC_RAW },
		{ .name = "k", .clockid = CLOCK_PROCESS_CPUTIME_ID },
		{ .name = "k", .clockid = -1 },
		{ .name = "k", .max_pending = (u64)S64_MAX + 1 },
		{ .name = "k", .max_pending = U64_MAX },
		{ .name = "k", .flags = 0x8 },
		{ .name = "k", .flags = 0x80000000 },
		{ .name = "k", .flags = TIMEWHEEL_BIND_CPU, .cpu = -1 },
		{ .name = "k", .flags = TIMEWHEEL_BIND_CPU, .cpu = INT_MAX },
		{ .name = "k", .flags = TIMEWHEEL_BIND_CPU, .cpu = INT_MIN },
		{ .name = "k", .flags = TIMEWHEEL_BIND_NODE, .node = NUMA_NO_NODE },
		{ .name = "k", .flags = TIMEWHEEL_BIND_NODE, .node = MAX_NUMNODES },
		{ .name = "k", .flags = TIMEWHEEL_BIND_NODE, .node = INT_MAX },
		{ .name = "k", .flags = TIMEWHEEL_BIND_CPU | TIMEWHEEL_BIND_NODE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct timewheel *wheel = timewheel_create(&cases[i]);

		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(wheel), -EINVAL, "case %u", i);
		if (!IS_ERR(wheel))
			timewheel_destroy(wheel);
	}
}

static void create_cpu_out_of_range(struct kunit *test)
{
	struct timewheel_params params = {
		.name = "k",
		.flags = TIMEWHEEL_BIND_CPU,
		.cpu = nr_cpu_ids,
	};

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(timewheel_create(&params)), -EINVAL);
}

/* The ends of what is allowed. */
static void create_accepts(struct kunit *test)
{
	static const struct timewheel_params cases[] = {
		{ .name = "k", .tick_ns = 1000 },
		{ .name = "k", .tick_ns = 3600 * (u64)NSEC_PER_SEC },
		{ .name = "k", .slots = 1, .levels = 1 },
		{ .name = "k", .slots = 1U << 20, .levels = 1 },
		{ .name = "k", .slots = 128, .levels = 8 },
		{ .name = "k", .clockid = CLOCK_MONOTONIC },
		{ .name = "k", .clockid = CLOCK_BOOTTIME },
		{ .name = "k", .max_pending = S64_MAX },
		{ .name = "k", .flags = TIMEWHEEL_BIND_NODE, .node = 0 },
		{ .name = "a name that is longer than any thread's" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct timewheel *wheel = timewheel_create(&cases[i]);

		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(wheel), 0, "case %u", i);
		if (IS_ERR(wheel))
			continue;
		if (cases[i].tick_ns)
			KUNIT_EXPECT_EQ(test, wheel->tick_ns, cases[i].tick_ns);
		KUNIT_EXPECT_EQ(test, wheel->max_pending, cases[i].max_pending);
		timewheel_destroy(wheel);
	}
}

/* 0 is the default, and that is the module's. */
static void create_defaults(struct kunit *test)
{
	const struct timewheel_params params = { .name = "kunit" };
	struct timewheel *wheel = env_wheel_of(test, &params);
	struct timewheel *system = timewheel_system();

	KUNIT_ASSERT_NOT_NULL(test, system);
	KUNIT_EXPECT_EQ(test, wheel->tick_ns, system->tick_ns);
	KUNIT_EXPECT_EQ(test, wheel->core.mask, system->core.mask);
	KUNIT_EXPECT_EQ(test, wheel->core.levels, system->core.levels);
	KUNIT_EXPECT_EQ(test, wheel->clockid, CLOCK_MONOTONIC);
	KUNIT_EXPECT_EQ(test, wheel->max_pending, 0);
}

/* The worker is where it was wanted, and what. */
static void create_worker(struct kunit *test)
{
	const struct timewheel_params params = {
		.name = "kunit-cpu",
		.flags = TIMEWHEEL_BIND_CPU | TIMEWHEEL_REALTIME,
		.cpu = 0,
	};
	struct timewheel *wheel = env_wheel_of(test, &params);
	struct test_timeout *tt = env_timeouts(test, 1);
	char comm[TASK_COMM_LEN];

	KUNIT_EXPECT_EQ(test, wheel->worker->nr_cpus_allowed, 1);
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(0, wheel->worker->cpus_ptr));
	KUNIT_EXPECT_EQ(test, wheel->worker->policy, SCHED_FIFO);
	get_task_comm(comm, wheel->worker);
	KUNIT_EXPECT_STREQ(test, comm, "timewheel/kunit");
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired)));
}

/* Up to max_wheels, which those that are gone do not count against. */
static void create_too_many(struct kunit *test)
{
	const struct timewheel_params params = { .name = "kunit", .slots = 2, .levels = 1 };
	struct timewheel **wheels;
	unsigned int nr, again, i;

	wheels = kunit_kcalloc(test, param_max_wheels, sizeof(*wheels), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, wheels);
	for (nr = 0; nr < param_max_wheels; nr++) {
		wheels[nr] = timewheel_create(&params);
		if (IS_ERR(wheels[nr]))
			break;
	}
	/* None existed before but those of open files, of which there are none. */
	KUNIT_EXPECT_EQ(test, nr, param_max_wheels);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(timewheel_create(&params)), -ENOSPC);
	for (again = 0; again < 2 && nr; again++) {
		timewheel_destroy(wheels[--nr]);
		wheels[nr] = timewheel_create(&params);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(wheels[nr]), 0);
		if (!IS_ERR(wheels[nr]))
			nr++;
	}
	while (nr)
		timewheel_destroy(wheels[--nr]);
}

/* The wheel that all share works, and destroying none is no mistake. */
static void create_system(struct kunit *test)
{
	struct timewheel *wheel = timewheel_system();
	struct test_timeout *tt = env_timeouts(test, 1);

	KUNIT_ASSERT_NOT_NULL(test, wheel);
	KUNIT_EXPECT_EQ(test, timewheel_start(wheel), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, 3 * TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired)));
	KUNIT_EXPECT_FALSE(test, timewheel_cancel_sync(&tt->t));
	timewheel_destroy(NULL);
}

static struct kunit_case create_cases[] = {
	KUNIT_CASE(create_refuses),
	KUNIT_CASE(create_cpu_out_of_range),
	KUNIT_CASE(create_accepts),
	KUNIT_CASE(create_defaults),
	KUNIT_CASE(create_worker),
	KUNIT_CASE(create_too_many),
	KUNIT_CASE(create_system),
	{}
};

static struct kunit_suite create_suite = {
	.name = "timewheel_create",
	.init = env_init,
	.exit = env_exit,
	.test_cases = create_cases,
};

kunit_test_suite(create_suite);
