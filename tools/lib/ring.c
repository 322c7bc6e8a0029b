// SPDX-License-Identifier: MIT
/*
 * The rings' memory, and the protocol on it: see <linux/timewheel.h>.
 */
#include <errno.h>
#include <sys/mman.h>

#include "lib.h"
#include "ring.h"

static size_t sq_size(const struct ring *ring)
{
	return sizeof(*ring->sq) + ring->sq_entries * sizeof(*ring->ops);
}

static size_t cq_size(const struct ring *ring)
{
	return sizeof(*ring->cq) + ring->cq_entries * sizeof(*ring->events);
}

static size_t lease_size(const struct ring *ring)
{
	return ring->nr_leases * sizeof(*ring->leases);
}

/* NULL and errno if it fails. */
static void *map(int fd, size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

/* Maps what SETUP has made.  After an error ring_unmap() takes away what was mapped. */
int ring_map(struct ring *ring, int fd, const struct timewheel_setup *setup, bool leases)
{
	ring->fd = fd;
	ring->sq_entries = setup->sq_entries;
	ring->cq_entries = setup->cq_entries;
	ring->sq = map(fd, sq_size(ring), TIMEWHEEL_OFF_SQ);
	if (!ring->sq)
		return -errno;
	ring->ops = (void *)(ring->sq + 1);
	ring->cq = map(fd, cq_size(ring), TIMEWHEEL_OFF_CQ);
	if (!ring->cq)
		return -errno;
	ring->events = (void *)(ring->cq + 1);
	if (!leases)
		return 0;
	ring->nr_leases = setup->own_ids;
	ring->leases = map(fd, lease_size(ring), TIMEWHEEL_OFF_LEASE);
	return ring->leases ? 0 : -errno;
}

/* Also if there are none. */
void ring_unmap(struct ring *ring)
{
	if (ring->sq)
		munmap(ring->sq, sq_size(ring));
	if (ring->cq)
		munmap(ring->cq, cq_size(ring));
	if (ring->leases)
		munmap(ring->leases, lease_size(ring));
}

static bool cq_full(const struct ring *ring)
{
	/* Only a count: what is there is read after ring_has_event(). */
	return __atomic_load_n(&ring->cq->tail, __ATOMIC_RELAXED) - ring->taken ==
	       ring->cq_entries;
}

/*
 * Have the kernel look at the rings.  If the submission ring is full, this waits
 * until it is not; -EAGAIN if it does not move until events have been taken.
 */
int ring_enter(struct ring *ring)
{
	struct timewheel_submit submit = { };
	int ret;

	/*
	 * The kernel says EAGAIN also if it has just run out of room to tell of an op
	 * that failed, and is about to make some: another call moves the events.
	 */
	do {
		ret = lib_ioctl(ring->fd, TIMEWHEEL_IOC_SUBMIT, &submit);
	} while (ret == -EAGAIN && !cq_full(ring));
	return ret;
}

bool ring_full(struct ring *ring)
{
	if (ring->tail - ring->head < ring->sq_entries)
		return false;
	/* Partner: the kernel's release, when it has read the entries. */
	ring->head = __atomic_load_n(&ring->sq->head, __ATOMIC_ACQUIRE);
	return ring->tail - ring->head == ring->sq_entries;
}

/* The kernel has done all that was put. */
bool ring_taken(struct ring *ring)
{
	/* Partner: as in ring_full(). */
	ring->head = __atomic_load_n(&ring->sq->head, __ATOMIC_ACQUIRE);
	return ring->head == ring->tail;
}

/* See all the events that there are. */
void ring_look(struct ring *ring)
{
	/* Partner: the kernel's release, when it has written the entries. */
	ring->filled = __atomic_load_n(&ring->cq->tail, __ATOMIC_ACQUIRE);
}

/* All there are have been seen when this says no, or after it had to look. */
bool ring_has_event(struct ring *ring)
{
	if (ring->taken != ring->filled)
		return true;
	ring_look(ring);
	return ring->taken != ring->filled;
}

/* Events wait in the kernel, for which there was no room. */
bool ring_overflowed(const struct ring *ring)
{
	return __atomic_load_n(&ring->cq->flags, __ATOMIC_RELAXED) &
	       TIMEWHEEL_RING_OVERFLOW;
}
