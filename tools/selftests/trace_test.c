// SPDX-License-Identifier: GPL-2.0-only
/*
 * What 'timewheel replay' makes of a trace: its lines, and what follows from them; and
 * the random numbers of 'timewheel trace'.  Needs no module.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap.h"
#include "lateness.h"
#include "pareto.h"
#include "reference.h"
#include "support.h"
#include "trace_file.h"

static struct trace_file trace;

/* Begin to read what is in memory. */
static void start(const char *text, size_t len)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	ASSERT_OK(fd);
	ASSERT_EQ(len, write(fd, text, len));
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	trace_start(&trace, fd, "trace");
}

static void expect_event(uint64_t time_ns, uint64_t connection, enum trace_what what)
{
	struct trace_event event;

	ASSERT_EQ(1, trace_next(&trace, &event));
	EXPECT_EQ(time_ns, event.time_ns);
	EXPECT_EQ(connection, event.connection);
	EXPECT_EQ(what, event.what);
}

static void expect_end(void)
{
	struct trace_event event;

	EXPECT_EQ(0, trace_next(&trace, &event));
	close(trace.fd);
}

/* All is well up to line @line, of which it says @words. */
static void expect_wrong_bytes(const char *text, size_t len, uint64_t line,
			       const char *words)
{
	struct trace_event event;
	int ret;

	start(text, len);
	do {
		ret = trace_next(&trace, &event);
	} while (ret > 0);
	if (ret != -EINVAL || trace.line != line || !strstr(trace.error, words))
		test_fail(__FILE__, __LINE__, "%d in line %llu: '%s', not '%s' in line %llu",
			  ret, (unsigned long long)trace.line, trace.error, words,
			  (unsigned long long)line);
	close(trace.fd);
}

static void expect_wrong(const char *text, uint64_t line, const char *words)
{
	expect_wrong_bytes(text, strlen(text), line, words);
}

static void start_text(const char *text)
{
	start(text, strlen(text));
}

TEST(lines_are_read)
{
	start_text("# a comment\n"
		   "\n"
		   "0 0 open\n"
		   " \t1.5  7\trequest  # and why\n"
		   "1.500000000 18446744073709551615 close\n"
		   "1700000000.123456789 007 open#\n"
		   "18446744073.709551615 1 request\n"
		   "#\n");
	expect_event(0, 0, TRACE_OPEN);
	expect_event(1500 * MS, 7, TRACE_REQUEST);
	EXPECT_EQ(4, trace.line);
	expect_event(1500 * MS, UINT64_MAX, TRACE_CLOSE);
	expect_event(1700000000 * SEC + 123456789, 7, TRACE_OPEN);
	expect_event(UINT64_MAX, 1, TRACE_REQUEST);
	expect_end();
}

TEST(a_wrong_line_says_what_is_wrong)
{
	expect_wrong("", 0, "no event in it");
	expect_wrong("# only this\n", 0, "no event in it");
	expect_wrong("0 1 open\n1 1\n", 2, "three words");
	expect_wrong("0 1 open twice\n", 1, "three words");
	expect_wrong("0 1 opened\n", 1, "no event 'opened'");
	expect_wrong("0 1 OPEN\n", 1, "no event 'OPEN'");
	expect_wrong("0 x1 open\n", 1, "'x1' is no connection");
	expect_wrong("0 -1 open\n", 1, "'-1' is no connection");
	expect_wrong("0 18446744073709551616 open\n", 1, "18446744073709551615 is the most");
	expect_wrong("-1 1 open\n", 1, "'-1' is no time");
	expect_wrong("1e3 1 open\n", 1, "'1e3' is no time");
	expect_wrong(".5 1 open\n", 1, "'.5' is no time");
	expect_wrong("5. 1 open\n", 1, "'5.' is no time");
	expect_wrong("12:00:01 1 open\n", 1, "'12:00:01' is no time");
	expect_wrong("0.1234567890 1 open\n", 1, "more than 9 decimals");
	expect_wrong("18446744073.709551616 1 open\n", 1, "18446744073 seconds are the most");
	expect_wrong("99999999999999999999 1 open\n", 1, "too large");
	expect_wrong("1 1 open\n\n0.999999999 1 close\n", 3,
		     "goes back, from 1.000000000 to 0.999999999");
	expect_wrong("0 1 open\n0 1 close", 2, "no newline");
	expect_wrong("0 1 open\r\n", 1, "byte 9 is 0x0d");
	expect_wrong("0 1 \303\266pen\n", 1, "byte 5 is 0xc3");
}

TEST(bytes_that_are_no_text_are_refused)
{
	static const char zeros[100], zero_in_line[] = "0 1 open\n0 1\0close\n";

	expect_wrong_bytes(zeros, sizeof(zeros), 1, "no newline");
	expect_wrong_bytes(zero_in_line, sizeof(zero_in_line) - 1, 2, "byte 4 is 0x00");
	expect_wrong_bytes("\177ELF\2\1\1\n", 8, 1, "byte 1 is 0x7f");
}

TEST(a_line_has_its_limit)
{
	static char text[1 << 20];

	memset(text, '#', sizeof(text));
	expect_wrong_bytes(text, sizeof(text), 1, "longer than 255 bytes");
	memcpy(text, "0 1 open\n", 9);
	expect_wrong_bytes(text, sizeof(text), 2, "longer than 255 bytes");
	/* The longest there may be, and one more. */
	memset(text, ' ', sizeof(text));
	memcpy(text, "0 1 open", 8);
	text[TRACE_LINE_MAX] = '\n';
	start(text, TRACE_LINE_MAX + 1);
	expect_event(0, 1, TRACE_OPEN);
	expect_end();
	text[TRACE_LINE_MAX] = ' ';
	text[TRACE_LINE_MAX + 1] = '\n';
	expect_wrong_bytes(text, TRACE_LINE_MAX + 2, 1, "longer than 255 bytes");
}

/* Lines that lie across the ends of what is read at once. */
TEST(a_long_trace_is_read_in_pieces)
{
	unsigned int i;
	char line[64];
	FILE *file;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	ASSERT_OK(fd);
	file = fdopen(fd, "w");
	ASSERT_TRUE(file);
	for (i = 0; i < 100000; i++) {
		snprintf(line, sizeof(line), "%u %u request\n", i, i * i);
		fputs(line, file);
	}
	fflush(file);
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	trace_start(&trace, fd, "trace");
	for (i = 0; i < 100000; i++)
		expect_event(i * SEC, i * i, TRACE_REQUEST);
	EXPECT_EQ(100000, trace.line);
	expect_end();
}

/* What follows from @text, when a connection may be silent for a second. */
static struct reference judge(const char *text)
{
	struct reference ref = { .idle_ns = SEC };
	struct trace_event event;
	struct verdict verdict;

	start_text(text);
	while (trace_next(&trace, &event) > 0)
		ASSERT_EQ(0, reference_event(&ref, &event, &verdict));
	reference_end(&ref);
	close(trace.fd);
	return ref;
}

static void expect_rule(const char *text, uint64_t armed, uint64_t refreshed,
			uint64_t cancelled, uint64_t expired)
{
	struct reference ref = judge(text);

	if (ref.armed != armed || ref.refreshed != refreshed ||
	    ref.cancelled != cancelled || ref.expired != expired)
		test_fail(__FILE__, __LINE__, "%llu %llu %llu %llu of\n%s",
			  (unsigned long long)ref.armed, (unsigned long long)ref.refreshed,
			  (unsigned long long)ref.cancelled,
			  (unsigned long long)ref.expired, text);
}

TEST(what_follows_from_a_trace)
{
	/* Closed in time. */
	expect_rule("0 1 open\n0.9 1 close\n", 1, 0, 1, 0);
	/* Silent for as long as it may be, and for a nanosecond more. */
	expect_rule("0 1 open\n1 1 close\n", 1, 0, 1, 0);
	expect_rule("0 1 open\n1.000000001 1 close\n", 1, 0, 0, 1);
	/* Each request puts it off. */
	expect_rule("0 1 open\n0.9 1 request\n1.8 1 request\n2.7 1 close\n",
		    1, 2, 1, 0);
	/* A request after the expiry arms it anew; it may expire again. */
	expect_rule("0 1 open\n2 1 request\n4 1 request\n4.5 1 request\n5 1 close\n",
		    3, 1, 1, 2);
	expect_rule("0 1 open\n2 1 request\n4 1 close\n", 2, 0, 0, 2);
	/* Without a close it expires, after the end. */
	expect_rule("0 1 open\n", 1, 0, 0, 1);
	expect_rule("0 1 open\n0.5 1 request\n", 1, 1, 0, 1);
	expect_rule("0 1 open\n7 2 open\n", 2, 0, 0, 2);
	/* A number can be used again. */
	expect_rule("0 1 open\n0 1 close\n0 1 open\n2 1 close\n", 2, 0, 1, 1);
	/* Each has its own. */
	expect_rule("0 1 open\n0.6 2 open\n1.2 2 request\n1.2 1 request\n"
		    "2.1 2 close\n2.2 1 close\n", 3, 1, 2, 1);
}

TEST(what_a_reference_counts)
{
	struct reference ref = judge("5 1 open\n5 2 open\n6 1 close\n6 3 open\n"
				     "6 3 close\n8.5 2 close\n");

	EXPECT_EQ(6, ref.events);
	EXPECT_EQ(5 * SEC, ref.first_ns);
	EXPECT_EQ(8500 * MS, ref.last_ns);
	EXPECT_EQ(3, ref.connections);
	EXPECT_EQ(2, ref.most);
}

TEST(what_cannot_be_is_refused)
{
	struct reference ref = { .idle_ns = SEC };
	struct trace_event event = { .connection = 7, .what = TRACE_CLOSE };
	struct verdict verdict;

	EXPECT_EQ(-ENOENT, reference_event(&ref, &event, &verdict));
	event.what = TRACE_REQUEST;
	EXPECT_EQ(-ENOENT, reference_event(&ref, &event, &verdict));
	event.what = TRACE_OPEN;
	EXPECT_EQ(0, reference_event(&ref, &event, &verdict));
	EXPECT_EQ(-EEXIST, reference_event(&ref, &event, &verdict));
	event.what = TRACE_CLOSE;
	EXPECT_EQ(0, reference_event(&ref, &event, &verdict));
	EXPECT_EQ(-ENOENT, reference_event(&ref, &event, &verdict));
	/* What was refused was not counted. */
	EXPECT_EQ(2, ref.events);
	reference_end(&ref);
}

/* Many at once, in numbers that have nothing but their low or their high bits. */
TEST(connections_are_found)
{
	struct connections c = { };
	uint64_t i, stride, strides[] = { 1, 4096, 1ULL << 32, 1ULL << 47 };

	for (stride = 0; stride < 4; stride++) {
		for (i = 0; i < 100000; i++)
			connections_add(&c, i * strides[stride])->last_ns = i;
		EXPECT_EQ(100000, c.nr);
		for (i = 0; i < 100000; i += 2)
			connections_remove(&c, i * strides[stride]);
		for (i = 0; i < 100000; i++) {
			struct connection *found = connections_find(&c, i * strides[stride]);

			ASSERT_EQ(i % 2, !!found);
			if (found)
				EXPECT_EQ(i, found->last_ns);
		}
		EXPECT_EQ(50000, c.nr);
		connections_clear(&c);
		EXPECT_FALSE(connections_find(&c, 1));
	}
}

/* Against the plainest way: the least of all, looked for one by one. */
TEST(a_heap_has_the_first)
{
	static uint64_t keys[500];	/* 0: not in it */
	uint64_t random = 1;
	struct heap heap = { };
	unsigned int i, turn, first;

	for (turn = 0; turn < 20000; turn++) {
		i = pareto_random(&random) % 500;
		if (keys[i] && pareto_random(&random) % 2) {
			heap_remove(&heap, i);
			keys[i] = 0;
		} else {
			keys[i] = 1 + pareto_random(&random) % 1000;
			ASSERT_EQ(0, heap_set(&heap, i, keys[i]));
		}
		first = 500;
		for (i = 0; i < 500; i++)
			if (keys[i] && (first == 500 || keys[i] < keys[first]))
				first = i;
		if (first == 500) {
			ASSERT_EQ(0, heap.nr);
			continue;
		}
		ASSERT_EQ(first, heap_first(&heap)->index);
		ASSERT_EQ(keys[first], heap_first(&heap)->key);
	}
	heap_clear(&heap);
}

TEST(percentiles_of_lateness)
{
	static struct lateness late;
	uint64_t i, seen;

	EXPECT_EQ(0, lateness_percentile(&late, 99));
	for (i = 1; i <= 100000; i++)
		lateness_add(&late, i);
	EXPECT_EQ(100000, late.max);
	EXPECT_EQ(100000, lateness_percentile(&late, 100));
	for (i = 1; i < 1000; i++) {
		seen = lateness_permille(&late, i);
		EXPECT_LE(i * 100, seen);
		EXPECT_LE(seen, i * 100 + i * 100 / 32);
	}
	EXPECT_EQ(lateness_permille(&late, 990), lateness_percentile(&late, 99));
	lateness_add(&late, UINT64_MAX);
	EXPECT_EQ((long long)UINT64_MAX, lateness_percentile(&late, 100));
}

/* What SplitMix64 gives for the seed 1234567, as its author has it. */
TEST(random_numbers_are_the_same_everywhere)
{
	uint64_t state = 1234567;

	EXPECT_EQ(6457827717110365317, pareto_random(&state));
	EXPECT_EQ(3203168211198807973, pareto_random(&state));
	EXPECT_EQ(9817491932198370423ULL, pareto_random(&state));
}

/* With the exponent 3/2 an eighth is above 4 times the least, a thousandth above 100. */
TEST(intervals_have_a_heavy_tail)
{
	unsigned int i, above_4 = 0, above_100 = 0;
	uint64_t state = 1, number;

	for (i = 0; i < 1000000; i++) {
		number = pareto_next(&state, 3000000);
		ASSERT_LE(1000000, number);
		above_4 += number > 4000000;
		above_100 += number > 100000000;
	}
	EXPECT_LE(124000, above_4);
	EXPECT_LE(above_4, 126000);
	EXPECT_LE(880, above_100);
	EXPECT_LE(above_100, 1120);
	/* Nor does the greatest mean overflow. */
	for (i = 0; i < 100000; i++)
		ASSERT_LE(pareto_next(&state, UINT64_MAX), 1ULL << 62);
}
