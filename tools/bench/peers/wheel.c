// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hierarchical timer wheel in a program's own memory.
 */
#include <stdlib.h>

#include "wheel.h"

#define LEVELS		4U
#define SLOT_BITS	8U
#define SLOTS		(1U << SLOT_BITS)
#define HEADS		(LEVELS * SLOTS)
#define WORD_BITS	64U
#define WORDS		(SLOTS / WORD_BITS)

/* Further away than the top level reaches: as far as it does, and then again. */
#define REACH		((1ULL << LEVELS * SLOT_BITS) - 1)

#define NOWHERE		UINT32_MAX

/**
 * struct node - a timeout, or the head of a slot's list
 * @tick: when it is due
 * @data: the cookie, which such a wheel keeps for its user: its own index
 * @next: neighbour in the list, which is a ring through the head
 * @prev: the other one
 * @slot: whose list it is in, NOWHERE if it is not armed
 * @pad: two to a cache line
 */
struct node {
	uint64_t tick;
	uint64_t data;
	uint32_t next;
	uint32_t prev;
	uint32_t slot;
	uint32_t pad;
};

_Static_assert(sizeof(struct node) == 32, "a node is half a cache line");

/**
 * struct wheel - levels of slots, each slot as long as all of the level below
 * @now: up to this tick, and with it, all has expired
 * @bitmap: of each level the slots that have something in them
 * @nodes: HEADS heads, which a slot's number is the index of, then the timeouts
 *
 * A timeout lies in the lowest level that reaches it, and goes down when the time
 * of its slot begins.  A slot's time is known from @now alone: it is the next one
 * that its number stands for.  So nothing is in the slot of now but at the top of
 * a round: then it is the one a whole round away.
 */
struct wheel {
	uint64_t now;
	uint64_t bitmap[LEVELS][WORDS];
	struct node nodes[];
};

static void clear_list(struct wheel *wheel, uint32_t slot)
{
	wheel->nodes[slot].next = slot;
	wheel->nodes[slot].prev = slot;
}

/**
 * wheel_create() - an empty wheel
 * @capacity: timeouts, which go by the numbers below it
 * @now: the tick it begins with
 *
 * Return: the wheel, for wheel_destroy(); NULL without memory.
 */
struct wheel *wheel_create(uint32_t capacity, uint64_t now)
{
	struct wheel *wheel;
	uint32_t i;

	wheel = calloc(1, sizeof(*wheel) + (HEADS + (size_t)capacity) * sizeof(*wheel->nodes));
	if (!wheel)
		return NULL;
	wheel->now = now;
	for (i = 0; i < HEADS; i++)
		clear_list(wheel, i);
	for (; i < HEADS + capacity; i++) {
		wheel->nodes[i].slot = NOWHERE;
		wheel->nodes[i].data = i - HEADS;
	}
	return wheel;
}

void wheel_destroy(struct wheel *wheel)
{
	free(wheel);
}

/* The slot of a tick, which is now or later. */
static uint32_t slot_of(const struct wheel *wheel, uint64_t tick)
{
	uint64_t away = tick - wheel->now;
	uint32_t level;

	if (away > REACH) {
		tick = wheel->now + REACH;
		away = REACH;
	}
	level = away < SLOTS ? 0 : (63 - __builtin_clzll(away)) / SLOT_BITS;
	return level * SLOTS + (tick >> level * SLOT_BITS) % SLOTS;
}

static void link_node(struct wheel *wheel, uint32_t at)
{
	struct node *node = &wheel->nodes[at];
	uint32_t slot = slot_of(wheel, node->tick);
	struct node *head = &wheel->nodes[slot];

	node->slot = slot;
	node->next = slot;
	node->prev = head->prev;
	wheel->nodes[head->prev].next = at;
	head->prev = at;
	wheel->bitmap[slot / SLOTS][slot % SLOTS / WORD_BITS] |= 1ULL << slot % WORD_BITS;
}

static void empty_slot(struct wheel *wheel, uint32_t slot)
{
	wheel->bitmap[slot / SLOTS][slot % SLOTS / WORD_BITS] &= ~(1ULL << slot % WORD_BITS);
}

static void unlink_node(struct wheel *wheel, uint32_t at)
{
	struct node *node = &wheel->nodes[at];

	wheel->nodes[node->prev].next = node->next;
	wheel->nodes[node->next].prev = node->prev;
	/* Both neighbours are the head. */
	if (node->next == node->prev)
		empty_slot(wheel, node->slot);
	node->slot = NOWHERE;
}

/**
 * wheel_arm() - arm a timeout that is not armed
 * @wheel: the wheel
 * @timeout: its number
 * @tick: when it is due; what has gone by is due with the next tick
 */
void wheel_arm(struct wheel *wheel, uint32_t timeout, uint64_t tick)
{
	struct node *node = &wheel->nodes[HEADS + timeout];

	node->tick = tick > wheel->now ? tick : wheel->now + 1;
	link_node(wheel, HEADS + timeout);
}

/**
 * wheel_move() - give an armed timeout another tick
 * @wheel: the wheel
 * @timeout: its number
 * @tick: as for wheel_arm()
 */
void wheel_move(struct wheel *wheel, uint32_t timeout, uint64_t tick)
{
	unlink_node(wheel, HEADS + timeout);
	wheel_arm(wheel, timeout, tick);
}

/**
 * wheel_cancel() - see to it that a timeout does not expire
 * @wheel: the wheel
 * @timeout: its number
 *
 * Return: whether it was armed.
 */
bool wheel_cancel(struct wheel *wheel, uint32_t timeout)
{
	if (wheel->nodes[HEADS + timeout].slot == NOWHERE)
		return false;
	unlink_node(wheel, HEADS + timeout);
	return true;
}

/* From @slot on, how many slots further the next is that is not empty; SLOTS if none. */
static uint32_t slots_to(const uint64_t *bitmap, uint32_t slot)
{
	uint32_t word = slot / WORD_BITS, seen, bit;
	uint64_t bits = bitmap[word] & ~0ULL << slot % WORD_BITS;

	/* The word it begins in comes once more, for what is before @slot. */
	for (seen = 0; seen <= WORDS; seen++) {
		if (bits) {
			bit = word * WORD_BITS + __builtin_ctzll(bits);
			return (bit - slot) % SLOTS;
		}
		word = (word + 1) % WORDS;
		bits = bitmap[word];
	}
	return SLOTS;
}

/**
 * wheel_next() - when there is something to do
 * @wheel: the wheel
 *
 * Return: the tick in which the next timeout expires or goes down a level;
 * UINT64_MAX if none is armed.
 */
uint64_t wheel_next(const struct wheel *wheel)
{
	uint64_t next = UINT64_MAX, begin, at;
	uint32_t level, away;

	for (level = 0; level < LEVELS; level++) {
		begin = (wheel->now >> level * SLOT_BITS) + 1;
		away = slots_to(wheel->bitmap[level], begin % SLOTS);
		if (away == SLOTS)
			continue;
		at = (begin + away) << level * SLOT_BITS;
		if (at < next)
			next = at;
	}
	return next;
}

/* The time of a slot has begun: what is in it lies in a level below from now on. */
static void cascade(struct wheel *wheel, uint32_t slot)
{
	uint32_t at = wheel->nodes[slot].next, next;

	/* Some may come to lie here again, a round away. */
	clear_list(wheel, slot);
	empty_slot(wheel, slot);
	for (; at != slot; at = next) {
		next = wheel->nodes[at].next;
		link_node(wheel, at);
	}
}

static uint32_t expire(struct wheel *wheel, uint32_t slot, uint32_t *expired)
{
	uint32_t at, nr = 0;

	for (at = wheel->nodes[slot].next; at != slot; at = wheel->nodes[at].next) {
		wheel->nodes[at].slot = NOWHERE;
		expired[nr++] = wheel->nodes[at].data;
	}
	clear_list(wheel, slot);
	empty_slot(wheel, slot);
	return nr;
}

/**
 * wheel_advance() - let time go by
 * @wheel: the wheel
 * @now: the tick that it is now
 * @expired: out: the timeouts that have expired, in order; room for all that are armed
 *
 * It goes from one tick that has something to do to the next.
 *
 * Return: how many.
 */
uint32_t wheel_advance(struct wheel *wheel, uint64_t now, uint32_t *expired)
{
	uint32_t nr = 0, level;
	uint64_t next;

	while ((next = wheel_next(wheel)) <= now) {
		wheel->now = next;
		for (level = 1; level < LEVELS; level++)
			if (!(next & ((1ULL << level * SLOT_BITS) - 1)))
				cascade(wheel, level * SLOTS +
						(next >> level * SLOT_BITS) % SLOTS);
		nr += expire(wheel, next % SLOTS, expired + nr);
	}
	if (now > wheel->now)
		wheel->now = now;
	return nr;
}
