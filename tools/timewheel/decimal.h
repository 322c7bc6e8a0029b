/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers with up to nine decimals, exactly.
 */
#ifndef DECIMAL_H
#define DECIMAL_H

#include <stdint.h>

#define DECIMAL_ONE	UINT64_C(1000000000)
#define DECIMAL_PLACES	9

int decimal_parse(const char *text, uint64_t *value);

#endif /* DECIMAL_H */
