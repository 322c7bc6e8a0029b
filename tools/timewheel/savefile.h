/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file in which timeouts outlive the module.
 */
#ifndef SAVEFILE_H
#define SAVEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct saved_timeout - one of them
 * @wall_ns: its deadline, in nanoseconds since 1970, or WALLTIME_NEVER
 * @cookie: the user_data it was armed with
 * @id: what it was called
 * @interval_ns: its period, 0 for a one-shot
 * @slack_ns: its slack
 * @no_event: it signalled an eventfd and queued no event
 * @offset: where its line begins in the file that was read
 */
struct saved_timeout {
	uint64_t wall_ns;
	uint64_t cookie;
	uint64_t id;
	uint64_t interval_ns;
	uint64_t slack_ns;
	bool no_event;
	uint64_t offset;
};

/**
 * struct saved_wheel - the wheel they were on
 * @own: it was the context's own; else the rest does not count
 * @tick_ns: length of a tick
 * @slots: slots of a level
 * @levels: levels
 * @clockid: CLOCK_MONOTONIC or CLOCK_BOOTTIME
 */
struct saved_wheel {
	bool own;
	uint64_t tick_ns;
	uint32_t slots;
	uint32_t levels;
	int clockid;
};

/**
 * struct savefile - what a file says
 * @saved_ns: when it was written, in nanoseconds since 1970
 * @wheel: the wheel
 * @nr: how many timeouts there are
 * @timeouts: the timeouts
 */
struct savefile {
	uint64_t saved_ns;
	struct saved_wheel wheel;
	size_t nr;
	struct saved_timeout *timeouts;
};

/**
 * struct savefile_error - what is wrong with a file
 * @offset: the byte with which it begins
 * @what: a clause
 */
struct savefile_error {
	uint64_t offset;
	char what[120];
};

int savefile_write(FILE *file, const struct savefile *saved);
int savefile_read(FILE *file, struct savefile *saved, struct savefile_error *error);
void savefile_free(struct savefile *saved);

#endif /* SAVEFILE_H */
