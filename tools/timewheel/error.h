/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors name the cause and the cure.
 */
#ifndef ERROR_H
#define ERROR_H

#include <stdnoreturn.h>

#define EXIT_USAGE	2

#define __printf(format, first) \
	__attribute__((__format__ \
	(printf, format, first)))

__printf(1, 2) noreturn void fail(const char *format, ...);
__printf(2, 3) noreturn void fail_errno(int err, const char *format, ...);
noreturn void fail_arm(int err);
__printf(2, 3) noreturn void fail_usage(const char *command, const char *format, ...);

#endif /* ERROR_H */
