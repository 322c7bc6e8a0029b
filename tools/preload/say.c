// SPDX-License-Identifier: GPL-2.0-only
/*
 * What --verbose tells, once for each reason and process.
 *
 * A program may have closed its standard error, and have something else there
 * that is not for sentences: it must still be the file that it was at first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "say.h"

static bool verbose;
static struct stat stderr_was;
static atomic_bool said[NR_SAID];

void say_start(void)
{
	verbose = getenv("TIMEWHEEL_VERBOSE") && !fstat(STDERR_FILENO, &stderr_was);
}

static bool stderr_is_same(void)
{
	struct stat now;

	return !fstat(STDERR_FILENO, &now) && now.st_dev == stderr_was.st_dev &&
	       now.st_ino == stderr_was.st_ino;
}

/**
 * say() - tell it, if the user wants to know and has not been told
 * @what: which of them
 * @format: half a sentence, behind the name of the program
 */
void say(enum said what, const char *format, ...)
{
	int err = errno, len, more;
	char text[512];
	va_list args;

	if (!verbose || atomic_exchange(&said[what], true) || !stderr_is_same())
		return;
	len = snprintf(text, sizeof(text), "timewheel: %.64s[%d]: ",
		       program_invocation_short_name, getpid());
	va_start(args, format);
	more = vsnprintf(text + len, sizeof(text) - len, format, args);
	va_end(args);
	len += more < (int)sizeof(text) - len ? more : (int)sizeof(text) - len - 1;
	text[len++] = '\n';
	/* One call, so that the lines of several processes stay whole. */
	syscall(SYS_write, STDERR_FILENO, text, len);
	errno = err;
}
