// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel_kunit.ko: the suites of timewheel.ko.  Each file registers its own;
 * loading the module runs them.
 */

#include <linux/module.h>

#include "compat.h"
#include "../module/compat.h"

MODULE_DESCRIPTION("KUnit suites of timewheel.ko");
MODULE_AUTHOR("The timewheel authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_IMPORT_KUNIT_NS();
