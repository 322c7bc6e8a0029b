// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace of connections, read a line at a time: TIME CONNECTION EVENT.
 *
 * However long the file is, what is held of it is one buffer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "decimal.h"
#include "error.h"
#include "trace_file.h"

#define FORM	"TIME CONNECTION EVENT, such as '12.5 7 request'"

static const char *const events[] = {
	[TRACE_OPEN] = "open",
	[TRACE_REQUEST] = "request",
	[TRACE_CLOSE] = "close",
};

__printf(2, 3) static int wrong(struct trace_file *trace, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(trace->error, sizeof(trace->error), format, args);
	va_end(args);
	return -EINVAL;
}

/**
 * trace_start() - begin to read a trace
 * @trace: what to fill
 * @fd: the file, where it is to be read from; the caller's
 * @name: what it is called, kept by the caller
 */
void trace_start(struct trace_file *trace, int fd, const char *name)
{
	trace->name = name;
	trace->fd = fd;
	trace->line = 0;
	trace->last_ns = 0;
	trace->any = false;
	trace->error[0] = '\0';
	trace->filled = 0;
	trace->taken = 0;
}

/* Read on behind what was not parsed; 0 at the end of the file. */
static ssize_t fill(struct trace_file *trace)
{
	ssize_t len;

	trace->filled -= trace->taken;
	memmove(trace->buffer, trace->buffer + trace->taken, trace->filled);
	trace->taken = 0;
	do {
		len = read(trace->fd, trace->buffer + trace->filled,
			   sizeof(trace->buffer) - trace->filled);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return wrong(trace, "it cannot be read from here on: %s", strerror(errno));
	trace->filled += len;
	return len;
}

/* The next line, with its newline made the end of a string; 0 if there is none. */
static int next_line(struct trace_file *trace, char **line, size_t *len)
{
	size_t have;
	char *end;
	ssize_t got = 1;

	for (;;) {
		*line = trace->buffer + trace->taken;
		have = trace->filled - trace->taken;
		end = memchr(*line, '\n', have);
		if (end || have > TRACE_LINE_MAX || !got)
			break;
		got = fill(trace);
		if (got < 0)
			return got;
	}
	if (!end && !have)
		return 0;
	trace->line++;
	*len = end ? (size_t)(end - *line) : have;
	if (*len > TRACE_LINE_MAX)
		return wrong(trace, "it is longer than %d bytes, and so no line of a trace;\n"
			     "write " FORM, TRACE_LINE_MAX);
	if (!end)
		return wrong(trace, "it has no newline at its end: the file was cut off there.\n"
			     "If the line is whole, add a newline; else remove the line");
	*end = '\0';
	trace->taken += *len + 1;
	return 1;
}

/* A comment ends what counts; the rest is to be text. */
static int check_text(struct trace_file *trace, char *line, size_t len)
{
	char *comment = memchr(line, '#', len);
	size_t i;

	if (comment) {
		*comment = '\0';
		len = comment - line;
	}
	for (i = 0; i < len; i++)
		if (line[i] != '\t' && (line[i] < ' ' || line[i] > '~'))
			return wrong(trace, "its byte %zu is 0x%02x, which is no text; write\n"
				     FORM ", and end lines with a newline alone",
				     i + 1, (unsigned char)line[i]);
	return 0;
}

static char *word(char **rest)
{
	return strtok_r(NULL, " \t", rest);
}

static int parse_time(struct trace_file *trace, const char *text, uint64_t *ns)
{
	switch (decimal_parse(text, ns)) {
	case 0:
		break;
	case -E2BIG:
		return wrong(trace, "the time '%s' has more than %d decimals; round it",
			     text, DECIMAL_PLACES);
	case -ERANGE:
		return wrong(trace, "the time '%s' is too large: %ju seconds are the most.\n"
			     "It is to be in seconds, from an origin that is the same in all lines",
			     text, UINT64_MAX / DECIMAL_ONE);
	default:
		return wrong(trace, "'%s' is no time; write seconds, such as 12 or 12.345678901",
			     text);
	}
	if (trace->any && *ns < trace->last_ns)
		return wrong(trace, "the time goes back, from %ju.%09ju to %s;\n"
			     "sort the lines by time: sort -s -n", trace->last_ns / DECIMAL_ONE,
			     trace->last_ns % DECIMAL_ONE, text);
	return 0;
}

static int parse_connection(struct trace_file *trace, const char *text, uint64_t *number)
{
	if (strspn(text, "0123456789") != strlen(text))
		return wrong(trace, "'%s' is no connection; give each a number", text);
	errno = 0;
	*number = strtoull(text, NULL, 10);
	if (errno)
		return wrong(trace, "the connection %s is too large: %ju is the most", text,
			     UINT64_MAX);
	return 0;
}

static int parse_what(struct trace_file *trace, const char *text, enum trace_what *what)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (!strcmp(text, events[i])) {
			*what = i;
			return 0;
		}
	}
	return wrong(trace, "there is no event '%s'; the events are open, request and close",
		     text);
}

/* Returns 0 if there is nothing in it but a comment. */
static int parse(struct trace_file *trace, char *line, size_t len, struct trace_event *event)
{
	char *rest = line, *time, *connection, *what;
	int err;

	err = check_text(trace, line, len);
	if (err)
		return err;
	time = word(&rest);
	if (!time)
		return 0;
	connection = word(&rest);
	what = word(&rest);
	if (!what || word(&rest))
		return wrong(trace, "it is to have three words; write " FORM);
	err = parse_time(trace, time, &event->time_ns);
	if (!err)
		err = parse_connection(trace, connection, &event->connection);
	if (!err)
		err = parse_what(trace, what, &event->what);
	return err ? err : 1;
}

/**
 * trace_next() - read the next event
 * @trace: the trace
 * @event: out: the event
 *
 * Return: 1; 0 at the end; -EINVAL if @trace->error says what is wrong with line
 * @trace->line.
 */
int trace_next(struct trace_file *trace, struct trace_event *event)
{
	size_t len = 0;
	char *line;
	int ret;

	do {
		ret = next_line(trace, &line, &len);
		if (ret < 0)
			return ret;
		if (!ret && !trace->any) {
			trace->line = 0;
			return wrong(trace, "there is no event in it; write lines of\n" FORM);
		}
		if (!ret)
			return 0;
		ret = parse(trace, line, len, event);
	} while (!ret);
	if (ret < 0)
		return ret;
	trace->any = true;
	trace->last_ns = event->time_ns;
	return 1;
}
