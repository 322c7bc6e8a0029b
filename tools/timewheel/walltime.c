// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times of the wall clock, as text and as nanoseconds since 1970.
 *
 * The text is that of RFC 3339, in UTC, with nine digits behind the second:
 * each time has one spelling, and the order of texts is that of times.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "walltime.h"

#define NS_PER_S	1000000000ULL
#define NEVER		"never"

static const char pattern[] = "0000-00-00T00:00:00.000000000Z";

/**
 * walltime_format() - write a time
 * @ns: nanoseconds since 1970, or WALLTIME_NEVER
 * @buf: where to
 *
 * Return: @buf.
 */
const char *walltime_format(uint64_t ns, char buf[static WALLTIME_LEN])
{
	time_t seconds = ns / NS_PER_S;
	struct tm tm;

	if (ns == WALLTIME_NEVER) {
		strcpy(buf, NEVER);
		return buf;
	}
	gmtime_r(&seconds, &tm);
	/* 64 bits end in the year 2554. */
	snprintf(buf, WALLTIME_LEN, "%04u-%02u-%02uT%02u:%02u:%02u.%09uZ",
		 (tm.tm_year + 1900U) % 10000, (tm.tm_mon + 1U) % 100,
		 tm.tm_mday % 100U, tm.tm_hour % 100U, tm.tm_min % 100U,
		 tm.tm_sec % 100U, (unsigned int)(ns % NS_PER_S));
	return buf;
}

static int digits(const char **text, int nr)
{
	int value = 0;

	while (nr--)
		value = value * 10 + (*(*text)++ - '0');
	/* The character behind them is known from the pattern. */
	(*text)++;
	return value;
}

/**
 * walltime_parse() - read a time
 * @text: its characters
 * @len: how many
 * @ns: out: nanoseconds since 1970, or WALLTIME_NEVER
 *
 * Return: 0, or -EINVAL for what walltime_format() does not write.
 */
int walltime_parse(const char *text, size_t len, uint64_t *ns)
{
	char again[WALLTIME_LEN];
	const char *p = text;
	struct tm tm = { };
	uint64_t value;
	time_t seconds;
	int fraction;
	size_t i;

	if (len == strlen(NEVER) && !memcmp(text, NEVER, len)) {
		*ns = WALLTIME_NEVER;
		return 0;
	}
	if (len != sizeof(pattern) - 1)
		return -EINVAL;
	for (i = 0; i < len; i++)
		if (pattern[i] == '0' ? text[i] < '0' || text[i] > '9' :
					text[i] != pattern[i])
			return -EINVAL;

	tm.tm_year = digits(&p, 4) - 1900;
	tm.tm_mon = digits(&p, 2) - 1;
	tm.tm_mday = digits(&p, 2);
	tm.tm_hour = digits(&p, 2);
	tm.tm_min = digits(&p, 2);
	tm.tm_sec = digits(&p, 2);
	fraction = digits(&p, 9);
	seconds = timegm(&tm);
	if (seconds < 0 || __builtin_mul_overflow(seconds, NS_PER_S, &value) ||
	    __builtin_add_overflow(value, fraction, &value) || value == WALLTIME_NEVER)
		return -EINVAL;
	/* The 31st of June was made the 1st of July. */
	if (memcmp(walltime_format(value, again), text, len))
		return -EINVAL;
	*ns = value;
	return 0;
}
