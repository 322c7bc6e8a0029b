// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel save: the pending timeouts of a running program, into a file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "argument.h"
#include "command.h"
#include "device.h"
#include "error.h"
#include "json.h"
#include "newfile.h"
#include "savefile.h"
#include "take.h"
#include "walltime.h"

#define CHUNK	1024U

/* A deadline as the wall clock will show it; what no clock shows is never. */
static uint64_t on_wall(uint64_t deadline_ns, int64_t ahead)
{
	__int128 ns = (__int128)deadline_ns + ahead;

	if (deadline_ns == UINT64_MAX || ns >= WALLTIME_NEVER)
		return WALLTIME_NEVER;
	return ns < 0 ? 0 : ns;
}

static void append(struct savefile *saved, size_t *room,
		   const struct timewheel_query *entries, size_t nr, int64_t ahead)
{
	struct saved_timeout *t;
	size_t i;

	if (*room - saved->nr < nr) {
		*room = 2 * *room + CHUNK;
		t = reallocarray(saved->timeouts, *room, sizeof(*t));
		if (!t)
			fail("no memory");
		saved->timeouts = t;
	}
	for (i = 0; i < nr; i++)
		saved->timeouts[saved->nr++] = (struct saved_timeout){
			.wall_ns = on_wall(entries[i].deadline_ns, ahead),
			.cookie = entries[i].user_data,
			.id = entries[i].id,
			.interval_ns = entries[i].interval_ns,
			.slack_ns = entries[i].slack_ns,
			.no_event = entries[i].flags & TIMEWHEEL_NO_EVENT,
		};
}

/* All that is pending, in the order the module tells it. */
static void list(int fd, struct savefile *saved, int64_t ahead)
{
	static struct timewheel_query entries[CHUNK];
	struct timewheel_list list = { .entries = (uintptr_t)entries };
	size_t room = 0;

	do {
		list.nr = CHUNK;
		if (ioctl(fd, TIMEWHEEL_IOC_LIST, &list))
			fail_errno(errno, "cannot list the timeouts (LIST)");
		if (list.nr > CHUNK)
			fail("the module lists more timeouts than it was asked for");
		append(saved, &room, entries, list.nr, ahead);
	} while (list.cursor != UINT64_MAX);
}

static void look_at_wheel(int fd, bool own, struct saved_wheel *wheel)
{
	struct timewheel_info info;

	device_info(fd, &info);
	if (!(info.features & TIMEWHEEL_FEATURE_LIST))
		fail("the module does not list timeouts ('timewheel info' names what it can do).\n"
		     "Install a later release.");
	*wheel = (struct saved_wheel){
		.own = own,
		.tick_ns = info.tick_ns,
		.slots = info.slots,
		.levels = info.levels,
		.clockid = info.clockid,
	};
}

static void report(const struct savefile *saved, const char *path, uint64_t unread, bool json)
{
	size_t i, no_event = 0;

	for (i = 0; i < saved->nr; i++)
		no_event += saved->timeouts[i].no_event;
	if (json) {
		json_object(NULL);
		json_string("file", path);
		json_u64("saved", saved->nr);
		json_u64("no_event", no_event);
		json_u64("unread", unread);
		json_end();
		return;
	}
	printf("%zu timeout%s saved to %s\n", saved->nr, saved->nr == 1 ? "" : "s", path);
	if (no_event)
		printf("%zu of them signal%s an eventfd only; restored, %s events\n",
		       no_event, no_event == 1 ? "s" : "",
		       no_event == 1 ? "it has" : "they have");
	if (unread)
		printf("%ju event%s not saved: the program has yet to read %s\n",
		       (uintmax_t)unread, unread == 1 ? " is" : "s are",
		       unread == 1 ? "it" : "them");
}

static int run_save(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ "pid", required_argument, NULL, 'p' },
		{ "fd", required_argument, NULL, 'f' },
		{ }
	};
	struct timewheel_stats stats;
	struct savefile saved = { };
	struct taken taken;
	bool json = false;
	int c, err, pid = 0, fd = -1;
	FILE *file;

	while ((c = command_option(&command_save, argc, argv, options)) != -1) {
		if (c == 'j')
			json = true;
		else if (c == 'p')
			pid = argument_number("save", "process id", optarg, 1);
		else
			fd = argument_number("save", "descriptor", optarg, 0);
	}
	if (!pid)
		fail_usage("save", "of which process? Give --pid");
	if (optind == argc)
		fail_usage("save", "to which file?");
	if (optind + 1 < argc)
		fail_usage("save", "one file is enough, but there is '%s'", argv[optind + 1]);

	take_context(pid, fd, &taken);
	look_at_wheel(taken.fd, taken.own_wheel, &saved.wheel);
	list(taken.fd, &saved, device_wall_ahead(taken.fd));
	saved.saved_ns = device_now(CLOCK_REALTIME);
	/* What expired during the walk is among them. */
	device_stats(taken.fd, &stats);

	file = newfile_open(argv[optind]);
	err = savefile_write(file, &saved);
	if (err)
		fail_errno(-err, "cannot write %s", argv[optind]);
	newfile_commit(file);
	report(&saved, argv[optind], stats.unread, json);
	savefile_free(&saved);
	return EXIT_SUCCESS;
}

const struct command command_save = {
	.name = "save",
	.args = "[--json] --pid PID [--fd N] FILE",
	.summary = "write the pending timeouts of a program to a file",
	.help = "Takes the context of a running program and writes what is pending in it to FILE,\n"
		"with the time of day at which each is due, so that 'timewheel restore' can arm\n"
		"it again: after the program has ended, the module was loaded anew, or the\n"
		"machine started again. The program is not disturbed and keeps its timeouts; what\n"
		"it changes meanwhile may or may not be in FILE.\n"
		"\n"
		"  --pid PID   the program; takes root, or its own user where tracing is allowed\n"
		"  --fd N      its descriptor for the context, if it has more than one\n"
		"  --json      say what was saved as a JSON object\n"
		"\n"
		"FILE is replaced in one step, is on the disk when the command ends, and can be\n"
		"read by its owner only. Not saved are events that the program has yet to read,\n"
		"and which eventfd a timeout signals.\n",
	.run = run_save,
};
