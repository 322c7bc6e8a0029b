/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small harness: the macros have the names and the order of arguments of the
 * kernel's kselftest_harness.h, and what it prints is KTAP.
 *
 * It is one of our own so that the selftests build with nothing but a compiler.
 * Each test runs in a process of its own, which is killed with all it started
 * when its time is over.  Exit status: 0 all passed, 1 one failed, 4 all skipped.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdnoreturn.h>
#include <string.h>

#define __printf(format, first) \
	__attribute__((__format__ \
	(printf, format, first)))

struct test {
	const char *name;
	void (*run)(void);
	unsigned int limit_s;
	struct test *next;
};

void test_register(struct test *test);
unsigned int test_slowness(void);
__printf(3, 4) void test_fail(const char *file, int line, const char *format, ...);
noreturn void test_stop(void);
__printf(1, 2) noreturn void test_skip(const char *format, ...);
__printf(1, 2) void test_say(const char *format, ...);

/* A slow machine, emulated, shared, is given this much. */
#define TEST(test_name)	TEST_LIMIT(test_name, 120)

#define TEST_LIMIT(test_name, seconds) \
	static void test_name##_run(void); \
	static struct test test_name##_test = { \
		.name = #test_name, .run = test_name##_run, .limit_s = (seconds), \
	}; \
	__attribute__((constructor)) static void test_name##_register(void) \
	{ \
		test_register(&test_name##_test); \
	} \
	static void test_name##_run(void)

#define SKIP(...) test_skip(__VA_ARGS__)

/* Both sides are compared as 64-bit numbers. */
#define TEST_COMPARE(expected, op, seen, stop) \
	do { \
		long long __expected = (long long)(expected); \
		long long __seen = (long long)(seen); \
		if (!(__expected op __seen)) { \
			test_fail(__FILE__, __LINE__, \
				  "expected %s (%lld) %s %s (%lld)", #expected, \
				  __expected, #op, #seen, __seen); \
			if (stop) \
				test_stop(); \
		} \
	} while (0)

#define EXPECT_EQ(expected, seen) TEST_COMPARE(expected, ==, seen, false)
#define EXPECT_NE(expected, seen) TEST_COMPARE(expected, !=, seen, false)
#define EXPECT_LE(expected, seen) TEST_COMPARE(expected, <=, seen, false)
#define EXPECT_LT(expected, seen) TEST_COMPARE(expected, <, seen, false)
#define EXPECT_GE(expected, seen) TEST_COMPARE(expected, >=, seen, false)
#define EXPECT_GT(expected, seen) TEST_COMPARE(expected, >, seen, false)
#define EXPECT_TRUE(seen) EXPECT_NE(0, !!(seen))
#define EXPECT_FALSE(seen) EXPECT_EQ(0, !!(seen))

#define ASSERT_EQ(expected, seen) TEST_COMPARE(expected, ==, seen, true)
#define ASSERT_NE(expected, seen) TEST_COMPARE(expected, !=, seen, true)
#define ASSERT_LE(expected, seen) TEST_COMPARE(expected, <=, seen, true)
#define ASSERT_LT(expected, seen) TEST_COMPARE(expected, <, seen, true)
#define ASSERT_GE(expected, seen) TEST_COMPARE(expected, >=, seen, true)
#define ASSERT_GT(expected, seen) TEST_COMPARE(expected, >, seen, true)
#define ASSERT_TRUE(seen) ASSERT_NE(0, !!(seen))

/* A system call that is to fail, and how. */
#define EXPECT_ERR(err, call) \
	do { \
		long __ret, __err; \
		errno = 0; \
		__ret = (call); \
		__err = errno; \
		if (__ret != -1 || __err != (err)) \
			test_fail(__FILE__, __LINE__, \
				  "expected %s to fail with %s, but it gave %ld (%s)", \
				  #call, #err, __ret, strerror(__err)); \
	} while (0)

/* A system call that is to work. */
#define ASSERT_OK(call) \
	do { \
		long __ret = (call); \
		if (__ret < 0) { \
			test_fail(__FILE__, __LINE__, "%s failed: %s", #call, \
				  strerror(errno)); \
			test_stop(); \
		} \
	} while (0)

#endif /* HARNESS_H */
