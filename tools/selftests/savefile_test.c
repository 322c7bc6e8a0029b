// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of 'timewheel save', byte by byte, and the plan that restore makes of
 * it.  Needs no module.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "crc32c.h"
#include "plan.h"
#include "savefile.h"
#include "support.h"
#include "walltime.h"

/* The format as it is documented; the sums were computed elsewhere. */
#define ONCE		" interval 0 slack 0 event "
#define LATE_ONCE	" interval 0 slack 18446744073709551615 event "
#define EACH_MINUTE	" interval 60000000000 slack 0 event "
#define QUIET		" interval 9223372036854775807 slack 1048576 no-event "
#define ID(n)		" id 429496729" #n

static const char golden[] =
	"timewheel-timeouts 1 46db148d\n"
	"saved 2026-11-30T12:24:43.123456789Z 0884ea72\n"
	"wheel system 189c73d3\n"
	"count 4 5ccaf819\n"
	"due 2026-12-01T12:24:43.000000001Z cookie 42" ID(6) ONCE "4c8e2436\n"
	"due 2000-02-29T23:59:59.999999999Z cookie 18446744073709551615" ID(7) QUIET "6d40dd0e\n"
	"due never cookie 0" ID(8) LATE_ONCE "0344020c\n"
	"due 1970-01-01T00:00:00.000000000Z cookie 7" ID(9) EACH_MINUTE "08e4e01c\n"
	"end 8cd0cd03\n";

#define GOLDEN_LEN	(sizeof(golden) - 1)

static struct saved_timeout golden_timeouts[] = {
	{ .wall_ns = 1796127883 * SEC + 1, .cookie = 42, .id = 4294967296 },
	{ .wall_ns = 951868799 * SEC + 999999999, .cookie = UINT64_MAX, .id = 4294967297,
	  .interval_ns = INT64_MAX, .slack_ns = 1048576, .no_event = true },
	{ .wall_ns = WALLTIME_NEVER, .id = 4294967298, .slack_ns = UINT64_MAX },
	{ .wall_ns = 0, .cookie = 7, .id = 4294967299, .interval_ns = 60 * SEC },
};

static const struct savefile golden_saved = {
	.saved_ns = 1796041483 * SEC + 123456789,
	.nr = ARRAY_SIZE(golden_timeouts),
	.timeouts = golden_timeouts,
};

static int read_bytes(const char *bytes, size_t len, struct savefile *saved,
		      struct savefile_error *error)
{
	FILE *file = fmemopen((void *)bytes, len, "r");
	int ret;

	if (!file)
		test_stop();
	ret = savefile_read(file, saved, error);
	fclose(file);
	return ret;
}

static size_t write_bytes(const struct savefile *saved, char *bytes, size_t size)
{
	FILE *file = fmemopen(bytes, size, "w");
	size_t len;

	if (!file)
		test_stop();
	EXPECT_EQ(0, savefile_write(file, saved));
	fflush(file);
	len = ftell(file);
	fclose(file);
	return len;
}

static void expect_refused(const char *bytes, size_t len, uint64_t offset, const char *word)
{
	struct savefile_error error = { .offset = 4711 };
	struct savefile saved;
	int ret = read_bytes(bytes, len, &saved, &error);

	if (ret != -EBADMSG || error.offset != offset || !strstr(error.what, word))
		test_fail(__FILE__, __LINE__,
			  "expected byte %" PRIu64 ", '%s'; got %d, byte %" PRIu64 ", '%s'",
			  offset, word, ret, error.offset, error.what);
	EXPECT_TRUE(!saved.timeouts);
	EXPECT_EQ(0, saved.nr);
}

/* --- a file of lines whose sums are right ------------------------------------- */

static char made[8192];
static size_t made_len;

static void line(const char *text)
{
	made_len += sprintf(made + made_len, "%s %08" PRIx32 "\n", text,
			    crc32c(0, text, strlen(text)));
}

static void end(void)
{
	made_len += sprintf(made + made_len, "end ");
	made_len += sprintf(made + made_len, "%08" PRIx32 "\n",
			    crc32c(0, made, made_len - 1));
}

/* All up to the count. */
static void begin(const char *wheel, const char *count)
{
	made_len = 0;
	line("timewheel-timeouts 1");
	line("saved 2026-11-30T12:24:43.123456789Z");
	line(wheel);
	line(count);
}

#define DUE	"due 2026-12-01T12:24:43.000000001Z "
#define REST	" interval 0 slack 0 event"

/* One line, which is wrong at the byte @at of it. */
static void expect_line(const char *text, size_t at, const char *word)
{
	size_t start;

	begin("wheel system", "count 1");
	start = made_len;
	line(text);
	end();
	expect_refused(made, made_len, start + at, word);
}

/* The same for the third line. */
static void expect_wheel(const char *text, size_t at, const char *word)
{
	begin(text, "count 0");
	end();
	expect_refused(made, made_len,
		       strlen("timewheel-timeouts 1 46db148d\n") +
		       strlen("saved 2026-11-30T12:24:43.123456789Z 0884ea72\n") + at, word);
}

TEST(the_checksum_is_crc32c)
{
	/* The check value that catalogues of checksums give. */
	EXPECT_EQ(0xe3069283, crc32c(0, "123456789", 9));
	EXPECT_EQ(0xe3069283, crc32c(crc32c(0, "1234", 4), "56789", 5));
	EXPECT_EQ(0, crc32c(0, "", 0));
}

TEST(is_written_as_documented)
{
	static char bytes[4096];
	size_t len = write_bytes(&golden_saved, bytes, sizeof(bytes));

	EXPECT_EQ(GOLDEN_LEN, len);
	if (len != GOLDEN_LEN || memcmp(bytes, golden, len))
		test_fail(__FILE__, __LINE__, "it wrote:\n%.*s", (int)len, bytes);
}

TEST(is_read_as_written)
{
	struct savefile_error error;
	struct savefile saved;
	size_t i;

	ASSERT_EQ(0, read_bytes(golden, GOLDEN_LEN, &saved, &error));
	EXPECT_EQ(golden_saved.saved_ns, saved.saved_ns);
	EXPECT_FALSE(saved.wheel.own);
	ASSERT_EQ(golden_saved.nr, saved.nr);
	for (i = 0; i < saved.nr; i++) {
		EXPECT_EQ(golden_timeouts[i].wall_ns, saved.timeouts[i].wall_ns);
		EXPECT_EQ(golden_timeouts[i].cookie, saved.timeouts[i].cookie);
		EXPECT_EQ(golden_timeouts[i].id, saved.timeouts[i].id);
		EXPECT_EQ(golden_timeouts[i].interval_ns, saved.timeouts[i].interval_ns);
		EXPECT_EQ(golden_timeouts[i].slack_ns, saved.timeouts[i].slack_ns);
		EXPECT_EQ(golden_timeouts[i].no_event, saved.timeouts[i].no_event);
	}
	savefile_free(&saved);
}

TEST(an_own_wheel_is_kept)
{
	struct savefile_error error;
	struct savefile saved;

	begin("wheel own tick 250000 slots 512 levels 3 clock boottime", "count 0");
	end();
	ASSERT_EQ(0, read_bytes(made, made_len, &saved, &error));
	EXPECT_TRUE(saved.wheel.own);
	EXPECT_EQ(250000, saved.wheel.tick_ns);
	EXPECT_EQ(512, saved.wheel.slots);
	EXPECT_EQ(3, saved.wheel.levels);
	EXPECT_EQ(CLOCK_BOOTTIME, saved.wheel.clockid);
	EXPECT_EQ(0, saved.nr);
	savefile_free(&saved);
}

/* Each byte, to each other value. */
TEST_LIMIT(every_changed_byte_is_noticed, 300)
{
	struct savefile_error error;
	struct savefile saved;
	size_t i, bound, begins = 0;
	int with, ret;

	begin("wheel system", "count 1");
	line(DUE "cookie 42 id 1" REST);
	end();
	for (i = 0; i < made_len; i++) {
		const char old = made[i];

		/* Without the last newline, the end of the file is what is wrong. */
		bound = i == made_len - 1 ? made_len : i;
		for (with = 1; with < 256; with++) {
			made[i] = old ^ with;
			ret = read_bytes(made, made_len, &saved, &error);
			/* Found in its line, and not behind what was changed. */
			if (ret != -EBADMSG || error.offset < begins ||
			    error.offset > bound)
				test_fail(__FILE__, __LINE__,
					  "byte %zu xor %d: %d, offset %" PRIu64, i, with, ret,
					  error.offset);
		}
		made[i] = old;
		if (old == '\n')
			begins = i + 1;
	}
	/* What was tried is a good file. */
	ASSERT_EQ(0, read_bytes(made, made_len, &saved, &error));
	savefile_free(&saved);
}

TEST(every_truncation_is_noticed)
{
	size_t len;

	for (len = 0; len < GOLDEN_LEN; len++)
		expect_refused(golden, len, len,
			       !len || golden[len - 1] == '\n' ?
			       "ends before its last line" : "in the middle of a line");
}

TEST(every_added_byte_is_noticed)
{
	static const char added[] = { '0', ' ', '\n', '\0', 'e', '\377' };
	struct savefile_error error;
	char bytes[GOLDEN_LEN + 1];
	struct savefile saved;
	size_t i, n;

	for (i = 0; i <= GOLDEN_LEN; i++)
		for (n = 0; n < sizeof(added); n++) {
			memcpy(bytes, golden, i);
			bytes[i] = added[n];
			memcpy(bytes + i + 1, golden + i, GOLDEN_LEN - i);
			if (read_bytes(bytes, sizeof(bytes), &saved, &error) != -EBADMSG)
				test_fail(__FILE__, __LINE__, "%#x at %zu", added[n], i);
		}
	expect_refused(bytes, sizeof(bytes), GOLDEN_LEN, "follows the last line");
}

TEST(every_lost_byte_is_noticed)
{
	struct savefile_error error;
	char bytes[GOLDEN_LEN];
	struct savefile saved;
	size_t i;

	for (i = 0; i < GOLDEN_LEN; i++) {
		memcpy(bytes, golden, i);
		memcpy(bytes + i, golden + i + 1, GOLDEN_LEN - i - 1);
		if (read_bytes(bytes, GOLDEN_LEN - 1, &saved, &error) != -EBADMSG)
			test_fail(__FILE__, __LINE__, "without byte %zu", i);
	}
}

/* Each line is whole and right, and the last one has a sum of its own. */
TEST(lines_are_not_lost_doubled_or_exchanged)
{
	size_t third, last;
	char old_end[13];

	begin("wheel system", "count 2");
	line(DUE "cookie 1 id 1" REST);
	last = made_len;
	end();
	expect_refused(made, made_len, last, "there are 1 timeouts instead of the 2");

	begin("wheel system", "count 1");
	line(DUE "cookie 1 id 1" REST);
	last = made_len;
	line(DUE "cookie 2 id 2" REST);
	end();
	expect_refused(made, made_len, last, "more timeouts than the 1");

	begin("wheel system", "count 0");
	last = made_len;
	line(DUE "cookie 1 id 1" REST);
	end();
	expect_refused(made, made_len, last, "more timeouts than the 0");

	begin("wheel system", "count 2");
	line(DUE "cookie 1 id 1" REST);
	line(DUE "cookie 2 id 2" REST);
	last = made_len;
	end();
	memcpy(old_end, made + last, sizeof(old_end));
	begin("wheel system", "count 2");
	line(DUE "cookie 2 id 2" REST);
	line(DUE "cookie 1 id 1" REST);
	memcpy(made + last, old_end, sizeof(old_end));
	expect_refused(made, last + sizeof(old_end), last,
		       "the file before this, its last line, was altered");

	begin("wheel system", "count 3");
	line(DUE "cookie 9 id 9" REST);
	line(DUE "cookie 1 id 4" REST);
	third = made_len;
	line(DUE "cookie 2 id 9" REST);
	end();
	expect_refused(made, made_len, third, "the timeout 9 is here a second time");
}

TEST(numbers_have_bounds_and_one_spelling)
{
	const size_t cookie = strlen(DUE "cookie ");

	expect_line(DUE "cookie 18446744073709551616 id 1" REST, cookie,
		    "more than 18446744073709551615");
	expect_line(DUE "cookie 99999999999999999999999 id 1" REST, cookie, "more than");
	expect_line(DUE "cookie 01 id 1" REST, cookie, "begins with 0");
	expect_line(DUE "cookie -1 id 1" REST, cookie, "a number should be here");
	expect_line(DUE "cookie +1 id 1" REST, cookie, "a number should be here");
	expect_line(DUE "cookie  1 id 1" REST, cookie, "a number should be here");
	expect_line(DUE "cookie 0x1 id 1" REST, cookie + 1, "' id ' should be here");
	expect_line(DUE "cookie 1 id 1 interval 9223372036854775808 slack 0 event",
		    strlen(DUE "cookie 1 id 1 interval "), "more than 9223372036854775807");
	expect_line(DUE "cookie 1 id 1 interval 0 slack 18446744073709551616 event",
		    strlen(DUE "cookie 1 id 1 interval 0 slack "), "more than");
	expect_line(DUE "cookie 1 id 1 interval 0 slack 0 events",
		    strlen(DUE "cookie 1 id 1" REST), "checksum");
	expect_line("due 2554-07-21T23:34:33.709551615Z cookie 1 id 1" REST, 4, "a time");
	expect_line("due 2555-01-01T00:00:00.000000000Z cookie 1 id 1" REST, 4, "a time");
	expect_line("due 1969-12-31T23:59:59.999999999Z cookie 1 id 1" REST, 4, "a time");
	expect_line("due 2026-02-29T00:00:00.000000000Z cookie 1 id 1" REST, 4, "a time");
	expect_line("due 2026-12-01T24:00:00.000000000Z cookie 1 id 1" REST, 4, "a time");
	expect_line("due 2026-12-01T12:24:43.00000000Z cookie 1 id 1" REST, 4, "a time");
	expect_line("due 2026-12-01t12:24:43.000000000Z cookie 1 id 1" REST, 4, "a time");
	expect_line("due", 0, "'end' should be here");
	expect_line("due ", 4, "a time");

	expect_wheel("wheel own tick 18446744073709551616 slots 1 levels 1 clock monotonic",
		     strlen("wheel own tick "), "more than");
	expect_wheel("wheel own tick 1 slots 4294967296 levels 1 clock monotonic",
		     strlen("wheel own tick 1 slots "), "more than 4294967295");
	expect_wheel("wheel own tick 1 slots 1 levels 4294967296 clock monotonic",
		     strlen("wheel own tick 1 slots 1 levels "), "more than 4294967295");
	expect_wheel("wheel own tick 1 slots 1 levels 1 clock realtime",
		     strlen("wheel own tick 1 slots 1 levels 1 clock "),
		     "'monotonic' should be here");
}

/* A count costs what is there, not what it says. */
TEST(a_huge_count_buys_nothing)
{
	size_t count;

	begin("wheel system", "count 4294967295");
	line(DUE "cookie 1 id 1" REST);
	count = made_len;
	end();
	expect_refused(made, made_len, count, "instead of the 4294967295");

	begin("wheel system", "count 4294967296");
	end();
	expect_refused(made, made_len,
		       strlen("timewheel-timeouts 1 46db148d\n") +
		       strlen("saved 2026-11-30T12:24:43.123456789Z 0884ea72\n") +
		       strlen("wheel system 189c73d3\n") + strlen("count "),
		       "more than 4294967295");
}

TEST(a_line_has_a_bound)
{
	static char zeros[100000], digits[100000];

	expect_refused(zeros, sizeof(zeros), 0, "too long");
	memset(digits, '1', sizeof(digits));
	expect_refused(digits, sizeof(digits), 0, "too long");
	memset(digits, '\n', sizeof(digits));
	expect_refused(digits, sizeof(digits), 0, "'timewheel-timeouts 1' should be here");
}

/* Put in, take out or change a few characters of a line. */
static size_t garble(char *text, size_t len, uint64_t *state)
{
	static const char with[] = "0123456789 -+TZe\n\0";
	unsigned int times = 1 + random_next(state) % 3;
	size_t at;

	while (times--) {
		at = random_next(state) % (len + 1);
		switch (random_next(state) % 3) {
		case 0:
			memmove(text + at + 1, text + at, len++ - at);
			break;
		case 1:
			if (at < len)
				memmove(text + at, text + at + 1, --len - at);
			continue;
		}
		text[at] = with[random_next(state) % sizeof(with)];
		if (at == len)
			len++;
	}
	return len;
}

/* Whatever stands in it, with right sums: what is taken is written the same. */
TEST(each_content_has_one_spelling)
{
	static const char *const lines[] = {
		"timewheel-timeouts 1", "saved 2026-11-30T12:24:43.123456789Z",
		"wheel own tick 1 slots 512 levels 3 clock boottime", "count 3",
		DUE "cookie 18446744073709551615 id 4 interval 0 slack 0 event",
		"due never cookie 0 id 6 interval 1 slack 18446744073709551615 no-event",
		"due 1970-01-01T00:00:00.000000000Z cookie 7 id 7" REST, "end",
	};
	const size_t nr = ARRAY_SIZE(lines);
	unsigned int round, taken = 0;
	struct savefile_error error;
	static char again[8192];
	struct savefile saved;
	uint64_t state = 1;
	size_t i, start, which;

	for (round = 0; round < 4000; round++) {
		which = random_next(&state) % nr;
		made_len = 0;
		for (i = 0; i < nr; i++) {
			start = made_len;
			made_len += sprintf(made + made_len, "%s", lines[i]);
			if (i == which)
				made_len = start + garble(made + start, made_len - start, &state);
			if (i == nr - 1)
				start = 0;
			made_len += sprintf(made + made_len, " %08" PRIx32 "\n",
					    crc32c(0, made + start, made_len - start));
		}
		if (read_bytes(made, made_len, &saved, &error))
			continue;
		taken++;
		if (write_bytes(&saved, again, sizeof(again)) != made_len ||
		    memcmp(again, made, made_len))
			test_fail(__FILE__, __LINE__, "taken, but written otherwise:\n%.*s",
				  (int)made_len, made);
		savefile_free(&saved);
	}
	/* Digits of a cookie, say. */
	EXPECT_LT(0, taken);
	EXPECT_LT(taken, round);
}

/* --- the plan ------------------------------------------------------------------ */

/* The wall clock is this far ahead: the machine started at that time. */
#define BOOT	(1000000 * SEC)

static struct planned plan_one(struct saved_timeout timeout, uint64_t wall_now, int64_t ahead)
{
	const struct savefile saved = { .nr = 1, .timeouts = &timeout };
	struct planned *p = plan_make(&saved, wall_now, ahead), one;

	if (!p)
		test_stop();
	one = *p;
	free(p);
	return one;
}

static void expect_planned(struct planned p, uint64_t wall_ns, uint64_t deadline_ns,
			   uint64_t next_ns, uint64_t missed)
{
	EXPECT_EQ(wall_ns, p.wall_ns);
	EXPECT_EQ(deadline_ns, p.deadline_ns);
	EXPECT_EQ(next_ns, p.next_ns);
	EXPECT_EQ(missed, p.missed);
}

TEST(a_one_shot_keeps_its_time_of_day)
{
	const uint64_t now = BOOT + 100 * SEC;
	struct planned p;

	p = plan_one((struct saved_timeout){ .wall_ns = now + 1 }, now, BOOT);
	expect_planned(p, now + 1, 100 * SEC + 1, 0, 0);
	EXPECT_FALSE(p.overdue);
	p = plan_one((struct saved_timeout){ .wall_ns = now }, now, BOOT);
	expect_planned(p, now, 100 * SEC, 0, 0);
	EXPECT_TRUE(p.overdue);
	p = plan_one((struct saved_timeout){ .wall_ns = BOOT + 1 }, now, BOOT);
	expect_planned(p, BOOT + 1, 1, 0, 0);
	/* At and before the beginning of the clock. */
	expect_planned(plan_one((struct saved_timeout){ .wall_ns = BOOT }, now, BOOT),
		       BOOT, 0, 0, 0);
	expect_planned(plan_one((struct saved_timeout){ .wall_ns = BOOT - 1 }, now, BOOT),
		       BOOT - 1, 0, 0, 0);
	expect_planned(plan_one((struct saved_timeout){ .wall_ns = 0 }, now, BOOT), 0, 0, 0, 0);
}

TEST(never_stays_never)
{
	struct planned p;

	p = plan_one((struct saved_timeout){ .wall_ns = WALLTIME_NEVER }, BOOT, BOOT);
	expect_planned(p, WALLTIME_NEVER, UINT64_MAX, 0, 0);
	EXPECT_FALSE(p.overdue);
	p = plan_one((struct saved_timeout){ .wall_ns = WALLTIME_NEVER, .interval_ns = 1 },
		     BOOT, BOOT);
	expect_planned(p, WALLTIME_NEVER, UINT64_MAX, 0, 0);
	/* A wall clock that is behind: the sum does not fit. */
	p = plan_one((struct saved_timeout){ .wall_ns = WALLTIME_NEVER - 1 }, SEC, -10 * SEC);
	expect_planned(p, WALLTIME_NEVER - 1, UINT64_MAX, 0, 0);
}

TEST(a_periodic_one_keeps_its_phase)
{
	const uint64_t now = BOOT + 100 * SEC;
	struct saved_timeout t = { .interval_ns = 7 * SEC };

	/* Not due: as it is. */
	t.wall_ns = now + 3 * SEC;
	expect_planned(plan_one(t, now, BOOT), now + 3 * SEC, 103 * SEC, 0, 0);
	/* Due now, or within the period: that instant. */
	t.wall_ns = now;
	expect_planned(plan_one(t, now, BOOT), now, 100 * SEC, 0, 0);
	t.wall_ns = now - 7 * SEC + 1;
	expect_planned(plan_one(t, now, BOOT), now - 7 * SEC + 1, 93 * SEC + 1, 0, 0);
	/* A period ago: now is the last instant, and that one was missed. */
	t.wall_ns = now - 7 * SEC;
	expect_planned(plan_one(t, now, BOOT), now, 100 * SEC, 0, 1);
	/* 3 s into the period after 14 whole ones. */
	t.wall_ns = now - (14 * 7 + 3) * SEC;
	expect_planned(plan_one(t, now, BOOT), now - 3 * SEC, 97 * SEC, 0, 14);
	/* A million, most of them before the machine started. */
	t.wall_ns = now - 1000000 * SEC;
	t.interval_ns = SEC;
	expect_planned(plan_one(t, now, BOOT), now, 100 * SEC, 0, 1000000);
}

/* The last instant lies before the clock began: at 0, then at the next. */
TEST(a_long_period_spans_the_start_of_the_clock)
{
	const uint64_t now = BOOT + 100 * SEC;
	struct saved_timeout t = { .interval_ns = 1000 * SEC, .wall_ns = BOOT - 300 * SEC };
	struct planned p = plan_one(t, now, BOOT);

	expect_planned(p, BOOT - 300 * SEC, 0, 700 * SEC, 0);
	EXPECT_TRUE(p.overdue);
	/* Two were missed before that. */
	t.wall_ns = BOOT - 2300 * SEC;
	expect_planned(plan_one(t, now, BOOT), BOOT - 300 * SEC, 0, 700 * SEC, 2);
	/* At 0 exactly there is nothing to be moved. */
	t.wall_ns = BOOT;
	expect_planned(plan_one(t, now, BOOT), BOOT, 0, 0, 0);
	/* The longest period there is. */
	t.wall_ns = BOOT - 1;
	t.interval_ns = INT64_MAX;
	expect_planned(plan_one(t, now, BOOT), BOOT - 1, 0, INT64_MAX - 1, 0);
}

/* By the instant they are armed for, then as they stand in the file. */
TEST(overdue_ones_come_in_order)
{
	const uint64_t now = BOOT + 100 * SEC;
	struct saved_timeout timeouts[] = {
		{ .cookie = 5, .wall_ns = now + SEC },
		{ .cookie = 6, .wall_ns = WALLTIME_NEVER },
		{ .cookie = 3, .wall_ns = BOOT - 5 * SEC },
		{ .cookie = 1, .wall_ns = BOOT - 9 * SEC },
		{ .cookie = 4, .wall_ns = BOOT - 5 * SEC },
		/* Its first instant was the earliest, its last is not. */
		{ .cookie = 2, .wall_ns = BOOT - 500 * SEC + 3 * SEC, .interval_ns = 491 * SEC },
	};
	const struct savefile saved = { .nr = ARRAY_SIZE(timeouts), .timeouts = timeouts };
	struct planned *p = plan_make(&saved, now, BOOT);
	size_t i;

	/* 497 s before the start, and 491 s later: 6 s before it. */
	ASSERT_TRUE(p);
	for (i = 0; i < saved.nr; i++)
		EXPECT_EQ(i + 1, p[i].timeout->cookie);
	free(p);
}
