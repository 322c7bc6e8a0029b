/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For selftests that load and unload the module: as it is in the guests of
 * scripts/vm, where $TIMEWHEEL_KO or /lib/timewheel/timewheel.ko is the file.
 */
#ifndef SELFTEST_MODULE_H
#define SELFTEST_MODULE_H

#include <sys/types.h>

void need_module(void);
int module_load(const char *params);
int module_unload(void);
void module_reload(const char *params);
void module_restore(void);
long long module_refs(void);
int kernel_log(void);
int kernel_said(int log, const char *prefix, const char *word);
void become(uid_t uid, gid_t gid);
gid_t device_group(void);

#endif /* SELFTEST_MODULE_H */
