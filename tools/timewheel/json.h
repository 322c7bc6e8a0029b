/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One JSON value after the other to stdout.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>

/* A name of NULL stands for an element of an array, or the outermost value. */
void json_object(const char *name);
void json_array(const char *name);
void json_end(void);
void json_u64(const char *name, uint64_t value);
void json_s64(const char *name, int64_t value);
void json_bool(const char *name, bool value);
void json_string(const char *name, const char *value);

#endif /* JSON_H */
