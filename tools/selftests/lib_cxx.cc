// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library from C++: the header is taken, and what it declares is found.
 */
#include <cstdio>
#include <timewheel.h>
#include <vector>

static int failed;

static void check(bool ok, const char *what)
{
	static int number;

	std::printf("%sok %d %s\n", ok ? "" : "not ", ++number, what);
	failed |= !ok;
}

static void collect(struct timewheel *, const struct timewheel_event *event, void *data)
{
	static_cast<std::vector<timewheel_event> *>(data)->push_back(*event);
}

static void run(const timewheel_options &options)
{
	std::vector<timewheel_event> events;
	timewheel *tw = nullptr;
	uint64_t id = 0;

	check(timewheel_open(&tw, &options) == 0, "open");
	if (!tw)
		return;
	check(timewheel_arm(tw, 1000000, 42, &id) == 0 && id, "arm");
	while (events.empty() && timewheel_wait(tw, 60000) == 1)
		if (timewheel_drain(tw, 0, collect, &events) < 0)
			break;
	check(events.size() == 1 && events[0].user_data == 42 && events[0].id == id, "drain");
	check(timewheel_cancel(tw, id) < 0, "cancel");
	timewheel_close(tw);
}

int main()
{
	timewheel_options options = {};
	timewheel *tw = nullptr;

	std::puts("TAP version 13");
	if (timewheel_open(&tw, nullptr)) {
		std::puts("1..0 # SKIP no /dev/timewheel: the module is not loaded");
		return 4;
	}
	timewheel_close(tw);
	std::puts("1..8");
	run(options);
	options.flags = TIMEWHEEL_OPEN_RINGS;
	options.capacity = 16;
	run(options);
	return failed;
}
