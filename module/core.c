// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wheel core.
 *
 * Time is an absolute 64-bit tick.  Level 0 has a slot for each tick; a slot of
 * level l lasts as long as the whole of level l - 1:
 *
 *   level   a slot lasts          the level spans
 *   0       1 tick                slots ticks
 *   1       slots ticks           slots^2 ticks
 *   l       slots^l ticks         slots^(l+1) ticks
 *
 * A node is filed on the level of the highest slot index in which its tick
 * differs from @now, so a level holds only nodes that lie in the current slot
 * of the level above.  When the time of a slot above level 0 comes, its nodes
 * move down (they cascade), in order, before any other node can be filed in the
 * ticks it covers.  Hence the nodes of one tick are always in the order in which
 * they were filed, whatever way they came, and a node moves at most once for
 * each level.
 *
 * The top level goes round: a node further away than its span stays in its slot
 * while revolutions pass.  Rounds are not counted; the absolute tick tells.  So
 * with one level this is the hashed wheel proper.  The top level's bitmap speaks
 * of one revolution, @turn; nodes of later ones are known by a bound on the
 * earliest of their ticks, @far, and looked for when that revolution begins.
 *
 * Finding the next tick with work takes one bitmap search a level.  A jump over
 * any number of ticks costs what lies in them, not their number.
 */

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>

#include "core.h"
#include "kunit.h"

/* Loops over many slots give way to others after this many. */
#define CORE_RESCHED_SLOTS	4096U

/* A look at so many slots costs as much of a budget as a node. */
#define CORE_TURN_SLOTS		2048U

/**
 * core_check - see whether a wheel may have this shape
 * @slots: slots of a level, before rounding up
 * @levels: number of levels
 *
 * Return: 0 or -EINVAL.
 */
int core_check(u32 slots, u32 levels)
{
	if (!slots || slots > CORE_MAX_SLOTS)
		return -EINVAL;
	if (!levels || levels > CORE_MAX_LEVELS)
		return -EINVAL;
	/* A slot of one above would last no longer than one below. */
	if (slots == 1 && levels > 1)
		return -EINVAL;
	if (levels * order_base_2(slots) > CORE_MAX_BITS)
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(core_check);

/**
 * core_init - make an empty wheel at tick 0
 * @core: the core
 * @slots: slots of a level, rounded up to a power of two
 * @levels: number of levels
 * @node: NUMA node for its memory, or NUMA_NO_NODE
 *
 * Context: process context; sleeps.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int core_init(struct wheel_core *core, u32 slots, u32 levels, int node)
{
	unsigned long *due;
	unsigned int i;
	int ret;

	ret = core_check(slots, levels);
	if (ret)
		return ret;
	slots = roundup_pow_of_two(slots);

	memset(core, 0, sizeof(*core));
	core->mask = slots - 1;
	core->bits = ilog2(slots);
	core->levels = levels;
	core->range_bits = core->bits * levels;
	core->far = U64_MAX;
	core->visited = U64_MAX;
	INIT_LIST_HEAD(&core->expired);
	INIT_LIST_HEAD(&core->cursor);

	core->slots = kvmalloc_node(array3_size(slots, levels,
						sizeof(*core->slots)),
				    GFP_KERNEL_ACCOUNT, node);
	if (!core->slots)
		return -ENOMEM;
	due = kvmalloc_node(array3_size(BITS_TO_LONGS(slots), levels,
					sizeof(*due)),
			    GFP_KERNEL_ACCOUNT | __GFP_ZERO, node);
	if (!due) {
		kvfree(core->slots);
		return -ENOMEM;
	}

	for (i = 0; i < slots * levels; i++) {
		INIT_LIST_HEAD(&core->slots[i].nodes);
		core->slots[i].first = U64_MAX;
		if (i % CORE_RESCHED_SLOTS == 0)
			cond_resched();
	}
	for (i = 0; i < levels; i++) {
		core->level[i].slots = core->slots + i * slots;
		core->level[i].due = due + i * BITS_TO_LONGS(slots);
		core->level[i].shift = i * core->bits;
		core->level[i].top = i == levels - 1;
	}
	for (i = 0; i < 64; i++)
		core->level_of[i] = &core->level[min(i / max(core->bits, 1U),
						     levels - 1)];
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(core_init);

/**
 * core_destroy - give the wheel's memory back
 * @core: the core; its nodes are left as they are
 *
 * Context: process context; sleeps.
 */
void core_destroy(struct wheel_core *core)
{
	kvfree(core->level[0].due);
	kvfree(core->slots);
}
EXPORT_SYMBOL_IF_KUNIT(core_destroy);

/**
 * core_coarsen - the tick of the coarsest slot that a node may be late for
 * @core: the core
 * @tick: when it is due
 * @slack: how many ticks it may be late
 *
 * A node filed under this tick reaches the slot that begins with it, and expires
 * from there without moving further down.
 *
 * Return: a tick from @tick to @tick + @slack.
 */
u64 core_coarsen(const struct wheel_core *core, u64 tick, u64 slack)
{
	unsigned int i = core->levels;
	u64 length, later;

	while (--i) {
		length = 1ULL << core->level[i].shift;
		if (length - 1 > slack)
			continue;
		if (!check_add_overflow(tick, length - 1, &later))
			return later & ~(length - 1);
	}
	return tick;
}
EXPORT_SYMBOL_IF_KUNIT(core_coarsen);

/**
 * core_hold - keep a node on a list outside the wheel, counted as its own
 * @core: the core
 * @n: the node, in no list
 * @list: goes to its end; core_unlink() takes it out again
 */
void core_hold(struct wheel_core *core, struct timewheel_node *n,
	       struct list_head *list)
{
	core->nr++;
	link_add_tail(&n->link, list);
}
EXPORT_SYMBOL_IF_KUNIT(core_hold);

/**
 * core_release - have nodes that were held expire, before all that is to
 * @core: the core
 * @list: where core_hold() put them when they had expired; empty after that
 */
void core_release(struct wheel_core *core, struct list_head *list)
{
	list_splice_init(list, &core->expired);
}
EXPORT_SYMBOL_IF_KUNIT(core_release);

/*
 * For core_unlink(): the last node of the list at @head has gone.  If that is a
 * slot, and not one of the lists outside the wheel, nothing is due there any more.
 */
void core_emptied(struct wheel_core *core, struct list_head *head)
{
	struct core_slot *slot = container_of(head, struct core_slot, nodes);
	unsigned long end = (unsigned long)(core->slots +
					    ((size_t)core->levels << core->bits));
	struct core_level *level;
	size_t index;

	if ((unsigned long)slot < (unsigned long)core->slots ||
	    (unsigned long)slot >= end)
		return;
	index = slot - core->slots;
	level = &core->level[index >> core->bits];
	__clear_bit(index & core->mask, level->due);
	slot->first = U64_MAX;
	core->calm = 0;
}
EXPORT_SYMBOL_IF_KUNIT(core_emptied);

/**
 * struct core_event - a slot whose time comes next
 * @level: its level
 * @index: its index there
 * @at: the tick at which it begins
 */
struct core_event {
	struct core_level *level;
	unsigned int index;
	u64 at;
};

/*
 * A level's nodes all lie in the current slot of the level above, so whatever
 * level 0 holds comes before all that level 1 holds, and so on.
 */
static bool core_find(struct wheel_core *core, struct core_event *event)
{
	unsigned int slots = core->mask + 1;
	unsigned int i;

	for (i = 0; i < core->levels; i++) {
		struct core_level *level = &core->level[i];
		unsigned int span = level->shift + core->bits;
		u64 window = core->now >> span;
		unsigned int from = ((core->now >> level->shift) & core->mask) + 1;
		unsigned int index;

		/* The top level may have been turned ahead of now. */
		if (level->top && window != core->turn) {
			window = core->turn;
			from = 0;
		}
		index = find_next_bit(level->due, slots, from);
		if (index < slots) {
			event->level = level;
			event->index = index;
			event->at = (window << span) |
				    ((u64)index << level->shift);
			return true;
		}
	}
	return false;
}

/*
 * Turn the top level to the revolution in which @far lies: nothing is due
 * before.  One look at each slot, once a revolution that holds something.
 */
static void core_turn(struct wheel_core *core)
{
	struct core_level *top = &core->level[core->levels - 1];
	u64 turn = core->far >> core->range_bits;
	unsigned int i;

	core->far = U64_MAX;
	core->turn = turn;
	core->now = max(core->now, (turn << core->range_bits) - 1);
	for (i = 0; i <= core->mask; i++) {
		u64 first = top->slots[i].first;

		if (first == U64_MAX)
			continue;
		if (first >> core->range_bits == turn)
			__set_bit(i, top->due);
		else
			core->far = min(core->far, first);
	}
}

/*
 * Go over a slot whose time has come: nodes of this revolution move down or
 * expire, those of later ones stay.  @now stands before the slot until all of
 * it is done, so that what is filed meanwhile for the same ticks goes to the
 * end of this slot and keeps its place in the order.
 */
static bool core_visit(struct wheel_core *core, const struct core_event *event,
		       unsigned int *budget)
{
	struct core_slot *slot = &event->level->slots[event->index];
	bool top = event->level->top;
	struct list_head *pos, *next;
	unsigned int left = *budget;

	if (list_empty(&core->cursor)) {
		list_add(&core->cursor, &slot->nodes);
		core->visited = U64_MAX;
	}

	for (pos = core->cursor.next; pos != &slot->nodes && left; pos = next) {
		struct timewheel_node *n;

		left--;
		next = pos->next;
		n = list_entry(pos, struct timewheel_node, link);
		if (top && n->tick >> core->range_bits != core->turn) {
			core->visited = min(core->visited, n->tick);
		} else {
			link_del(pos);
			core_place(core, n, event->at, true);
		}
	}

	*budget = left;
	if (pos != &slot->nodes) {
		list_move_tail(&core->cursor, pos);
		return false;
	}

	list_del_init(&core->cursor);
	__clear_bit(event->index, event->level->due);
	slot->first = core->visited;
	core->far = min(core->far, core->visited);
	return true;
}

/**
 * core_advance - let time pass
 * @core: the core
 * @to: the tick that it is now
 * @budget: how many nodes may be looked at; what is left of it is returned here
 *
 * Moves the nodes due up to @to to the expired list, earliest tick first, and
 * within a tick in the order they were filed.
 *
 * Return: true when all of them are there, false if the budget did not suffice:
 * call it again with a fresh one.
 */
bool core_advance(struct wheel_core *core, u64 to, unsigned int *budget)
{
	struct core_event event;
	unsigned int turning;

	/* Most often it is not time for anything, and this was seen before. */
	if (to < core->calm)
		goto calm;

	core->calm = 0;
	while (core->now < to) {
		if (!core_find(core, &event)) {
			if (core->far == U64_MAX ||
			    (core->far >> core->range_bits) << core->range_bits > to)
				break;
			/* Free, but for a great many slots. */
			turning = (core->mask + 1) / CORE_TURN_SLOTS;
			if (turning && !*budget)
				return false;
			*budget -= min(*budget, turning);
			core_turn(core);
			continue;
		}
		if (event.at > to)
			break;

		if (core->levels > 1 && event.level == core->level) {
			struct core_slot *slot = &event.level->slots[event.index];

			list_splice_tail_init(&slot->nodes, &core->expired);
			__clear_bit(event.index, event.level->due);
			slot->first = U64_MAX;
		} else {
			core->now = event.at - 1;
			if (!core_visit(core, &event, budget))
				return false;
		}
		core->now = event.at;
	}

calm:
	if (core->now < to) {
		core->now = to;
		/* Nothing is left in an earlier revolution than this one. */
		core->turn = max(core->turn, to >> core->range_bits);
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(core_advance);

/* core_next(), when it has to look. */
u64 core_look(struct wheel_core *core)
{
	struct core_event event;

	if (!list_empty(&core->expired))
		return core->now;
	if (!core->nr)
		return U64_MAX;

	if (core_find(core, &event)) {
		core->calm = event.at;
		core->next = max(event.at,
				 event.level->slots[event.index].first);
	} else {
		core->calm = (core->far >> core->range_bits) << core->range_bits;
		core->next = core->far;
	}
	return core->next;
}
EXPORT_SYMBOL_IF_KUNIT(core_look);

/**
 * core_drain - take any node out, whether it is due or not
 * @core: the core
 * @slot: where to go on looking; start at 0
 *
 * For the end of a wheel's life: ends after as many calls as there are nodes.
 *
 * Return: the node, in no list, or NULL if there is none.
 */
struct timewheel_node *core_drain(struct wheel_core *core, size_t *slot)
{
	struct timewheel_node *n = core_pop(core);

	if (n)
		return n;
	if (!list_empty(&core->cursor))
		list_del_init(&core->cursor);
	for (; *slot < (size_t)core->levels << core->bits; ++*slot) {
		n = list_first_entry_or_null(&core->slots[*slot].nodes,
					     struct timewheel_node, link);
		if (n) {
			core_unlink(core, n);
			return n;
		}
		if (*slot % CORE_RESCHED_SLOTS == 0)
			cond_resched();
	}
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(core_drain);
