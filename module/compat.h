/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only file that knows kernel versions: the code is written to the newest
 * API, and older kernels (6.1 at least) get it from here.
 */
#ifndef TIMEWHEEL_COMPAT_H
#define TIMEWHEEL_COMPAT_H

#include <linux/eventfd.h>
#include <linux/hrtimer.h>
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clockid, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clockid, mode);
	timer->function = function;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
static inline void compat_eventfd_signal(struct eventfd_ctx *ctx)
{
	eventfd_signal(ctx, 1);
}

#define eventfd_signal(ctx) compat_eventfd_signal(ctx)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete(timer) del_timer(timer)
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

/* Before, what was not unbound was per CPU. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define WQ_PERCPU 0
#endif

/* From 7.0, and in some stable kernels. */
#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp) kzalloc(sizeof(obj), gfp)
#endif
#ifndef kmalloc_objs
#define kmalloc_objs(obj, nr, gfp) kmalloc_array(nr, sizeof(obj), gfp)
#endif
#ifndef kvmalloc_objs
#define kvmalloc_objs(obj, nr, gfp) kvmalloc_array(nr, sizeof(obj), gfp)
#endif

/* From 6.10 on __assign_str() knows the source from __string(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define compat_assign_str(dst, src) __assign_str(dst, src)
#else
#define compat_assign_str(dst, src) __assign_str(dst)
#endif

/* For the test module: the namespace of EXPORT_SYMBOL_IF_KUNIT(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define MODULE_IMPORT_KUNIT_NS() MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING)
#else
#define MODULE_IMPORT_KUNIT_NS() MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING")
#endif

/* 6.18: llist_add() is inline; before, it is a call that costs more than itself. */
static inline bool compat_llist_add(struct llist_node *node,
				    struct llist_head *head)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return llist_add(node, head);
#else
	struct llist_node *first = READ_ONCE(head->first);

	do {
		node->next = first;
	} while (!try_cmpxchg(&head->first, &first, node));
	return !first;
#endif
}

#endif /* TIMEWHEEL_COMPAT_H */
