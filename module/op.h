/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ops: what a program wants done with its timeouts.
 */
#ifndef TIMEWHEEL_OP_H
#define TIMEWHEEL_OP_H

#include <linux/timewheel.h>
#include <linux/types.h>

#include "context.h"

int op_single(struct context *ctx, struct timewheel_op __user *uop, u8 opcode);
int op_from_ring(struct context *ctx, struct timewheel_op *op);
int op_submit(struct context *ctx, struct timewheel_op __user *uops, u32 nr);

#endif /* TIMEWHEEL_OP_H */
