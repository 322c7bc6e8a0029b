/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sysfs says of the loaded module.
 */
#ifndef MODULE_H
#define MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_DIR "/sys/module/timewheel"

bool module_loaded(void);
int module_text(const char *file, char *buf, size_t size);
int module_parameter(const char *name, uint64_t *value);

#endif /* MODULE_H */
