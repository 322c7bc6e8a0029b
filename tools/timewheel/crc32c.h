/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checksum of files: CRC-32C (Castagnoli).
 */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t len);

#endif /* CRC32C_H */
