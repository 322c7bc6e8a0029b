// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose timeouts are saved, and one that gets those restored.
 *
 *   holder arm SPEC...   arms each SPEC and holds it until it is killed; says
 *                        "ready" when all are armed. A SPEC is a cookie, a delay
 *                        in ms and, if it is periodic, a period in ms, with
 *                        colons between them
 *   holder heir N        takes descriptor 3, prints N events, the wheel and all
 *                        that is pending
 */
#include <inttypes.h>
#include <linux/timewheel.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <fcntl.h>

#define NS_PER_MS	1000000ULL
#define INHERITED	3
#define CHUNK		256

static int fail(const char *what)
{
	perror(what);
	return EXIT_FAILURE;
}

static int arm(char **specs)
{
	int fd = open("/dev/timewheel", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return fail("/dev/timewheel");
	for (; *specs; specs++) {
		struct timewheel_op op = { .opcode = TIMEWHEEL_OP_ARM, .eventfd = -1 };
		uint64_t cookie, delay, interval = 0;

		if (sscanf(*specs, "%" SCNu64 ":%" SCNu64 ":%" SCNu64, &cookie, &delay,
			   &interval) < 2)
			return fail(*specs);
		op.user_data = cookie;
		op.expires_ns = delay * NS_PER_MS;
		op.interval_ns = interval * NS_PER_MS;
		if (ioctl(fd, TIMEWHEEL_IOC_ARM, &op))
			return fail("ARM");
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

static int list(void)
{
	static struct timewheel_query entries[CHUNK];
	struct timewheel_list list = { .entries = (uintptr_t)entries };
	uint32_t i;

	do {
		list.nr = CHUNK;
		if (ioctl(INHERITED, TIMEWHEEL_IOC_LIST, &list))
			return fail("LIST");
		for (i = 0; i < list.nr; i++)
			printf("pending %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			       (uint64_t)entries[i].user_data, (uint64_t)entries[i].deadline_ns,
			       (uint64_t)entries[i].interval_ns, (uint64_t)entries[i].slack_ns);
	} while (list.cursor != UINT64_MAX);
	return EXIT_SUCCESS;
}

static int inherit(unsigned long nr)
{
	struct timewheel_info info = { .size = sizeof(info) };
	struct timewheel_event ev;

	if (ioctl(INHERITED, TIMEWHEEL_IOC_INFO, &info))
		return fail("INFO");
	printf("wheel %" PRIu64 " %u %u %d\n", (uint64_t)info.tick_ns, info.slots, info.levels,
	       info.clockid);
	while (nr--) {
		if (read(INHERITED, &ev, sizeof(ev)) != sizeof(ev))
			return fail("read");
		printf("event %" PRIu64 " %" PRIu64 " %d %u\n", (uint64_t)ev.user_data,
		       (uint64_t)ev.deadline_ns, ev.result, ev.flags);
	}
	return list();
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "arm"))
		return arm(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "heir"))
		return inherit(strtoul(argv[2], NULL, 10));
	fprintf(stderr, "usage: holder arm COOKIE:MS[:MS]... | holder heir EVENTS\n");
	return 2;
}
