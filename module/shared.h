/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the kernel and a program have in common.
 */
#ifndef TIMEWHEEL_SHARED_H
#define TIMEWHEEL_SHARED_H

#include <linux/types.h>

struct page;
struct vm_area_struct;

/**
 * struct shared - memory that a program may map
 * @addr: where the kernel sees it, NULL if there is none
 * @pages: what it is made of
 * @nr_pages: how many
 *
 * A program may write to all of it at any moment.
 */
struct shared {
	void *addr;
	struct page **pages;
	u32 nr_pages;
};

int shared_create(struct shared *shared, size_t size);
void shared_destroy(struct shared *shared);
int shared_map(const struct shared *shared, struct vm_area_struct *vma);

#endif /* TIMEWHEEL_SHARED_H */
