/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program behind "--" of a command line.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdnoreturn.h>

char **program_take(const char *command, int *argc, char **argv);
noreturn void program_exec(char **program);
int program_find(const char *name, char *path, int size);
noreturn void program_fail(const char *name, int err);

#endif /* PROGRAM_H */
