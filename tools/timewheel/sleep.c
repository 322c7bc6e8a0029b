// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel sleep: one timeout for each argument, printed as it fires.
 */
#include <errno.h>
#include <stdint.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "device.h"
#include "duration.h"
#include "error.h"
#include "interrupt.h"
#include "json.h"

static void parse(struct timewheel_op *op, const char *text)
{
	uint64_t ns;

	switch (duration_parse(text, &ns)) {
	case 0:
		break;
	case -ERANGE:
		fail_usage("sleep", "'%s' is too long: at most 584 years fit", text);
	default:
		fail_usage("sleep", "'%s' is no duration; write " DURATION_FORMS, text);
	}
	op->opcode = TIMEWHEEL_OP_ARM;
	op->expires_ns = ns;
	op->eventfd = -1;
}

/* Takes all of them, or does not return. */
static void arm(struct timewheel *tw, struct timewheel_op *ops, unsigned int nr)
{
	int done = timewheel_batch(tw, ops, nr);
	unsigned int i;

	if (done < 0)
		fail_arm(-done);
	if ((unsigned int)done < nr)
		fail("the module took %d of %u timeouts", done, nr);
	for (i = 0; i < nr; i++)
		if (ops[i].result)
			fail_arm(-ops[i].result);
}

static void print_event(const struct timewheel_event *ev, const char *text,
			uint64_t asked_ns, uint64_t now, bool json)
{
	uint64_t late = now > ev->deadline_ns ? now - ev->deadline_ns : 0;
	char buf[DURATION_LEN];

	if (json) {
		json_object(NULL);
		json_u64("argument", ev->user_data);
		json_string("text", text);
		json_u64("duration_ns", asked_ns);
		json_u64("deadline_ns", ev->deadline_ns);
		json_u64("now_ns", now);
		json_s64("late_ns", now - ev->deadline_ns);
		json_end();
		return;
	}
	if (now < ev->deadline_ns)
		printf("%s fired EARLY by %s\n", text,
		       duration_format(ev->deadline_ns - now, buf));
	else
		printf("%s fired %s late\n", text, duration_format(late, buf));
	fflush(stdout);
}

/* Cancels what is left; returns how many that were. */
static unsigned int cancel(struct timewheel *tw, struct timewheel_op *ops, unsigned int nr)
{
	unsigned int i, cancelled = 0;

	for (i = 0; i < nr; i++)
		cancelled += !timewheel_cancel(tw, ops[i].id);
	return cancelled;
}

/* The arguments, as they were given and as they were armed. */
struct arguments {
	struct timewheel_op *ops;
	char **texts;
	unsigned int nr;
	bool json;
};

static void fired(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	const struct arguments *args = data;
	uint64_t n = event->user_data;

	if (n >= args->nr)
		fail("the module reports a timeout that is none of ours");
	print_event(event, args->texts[n], args->ops[n].expires_ns, timewheel_now(tw),
		    args->json);
}

/* Prints what has come; returns how many. */
static unsigned int print_events(struct timewheel *tw, struct arguments *args)
{
	int nr = timewheel_drain(tw, 0, fired, args);

	if (nr < 0)
		fail_errno(-nr, "cannot read events");
	return nr;
}

static int wait_for(struct timewheel *tw, struct arguments *args, int interrupts)
{
	struct pollfd fds[] = {
		{ .fd = timewheel_fd(tw), .events = POLLIN },
		{ .fd = interrupts, .events = POLLIN },
	};
	unsigned int left = args->nr;

	while (left) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			fail_errno(errno, "cannot wait for events");
		}
		if (fds[0].revents & POLLIN)
			left -= print_events(tw, args);
		if (fds[1].revents & POLLIN) {
			fprintf(stderr, "timewheel: interrupted, %u cancelled\n",
				cancel(tw, args->ops, args->nr));
			return interrupt_status(interrupts);
		}
	}
	return EXIT_SUCCESS;
}

static int run_sleep(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	struct arguments args = { };
	struct timewheel *tw;
	int c, interrupts, status;
	unsigned int i;

	while ((c = command_option(&command_sleep, argc, argv, options)) != -1)
		args.json = c == 'j';
	if (optind == argc)
		fail_usage("sleep", "how long? Write " DURATION_FORMS);

	args.texts = argv + optind;
	args.nr = argc - optind;
	args.ops = calloc(args.nr, sizeof(*args.ops));
	if (!args.ops)
		fail("no memory");
	for (i = 0; i < args.nr; i++) {
		parse(&args.ops[i], args.texts[i]);
		args.ops[i].user_data = i;
	}

	interrupts = interrupt_catch();
	tw = device_open();
	arm(tw, args.ops, args.nr);
	status = wait_for(tw, &args, interrupts);
	timewheel_close(tw);
	free(args.ops);
	return status;
}

const struct command command_sleep = {
	.name = "sleep",
	.args = "[--json] DURATION...",
	.summary = "arm a timeout for each duration and print it as it fires",
	.help = "Arms one timeout for each DURATION, all at once, prints each as it fires, with\n"
		"how late it was, and ends when all have. Ctrl-C cancels those that are left.\n"
		"\n"
		"A DURATION is " DURATION_FORMS ".\n"
		"\n"
		"  --json   one JSON object for each, a line each\n",
	.run = run_sleep,
};
