/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Durations as people write them: 250ms, 2s, 1h30m, 1.5.
 */
#ifndef DURATION_H
#define DURATION_H

#include <stddef.h>
#include <stdint.h>

#define DURATION_FORMS "250ms, 2s, 1.5s, 1h30m, 10us, 500ns, 1d, or a number of seconds"

/* Room for what duration_format() writes. */
#define DURATION_LEN 32

int duration_parse(const char *text, uint64_t *ns);
const char *duration_format(uint64_t ns, char buf[static DURATION_LEN]);

#endif /* DURATION_H */
