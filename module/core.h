/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wheel core: slots, levels, bitmaps and ticks; nothing else.
 *
 * No clock, no thread, no lock, no allocation after core_init().  Whoever owns
 * the core tells it which tick it is; it moves nodes.
 */
#ifndef TIMEWHEEL_CORE_H
#define TIMEWHEEL_CORE_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/timewheel.h>

#include "link.h"

#define CORE_MAX_SLOTS		1048576U
#define CORE_MAX_LEVELS		8U
#define CORE_MAX_BITS		62U	/* slot bits of all levels together */

/**
 * struct core_slot - a slot of a level
 * @nodes: the nodes filed in it, in the order they were armed
 * @first: no node in it has an earlier tick; U64_MAX when empty.  A bound and
 *	not the minimum, for a node that is taken out leaves it as it is.
 */
struct core_slot {
	struct list_head nodes;
	u64 first;
};

/**
 * struct core_level - one wheel of the hierarchy
 * @slots: its slots
 * @due: bitmap of the slots whose time comes before the level above moves on
 *	(on the top level: in revolution &struct wheel_core.turn)
 * @shift: log2 of the ticks a slot lasts
 * @top: whether it is the top level, which goes round
 */
struct core_level {
	struct core_slot *slots;
	unsigned long *due;
	unsigned int shift;
	bool top;
};

/**
 * struct wheel_core - a hashed, hierarchical timer wheel (see core.c)
 * @now: the last tick whose nodes have all been taken out
 * @nr: nodes filed, those in @expired included
 * @mask: slots of a level - 1
 * @bits: log2 of the slots of a level
 * @levels: number of levels
 * @range_bits: log2 of the ticks of a revolution of the top level
 * @turn: the revolution of the top level that its bitmap speaks of
 * @far: no node of a later revolution has an earlier tick; U64_MAX for none
 * @expired: nodes whose tick has come, in the order they are to fire
 * @cursor: how far the visit of a slot got; unlinked when none is under way
 * @visited: the earliest tick among the nodes that this visit left where they are
 * @calm: nothing is to be done before this tick, as core_next() saw it; 0 if a node
 *	was filed since, or a slot emptied
 * @next: what core_next() returned then
 * @slots: all slots, level after level
 * @level: the levels
 * @level_of: the level for a node whose tick differs from @now in this bit at most
 */
struct wheel_core {
	u64 now;
	u64 nr;
	u32 mask;
	unsigned int bits;
	unsigned int levels;
	unsigned int range_bits;
	u64 turn;
	u64 far;
	struct list_head expired;
	struct list_head cursor;
	u64 visited;
	u64 calm;
	u64 next;
	struct core_slot *slots;
	struct core_level level[CORE_MAX_LEVELS];
	struct core_level *level_of[64];
};

int core_check(u32 slots, u32 levels);
int core_init(struct wheel_core *core, u32 slots, u32 levels, int node);
void core_destroy(struct wheel_core *core);

u64 core_coarsen(const struct wheel_core *core, u64 tick, u64 slack);
void core_hold(struct wheel_core *core, struct timewheel_node *n,
	       struct list_head *list);
void core_release(struct wheel_core *core, struct list_head *list);
void core_emptied(struct wheel_core *core, struct list_head *head);
bool core_advance(struct wheel_core *core, u64 to, unsigned int *budget);
u64 core_look(struct wheel_core *core);
struct timewheel_node *core_drain(struct wheel_core *core, size_t *slot);

/*
 * What the worker does to each timeout is inline: as calls, the four that follow
 * would cost half as much again.
 */

/*
 * File a node as seen from tick @base, or take it as expired.  @cascading: it comes
 * from above, and so never into the top level.
 */
static __always_inline void core_place(struct wheel_core *core,
				       struct timewheel_node *n, u64 base,
				       bool cascading)
{
	u64 tick = n->tick;
	struct core_level *level;
	struct core_slot *slot;
	unsigned int index;

	if (tick <= base) {
		link_add_tail(&n->link, &core->expired);
		return;
	}

	level = core->level_of[__fls(tick ^ base)];
	index = (tick >> level->shift) & core->mask;
	slot = &level->slots[index];
	link_add_tail(&n->link, &slot->nodes);
	if (tick < slot->first)
		slot->first = tick;

	if (!cascading && level->top && tick >> core->range_bits != core->turn)
		core->far = min(core->far, tick);
	else
		__set_bit(index, level->due);
}

/**
 * core_file - put a node where its tick finds it
 * @core: the core
 * @n: the node, in no list
 * @tick: when it is due; a tick that has passed is due at once
 */
static inline void core_file(struct wheel_core *core, struct timewheel_node *n,
			     u64 tick)
{
	/* U64_MAX stands for none. */
	n->tick = min(tick, U64_MAX - 1);
	core->calm = 0;
	core->nr++;
	core_place(core, n, core->now, false);
}

/**
 * core_unlink - take a node out, wherever it is
 * @core: the core
 * @n: the node, filed, held or expired
 */
static inline void core_unlink(struct wheel_core *core, struct timewheel_node *n)
{
	struct list_head *prev = n->link.prev;
	struct list_head *next = n->link.next;

	link_del(&n->link);
	INIT_LIST_HEAD(&n->link);
	core->nr--;
	if (prev == next)
		core_emptied(core, prev);
}

/**
 * core_pop - take the next expired node out
 * @core: the core
 *
 * Return: the node, in no list, or NULL if none has expired.
 */
static inline struct timewheel_node *core_pop(struct wheel_core *core)
{
	struct timewheel_node *n;

	n = list_first_entry_or_null(&core->expired, struct timewheel_node, link);
	if (n) {
		link_del(&n->link);
		INIT_LIST_HEAD(&n->link);
		core->nr--;
	}
	return n;
}

/**
 * core_next - when there is something to do next
 * @core: the core
 *
 * Return: no later than the earliest tick at which a node is due; the very tick
 * if no node was taken out since; @now if some have expired; U64_MAX if there is
 * none.
 */
static inline u64 core_next(struct wheel_core *core)
{
	if (core->calm && core->nr && list_empty(&core->expired))
		return core->next;
	return core_look(core);
}

#endif /* TIMEWHEEL_CORE_H */
