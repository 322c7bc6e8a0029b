/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that no signal handler can meet.
 */
#ifndef LOCK_H
#define LOCK_H

#include <stdint.h>

/*
 * The order in which one thread takes several: from the first to the last.  The
 * timers share the rest, each has one by its address.
 */
#define LOCK_TIMERS	62
#define LOCK_CONTEXT	62
#define LOCK_POOL	63
#define NR_LOCKS	64

uint64_t lock_take(unsigned int nr);
void lock_drop(unsigned int nr, uint64_t signals);
uint64_t lock_all(void);
void unlock_all(uint64_t signals);

#endif /* LOCK_H */
