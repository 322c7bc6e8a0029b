/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sides: what each does for a round of a measurement.
 */
#ifndef SIDES_H
#define SIDES_H

#include <stdbool.h>
#include <stdint.h>
#include <timewheel.h>

#include "../rings.h"
#include "million.h"

/* An event loop reads the clock once for all that its sockets brought. */
#define REFRESHES_PER_CLOCK	256U

/* wheel.c */
void leases_store(struct rings *r, const uint32_t *order, unsigned int times);
void wheel_round_ring(const struct plan *plan);
void wheel_round_ioctl(const struct plan *plan);
void wheel_collect(const struct plan *plan);
void wheel_fill(struct rings *r, unsigned int nr, bool leases);

/**
 * struct library - a handle of libtimewheel
 * @tw: the handle
 * @worker: its wheel's thread
 * @ids: of the timeouts armed
 * @nr: how many there can be
 */
struct library {
	struct timewheel *tw;
	pid_t worker;
	uint64_t *ids;
	unsigned int nr;
};

/* library.c */
void library_fill(struct library *l, unsigned int nr);
void library_close(struct library *l);
void library_touch(struct library *l, unsigned int times);
void library_round(const struct plan *plan);
void library_collect(const struct plan *plan);

/* timerfd.c */
unsigned int timerfds_open(int *fds, unsigned int nr);
void timerfds_close(const int *fds, unsigned int nr);
void timerfds_settime(const int *fds, unsigned int nr, unsigned int times);
void timerfd_round(const struct plan *plan);
void timerfd_collect(const struct plan *plan);

/* uring.c, or no_uring.c where there is no liburing */
const char *uring_missing(void);
void uring_round(const struct plan *plan);

#endif /* SIDES_H */
