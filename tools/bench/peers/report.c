// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was measured of one peer with so many live.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../common.h"
#include "report.h"

/* The parent and its child of the moment both have it. */
static struct report *report;

/* An empty one, for the child that is started next. */
struct report *report_begin(void)
{
	if (!report) {
		report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (report == MAP_FAILED)
			die("mmap()");
	}
	memset(report, 0, sizeof(*report));
	return report;
}

/* @cpu: NAN if it is not known. */
void report_cost(enum operation what, double value, double cpu)
{
	report->figures[what] = (struct figure){
		.there = true, .value = value, .cpu = cpu,
		.p50 = NAN, .p99 = NAN, .p999 = NAN,
	};
}

void report_value(enum operation what, double value)
{
	report_cost(what, value, NAN);
}

/* The mean of @nr values, and how they are spread. */
void report_quantiles(enum operation what, double *sorted, unsigned int nr)
{
	struct figure *figure = &report->figures[what];
	double sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		sum += sorted[i];
	report_value(what, sum / nr);
	figure->p50 = sorted[nr / 2];
	figure->p99 = sorted[nr * 99ULL / 100];
	figure->p999 = sorted[nr * 999ULL / 1000];
}

void report_none(enum operation what, const char *reason)
{
	report->figures[what].there = false;
	snprintf(report->figures[what].reason, REASON_BYTES, "%s", reason);
}

noreturn void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(report->reason, REASON_BYTES, format, args);
	va_end(args);
	_exit(1);
}
