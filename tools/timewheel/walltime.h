/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times of the wall clock, as text and as nanoseconds since 1970.
 */
#ifndef WALLTIME_H
#define WALLTIME_H

#include <stddef.h>
#include <stdint.h>

/* What no clock comes to; its text is "never". */
#define WALLTIME_NEVER	UINT64_MAX

/* Room for 2026-12-01T12:00:00.000000000Z and a NUL. */
#define WALLTIME_LEN	31

const char *walltime_format(uint64_t ns, char buf[static WALLTIME_LEN]);
int walltime_parse(const char *text, size_t len, uint64_t *ns);

#endif /* WALLTIME_H */
