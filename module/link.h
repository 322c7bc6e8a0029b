/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The links of the nodes on a wheel, which are the worker's alone.
 *
 * They are struct list_head, but linked without the checks of CONFIG_DEBUG_LIST,
 * which distributions set, and which makes a call of each list_add() and
 * list_del(): a quarter of what it takes to file a timeout.  timer_list does
 * without them, too, for hlist never has any.  Kernels built to find bugs check.
 */
#ifndef TIMEWHEEL_LINK_H
#define TIMEWHEEL_LINK_H

#include <linux/kconfig.h>
#include <linux/list.h>

/* list_add_tail() */
static inline void link_add_tail(struct list_head *link, struct list_head *head)
{
	struct list_head *last = head->prev;

	if (IS_ENABLED(CONFIG_KASAN)) {
		list_add_tail(link, head);
		return;
	}
	link->next = head;
	link->prev = last;
	last->next = link;
	head->prev = link;
}

/* list_del(); @link is to be linked or initialised anew. */
static inline void link_del(struct list_head *link)
{
	struct list_head *prev = link->prev;
	struct list_head *next = link->next;

	if (IS_ENABLED(CONFIG_KASAN)) {
		list_del(link);
		return;
	}
	next->prev = prev;
	prev->next = next;
}

#endif /* TIMEWHEEL_LINK_H */
