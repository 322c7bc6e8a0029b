/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the KUnit of older kernels lacks.
 */
#ifndef TIMEWHEEL_KUNIT_COMPAT_H
#define TIMEWHEEL_KUNIT_COMPAT_H

#include <kunit/test.h>

#ifndef KUNIT_CASE_SLOW
#define KUNIT_CASE_SLOW(test_name) KUNIT_CASE(test_name)
#endif

#endif /* TIMEWHEEL_KUNIT_COMPAT_H */
