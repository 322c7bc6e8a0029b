/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the operations are called, and which go together.
 */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "report.h"

/**
 * struct operation_name - an operation, for people
 * @name: as in the rows
 * @group: what asks for it
 * @unit: of its figure; NULL for that of time
 */
struct operation_name {
	const char *name;
	const char *group;
	const char *unit;
};

extern const struct operation_name operation_names[OPERATIONS];

bool listed(const char *list, const char *word);
bool group_known(const char *group, size_t len);

#endif /* OPERATIONS_H */
