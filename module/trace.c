// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the tracepoints live.
 */

#include "compat.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
