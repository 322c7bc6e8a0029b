/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of saved timeouts on a clock that may have begun after them.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "savefile.h"

/**
 * struct planned - how one of them is armed
 * @timeout: which
 * @wall_ns: the instant it is armed for: its deadline; of a periodic one that is
 *	overdue, the last of its instants so far
 * @deadline_ns: the same on the context's clock; 0 if that began later
 * @next_ns: of a periodic one for which that clock began later, its next
 *	instant; else 0
 * @missed: of a periodic one, its instants before @wall_ns
 * @overdue: its time has come
 */
struct planned {
	const struct saved_timeout *timeout;
	uint64_t wall_ns;
	uint64_t deadline_ns;
	uint64_t next_ns;
	uint64_t missed;
	bool overdue;
};

struct planned *plan_make(const struct savefile *saved, uint64_t wall_now, int64_t ahead);

#endif /* PLAN_H */
