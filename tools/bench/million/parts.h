/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the bench can measure, one by one.
 */
#ifndef PARTS_H
#define PARTS_H

#include "million.h"

/* memory.c */
void memory_report(unsigned int nr);

/* refresh.c */
void refresh_rounds(const struct plan *plan, unsigned int rounds);

/* rounds.c */
void progress(const char *what, unsigned int round, unsigned int rounds);
void arm_rounds(const struct plan *plan, unsigned int rounds);
void collect_rounds(const struct plan *plan, unsigned int rounds);

/* table.c */
void table_report(const struct plan *plan);

/* soaked.c */
void soak_report(unsigned int leases, uint64_t idle_ns, uint64_t refresh_ns);

#endif /* PARTS_H */
