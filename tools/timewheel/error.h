/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors name the cause and the cure.
 */
#ifndef ERROR_H
#define ERROR_H

#include <stdnoreturn.h>

#define EXIT_USAGE	2

/* The command that runs, for messages and --help. */
struct command;

noreturn void fail(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
noreturn void fail_errno(int err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
noreturn void fail_arm(int err);
noreturn void fail_usage(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* ERROR_H */
