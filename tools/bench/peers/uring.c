// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer that takes many at a time: io_uring, a timeout request for each.
 */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "peer.h"

/* More than all that are due at once. */
#define CQ_ENTRIES	32768U
/* What speaks of a timeout, and is none. */
#define NO_TIMEOUT	UINT64_MAX

/**
 * struct uring - a ring
 * @ring: the ring
 * @times: deadlines of a batch, which the kernel reads while it is submitted
 * @expired: told by a completion that was read on the way to another
 * @nr_expired: how many
 */
struct uring {
	struct io_uring ring;
	struct __kernel_timespec times[BATCH];
	uint32_t *expired;
	unsigned int nr_expired;
};

static const char *uring_missing(void)
{
	struct io_uring ring;

	if (io_uring_queue_init(1, &ring, 0))
		return "this kernel has no io_uring, or does not allow it";
	io_uring_queue_exit(&ring);
	return NULL;
}

static void *uring_open(unsigned int capacity)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_CQSIZE, .cq_entries = CQ_ENTRIES,
	};
	struct uring *u = malloc(sizeof(*u));
	int ret;

	if (!u)
		fail("no memory");
	ret = io_uring_queue_init_params(BATCH, &u->ring, &params);
	if (ret)
		fail("io_uring_queue_init_params(): %s", strerror(-ret));
	u->expired = malloc(capacity * sizeof(*u->expired));
	u->nr_expired = 0;
	if (!u->expired)
		fail("no memory for %u numbers", capacity);
	return u;
}

/* A timeout expired, was cancelled, or was not found. */
static void take(struct uring *u, const struct io_uring_cqe *cqe)
{
	if (cqe->res == -ETIME)
		u->expired[u->nr_expired++] = cqe->user_data;
	else if (cqe->res != -ECANCELED)
		fail("a timeout request: %s", strerror(-cqe->res));
}

static void take_all(struct uring *u)
{
	struct io_uring_cqe *cqe;
	unsigned int head, nr = 0;

	io_uring_for_each_cqe(&u->ring, head, cqe) {
		take(u, cqe);
		nr++;
	}
	io_uring_cq_advance(&u->ring, nr);
}

static void submit(struct uring *u, unsigned int nr)
{
	int ret = io_uring_submit(&u->ring);

	if (ret != (int)nr)
		fail("io_uring_submit(): %s", ret < 0 ? strerror(-ret) : "not all was taken");
	take_all(u);
}

static struct io_uring_sqe *next_sqe(struct uring *u)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

	if (!sqe)
		fail("io_uring's submission ring is full");
	return sqe;
}

static struct __kernel_timespec *time_at(struct uring *u, unsigned int i, uint64_t ns)
{
	u->times[i] = (struct __kernel_timespec){ ns / SEC, ns % SEC };
	return &u->times[i];
}

static void uring_arm(void *self, const struct work *work)
{
	unsigned int done, nr, i;
	struct uring *u = self;
	struct io_uring_sqe *sqe;

	for (done = 0; done < work->nr; done += nr) {
		nr = batch_at(work, done);
		for (i = 0; i < nr; i++) {
			sqe = next_sqe(u);
			io_uring_prep_timeout(sqe, time_at(u, i, work->deadline_ns[done + i]), 0,
					      IORING_TIMEOUT_ABS);
			io_uring_sqe_set_data64(sqe, work->index[done + i]);
		}
		submit(u, nr);
	}
}

static void uring_refresh(void *self, const struct work *work)
{
	unsigned int done, nr, i;
	struct uring *u = self;
	struct io_uring_sqe *sqe;

	for (done = 0; done < work->nr; done += nr) {
		nr = batch_at(work, done);
		for (i = 0; i < nr; i++) {
			sqe = next_sqe(u);
			io_uring_prep_timeout_update(sqe,
						     time_at(u, i, work->deadline_ns[done + i]),
						     work->index[done + i], IORING_TIMEOUT_ABS);
			io_uring_sqe_set_flags(sqe, IOSQE_CQE_SKIP_SUCCESS);
			io_uring_sqe_set_data64(sqe, NO_TIMEOUT);
		}
		submit(u, nr);
	}
}

static void uring_cancel(void *self, const struct work *work)
{
	unsigned int done, nr, i;
	struct uring *u = self;
	struct io_uring_sqe *sqe;

	for (done = 0; done < work->nr; done += nr) {
		nr = batch_at(work, done);
		for (i = 0; i < nr; i++) {
			sqe = next_sqe(u);
			io_uring_prep_timeout_remove(sqe, work->index[done + i], 0);
			io_uring_sqe_set_flags(sqe, IOSQE_CQE_SKIP_SUCCESS);
			io_uring_sqe_set_data64(sqe, NO_TIMEOUT);
		}
		submit(u, nr);
	}
}

static unsigned int uring_collect(void *self, uint32_t *expired, bool wait)
{
	struct uring *u = self;
	struct io_uring_cqe *cqe;
	unsigned int nr;
	int ret;

	ret = wait ? io_uring_wait_cqe(&u->ring, &cqe) : io_uring_peek_cqe(&u->ring, &cqe);
	if (ret && ret != -EAGAIN)
		fail("io_uring_wait_cqe(): %s", strerror(-ret));
	take_all(u);
	nr = u->nr_expired;
	memcpy(expired, u->expired, nr * sizeof(*expired));
	u->nr_expired = 0;
	return nr;
}

static void uring_close(void *self)
{
	struct uring *u = self;

	io_uring_queue_exit(&u->ring);
	free(u->expired);
	free(u);
}

const struct peer peer_uring = {
	.name = "io_uring",
	.in_interrupt = true,
	.missing = uring_missing,
	.open = uring_open,
	.arm = uring_arm,
	.refresh = uring_refresh,
	.cancel = uring_cancel,
	.collect = uring_collect,
	.close = uring_close,
};
