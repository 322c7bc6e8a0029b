// SPDX-License-Identifier: GPL-2.0-only
/*
 * The demo's table: the wheel's column, and that of its peer.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "demo.h"
#include "duration.h"
#include "json.h"

#define CELL_LEN 40

static const char *const call_names[CALL_REST] = {
	[CALL_SETUP] = "to make ready",
	[CALL_SUBMIT] = "ioctl(SUBMIT)",
	[CALL_READ_EVENTS] = "read() of events",
	[CALL_TIMERFD_CREATE] = "timerfd_create()",
	[CALL_TIMERFD_SETTIME] = "timerfd_settime()",
	[CALL_TIMERFD_READ] = "read() of a timerfd",
	[CALL_TIMERFD_EPOLL] = "epoll_ctl() of a timerfd",
	[CALL_TIMERFD_CLOSE] = "close() of a timerfd",
};

static uint64_t timeout_calls(const struct demo_run *run)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < CALL_REST; i++)
		sum += run->calls[i];
	return sum;
}

static uint64_t percentile(const struct demo_run *run, unsigned int percent)
{
	return run->nr_late ? run->late[(run->nr_late - 1) * percent / 100] : 0;
}

static const char *number(uint64_t n, char *cell)
{
	char digits[24];
	size_t len, i, out = 0;

	len = snprintf(digits, sizeof(digits), "%ju", n);
	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			cell[out++] = ',';
		cell[out++] = digits[i];
	}
	cell[out] = '\0';
	return cell;
}

static const char *bytes(const struct memory_use *use, char *cell)
{
	if (use->bytes < 0)
		strcpy(cell, "not measured");
	else
		snprintf(cell, CELL_LEN, "%.0f B", use->bytes);
	return cell;
}

static void row(const char *label, const char *a, const char *b)
{
	if (b)
		printf("  %-34s %18s %18s\n", label, a, b);
	else
		printf("  %-34s %18s\n", label, a);
}

static void number_row(const char *label, uint64_t a, const uint64_t *b)
{
	char cell_a[CELL_LEN], cell_b[CELL_LEN];

	row(label, number(a, cell_a), b ? number(*b, cell_b) : NULL);
}

static void late_row(const char *label, const struct demo_run *a,
		     const struct demo_run *b, unsigned int percent)
{
	char cell_a[DURATION_LEN], cell_b[DURATION_LEN];

	row(label, duration_format(percentile(a, percent), cell_a),
	    b ? duration_format(percentile(b, percent), cell_b) : NULL);
}

/* What 99 of 100 stay below, by the histogram in the module's books. */
static uint64_t worker_p99(const struct timewheel_stats *stats)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < TIMEWHEEL_LATENESS_BUCKETS - 1; i++) {
		sum += stats->lateness[i];
		if (sum * 100 >= stats->fired * 99)
			break;
	}
	return 1ULL << i;
}

static void worker_row(const struct demo_run *wheel, const struct demo_run *timerfd)
{
	char cell[CELL_LEN], buf[DURATION_LEN];

	snprintf(cell, sizeof(cell), "< %s",
		 duration_format(worker_p99(&wheel->stats), buf));
	row("         p99 of the kernel's part", cell, timerfd ? "-" : NULL);
}

static void call_rows(const struct demo_run *a, const struct demo_run *b)
{
	uint64_t sum;
	char label[64];
	int i;

	sum = b ? timeout_calls(b) : 0;
	number_row("system calls for timeouts", timeout_calls(a), b ? &sum : NULL);
	for (i = 0; i < CALL_REST; i++) {
		if (!a->calls[i] && !(b && b->calls[i]))
			continue;
		snprintf(label, sizeof(label), "  %s", call_names[i]);
		number_row(label, a->calls[i], b ? &b->calls[i] : NULL);
	}
	sum = b ? sum + b->calls[CALL_REST] : 0;
	number_row("system calls of the server in all",
		   timeout_calls(a) + a->calls[CALL_REST], b ? &sum : NULL);
}

/* Descriptors at the time of the most timeouts: each its own, or two in all. */
static uint64_t descriptors(const struct demo_run *run)
{
	return run->wheel ? 2 : run->books.accepted;
}

/**
 * demo_table() - print the table
 * @wheel: the run with the wheel
 * @timerfd: the run with timerfds, or NULL
 */
void demo_table(const struct demo_run *wheel, const struct demo_run *timerfd)
{
	const struct server_books *a = &wheel->books;
	const struct server_books *b = timerfd ? &timerfd->books : NULL;
	char cell_a[CELL_LEN], cell_b[CELL_LEN];
	uint64_t pending, fds;

	puts("");
	row("", wheel->name, timerfd ? timerfd->name : NULL);
	number_row("connections", a->accepted, b ? &b->accepted : NULL);
	number_row("timeouts armed", a->armed, b ? &b->armed : NULL);
	number_row("         rearmed", a->rearmed, b ? &b->rearmed : NULL);
	number_row("         cancelled", a->cancelled, b ? &b->cancelled : NULL);
	number_row("         fired", a->fired, b ? &b->fired : NULL);
	pending = b ? b->armed - b->fired - b->cancelled : 0;
	number_row("         still pending", wheel->stats.pending, b ? &pending : NULL);
	number_row("         fired early", a->early, b ? &b->early : NULL);
	late_row("lateness p50", wheel, timerfd, 50);
	late_row("         p99", wheel, timerfd, 99);
	late_row("         max", wheel, timerfd, 100);
	worker_row(wheel, timerfd);
	row("kernel memory per timeout", bytes(&wheel->memory, cell_a),
	    timerfd ? bytes(&timerfd->memory, cell_b) : NULL);
	fds = timerfd ? descriptors(timerfd) : 0;
	number_row("descriptors for timeouts", descriptors(wheel), timerfd ? &fds : NULL);
	call_rows(wheel, timerfd);

	puts("\n  Lateness is from the deadline to the server's knowing of it; the kernel's part\n"
	     "  ends when the wheel's worker fires (STATS).");
	printf("  Kernel memory: %s,\n  over %s more timeouts%s", wheel->memory.how,
	       number(wheel->memory.nr, cell_a), timerfd ? " and " : ".\n");
	if (timerfd)
		printf("%s timerfds in an epoll set.\n",
		       number(timerfd->memory.nr, cell_b));
}

/**
 * demo_json() - print a run as a JSON object
 * @run: the run
 */
void demo_json(const struct demo_run *run)
{
	const struct server_books *b = &run->books;
	int i;

	json_object(run->wheel ? "timewheel" : "timerfd");
	json_u64("connections", b->accepted);
	json_u64("armed", b->armed);
	json_u64("rearmed", b->rearmed);
	json_u64("cancelled", b->cancelled);
	json_u64("fired", b->fired);
	json_u64("pending", run->wheel ? run->stats.pending :
			    b->armed - b->fired - b->cancelled);
	json_u64("early", b->early + run->clients.early);
	json_u64("starved_clients", run->clients.starved);
	json_u64("late_p50_ns", percentile(run, 50));
	json_u64("late_p99_ns", percentile(run, 99));
	json_u64("late_max_ns", percentile(run, 100));
	if (run->wheel)
		json_u64("late_worker_p99_below_ns", worker_p99(&run->stats));
	json_s64("kernel_bytes_per_timeout",
		 run->memory.bytes < 0 ? -1 : (int64_t)(run->memory.bytes + 0.5));
	json_string("kernel_bytes_by", run->memory.how);
	json_u64("descriptors_for_timeouts", descriptors(run));
	json_u64("calls_for_timeouts", timeout_calls(run));
	json_object("calls");
	for (i = 0; i < CALL_REST; i++)
		if (run->calls[i])
			json_u64(call_names[i], run->calls[i]);
	json_end();
	json_u64("calls_in_all", timeout_calls(run) + run->calls[CALL_REST]);
	json_end();
}
