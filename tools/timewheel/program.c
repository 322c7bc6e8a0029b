// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program behind "--" of a command line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "program.h"

/* As env(1) has it. */
#define EXIT_CANNOT_RUN	126
#define EXIT_NOT_FOUND	127

/**
 * program_take() - cut a command line off at "--"
 * @command: the command
 * @argc: its words; out: those before "--"
 * @argv: likewise
 *
 * Return: the program and its arguments, or NULL if there is no "--".
 */
char **program_take(const char *command, int *argc, char **argv)
{
	int i;

	for (i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		if (i + 1 == *argc)
			fail_usage(command, "which program? Put it behind --");
		*argc = i;
		return argv + i + 1;
	}
	return NULL;
}

/* It can't be run: say so, and end as env(1) does. */
noreturn void program_fail(const char *name, int err)
{
	fprintf(stderr, "timewheel: cannot run %s: %s\n", name, strerror(err));
	exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/**
 * program_exec() - become the program
 * @program: it and its arguments
 */
noreturn void program_exec(char **program)
{
	fflush(stdout);
	execvp(program[0], program);
	program_fail(program[0], errno);
}

static int try_path(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISREG(st.st_mode) && !access(path, X_OK) ? 0 : -EACCES;
}

/**
 * program_find() - the file that program_exec() would run
 * @name: what was typed
 * @path: out: the file
 * @size: room for it
 *
 * Return: 0 or -errno.
 */
int program_find(const char *name, char *path, int size)
{
	const char *dirs = getenv("PATH"), *end;
	int ret, found = -ENOENT;

	if (strchr(name, '/')) {
		if (snprintf(path, size, "%s", name) >= size)
			return -ENAMETOOLONG;
		return try_path(path);
	}
	/* The default of execvp(). */
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (;; dirs = end + 1) {
		end = strchrnul(dirs, ':');
		if (snprintf(path, size, "%.*s/%s", end == dirs ? 1 : (int)(end - dirs),
			     end == dirs ? "." : dirs, name) < size) {
			ret = try_path(path);
			if (!ret)
				return 0;
			if (ret == -EACCES)
				found = ret;
		}
		if (!*end)
			return found;
	}
}
