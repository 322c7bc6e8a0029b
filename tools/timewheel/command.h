/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of timewheel.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <getopt.h>

/**
 * struct command - one of them
 * @name: what is typed
 * @args: its arguments, for the usage line
 * @summary: half a line
 * @help: the rest of --help
 * @run: does it; returns the exit status
 */
struct command {
	const char *name;
	const char *args;
	const char *summary;
	const char *help;
	int (*run)(int argc, char **argv);
};

extern const struct command command_info;
extern const struct command command_sleep;
extern const struct command command_stat;
extern const struct command command_save;
extern const struct command command_restore;
extern const struct command command_run;
extern const struct command command_demo;
extern const struct command command_replay;
extern const struct command command_trace;

void command_help(const struct command *command);
int command_option(const struct command *command, int argc, char **argv,
		   const struct option *options);

#endif /* COMMAND_H */
