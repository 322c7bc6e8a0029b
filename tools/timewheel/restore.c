// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel restore: arm what was saved, and print it or hand it on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "device.h"
#include "duration.h"
#include "error.h"
#include "interrupt.h"
#include "json.h"
#include "plan.h"
#include "program.h"
#include "savefile.h"
#include "walltime.h"

#define HANDED_FD	3
#define CHUNK		1024U

/* What is due at once fires within moments, on the slowest machine within this. */
#define PATIENCE_NS	(60 * 1000000000ULL)

/**
 * struct armed - a timeout of the new context
 * @id: what it is called
 * @planned: what it was made from
 */
struct armed {
	uint64_t id;
	struct planned *planned;
};

/**
 * struct restored - the new context
 * @tw: its handle
 * @info: what it is
 * @ahead: how far the wall clock was ahead of its clock
 * @nr: how many timeouts were armed
 * @plan: how each was, in that order
 * @armed: each of them, by id
 */
struct restored {
	struct timewheel *tw;
	struct timewheel_info info;
	int64_t ahead;
	size_t nr;
	struct planned *plan;
	struct armed *armed;
};

/* --- the file ------------------------------------------------------------- */

static void read_file(const char *path, struct savefile *saved)
{
	struct savefile_error error;
	FILE *file;
	int err;

	file = fopen(path, "re");
	if (!file)
		fail_errno(errno, "cannot read %s", path);
	err = savefile_read(file, saved, &error);
	fclose(file);
	switch (err) {
	case 0:
		return;
	case -EBADMSG:
		fail("%s is not as 'timewheel save' wrote it: at byte %ju, %s.\n"
		     "Nothing was armed.", path, (uintmax_t)error.offset, error.what);
	case -ENOMEM:
		fail("no memory for what is in %s. Nothing was armed.", path);
	default:
		fail_errno(-err, "cannot read %s", path);
	}
}

/* --- the context ------------------------------------------------------------ */

static struct timewheel *open_own_wheel(const struct saved_wheel *wheel)
{
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_OWN_WHEEL,
		.tick_ns = wheel->tick_ns,
		.slots = wheel->slots,
		.levels = wheel->levels,
		.clockid = wheel->clockid,
	};
	struct timewheel *tw;
	int err = timewheel_open(&tw, &options);

	switch (-err) {
	case 0:
		return tw;
	case EINVAL:
		fail("the timeouts were on a wheel of their own, of %u slots of %ju ns on\n"
		     "%u levels, which this module does not make ('timewheel info' has its\n"
		     "bounds). Nothing was armed.",
		     wheel->slots, (uintmax_t)wheel->tick_ns, wheel->levels);
	case ENOSPC:
		fail("no more wheels: the module's limit max_wheels is reached.\n"
		     "To raise it, write 'options timewheel max_wheels=NUMBER' to a file in\n"
		     "/etc/modprobe.d and load the module anew. Nothing was armed.");
	case EDQUOT:
		fail("no more wheels: the limit of one user, max_user_wheels, is reached.\n"
		     "To raise it, write 'options timewheel max_user_wheels=NUMBER' to a file in\n"
		     "/etc/modprobe.d and load the module anew. Nothing was armed.");
	default:
		device_fail_open(-err);
	}
}

static void check_features(const struct timewheel_info *info, const struct savefile *saved)
{
	uint64_t need = 0;
	size_t i;

	for (i = 0; i < saved->nr; i++) {
		if (saved->timeouts[i].interval_ns)
			need |= TIMEWHEEL_FEATURE_PERIODIC;
		if (saved->timeouts[i].slack_ns)
			need |= TIMEWHEEL_FEATURE_SLACK;
	}
	if (need & ~info->features)
		fail("the module has no %s timeouts, and some of these are.\n"
		     "Install the release that they were saved with, or a later one.",
		     need & ~info->features & TIMEWHEEL_FEATURE_PERIODIC ? "periodic" :
									   "slack for");
}

static void make_context(struct restored *r, const struct savefile *saved)
{
	r->tw = saved->wheel.own ? open_own_wheel(&saved->wheel) : device_open();
	timewheel_info(r->tw, &r->info);
	check_features(&r->info, saved);
	if (saved->nr > r->info.max_pending)
		fail("there are %zu timeouts, and a context may hold %ju: the module's parameter\n"
		     "max_timeouts. To raise it, write 'options timewheel max_timeouts=NUMBER' to a\n"
		     "file in /etc/modprobe.d and load the module anew. Nothing was armed.",
		     saved->nr, (uintmax_t)r->info.max_pending);
}

/* --- arming ------------------------------------------------------------------ */

static struct timewheel_op op_of(const struct planned *p)
{
	const struct saved_timeout *t = p->timeout;

	return (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = TIMEWHEEL_ABS,
		.user_data = t->cookie,
		.expires_ns = p->deadline_ns,
		.interval_ns = t->interval_ns,
		/* What is overdue is not to be later still. */
		.slack_ns = p->overdue && !t->interval_ns ? 0 : t->slack_ns,
		.eventfd = -1,
	};
}

static int by_id(const void *a, const void *b)
{
	const struct armed *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* All of them: on an error the program ends, and with it the context. */
static void arm(struct restored *r)
{
	static struct timewheel_op ops[CHUNK];
	size_t done, i, nr;
	int taken;

	for (done = 0; done < r->nr; done += nr) {
		nr = r->nr - done < CHUNK ? r->nr - done : CHUNK;
		for (i = 0; i < nr; i++)
			ops[i] = op_of(&r->plan[done + i]);
		taken = timewheel_batch(r->tw, ops, nr);
		if (taken < 0)
			fail_arm(-taken);
		if ((size_t)taken < nr)
			fail("the module took %d of %zu timeouts", taken, nr);
		for (i = 0; i < nr; i++) {
			if (ops[i].result)
				fail_arm(-ops[i].result);
			r->armed[done + i] = (struct armed){ ops[i].id, &r->plan[done + i] };
		}
	}
}

/* A periodic one that was armed for 0 has fired for that: now give it its phase. */
static void settle(struct timewheel *tw, uint64_t id, uint64_t next_ns)
{
	uint64_t began = device_now(CLOCK_MONOTONIC);
	struct timewheel_query query = { .id = id };
	int err;

	for (;;) {
		err = timewheel_query(tw, &query);
		if (err)
			fail_errno(-err, "cannot look at a timeout (QUERY)");
		if (query.deadline_ns)
			break;
		if (device_now(CLOCK_MONOTONIC) - began > PATIENCE_NS)
			fail("a timeout that is overdue does not fire: is the machine overloaded?");
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		query = (struct timewheel_query){ .id = id };
	}
	err = timewheel_rearm(tw, id, next_ns);
	if (err)
		fail_errno(-err, "cannot move a timeout (REARM)");
}

static void restore(struct restored *r, const struct savefile *saved)
{
	uint64_t wall_now;
	size_t i;

	make_context(r, saved);
	r->nr = saved->nr;
	r->armed = calloc(r->nr + 1, sizeof(*r->armed));
	r->ahead = device_wall_ahead(timewheel_fd(r->tw));
	/* By the same two clocks, should one be set right now. */
	wall_now = timewheel_now(r->tw) + r->ahead;
	r->plan = plan_make(saved, wall_now, r->ahead);
	if (!r->plan || !r->armed)
		fail("no memory");
	if (wall_now < saved->saved_ns)
		fprintf(stderr,
			"timewheel: the clock says that this was saved in the future. If it is slow,\n"
			"timeouts will be late: set the clock, and restore again.\n");
	arm(r);
	for (i = 0; i < r->nr; i++)
		if (r->plan[i].next_ns)
			settle(r->tw, r->armed[i].id, r->plan[i].next_ns);
	qsort(r->armed, r->nr, sizeof(*r->armed), by_id);
}

/* --- telling ----------------------------------------------------------------- */

static void say_what(const struct restored *r)
{
	size_t i, overdue = 0, no_event = 0;

	for (i = 0; i < r->nr; i++) {
		overdue += r->plan[i].overdue;
		no_event += r->plan[i].timeout->no_event;
	}
	fprintf(stderr, "timewheel: %zu timeout%s restored, %zu overdue\n",
		r->nr, r->nr == 1 ? "" : "s", overdue);
	if (no_event)
		fprintf(stderr,
			"timewheel: %zu of them signalled an eventfd only; now %s events\n",
			no_event, no_event == 1 ? "it has" : "they have");
}

static struct planned *planned_of(const struct restored *r, uint64_t id)
{
	const struct armed key = { .id = id };
	const struct armed *found;

	found = bsearch(&key, r->armed, r->nr, sizeof(key), by_id);
	if (!found)
		fail("the module reports a timeout that is none of ours");
	return found->planned;
}

static void print_event(const struct restored *r, const struct timewheel_event *ev,
			uint64_t wall_now, bool json)
{
	struct planned *p = planned_of(r, ev->id);
	char when[WALLTIME_LEN], buf[DURATION_LEN];
	uint64_t missed = p->missed + ev->result - 1;
	uint64_t deadline = p->wall_ns;
	int64_t late;

	/* Periodic: the instants after that which it was armed for. */
	if (ev->deadline_ns != p->deadline_ns)
		deadline = ev->deadline_ns + r->ahead;
	p->missed = 0;
	late = wall_now - deadline;
	if (json) {
		json_object(NULL);
		json_u64("cookie", ev->user_data);
		json_string("deadline", walltime_format(deadline, when));
		json_u64("deadline_ns", deadline);
		json_u64("now_ns", wall_now);
		json_s64("late_ns", late);
		json_u64("missed", missed);
		json_bool("last", ev->flags & TIMEWHEEL_EVENT_LAST);
		json_end();
		return;
	}
	printf("cookie %ju, due %s, fired %s%s", (uintmax_t)ev->user_data,
	       walltime_format(deadline, when), late < 0 ? "EARLY by " : "",
	       duration_format(late < 0 ? -late : late, buf));
	printf("%s", late < 0 ? "" : " late");
	if (missed)
		printf(", after %ju missed", (uintmax_t)missed);
	puts("");
	fflush(stdout);
}

/**
 * struct printing - what is printed, and how
 * @r: the context
 * @json: as JSON
 * @last: how many have had their last event
 */
struct printing {
	const struct restored *r;
	bool json;
	size_t last;
};

/* By the clock as it was: setting it moves no deadline. */
static void fired(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct printing *p = data;

	print_event(p->r, event, timewheel_now(tw) + p->r->ahead, p->json);
	p->last += !!(event->flags & TIMEWHEEL_EVENT_LAST);
}

/* Prints what has come; returns how many of them will come no more. */
static size_t print_events(const struct restored *r, bool json)
{
	struct printing p = { .r = r, .json = json };
	int err = timewheel_drain(r->tw, 0, fired, &p);

	if (err < 0)
		fail_errno(-err, "cannot read events");
	return p.last;
}

static int print_all(const struct restored *r, int interrupts, bool json)
{
	struct pollfd fds[] = {
		{ .fd = timewheel_fd(r->tw), .events = POLLIN },
		{ .fd = interrupts, .events = POLLIN },
	};
	size_t left = r->nr;

	while (left) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			fail_errno(errno, "cannot wait for events");
		}
		if (fds[0].revents & POLLIN)
			left -= print_events(r, json);
		if (fds[1].revents & POLLIN) {
			fprintf(stderr, "timewheel: interrupted, %zu still pending\n", left);
			return interrupt_status(interrupts);
		}
	}
	return EXIT_SUCCESS;
}

/* --- handing on -------------------------------------------------------------- */

static noreturn void hand_on(const struct restored *r, char **program)
{
	int err, fd = timewheel_fd(r->tw);

	if (fd == HANDED_FD)
		err = fcntl(fd, F_SETFD, 0);
	else
		err = dup2(fd, HANDED_FD);
	/* As open() gives it: the program may read it without the library. */
	if (err >= 0)
		err = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	if (err < 0)
		fail_errno(errno, "cannot make the context descriptor %d", HANDED_FD);
	program_exec(program);
}

static int run_restore(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	char **program = program_take("restore", &argc, argv);
	struct restored r = { };
	struct savefile saved;
	int c, interrupts, status;
	bool json = false;

	while ((c = command_option(&command_restore, argc, argv, options)) != -1)
		json = c == 'j';
	if (optind == argc)
		fail_usage("restore", "from which file?");
	if (optind + 1 < argc)
		fail_usage("restore",
			   "one file at a time, but there is '%s'; a program comes behind --",
			   argv[optind + 1]);
	if (json && program)
		fail_usage("restore", "--json is for what this prints, but %s gets the events",
			   program[0]);

	read_file(argv[optind], &saved);
	if (program) {
		restore(&r, &saved);
		say_what(&r);
		hand_on(&r, program);
	}
	interrupts = interrupt_catch();
	restore(&r, &saved);
	say_what(&r);
	status = print_all(&r, interrupts, json);
	timewheel_close(r.tw);
	free(r.plan);
	free(r.armed);
	savefile_free(&saved);
	return status;
}

const struct command command_restore = {
	.name = "restore",
	.args = "[--json] FILE [-- PROGRAM [ARGUMENT]...]",
	.summary = "arm again what was saved, and print it or hand it to a program",
	.help = "Arms the timeouts in FILE, which 'timewheel save' wrote, in a new context, each\n"
		"for the time of day at which it is due, and prints each as it fires, with how\n"
		"late that was. It ends when none is left. What is overdue fires at once, in the\n"
		"order in which it was due. An overdue periodic timeout fires once for its last\n"
		"instant, keeps its phase, and says how many instants it missed.\n"
		"\n"
		"With a PROGRAM, hands the context to it instead: as descriptor 3, open across\n"
		"exec, with all timeouts armed and SETUP done. PROGRAM tells them by their\n"
		"cookies; their ids are new, and LIST names them. The event of one that was due\n"
		"before the machine started has the deadline 0, and the result of an event counts\n"
		"no instant that was missed before the restoring.\n"
		"\n"
		"Eventfds can't be restored: all timeouts have events. FILE stays as it is;\n"
		"remove it, or what is in it will be armed once more. If it was altered or is not\n"
		"whole, nothing is armed.\n"
		"\n"
		"  --json   one JSON object for each, a line each\n",
	.run = run_restore,
};
