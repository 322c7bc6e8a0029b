// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of a command line.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "error.h"

/**
 * argument_number() - read a process id, a descriptor and the like
 * @command: the command
 * @what: what the number is
 * @text: what was typed
 * @min: the least that it may be
 *
 * Return: the number; it does not return for anything else.
 */
int argument_number(const char *command, const char *what, const char *text, int min)
{
	long value;

	errno = 0;
	value = strtol(text, NULL, 10);
	if (!*text || strspn(text, "0123456789") != strlen(text) || errno ||
	    value < min || value > INT32_MAX)
		fail_usage(command, "'%s' is no %s", text, what);
	return value;
}
