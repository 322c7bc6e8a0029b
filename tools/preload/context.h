/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The context that the process's timers are in.
 */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

struct context;

void context_start(void);
void context_forked(void);
void context_end(void);

struct context *context_current(void);
uint64_t context_tick_ns(void);
bool context_is(int fd);
void context_vacate(int fd);

int context_arm(struct context **c, int eventfd, uint64_t deadline_ns, uint64_t *id);
int context_rearm(struct context *c, uint64_t id, uint64_t deadline_ns);
int context_cancel(struct context *c, uint64_t id);
bool context_pending(struct context *c, uint64_t id);
void context_fence(struct context *c);

#endif /* CONTEXT_H */
