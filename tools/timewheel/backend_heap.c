// SPDX-License-Identifier: GPL-2.0-only
/*
 * All timeouts sorted in the process, and one timerfd for the first of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "backend.h"
#include "device.h"
#include "error.h"
#include "heap.h"

#define NS_PER_S	1000000000ULL

/* All timeouts by their deadlines, and what the timerfd is set to, 0 if it is not. */
struct sorted {
	struct heap heap;
	uint64_t set_ns;
};

static void heap_open(struct backend *b)
{
	b->own = calloc(1, sizeof(struct sorted));
	if (!b->own)
		fail("no memory");
	b->capacity = UINT32_MAX;
	b->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (b->fd < 0)
		fail_errno(errno, "cannot make a timerfd");
}

static int heap_arm(struct backend *b, uint32_t index)
{
	struct sorted *sorted = b->own;

	if (heap_set(&sorted->heap, index, b->timeouts->all[index].deadline_ns))
		fail("no memory");
	return 0;
}

static int heap_cancel(struct backend *b, uint32_t index)
{
	struct sorted *sorted = b->own;

	heap_remove(&sorted->heap, index);
	return 0;
}

/* Set for the first: later than it is set to means to wake for nothing, once. */
static int heap_flush(struct backend *b)
{
	struct sorted *sorted = b->own;
	const struct heap_entry *first = heap_first(&sorted->heap);
	struct itimerspec its = { };

	if (!first || (sorted->set_ns && sorted->set_ns <= first->key))
		return 0;
	sorted->set_ns = first->key;
	its.it_value.tv_sec = first->key / NS_PER_S;
	its.it_value.tv_nsec = first->key % NS_PER_S;
	if (timerfd_settime(b->fd, TFD_TIMER_ABSTIME, &its, NULL))
		fail_errno(errno, "cannot set a timerfd");
	return 0;
}

static void heap_collect(struct backend *b)
{
	struct sorted *sorted = b->own;
	const struct heap_entry *first;
	uint64_t expirations, now;
	uint32_t index;

	if (read(b->fd, &expirations, sizeof(expirations)) > 0)
		sorted->set_ns = 0;
	now = device_now(CLOCK_MONOTONIC);
	while ((first = heap_first(&sorted->heap)) && first->key <= now) {
		index = first->index;
		heap_remove(&sorted->heap, index);
		b->expired(b->data, timeouts_cookie(b->timeouts, index));
	}
	heap_flush(b);
}

static void heap_close(struct backend *b)
{
	struct sorted *sorted = b->own;

	heap_clear(&sorted->heap);
	free(sorted);
	close(b->fd);
}

const struct backend_ops backend_heap = {
	.name = "user-heap",
	.open = heap_open,
	.arm = heap_arm,
	.refresh = heap_arm,
	.cancel = heap_cancel,
	.flush = heap_flush,
	.collect = heap_collect,
	.close = heap_close,
};
