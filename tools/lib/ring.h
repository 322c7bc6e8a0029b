/* SPDX-License-Identifier: MIT */
/*
 * The rings' memory, and the protocol on it: see <linux/timewheel.h>.
 */
#ifndef LIB_RING_H
#define LIB_RING_H

#include <linux/timewheel.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct ring - a context's rings and lease table, as mapped
 * @fd: the context
 * @sq: submission ring
 * @ops: its entries
 * @sq_entries: how many
 * @tail: where the next op is put; published by ring_publish()
 * @head: the kernel's head, when it was last looked at
 * @cq: completion ring
 * @events: its entries
 * @cq_entries: how many
 * @taken: where the next event is taken
 * @filled: the kernel's tail, when it was last looked at
 * @leases: the lease table, or NULL
 * @nr_leases: its length
 */
struct ring {
	int fd;
	struct timewheel_ring *sq;
	struct timewheel_op *ops;
	uint32_t sq_entries;
	uint32_t tail;
	uint32_t head;
	struct timewheel_ring *cq;
	struct timewheel_event *events;
	uint32_t cq_entries;
	uint32_t taken;
	uint32_t filled;
	uint64_t *leases;
	uint32_t nr_leases;
};

int ring_map(struct ring *ring, int fd, const struct timewheel_setup *setup, bool leases);
void ring_unmap(struct ring *ring);

int ring_enter(struct ring *ring);
bool ring_full(struct ring *ring);
bool ring_taken(struct ring *ring);
void ring_look(struct ring *ring);
bool ring_has_event(struct ring *ring);
bool ring_overflowed(const struct ring *ring);

/* Where the next op is to be put; the ring is not full. */
static inline struct timewheel_op *ring_next(struct ring *ring)
{
	return &ring->ops[ring->tail++ & (ring->sq_entries - 1)];
}

static inline void ring_publish(struct ring *ring)
{
	/* Partner: the kernel's acquire, before it reads the entries. */
	__atomic_store_n(&ring->sq->tail, ring->tail, __ATOMIC_RELEASE);
}

/* The kernel is called if it would look too late for @deadline_ns. */
static inline void ring_hurry(struct ring *ring, uint64_t deadline_ns)
{
	/*
	 * Partner: the kernel's full barrier between its store of wake_ns and its
	 * look at the tail, before it sleeps.  One of us sees what the other wrote.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/*
	 * EAGAIN means that the ring does not move until events have been drained.
	 * What was put is in there, and will be done then.
	 */
	if (deadline_ns < __atomic_load_n(&ring->sq->wake_ns, __ATOMIC_RELAXED))
		ring_enter(ring);
}

static inline const struct timewheel_event *ring_event(const struct ring *ring,
						       uint32_t at)
{
	return &ring->events[at & (ring->cq_entries - 1)];
}

/* The next event; there is one. */
static inline struct timewheel_event ring_take(struct ring *ring)
{
	struct timewheel_event event = *ring_event(ring, ring->taken);

	/* Partner: the kernel's acquire, before it writes there again. */
	__atomic_store_n(&ring->cq->head, ++ring->taken, __ATOMIC_RELEASE);
	return event;
}

#endif /* LIB_RING_H */
