// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timewheel command: finds the command asked for and runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "command.h"
#include "error.h"

static const struct command *const commands[] = {
	&command_info,
	&command_sleep,
	&command_stat,
	&command_save,
	&command_restore,
	&command_run,
	&command_demo,
	&command_replay,
	&command_trace,
};

#define NR_COMMANDS ARRAY_SIZE(commands)

static void print_help(void)
{
	size_t i;

	puts("usage: timewheel COMMAND [ARGUMENT]...\n"
	     "\n"
	     "Timeouts in the kernel's timer wheel, by /dev/timewheel.\n");
	for (i = 0; i < NR_COMMANDS; i++)
		printf("  %-7s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n'timewheel COMMAND --help' says more. See also timewheel(1).");
}

/**
 * command_help() - what --help of a command prints
 * @command: the command
 */
void command_help(const struct command *command)
{
	printf("usage: timewheel %s%s%s\n\n%s", command->name,
	       *command->args ? " " : "", command->args, command->help);
}

/**
 * command_option() - the next option of a command line
 * @command: the command
 * @argc: its words
 * @argv: likewise
 * @options: the options it knows besides --help
 *
 * Return: what getopt_long() returns; --help and wrong options don't.
 */
int command_option(const struct command *command, int argc, char **argv,
		   const struct option *options)
{
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, ":h", options, NULL);
	switch (c) {
	case 'h':
		command_help(command);
		exit(EXIT_SUCCESS);
	case '?':
		if (optopt >= '0' && optopt <= '9')
			fail_usage(command->name, "nothing here can be negative: '-%c...'",
				   optopt);
		if (optopt && optopt < 128)
			fail_usage(command->name, "there is no option '-%c'", optopt);
		fail_usage(command->name, "there is no option '%s'", argv[optind - 1]);
	case ':':
		fail_usage(command->name, "the option '%s' wants a value",
			   argv[optind - 1]);
	}
	return c;
}

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	fail_usage(NULL, "there is no command '%s'", name);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2)
		fail_usage(NULL, "which command?");
	if (!strcmp(argv[1], "--version")) {
		puts("timewheel " TIMEWHEEL_VERSION);
		return EXIT_SUCCESS;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (!strcmp(argv[1], "help")) {
		if (argc > 2)
			command_help(find(argv[2]));
		else
			print_help();
		return EXIT_SUCCESS;
	}
	if (argv[1][0] == '-')
		fail_usage(NULL, "there is no option '%s'", argv[1]);

	status = find(argv[1])->run(argc - 1, argv + 1);
	if (fflush(stdout) || ferror(stdout))
		fail("cannot write the output");
	return status;
}
