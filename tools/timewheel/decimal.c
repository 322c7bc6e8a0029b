// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers with up to nine decimals, exactly: seconds as nanoseconds.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>

#include "decimal.h"

static int append(uint64_t *value, char digit)
{
	if (__builtin_mul_overflow(*value, 10, value) ||
	    __builtin_add_overflow(*value, digit - '0', value))
		return -ERANGE;
	return 0;
}

/**
 * decimal_parse() - read a number
 * @text: digits, and perhaps a point and one to nine digits; nothing else
 * @value: out: the number in units of 10^-9
 *
 * Return: 0; -EINVAL when it is no such number, -E2BIG when it has more decimals,
 * -ERANGE when it does not fit.
 */
int decimal_parse(const char *text, uint64_t *value)
{
	uint64_t sum = 0;
	int places = 0, err = 0;
	const char *p = text;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p) && !err; p++)
		err = append(&sum, *p);
	if (*p == '.' && !err) {
		if (!isdigit((unsigned char)*++p))
			return -EINVAL;
		for (; isdigit((unsigned char)*p) && !err; p++) {
			if (places++ == DECIMAL_PLACES)
				return -E2BIG;
			err = append(&sum, *p);
		}
	}
	for (; places < DECIMAL_PLACES && !err; places++)
		err = append(&sum, '0');
	if (err)
		return err;
	if (*p)
		return -EINVAL;
	*value = sum;
	return 0;
}
