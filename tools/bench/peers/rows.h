/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is printed: a line of JSON for each figure, or a table.
 */
#ifndef ROWS_H
#define ROWS_H

#include "operations.h"

void rows_json(const struct peer *peer, enum operation what, unsigned int live,
	       const char *time_unit, const struct figure *figure);
void rows_heading(enum operation what, unsigned int live, const char *time_unit);
void rows_line(const struct peer *peer, const struct figure *figure);

#endif /* ROWS_H */
