/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leases: deadlines that a program keeps in shared memory.
 */
#ifndef TIMEWHEEL_LEASE_H
#define TIMEWHEEL_LEASE_H

#include <linux/types.h>

#include "shared.h"

struct context;
struct vm_area_struct;

/**
 * struct leases - the lease table
 * @memory: what it is in
 * @deadlines: a deadline for each own id, NULL until it is mapped
 */
struct leases {
	struct shared memory;
	const u64 *deadlines;
};

int lease_map(struct context *ctx, struct vm_area_struct *vma);
bool lease_exists(const struct context *ctx, u32 index);
u64 lease_deadline(const struct context *ctx, u32 index);

#endif /* TIMEWHEEL_LEASE_H */
