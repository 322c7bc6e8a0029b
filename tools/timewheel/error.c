// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors name the cause and the cure.
 */
#include <errno.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "module.h"

static void say(const char *format, va_list args)
{
	fflush(stdout);
	fputs("timewheel: ", stderr);
	vfprintf(stderr, format, args);
}

/**
 * fail() - say what went wrong and end with status 1
 * @format: a sentence
 */
noreturn void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

/**
 * fail_errno() - the same, with the system's word for an error behind it
 * @err: a positive errno
 * @format: what could not be done
 */
noreturn void fail_errno(int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(EXIT_FAILURE);
}

static void say_limit(const char *whose, const char *parameter)
{
	uint64_t value;

	fprintf(stderr, "timewheel: no more timeouts: the limit %s is reached.\n",
		whose);
	if (module_parameter(parameter, &value))
		fprintf(stderr, "It is the parameter %s of the module.\n", parameter);
	else
		fprintf(stderr, "It is the parameter %s of the module, now %ju.\n",
			parameter, value);
	fprintf(stderr,
		"To raise it, write 'options timewheel %s=NUMBER' to a file in\n"
		"/etc/modprobe.d and load the module anew.\n", parameter);
}

/**
 * fail_arm() - a timeout could not be armed: say which limit was in the way
 * @err: a positive errno
 */
noreturn void fail_arm(int err)
{
	fflush(stdout);
	switch (err) {
	case EDQUOT:
		say_limit("of one user", "max_user_timeouts");
		break;
	case ENOSPC:
		say_limit("of all users together", "max_timeouts");
		break;
	case ENOMEM:
		fprintf(stderr,
			"timewheel: no more timeouts: the kernel has no memory for them.\n"
			"Look at the control group's memory.max and at free memory.\n");
		break;
	default:
		fail_errno(err, "cannot arm a timeout");
	}
	exit(EXIT_FAILURE);
}

/**
 * fail_usage() - the command line is wrong: say how, and end with status 2
 * @command: the command, or NULL for none
 * @format: what is wrong
 */
noreturn void fail_usage(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fprintf(stderr, "\nTry 'timewheel%s%s --help'.\n", command ? " " : "",
		command ? command : "");
	exit(EXIT_USAGE);
}
