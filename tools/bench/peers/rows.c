// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is printed: a line of JSON for each figure, or a table.
 */
#include <math.h>
#include <stdio.h>

#include "rows.h"

static const char *unit_of(enum operation what, const char *time_unit)
{
	return operation_names[what].unit ?: time_unit;
}

static void json_optional(const char *name, double value)
{
	if (!isnan(value))
		printf(",\"%s\":%.6g", name, value);
}

/**
 * rows_json() - one object, on a line
 * @peer: whose figure
 * @what: of which operation
 * @live: with how many live
 * @time_unit: "ns" or "instructions"
 * @figure: the figure
 */
void rows_json(const struct peer *peer, enum operation what, unsigned int live,
	       const char *time_unit, const struct figure *figure)
{
	printf("{\"part\":\"user\",\"peer\":\"%s\",\"operation\":\"%s\"", peer->name,
	       operation_names[what].name);
	printf(",\"live\":%u,\"unit\":\"%s\"", live, unit_of(what, time_unit));
	if (figure->there) {
		printf(",\"value\":%.6g", figure->value);
		json_optional("cpu", figure->cpu);
		json_optional("p50", figure->p50);
		json_optional("p99", figure->p99);
		json_optional("p999", figure->p999);
	} else {
		printf(",\"value\":null,\"reason\":\"%s\"", figure->reason);
	}
	printf("}\n");
	fflush(stdout);
}

void rows_heading(enum operation what, unsigned int live, const char *time_unit)
{
	printf("\n%s, %u live (%s)\n  %-20s %12s %12s %12s %12s %12s\n",
	       operation_names[what].name, live, unit_of(what, time_unit), "", "each",
	       "all CPU", "p50", "p99", "p99.9");
}

static int decimals(double value)
{
	return fabs(value) < 1 ? 3 : fabs(value) < 100;
}

static void column(double value)
{
	if (!isnan(value))
		printf(" %12.*f", decimals(value), value);
	else
		printf(" %12s", "");
}

void rows_line(const struct peer *peer, const struct figure *figure)
{
	printf("  %-20s", peer->name);
	if (figure->there) {
		printf(" %12.*f", decimals(figure->value), figure->value);
		column(figure->cpu);
		column(figure->p50);
		column(figure->p99);
		column(figure->p999);
	} else {
		printf("  %s", figure->reason);
	}
	printf("\n");
	fflush(stdout);
}
