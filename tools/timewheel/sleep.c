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
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "device.h"
#include "duration.h"
#include "error.h"
#include "interrupt.h"
#include "json.h"

#define EVENTS 64

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
static void arm(int fd, struct timewheel_op *ops, unsigned int nr)
{
	struct timewheel_submit submit = { .ops = (uintptr_t)ops, .nr = nr };
	unsigned int i;
	int done;

	done = ioctl(fd, TIMEWHEEL_IOC_SUBMIT, &submit);
	if (done < 0)
		fail_arm(errno);
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
static unsigned int cancel(int fd, struct timewheel_op *ops, unsigned int nr)
{
	unsigned int i, cancelled = 0;

	for (i = 0; i < nr; i++) {
		struct timewheel_op op = {
			.opcode = TIMEWHEEL_OP_CANCEL,
			.id = ops[i].id,
			.eventfd = -1,
		};

		if (!ioctl(fd, TIMEWHEEL_IOC_CANCEL, &op))
			cancelled++;
	}
	return cancelled;
}

/* Prints what has come; returns how many. */
static unsigned int print_events(int fd, const struct timewheel_op *ops,
				 char **texts, unsigned int nr, int clockid, bool json)
{
	struct timewheel_event events[EVENTS];
	uint64_t now, n;
	ssize_t len, i;

	len = read(fd, events, sizeof(events));
	if (len < 0)
		fail_errno(errno, "cannot read events");
	len /= sizeof(events[0]);
	now = device_now(clockid);
	for (i = 0; i < len; i++) {
		n = events[i].user_data;
		if (n >= nr)
			fail("the module reports a timeout that is none of ours");
		print_event(&events[i], texts[n], ops[n].expires_ns, now, json);
	}
	return len;
}

static int wait_for(int fd, struct timewheel_op *ops, char **texts,
		    unsigned int nr, int interrupts, bool json)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = interrupts, .events = POLLIN },
	};
	struct timewheel_info info;
	unsigned int left = nr;

	device_info(fd, &info);
	while (left) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			fail_errno(errno, "cannot wait for events");
		}
		if (fds[0].revents & POLLIN)
			left -= print_events(fd, ops, texts, nr, info.clockid, json);
		if (fds[1].revents & POLLIN) {
			fprintf(stderr, "timewheel: interrupted, %u cancelled\n",
				cancel(fd, ops, nr));
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
	struct timewheel_op *ops;
	unsigned int i, nr;
	bool json = false;
	int c, fd, interrupts, status;

	while ((c = command_option(&command_sleep, argc, argv, options)) != -1)
		json = c == 'j';
	if (optind == argc)
		fail_usage("sleep", "how long? Write " DURATION_FORMS);

	nr = argc - optind;
	ops = calloc(nr, sizeof(*ops));
	if (!ops)
		fail("no memory");
	for (i = 0; i < nr; i++) {
		parse(&ops[i], argv[optind + i]);
		ops[i].user_data = i;
	}

	interrupts = interrupt_catch();
	fd = device_open();
	arm(fd, ops, nr);
	status = wait_for(fd, ops, argv + optind, nr, interrupts, json);
	close(fd);
	free(ops);
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
