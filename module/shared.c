// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the kernel and a program have in common.
 *
 * The pages are ordinary ones, charged to the opener; the kernel sees them in a
 * row.  A mapping holds the open file, and that holds the pages, so there is no
 * mapping of pages that are gone.
 */

#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "shared.h"

/* Over the limit of the memory cgroup it fails, and nothing is killed. */
#define SHARED_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* Zeroed memory; it is the active memory cgroup's. */
int shared_create(struct shared *shared, size_t size)
{
	u32 nr = PAGE_ALIGN(size) >> PAGE_SHIFT;

	shared->pages = kvmalloc_objs(*shared->pages, nr, SHARED_GFP);
	if (!shared->pages)
		return -ENOMEM;
	for (shared->nr_pages = 0; shared->nr_pages < nr; shared->nr_pages++) {
		struct page *page = alloc_page(SHARED_GFP | __GFP_ZERO);

		if (!page)
			goto free;
		shared->pages[shared->nr_pages] = page;
		cond_resched();
	}
	shared->addr = vmap(shared->pages, nr, VM_MAP, PAGE_KERNEL);
	if (!shared->addr)
		goto free;
	return 0;
free:
	shared_destroy(shared);
	return -ENOMEM;
}

/* Also if there is none. */
void shared_destroy(struct shared *shared)
{
	vunmap(shared->addr);
	shared->addr = NULL;
	while (shared->nr_pages)
		put_page(shared->pages[--shared->nr_pages]);
	kvfree(shared->pages);
	shared->pages = NULL;
}

/**
 * shared_map - map all of it, or the first part, into a program
 * @shared: the memory
 * @vma: where to
 *
 * Return: 0; -EINVAL for a private mapping, whose stores nobody else would see,
 * or for more than there is; -ENOMEM.
 */
int shared_map(const struct shared *shared, struct vm_area_struct *vma)
{
	int ret;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	ret = vm_map_pages_zero(vma, shared->pages, shared->nr_pages);
	return ret == -ENXIO ? -EINVAL : ret;
}
