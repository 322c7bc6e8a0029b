// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durations as people write them: 250ms, 2s, 1h30m, 1.5.
 *
 * A duration is a number of seconds, or one or more numbers that each have a
 * unit, the longest first.  Each number may have a fraction.  What is less than
 * a nanosecond counts as one, for a timeout must not be early.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "duration.h"

#define NS_PER_US	1000ULL
#define NS_PER_MS	1000000ULL
#define NS_PER_S	1000000000ULL
#define NS_PER_MIN	(60 * NS_PER_S)
#define NS_PER_H	(60 * NS_PER_MIN)
#define NS_PER_D	(24 * NS_PER_H)

/* Digits of a fraction that count one by one. */
#define FRACTION_DIGITS	18

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit units[] = {
	{ "d", NS_PER_D },
	{ "h", NS_PER_H },
	{ "min", NS_PER_MIN },
	{ "ms", NS_PER_MS },
	{ "m", NS_PER_MIN },
	{ "s", NS_PER_S },
	{ "us", NS_PER_US },
	{ "\302\265s", NS_PER_US },	/* micro sign */
	{ "\316\274s", NS_PER_US },	/* Greek mu */
	{ "ns", 1 },
};

/* One number: its whole part, and its fraction as part / scale. */
struct number {
	uint64_t whole;
	uint64_t part;
	uint64_t scale;
	bool rest;
};

static int take_number(const char **text, struct number *n)
{
	const char *p = *text;
	int digits = 0;
	bool any = false;

	*n = (struct number){ .scale = 1 };
	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(n->whole, 10, &n->whole) ||
		    __builtin_add_overflow(n->whole, *p - '0', &n->whole))
			return -ERANGE;
		any = true;
	}
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++) {
			any = true;
			if (digits++ < FRACTION_DIGITS) {
				n->part = n->part * 10 + (*p - '0');
				n->scale *= 10;
			} else if (*p != '0') {
				n->rest = true;
			}
		}
	}
	if (!any)
		return -EINVAL;
	*text = p;
	return 0;
}

static const struct unit *take_unit(const char **text)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		len = strlen(units[i].name);
		if (strncmp(*text, units[i].name, len))
			continue;
		/* The end, or the next number: "mx" is no minute. */
		if ((*text)[len] && !isdigit((unsigned char)(*text)[len]) &&
		    (*text)[len] != '.')
			continue;
		*text += len;
		return &units[i];
	}
	return NULL;
}

static int add_number(uint64_t *sum, const struct number *n, uint64_t unit)
{
	unsigned __int128 ns, part;

	part = (unsigned __int128)n->part * unit;
	ns = part / n->scale;
	if (part % n->scale || n->rest)
		ns++;
	ns += (unsigned __int128)n->whole * unit + *sum;
	if (ns > UINT64_MAX)
		return -ERANGE;
	*sum = ns;
	return 0;
}

/**
 * duration_parse() - read a duration
 * @text: what a person wrote
 * @ns: out: its nanoseconds
 *
 * Return: 0, -EINVAL when it is no duration, -ERANGE when it is longer than 64
 * bits of nanoseconds hold (584 years).
 */
int duration_parse(const char *text, uint64_t *ns)
{
	uint64_t sum = 0, last = UINT64_MAX;
	const struct unit *unit;
	struct number n;
	int err;

	do {
		err = take_number(&text, &n);
		if (err)
			return err;
		if (!*text && last == UINT64_MAX) {
			err = add_number(&sum, &n, NS_PER_S);
			break;
		}
		unit = take_unit(&text);
		if (!unit || unit->ns >= last)
			return -EINVAL;
		last = unit->ns;
		err = add_number(&sum, &n, unit->ns);
	} while (*text && !err);

	if (!err)
		*ns = sum;
	return err;
}

static const char *format_long(uint64_t ns, char *buf)
{
	uint64_t s = ns / NS_PER_S + (ns % NS_PER_S >= NS_PER_S / 2);
	static const struct {
		const char *name;
		uint64_t s;
	} parts[] = { { "d", 86400 }, { "h", 3600 }, { "m", 60 }, { "s", 1 } };
	size_t i, len = 0;

	buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (s < parts[i].s)
			continue;
		len += snprintf(buf + len, DURATION_LEN - len, "%ju%s",
				s / parts[i].s, parts[i].name);
		s %= parts[i].s;
	}
	return buf;
}

/**
 * duration_format() - write a duration for a person
 * @ns: nanoseconds
 * @buf: where to
 *
 * Four digits at least, in the unit that suits; whole seconds from a minute up.
 *
 * Return: @buf.
 */
const char *duration_format(uint64_t ns, char buf[static DURATION_LEN])
{
	const char *unit;
	uint64_t scale;
	char *end;

	if (ns >= NS_PER_MIN)
		return format_long(ns, buf);
	if (ns < NS_PER_US) {
		snprintf(buf, DURATION_LEN, "%juns", ns);
		return buf;
	}
	scale = ns >= NS_PER_S ? NS_PER_S : ns >= NS_PER_MS ? NS_PER_MS : NS_PER_US;
	unit = ns >= NS_PER_S ? "s" : ns >= NS_PER_MS ? "ms" : "us";
	snprintf(buf, DURATION_LEN, "%ju.%03ju", ns / scale,
		 ns % scale * 1000 / scale);
	for (end = buf + strlen(buf) - 1; *end == '0'; end--)
		;
	if (*end != '.')
		end++;
	strcpy(end, unit);
	return buf;
}
