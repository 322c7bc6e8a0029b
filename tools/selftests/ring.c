// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program's side of the rings and of the lease table.
 */
#include <sys/mman.h>

#include "ring.h"

static void *map(int fd, size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	ASSERT_TRUE(p != MAP_FAILED);
	return p;
}

/* @own_tick_ns: of an own wheel; 0 for the system wheel. */
void rings_open(struct rings *r, uint32_t sq_entries, uint32_t cq_entries,
		uint32_t own_ids, uint64_t own_tick_ns)
{
	struct timewheel_setup s = {
		.size = sizeof(s),
		.flags = own_tick_ns ? TIMEWHEEL_SETUP_OWN_WHEEL : 0,
		.tick_ns = own_tick_ns,
		.sq_entries = sq_entries,
		.cq_entries = cq_entries,
		.own_ids = own_ids,
	};

	*r = (struct rings){
		.fd = tw_open(), .sq_entries = sq_entries,
		.cq_entries = cq_entries, .own_ids = own_ids,
	};
	ASSERT_OK(setup(r->fd, &s));
	if (sq_entries) {
		r->sq = map(r->fd, sizeof(*r->sq) + sq_entries * sizeof(*r->ops),
			    TIMEWHEEL_OFF_SQ);
		r->ops = (void *)(r->sq + 1);
		EXPECT_EQ(sq_entries - 1, r->sq->mask);
	}
	if (cq_entries) {
		r->cq = map(r->fd, sizeof(*r->cq) + cq_entries * sizeof(*r->events),
			    TIMEWHEEL_OFF_CQ);
		r->events = (void *)(r->cq + 1);
		EXPECT_EQ(cq_entries - 1, r->cq->mask);
	}
}

void rings_map_leases(struct rings *r)
{
	r->leases = map(r->fd, r->own_ids * sizeof(*r->leases), TIMEWHEEL_OFF_LEASE);
}

void rings_close(struct rings *r)
{
	if (r->sq)
		ASSERT_OK(munmap(r->sq, sizeof(*r->sq) +
				 r->sq_entries * sizeof(*r->ops)));
	if (r->cq)
		ASSERT_OK(munmap(r->cq, sizeof(*r->cq) +
				 r->cq_entries * sizeof(*r->events)));
	if (r->leases)
		ASSERT_OK(munmap(r->leases, r->own_ids * sizeof(*r->leases)));
	ASSERT_OK(close(r->fd));
}

bool ring_room(const struct rings *r)
{
	/* Partner: the kernel's release, when it has read the entries. */
	return r->sq->tail - __atomic_load_n(&r->sq->head, __ATOMIC_ACQUIRE) <
	       r->sq_entries;
}

/* Nobody is called: it will be seen at the next pass. */
void ring_push(struct rings *r, struct timewheel_op op)
{
	ASSERT_TRUE(ring_room(r));
	r->ops[r->sq->tail & (r->sq_entries - 1)] = op;
	/* Partner: the kernel's acquire, before it reads the entry. */
	__atomic_store_n(&r->sq->tail, r->sq->tail + 1, __ATOMIC_RELEASE);
}

int ring_enter(struct rings *r)
{
	struct timewheel_submit submit = { };

	r->calls++;
	return ioctl(r->fd, TIMEWHEEL_IOC_SUBMIT, &submit);
}

/* By the protocol: the kernel is called if it would come too late. */
void ring_ask(struct rings *r, struct timewheel_op op)
{
	if (!ring_room(r))
		ASSERT_OK(ring_enter(r));
	ring_push(r, op);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (op.expires_ns < __atomic_load_n(&r->sq->wake_ns, __ATOMIC_RELAXED))
		ASSERT_OK(ring_enter(r));
}

bool ring_pop(struct rings *r, struct timewheel_event *ev)
{
	/* Partner: the kernel's release, when it has written the entries. */
	if (__atomic_load_n(&r->cq->tail, __ATOMIC_ACQUIRE) == r->cq->head)
		return false;
	*ev = r->events[r->cq->head & (r->cq_entries - 1)];
	__atomic_store_n(&r->cq->head, r->cq->head + 1, __ATOMIC_RELEASE);
	return true;
}

struct timewheel_event ring_wait(struct rings *r)
{
	struct timewheel_event ev;

	while (!ring_pop(r, &ev)) {
		wait_readable(r->fd);
		/* There was no room, and there may be no pass any more to bring it. */
		if (__atomic_load_n(&r->cq->flags, __ATOMIC_RELAXED) & TIMEWHEEL_RING_OVERFLOW)
			ASSERT_OK(ring_enter(r));
	}
	return ev;
}

uint64_t id_of(uint32_t index, uint32_t generation)
{
	return (uint64_t)generation << 32 | index;
}

struct timewheel_op op_own(uint64_t id, uint64_t expires_ns, uint64_t user_data)
{
	struct timewheel_op op = op_arm_at(expires_ns, user_data);

	op.flags |= TIMEWHEEL_OWN_ID;
	op.id = id;
	return op;
}

struct timewheel_op op_lease(uint64_t id, uint64_t user_data)
{
	struct timewheel_op op = op_own(id, 0, user_data);

	op.flags |= TIMEWHEEL_LEASE;
	return op;
}

void lease_store(struct rings *r, uint32_t index, uint64_t deadline_ns)
{
	__atomic_store_n(&r->leases[index], deadline_ns, __ATOMIC_RELAXED);
}
