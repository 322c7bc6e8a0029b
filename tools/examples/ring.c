// SPDX-License-Identifier: MIT
/*
 * usage: ring [TIMEOUTS]
 *
 * The rings without the library: timeouts are armed, refreshed, cancelled and collected
 * by the protocol of <linux/timewheel.h>.  Of TIMEOUTS every third is cancelled, every
 * third is refreshed by a store until the others have fired, and each system call is
 * counted.
 *
 *	cc ring.c -o ring $(pkg-config --cflags libtimewheel)
 */
#include <fcntl.h>
#include <linux/timewheel.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#define ENTRIES		1024
#define DELAY_NS	200000000ULL

static struct timewheel_ring *sq, *cq;
static struct timewheel_op *ops;
static struct timewheel_event *events;
static uint64_t *leases;
static unsigned int calls;
static int fd;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (p == MAP_FAILED)
		die("ring: mmap");
	return p;
}

static void set_up(unsigned int nr)
{
	struct timewheel_setup setup = {
		.size = sizeof(setup),
		.sq_entries = ENTRIES,
		.cq_entries = ENTRIES,
		.own_ids = nr,
	};

	fd = open("/dev/timewheel", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TIMEWHEEL_IOC_SETUP, &setup))
		die("ring: /dev/timewheel");
	sq = map(sizeof(*sq) + ENTRIES * sizeof(*ops), TIMEWHEEL_OFF_SQ);
	cq = map(sizeof(*cq) + ENTRIES * sizeof(*events), TIMEWHEEL_OFF_CQ);
	leases = map(nr * sizeof(*leases), TIMEWHEEL_OFF_LEASE);
	ops = (void *)(sq + 1);
	events = (void *)(cq + 1);
}

/* The kernel looks at the rings now.  With the submission ring full, it makes room. */
static void enter(void)
{
	struct timewheel_submit submit = { };

	calls++;
	if (ioctl(fd, TIMEWHEEL_IOC_SUBMIT, &submit))
		die("ring: SUBMIT");
}

static void push(const struct timewheel_op *op, uint64_t deadline_ns)
{
	/* 1: the kernel has read what was in the entry. */
	while (sq->tail - __atomic_load_n(&sq->head, __ATOMIC_ACQUIRE) == ENTRIES)
		enter();
	/* 2 and 3: it finds the entry written. */
	ops[sq->tail % ENTRIES] = *op;
	__atomic_store_n(&sq->tail, sq->tail + 1, __ATOMIC_RELEASE);
	/* 4 and 5: either we see when it wakes, or it sees our tail before it sleeps. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (deadline_ns < __atomic_load_n(&sq->wake_ns, __ATOMIC_RELAXED))
		enter();
}

/* The index is ours to choose; the generation in the upper half, too. */
static void arm(uint64_t id, uint64_t deadline_ns)
{
	const struct timewheel_op op = {
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = TIMEWHEEL_OWN_ID | TIMEWHEEL_LEASE,
		.id = id,
		.user_data = id,
		.eventfd = -1,
	};

	__atomic_store_n(&leases[id], deadline_ns, __ATOMIC_RELAXED);
	push(&op, deadline_ns);
}

/* It is taken out of the ring before anything expires: no need to hurry. */
static void cancel(uint64_t id)
{
	const struct timewheel_op op = {
		.opcode = TIMEWHEEL_OP_CANCEL,
		.id = id,
		.eventfd = -1,
	};

	push(&op, UINT64_MAX);
}

static void refresh(uint64_t id, uint64_t deadline_ns)
{
	__atomic_store_n(&leases[id], deadline_ns, __ATOMIC_RELAXED);
}

/* 0 if there is no event in the ring. */
static int pop(struct timewheel_event *event)
{
	if (__atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE) == cq->head)
		return 0;
	*event = events[cq->head % ENTRIES];
	__atomic_store_n(&cq->head, cq->head + 1, __ATOMIC_RELEASE);
	return 1;
}

static struct timewheel_event collect(void)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct timewheel_event event;

	while (!pop(&event)) {
		/* Events that the ring had no room for wait in the kernel. */
		if (__atomic_load_n(&cq->flags, __ATOMIC_RELAXED) & TIMEWHEEL_RING_OVERFLOW) {
			enter();
			continue;
		}
		calls++;
		if (poll(&pfd, 1, -1) < 0)
			die("ring: poll");
	}
	return event;
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? atoi(argv[1]) : 30000, left, i;
	unsigned int cancelled = (nr + 1) / 3, fired = 0, early = 0, failed = 0;
	struct timewheel_event event;
	uint64_t start;

	if (argc > 2 || nr < 1 || nr > 10000000) {
		fputs("usage: ring [TIMEOUTS]\n", stderr);
		return 2;
	}
	set_up(nr);
	start = now();
	for (i = 0; i < nr; i++)
		arm(i, i % 3 == 1 ? start + 3600000000000ULL : start + DELAY_NS);
	printf("%u armed, with %u system calls\n", nr, calls);
	for (i = 0; i < nr; i++) {
		if (i % 3 == 1)
			cancel(i);
		if (i % 3 == 2)
			refresh(i, now() + 3 * DELAY_NS);
	}
	printf("cancelled and refreshed, %u in all\n", calls);
	for (left = nr - cancelled; left; left--) {
		event = collect();
		fired += !!(event.flags & TIMEWHEEL_EVENT_EXPIRED);
		failed += !!(event.flags & TIMEWHEEL_EVENT_FAILED);
		early += now() < event.deadline_ns;
	}
	printf("%u fired, %u cancelled, %u early, %u failed; %u system calls in all\n", fired,
	       cancelled, early, failed, calls);
	return early || failed;
}
