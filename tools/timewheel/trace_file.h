/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of connections, read a line at a time.
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest line, its newline not counted. */
#define TRACE_LINE_MAX	255

enum trace_what {
	TRACE_OPEN,
	TRACE_REQUEST,
	TRACE_CLOSE,
};

/**
 * struct trace_event - what a line says
 * @time_ns: when, from an origin of the trace's own
 * @connection: its number
 * @what: what happened to it
 */
struct trace_event {
	uint64_t time_ns;
	uint64_t connection;
	enum trace_what what;
};

/**
 * struct trace_file - a trace that is being read
 * @name: for messages
 * @fd: the file
 * @line: the number of the line read last; 0 if what is wrong is in none
 * @last_ns: the time in it
 * @any: there was an event
 * @error: what is wrong with the line, a sentence; empty if nothing is
 * @filled: bytes in @buffer
 * @taken: those of them that were parsed
 * @buffer: what was read ahead; a few of the longest lines fit
 */
struct trace_file {
	const char *name;
	int fd;
	uint64_t line;
	uint64_t last_ns;
	bool any;
	char error[TRACE_LINE_MAX + 256];
	size_t filled;
	size_t taken;
	char buffer[65536];
};

void trace_start(struct trace_file *trace, int fd, const char *name);
int trace_next(struct trace_file *trace, struct trace_event *event);

#endif /* TRACE_FILE_H */
