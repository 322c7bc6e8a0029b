/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hierarchical timer wheel in a program's own memory: what people write who find
 * a timerfd for each timeout too dear.
 *
 * It knows neither clock nor lock: who calls it has ticks, and takes turns.
 */
#ifndef WHEEL_H
#define WHEEL_H

#include <stdbool.h>
#include <stdint.h>

struct wheel;

struct wheel *wheel_create(uint32_t capacity, uint64_t now);
void wheel_destroy(struct wheel *wheel);
void wheel_arm(struct wheel *wheel, uint32_t timeout, uint64_t tick);
void wheel_move(struct wheel *wheel, uint32_t timeout, uint64_t tick);
bool wheel_cancel(struct wheel *wheel, uint32_t timeout);
uint64_t wheel_next(const struct wheel *wheel);
uint32_t wheel_advance(struct wheel *wheel, uint64_t now, uint32_t *expired);

#endif /* WHEEL_H */
