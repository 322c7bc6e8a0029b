// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel.ko: parameters, load and unload.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "debugfs.h"
#include "device.h"
#include "kunit.h"
#include "params.h"
#include "wheel.h"
#include "work.h"

unsigned int param_tick_us = 1000;
module_param_named(tick_us, param_tick_us, uint, 0444);
MODULE_PARM_DESC(tick_us, "Tick of the system wheel in microseconds, 1 to 3600000000 (default 1000)");

unsigned int param_slots = 256;
module_param_named(slots, param_slots, uint, 0444);
MODULE_PARM_DESC(slots, "Slots of each level, rounded up to a power of two, 1 to 1048576 (default 256)");

unsigned int param_levels = 4;
module_param_named(levels, param_levels, uint, 0444);
MODULE_PARM_DESC(levels, "Levels, 1 to 8; slots to the power of levels at most 2^62 (default 4)");

unsigned int param_housekeeping_ms = 100;
module_param_named(housekeeping_ms, param_housekeeping_ms, uint, 0444);
MODULE_PARM_DESC(housekeeping_ms, "How long a queued timeout may wait for the worker, in milliseconds, 1 to 60000 (default 100)");

unsigned int param_max_wheels = 64;
module_param_named(max_wheels, param_max_wheels, uint, 0444);
MODULE_PARM_DESC(max_wheels, "Wheels at once beside the system wheel, 1 to 65536 (default 64)");
EXPORT_SYMBOL_IF_KUNIT(param_max_wheels);

unsigned int param_max_timeouts = 1U << 24;
module_param_named(max_timeouts, param_max_timeouts, uint, 0444);
MODULE_PARM_DESC(max_timeouts, "Timeouts of all programs together, 1 to 1073741824 (default 16777216)");

unsigned int param_max_user_timeouts = 1U << 22;
module_param_named(max_user_timeouts, param_max_user_timeouts, uint, 0444);
MODULE_PARM_DESC(max_user_timeouts, "Timeouts of one user's programs, 1 to 1073741824; CAP_SYS_RESOURCE is exempt (default 4194304)");

unsigned int param_max_user_wheels = 16;
module_param_named(max_user_wheels, param_max_user_wheels, uint, 0444);
MODULE_PARM_DESC(max_user_wheels, "Own wheels of one user's programs, 1 to 65536; CAP_SYS_RESOURCE is exempt (default 16)");

unsigned int param_max_user_rings = 256;
module_param_named(max_user_rings, param_max_user_rings, uint, 0444);
MODULE_PARM_DESC(max_user_rings, "Submission rings of one user's programs on the system wheel, 1 to 65536; CAP_SYS_RESOURCE is exempt (default 256)");

bool param_realtime;
module_param_named(realtime, param_realtime, bool, 0444);
MODULE_PARM_DESC(realtime, "Give the system wheel's worker low real-time priority (default no)");

static int __init param_check(const char *name, unsigned int value,
			      unsigned int max)
{
	if (value >= 1 && value <= max)
		return 0;
	pr_err("%s=%u is out of range: it must be 1 to %u\n", name, value, max);
	return -EINVAL;
}

static int __init params_check(void)
{
	if (param_check("tick_us", param_tick_us,
			TIMEWHEEL_MAX_TICK_NS / NSEC_PER_USEC) ||
	    param_check("slots", param_slots, CORE_MAX_SLOTS) ||
	    param_check("levels", param_levels, CORE_MAX_LEVELS) ||
	    param_check("housekeeping_ms", param_housekeeping_ms, 60000) ||
	    param_check("max_wheels", param_max_wheels, 65536) ||
	    param_check("max_timeouts", param_max_timeouts, 1U << 30) ||
	    param_check("max_user_timeouts", param_max_user_timeouts, 1U << 30) ||
	    param_check("max_user_wheels", param_max_user_wheels, 65536) ||
	    param_check("max_user_rings", param_max_user_rings, 65536))
		return -EINVAL;

	if (core_check(param_slots, param_levels)) {
		pr_err("slots=%u with levels=%u is too much: slots to the power of levels must not pass 2^%u\n",
		       param_slots, param_levels, CORE_MAX_BITS);
		return -EINVAL;
	}
	return 0;
}

static int __init timewheel_init(void)
{
	int ret;

	ret = params_check();
	if (ret)
		return ret;
	debugfs_init();
	ret = work_init();
	if (ret) {
		pr_err("no memory for a workqueue\n");
		goto hide;
	}
	ret = system_wheel_create();
	if (ret) {
		pr_err("no memory or no thread for the system wheel: error %d\n",
		       ret);
		goto end_work;
	}
	ret = device_init();
	if (ret) {
		pr_err("/dev/timewheel can't be registered: error %d\n", ret);
		goto destroy_wheel;
	}
	return 0;

destroy_wheel:
	system_wheel_destroy();
end_work:
	work_exit();
hide:
	debugfs_exit();
	return ret;
}
module_init(timewheel_init);

static void __exit timewheel_exit(void)
{
	device_exit();
	system_wheel_destroy();
	work_exit();
	debugfs_exit();
}
module_exit(timewheel_exit);

MODULE_DESCRIPTION("Millions of coarse timeouts on a hashed timer wheel");
MODULE_AUTHOR("The timewheel authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
