// SPDX-License-Identifier: GPL-2.0-only
/*
 * A context of /dev/timewheel with its rings: the bare ABI.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker.h"
#include "common.h"
#include "rings.h"

static void *map(int fd, size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		       fd, offset);

	if (p == MAP_FAILED)
		die("mapping a ring");
	return p;
}

void rings_open(struct rings *r, uint32_t sq_entries, uint32_t cq_entries,
		uint32_t own_ids, bool leases)
{
	struct timewheel_setup setup = {
		.size = sizeof(setup),
		.flags = TIMEWHEEL_SETUP_OWN_WHEEL,
		.sq_entries = sq_entries,
		.cq_entries = cq_entries,
		.own_ids = own_ids,
	};
	int fd = open("/dev/timewheel", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("/dev/timewheel");
	if (ioctl(fd, TIMEWHEEL_IOC_SETUP, &setup))
		die("SETUP");
	*r = (struct rings){
		.fd = fd,
		.worker = worker_of(fd),
		.own_ids = own_ids,
		.sq = map(fd, sizeof(*r->sq) + sq_entries * sizeof(*r->ops),
			  TIMEWHEEL_OFF_SQ),
		.sq_mask = sq_entries - 1,
		.cq = map(fd, sizeof(*r->cq) + cq_entries * sizeof(*r->events),
			  TIMEWHEEL_OFF_CQ),
		.cq_mask = cq_entries - 1,
	};
	if (!r->worker)
		die("the wheel's worker");
	r->ops = (void *)(r->sq + 1);
	r->events = (void *)(r->cq + 1);
	if (leases)
		r->leases = map(fd, own_ids * sizeof(*r->leases), TIMEWHEEL_OFF_LEASE);
}

void rings_close(struct rings *r)
{
	munmap(r->sq, sizeof(*r->sq) + (r->sq_mask + 1UL) * sizeof(*r->ops));
	munmap(r->cq, sizeof(*r->cq) + (r->cq_mask + 1UL) * sizeof(*r->events));
	if (r->leases)
		munmap(r->leases, r->own_ids * sizeof(*r->leases));
	close(r->fd);
}

/* Have the kernel look at the rings; if one is full, until it is not. */
void rings_enter(struct rings *r)
{
	struct timewheel_submit submit = { };

	if (ioctl(r->fd, TIMEWHEEL_IOC_SUBMIT, &submit))
		die("SUBMIT");
}
