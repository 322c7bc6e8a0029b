// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checksum of files: CRC-32C (Castagnoli).  It finds every change that lies
 * within 32 bits in a row, so every changed byte.
 */
#include "crc32c.h"

#define POLYNOMIAL 0x82f63b78	/* bit-reversed */

static uint32_t table[256];

static void fill_table(void)
{
	uint32_t i, bit, crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[i] = crc;
	}
}

/**
 * crc32c() - the checksum of bytes, or of more bytes
 * @crc: that of the bytes before, 0 if there are none
 * @data: the bytes
 * @len: how many
 *
 * Return: the checksum of all of them.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	if (!table[1])
		fill_table();
	crc = ~crc;
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}
