/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which descriptors stand for timers, and which for contexts.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

struct timer;

/* More than one slot could be needed for is left to the kernel. */
#define TABLE_SIZE	(1U << 20)

bool table_mine(void);
void table_forked(void);

struct timer *table_get(int fd);
bool table_set(int fd, struct timer *t);
void table_clear(int fd);
void table_clear_if(int fd, struct timer *t);
void table_duplicate(int from, int to);
bool table_is_used(int fd);

bool table_set_context(int fd);
bool table_is_context(int fd);

typedef void table_fn(int fd, struct timer *t, void *data);

void table_each(unsigned int first, unsigned int last, table_fn *fn, void *data);

#endif /* TABLE_H */
