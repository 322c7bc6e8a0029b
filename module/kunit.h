/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What only the test module may use, where the kernel has KUnit.
 */
#ifndef TIMEWHEEL_KUNIT_H
#define TIMEWHEEL_KUNIT_H

#include <linux/export.h>
#include <linux/kconfig.h>

#if IS_ENABLED(CONFIG_KUNIT)
#include <kunit/visibility.h>
#else
#define VISIBLE_IF_KUNIT static
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

#endif /* TIMEWHEEL_KUNIT_H */
