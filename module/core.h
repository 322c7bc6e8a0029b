/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wheel core: slots, levels, bitmaps and ticks; nothing else.
 *
 * No clock, no thread, no lock, no allocation after core_init().  Whoever owns
 * the core tells it which tick it is; it moves nodes.
 */
#ifndef TIMEWHEEL_CORE_H
#define TIMEWHEEL_CORE_H

#include <linux/list.h>
#include <linux/timewheel.h>

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
 */
struct core_level {
	struct core_slot *slots;
	unsigned long *due;
	unsigned int shift;
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
	struct core_slot *slots;
	struct core_level level[CORE_MAX_LEVELS];
	u8 level_of[64];
};

int core_check(u32 slots, u32 levels);
int core_init(struct wheel_core *core, u32 slots, u32 levels, int node);
void core_destroy(struct wheel_core *core);

u64 core_coarsen(const struct wheel_core *core, u64 tick, u64 slack);
void core_file(struct wheel_core *core, struct timewheel_node *n, u64 tick);
void core_hold(struct wheel_core *core, struct timewheel_node *n,
	       struct list_head *list);
void core_release(struct wheel_core *core, struct list_head *list);
void core_unlink(struct wheel_core *core, struct timewheel_node *n);
bool core_advance(struct wheel_core *core, u64 to, unsigned int *budget);
u64 core_next(struct wheel_core *core);
struct timewheel_node *core_pop(struct wheel_core *core);
struct timewheel_node *core_drain(struct wheel_core *core, size_t *slot);

#endif /* TIMEWHEEL_CORE_H */
