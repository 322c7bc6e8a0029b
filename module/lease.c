// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leases: deadlines that a program keeps in shared memory.
 *
 * To refresh one is a store, and the kernel does not hear of it.  It looks when
 * the old deadline has come, and then files the timeout again.  It never writes
 * to the table.
 */

#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>

#include "context.h"
#include "lease.h"

static int lease_create(struct context *ctx)
{
	struct leases *leases = &ctx->leases;
	struct mem_cgroup *memcg;
	int ret;

	lockdep_assert_held(&ctx->setup_lock);

	if (leases->deadlines)
		return 0;
	memcg = set_active_memcg(ctx->handles.memcg);
	ret = shared_create(&leases->memory,
			    ctx->handles.own * sizeof(*leases->deadlines));
	set_active_memcg(memcg);
	if (!ret)
		/* Partner: the acquire in lease_exists(). */
		smp_store_release(&leases->deadlines, leases->memory.addr);
	return ret;
}

/**
 * lease_map - map the lease table, which is made when it is first mapped
 * @ctx: the context
 * @vma: where to
 *
 * Return: 0; -EINVAL without own ids, for a private mapping, or for more than
 * there is; -ENOMEM.
 */
int lease_map(struct context *ctx, struct vm_area_struct *vma)
{
	int ret;

	if (!ctx->handles.own)
		return -EINVAL;
	mutex_lock(&ctx->setup_lock);
	ret = lease_create(ctx);
	mutex_unlock(&ctx->setup_lock);
	return ret ?: shared_map(&ctx->leases.memory, vma);
}

/* Whether the table is there, and has a deadline for this index. */
bool lease_exists(const struct context *ctx, u32 index)
{
	/* Partner: the release in lease_create(). */
	return smp_load_acquire(&ctx->leases.deadlines) &&
	       index < ctx->handles.own;
}

/* The deadline on the wheel's clock; the table has one for this index. */
u64 lease_deadline(const struct context *ctx, u32 index)
{
	index = array_index_nospec(index, ctx->handles.own);
	/* Once: the program may be writing to it. */
	return timens_to_wheel(context_shift(ctx, ctx->wheel),
			       READ_ONCE(ctx->leases.deadlines[index]));
}
