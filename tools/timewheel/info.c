// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel info: what the module and its system wheel are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "command.h"
#include "device.h"
#include "duration.h"
#include "error.h"
#include "json.h"
#include "module.h"

static const struct {
	const char *name;
	uint64_t bit;
} features[] = {
	{ "levels", TIMEWHEEL_FEATURE_LEVELS },
	{ "periodic", TIMEWHEEL_FEATURE_PERIODIC },
	{ "slack", TIMEWHEEL_FEATURE_SLACK },
	{ "rings", TIMEWHEEL_FEATURE_RINGS },
	{ "leases", TIMEWHEEL_FEATURE_LEASES },
	{ "own-ids", TIMEWHEEL_FEATURE_OWN_IDS },
	{ "list", TIMEWHEEL_FEATURE_LIST },
};

#define NR_FEATURES ARRAY_SIZE(features)

/* The limits that are parameters of the module. */
static const char *const limits[] = {
	"max_timeouts", "max_user_timeouts", "max_wheels", "max_user_wheels",
	"max_user_rings",
};

#define NR_LIMITS ARRAY_SIZE(limits)

static const char *clock_name(int clockid)
{
	switch (clockid) {
	case CLOCK_MONOTONIC:
		return "monotonic";
	case CLOCK_BOOTTIME:
		return "boottime";
	default:
		return "unknown";
	}
}

/* How far one revolution of the top level reaches; U64_MAX if further. */
static uint64_t reach(const struct timewheel_info *info)
{
	uint64_t ns = info->tick_ns;
	uint32_t level;

	for (level = 0; level < info->levels; level++)
		if (__builtin_mul_overflow(ns, info->slots, &ns))
			return UINT64_MAX;
	return ns;
}

static void print_human(const struct timewheel_info *info, const char *version)
{
	char buf[DURATION_LEN], buf2[DURATION_LEN];
	uint64_t value;
	size_t i;

	printf("module       timewheel %s, ABI %u\n", version, info->abi_version);
	printf("wheel        %u slots of %s on %u level%s: a revolution takes %s\n",
	       info->slots, duration_format(info->tick_ns, buf), info->levels,
	       info->levels == 1 ? "" : "s", duration_format(reach(info), buf2));
	printf("clock        %s, now %s; tick 0 was at %s\n",
	       clock_name(info->clockid), duration_format(info->now_ns, buf),
	       duration_format(info->epoch_ns, buf2));
	printf("features    ");
	for (i = 0; i < NR_FEATURES; i++)
		if (info->features & features[i].bit)
			printf(" %s", features[i].name);
	puts(info->features ? "" : " none");
	printf("own wheels   ticks of %s to %s, up to %u slots, %u level%s\n",
	       duration_format(info->min_tick_ns, buf),
	       duration_format(info->max_tick_ns, buf2), info->max_slots,
	       info->max_levels, info->max_levels == 1 ? "" : "s");
	printf("limits       max_pending of this context %ju\n",
	       (uint64_t)info->max_pending);
	for (i = 0; i < NR_LIMITS; i++)
		if (!module_parameter(limits[i], &value))
			printf("             %s %ju\n", limits[i], value);
}

static void print_json(const struct timewheel_info *info, const char *version)
{
	uint64_t value;
	size_t i;

	json_object(NULL);
	json_string("version", version);
	json_u64("abi_version", info->abi_version);
	json_array("features");
	for (i = 0; i < NR_FEATURES; i++)
		if (info->features & features[i].bit)
			json_string(NULL, features[i].name);
	json_end();
	json_u64("tick_ns", info->tick_ns);
	json_u64("slots", info->slots);
	json_u64("levels", info->levels);
	json_string("clock", clock_name(info->clockid));
	json_u64("epoch_ns", info->epoch_ns);
	json_u64("now_ns", info->now_ns);
	json_u64("min_tick_ns", info->min_tick_ns);
	json_u64("max_tick_ns", info->max_tick_ns);
	json_u64("max_slots", info->max_slots);
	json_u64("max_levels", info->max_levels);
	json_object("limits");
	json_u64("max_pending", info->max_pending);
	for (i = 0; i < NR_LIMITS; i++)
		if (!module_parameter(limits[i], &value))
			json_u64(limits[i], value);
	json_end();
	json_end();
}

static int run_info(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	struct timewheel_info info;
	struct timewheel *tw;
	char version[64];
	int c, json = 0;

	while ((c = command_option(&command_info, argc, argv, options)) != -1)
		json = c == 'j';
	if (optind < argc)
		fail_usage("info", "info takes no argument, but got '%s'", argv[optind]);

	tw = device_open();
	timewheel_info(tw, &info);
	timewheel_close(tw);
	if (module_text("version", version, sizeof(version)))
		strcpy(version, "unknown");
	if (json)
		print_json(&info, version);
	else
		print_human(&info, version);
	return EXIT_SUCCESS;
}

const struct command command_info = {
	.name = "info",
	.args = "[--json]",
	.summary = "what the module, its wheel and its limits are",
	.help = "Prints the version of the module, the tick, slots, levels and clock of the\n"
		"system wheel, what the module can do, and its limits.\n"
		"\n"
		"  --json   one JSON object\n",
	.run = run_info,
};
