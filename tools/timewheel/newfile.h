/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is there as a whole, or not at all.
 */
#ifndef NEWFILE_H
#define NEWFILE_H

#include <stdio.h>

FILE *newfile_open(const char *path);
void newfile_commit(FILE *file);

#endif /* NEWFILE_H */
