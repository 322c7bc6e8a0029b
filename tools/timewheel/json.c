// SPDX-License-Identifier: GPL-2.0-only
/*
 * One JSON value after the other to stdout, each outermost one on a line.
 */
#include <stdio.h>

#include "json.h"

#define MAX_DEPTH 8

static char closing[MAX_DEPTH];
static bool begun[MAX_DEPTH];
static int depth;

static void put_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void name_it(const char *name)
{
	if (depth) {
		if (begun[depth - 1])
			fputs(", ", stdout);
		begun[depth - 1] = true;
	}
	if (name) {
		put_string(name);
		fputs(": ", stdout);
	}
}

static void open_it(const char *name, char open, char close)
{
	name_it(name);
	putchar(open);
	begun[depth] = false;
	closing[depth++] = close;
}

/**
 * json_object() - begin an object
 * @name: its name
 */
void json_object(const char *name)
{
	open_it(name, '{', '}');
}

/**
 * json_array() - begin an array
 * @name: its name
 */
void json_array(const char *name)
{
	open_it(name, '[', ']');
}

/**
 * json_end() - end the object or array begun last
 */
void json_end(void)
{
	putchar(closing[--depth]);
	if (!depth) {
		putchar('\n');
		fflush(stdout);
	}
}

/**
 * json_u64() - a number
 * @name: its name
 * @value: its value
 */
void json_u64(const char *name, uint64_t value)
{
	name_it(name);
	printf("%ju", value);
}

/**
 * json_s64() - a number
 * @name: its name
 * @value: its value
 */
void json_s64(const char *name, int64_t value)
{
	name_it(name);
	printf("%jd", value);
}

/**
 * json_bool() - true or false
 * @name: its name
 * @value: which
 */
void json_bool(const char *name, bool value)
{
	name_it(name);
	fputs(value ? "true" : "false", stdout);
}

/**
 * json_string() - a string
 * @name: its name
 * @value: its characters
 */
void json_string(const char *name, const char *value)
{
	name_it(name);
	put_string(value);
}
