// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer that takes many at a time: io_uring.
 */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "costs.h"
#include "sides.h"

/* Each one walks the list of all timeouts: it takes long enough. */
#define CANCELS		64U

/* Why there is no such peer, or NULL. */
const char *uring_missing(void)
{
	struct io_uring ring;

	if (io_uring_queue_init(1, &ring, 0))
		return "this kernel has no io_uring, or does not allow it";
	io_uring_queue_exit(&ring);
	return NULL;
}

static struct io_uring_sqe *next_sqe(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (!sqe)
		die("io_uring's submission ring");
	return sqe;
}

static void submit(struct io_uring *ring, unsigned int nr)
{
	int ret = io_uring_submit(ring);

	if (ret == (int)nr)
		return;
	errno = ret < 0 ? -ret : EAGAIN;
	die("io_uring_submit()");
}

static void arm(struct io_uring *ring, unsigned int first, unsigned int nr)
{
	/* The kernel reads them while they are submitted. */
	static struct __kernel_timespec times[BATCH];
	struct io_uring_sqe *sqe;
	uint64_t ns;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		ns = random_deadline();
		times[i] = (struct __kernel_timespec){ ns / SEC, ns % SEC };
		sqe = next_sqe(ring);
		io_uring_prep_timeout(sqe, &times[i], 0, 0);
		io_uring_sqe_set_data64(sqe, first + i);
	}
	submit(ring, nr);
}

/* All that was cancelled, and all that cancelled, is told. */
static unsigned int count_cancelled(struct io_uring *ring, unsigned int want)
{
	struct io_uring_cqe *cqe;
	unsigned int nr = 0;

	while (want--) {
		if (io_uring_wait_cqe(ring, &cqe))
			die("io_uring_wait_cqe()");
		nr += cqe->res == -ECANCELED;
		io_uring_cqe_seen(ring, cqe);
	}
	return nr;
}

/* Arm, and cancel some of them. */
void uring_round(const struct plan *plan)
{
	unsigned int done, nr, i;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	struct meter m;

	errno = -io_uring_queue_init(BATCH, &ring, 0);
	if (errno)
		die("io_uring_queue_init()");
	m = meter_start(0);
	for (done = 0; done < plan->armed; done += nr) {
		nr = plan->armed - done < BATCH ? plan->armed - done : BATCH;
		arm(&ring, done, nr);
	}
	meter_called(&m);
	costs_record(&m, ARM_URING, plan->armed);

	nr = plan->cancels < CANCELS ? plan->cancels : CANCELS;
	m = meter_start(0);
	for (i = 0; i < nr; i++) {
		sqe = next_sqe(&ring);
		io_uring_prep_timeout_remove(sqe, plan->order[i], 0);
		io_uring_sqe_set_data64(sqe, UINT64_MAX);
	}
	submit(&ring, nr);
	meter_called(&m);
	costs_record(&m, CANCEL_URING, nr);
	if (count_cancelled(&ring, 2 * nr) != nr)
		die("io_uring did not cancel all");
	io_uring_queue_exit(&ring);
}
