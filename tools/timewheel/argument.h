/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arguments of a command line.
 */
#ifndef ARGUMENT_H
#define ARGUMENT_H

int argument_number(const char *command, const char *what, const char *text, int min);

#endif /* ARGUMENT_H */
