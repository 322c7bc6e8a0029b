// SPDX-License-Identifier: GPL-2.0-only
/*
 * The durations that the timewheel command takes.
 */
#include "duration.h"
#include "support.h"

static void expect_ns(uint64_t ns, const char *text)
{
	uint64_t seen = 0;
	int ret = duration_parse(text, &seen);

	if (ret || seen != ns)
		test_fail(__FILE__, __LINE__, "'%s' gave %d, %llu ns instead of %llu",
			  text, ret, (unsigned long long)seen, (unsigned long long)ns);
}

static void expect_error(int err, const char *text)
{
	uint64_t seen = 4711;
	int ret = duration_parse(text, &seen);

	if (ret != err || seen != 4711)
		test_fail(__FILE__, __LINE__, "'%s' gave %d, %llu ns instead of %d",
			  text, ret, (unsigned long long)seen, err);
}

TEST(as_people_write_them)
{
	expect_ns(250 * MS, "250ms");
	expect_ns(2 * SEC, "2s");
	expect_ns(5400 * SEC, "1h30m");
	expect_ns(1500 * MS, "1.5s");
	expect_ns(10000, "10us");
	expect_ns(500, "500ns");
	expect_ns(24 * HOUR, "1d");
	expect_ns(60 * SEC, "1m");
	expect_ns(60 * SEC, "1min");
	expect_ns(10000, "10\302\265s");
	expect_ns(5 * SEC, "5");
	expect_ns(0, "0");
	expect_ns(0, "0s");
	expect_ns(100 * MS, ".1");
	expect_ns(100 * MS, "0.1");
	expect_ns(2 * SEC, "2.");
	expect_ns(SEC + 1, "1.000000001");
	expect_ns(25 * HOUR + 61 * SEC + 1 * MS + 1000 + 1, "1d1h1m1s1ms1us1ns");
	expect_ns(90 * SEC, "1.5m");
	expect_ns(61500 * MS, "1m1.5s");
	expect_ns(7 * SEC, "007");
}

/* Less than a nanosecond counts as one: a timeout must not be early. */
TEST(fractions_are_rounded_up)
{
	expect_ns(1, "0.0000000001");
	expect_ns(2, "1.5ns");
	expect_ns(1, "0.00000000000000000000000001ns");
	expect_ns(334 * MS / 1000 + 1, "0.00033400000000001");
	expect_ns(1, "1.0000000000000000000000000000ns");
}

TEST(garbage_is_refused)
{
	static const char *const garbage[] = {
		"", " ", "s", "ms", "abc", "1x", "1 s", " 1s", "1s ", "-1", "-1s", "+1",
		"1..5", ".", "1.5.5", "1e3", "0x10", "1sm", "1s1", "1s1h", "1m1m", "1h1h",
		"1ms1s", "nan", "inf", "1h-30m", "1S", "1H", "1,5s", "1msx", "1s.",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(garbage); i++)
		expect_error(-EINVAL, garbage[i]);
}

TEST(what_does_not_fit_is_refused)
{
	expect_ns(UINT64_MAX, "18446744073709551615ns");
	expect_ns(UINT64_MAX, "18446744073.709551615");
	expect_error(-ERANGE, "18446744073709551616ns");
	expect_error(-ERANGE, "18446744073.709551616");
	expect_error(-ERANGE, "18446744073.7095516151");
	expect_error(-ERANGE, "99999999999999999999999999s");
	expect_error(-ERANGE, "300000d");
	expect_error(-ERANGE, "213503d24h");
	expect_error(-ERANGE, "18446744073s709551616ns");
}

static void expect_text(const char *text, uint64_t ns)
{
	char buf[DURATION_LEN];

	duration_format(ns, buf);
	if (strcmp(text, buf))
		test_fail(__FILE__, __LINE__, "%llu ns is '%s' instead of '%s'",
			  (unsigned long long)ns, buf, text);
}

TEST(as_people_read_them)
{
	expect_text("0ns", 0);
	expect_text("999ns", 999);
	expect_text("1us", 1000);
	expect_text("1.5us", 1500);
	expect_text("250ms", 250 * MS);
	expect_text("1.234ms", 1234567);
	expect_text("10s", 10 * SEC);
	expect_text("59.999s", 59999999999ULL);
	expect_text("1m", 60 * SEC);
	expect_text("1h30m", 5400 * SEC);
	expect_text("1d1s", 86401 * SEC);
	expect_text("213503d23h34m34s", UINT64_MAX);
}
