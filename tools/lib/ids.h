/* SPDX-License-Identifier: MIT */
/*
 * The ids of a handle with rings, which names them itself.
 */
#ifndef IDS_H
#define IDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The upper half of an id, its generation: whether the deadline is in the lease
 * table, whether the id is in use, and a count, which tells apart those that have
 * the index one after the other.  Of an index that is free the two bits are clear,
 * so that no word made up by a program is taken for it.
 */
#define GENERATION_LEASE	(1U << 0)
#define GENERATION_LIVE		(1U << 1)
#define GENERATION_ONE		(1U << 2)

/**
 * struct record - what was asked for under an id
 * @user_data: its cookie
 * @deadline_ns: the deadline last asked for, if it is not a lease
 * @interval_ns: its period
 * @slack_ns: its slack
 */
struct record {
	uint64_t user_data;
	uint64_t deadline_ns;
	uint64_t interval_ns;
	uint64_t slack_ns;
};

/**
 * struct ids - the ids of a handle
 * @nr: indices, 0 with calls
 * @generations: of each index
 * @leases: the lease table, NULL without
 * @records: of each index
 * @free: the free indices, a circle of @nr
 * @nr_free: how many
 * @first: where the first of them is
 * @again: ids to be armed again, a circle of @nr
 * @nr_again: how many
 * @first_again: where the first of them is
 *
 * An index rests as long as can be: the kernel may still be busy with its last
 * timeout.  See drain.c.
 *
 * To touch takes @generations and @leases, 12 bytes an index; the record, 32 more,
 * is for arming and for its event.
 */
struct ids {
	uint32_t nr;
	uint32_t nr_free;
	uint32_t *generations;
	uint64_t *leases;
	struct record *records;
	uint32_t *free;
	uint64_t *again;
	uint32_t first;
	uint32_t nr_again;
	uint32_t first_again;
};

static inline uint32_t id_index(uint64_t id)
{
	return id;
}

static inline uint32_t id_generation(uint64_t id)
{
	return id >> 32;
}

/* An id with @bit of its generation set, which was given out and is in use. */
static inline bool ids_match(const struct ids *ids, uint64_t id, uint32_t bit)
{
	uint32_t index = id_index(id), generation = id_generation(id);

	return index < ids->nr && ids->generations[index] == generation &&
	       generation & bit;
}

static inline bool ids_live(const struct ids *ids, uint64_t id)
{
	return ids_match(ids, id, GENERATION_LIVE);
}

static inline bool id_is_lease(uint64_t id)
{
	return id_generation(id) & GENERATION_LEASE;
}

int ids_create(struct ids *ids, uint32_t nr);
void ids_destroy(struct ids *ids);

uint64_t ids_take(struct ids *ids, bool lease);
void ids_give(struct ids *ids, uint64_t id);

void ids_put_again(struct ids *ids, uint64_t id);
uint64_t ids_first_again(const struct ids *ids);
void ids_drop_again(struct ids *ids);

uint64_t ids_deadline(const struct ids *ids, uint64_t id);
void ids_set_deadline(struct ids *ids, uint64_t id, uint64_t deadline_ns);

#endif /* IDS_H */
