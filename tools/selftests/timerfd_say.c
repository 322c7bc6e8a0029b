// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with timerfds, for the test of 'timewheel run': does what each of its
 * arguments says.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define MS	1000000L
#define MANY	20

static void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int create(int clockid)
{
	int fd = timerfd_create(clockid, 0);

	if (fd < 0)
		fail("timerfd_create");
	return fd;
}

static void set(int fd, long value_ns, long interval_ns)
{
	struct itimerspec spec = {
		.it_value = { value_ns / (1000 * MS), value_ns % (1000 * MS) },
		.it_interval.tv_nsec = interval_ns,
	};

	if (timerfd_settime(fd, 0, &spec, NULL))
		fail("timerfd_settime");
}

static void expect(int fd, unsigned long count)
{
	unsigned long seen;

	if (read(fd, &seen, sizeof(seen)) != sizeof(seen) || seen != count)
		fail("read");
}

static void fine_late(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = create(CLOCK_MONOTONIC);

	if (epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, fd, &ev))
		fail("epoll_ctl");
	set(fd, 1000, 1000);
}

/* Armed and moved and expired, armed and cancelled. */
static void books(void)
{
	int fd = create(CLOCK_MONOTONIC);

	set(fd, 3600000 * MS, 0);
	set(fd, 2 * MS, 0);
	expect(fd, 1);
	set(fd, 3600000 * MS, 0);
	close(fd);
}

/* More than the wheel has room for: each works, and may be set again. */
static void many(void)
{
	int fd[MANY], i;

	for (i = 0; i < MANY; i++) {
		fd[i] = create(CLOCK_MONOTONIC);
		set(fd[i], 20 * MS, 0);
	}
	for (i = 0; i < MANY; i++)
		expect(fd[i], 1);
}

/* Standard error is a file for something else; prints what is in there. */
static void other_stderr(void)
{
	char name[] = "/tmp/timerfd_say-XXXXXX", text[256];
	int fd = mkstemp(name);
	ssize_t len;

	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0 || write(fd, "notimer\n", 8) != 8)
		fail("dup2");
	set(create(CLOCK_MONOTONIC), 2 * MS, 0);
	create(CLOCK_REALTIME);
	len = pread(fd, text, sizeof(text), 0);
	if (len > 0)
		fwrite(text, 1, len, stdout);
	unlink(name);
}

static void do_one(const char *what, const char *value)
{
	if (!strcmp(what, "exit"))
		exit(atoi(value));
	else if (!strcmp(what, "preload"))
		puts(getenv("LD_PRELOAD"));
	else if (!strcmp(what, "monotonic"))
		set(create(CLOCK_MONOTONIC), 2 * MS, 0);
	else if (!strcmp(what, "realtime"))
		set(create(CLOCK_REALTIME), 2 * MS, 0);
	else if (!strcmp(what, "boottime"))
		set(create(CLOCK_BOOTTIME), 2 * MS, 0);
	else if (!strcmp(what, "alarm"))
		timerfd_create(CLOCK_BOOTTIME_ALARM, 0);
	else if (!strcmp(what, "fine"))
		set(create(CLOCK_MONOTONIC), 2 * MS, 1000);
	else if (!strcmp(what, "fine-late"))
		fine_late();
	else if (!strcmp(what, "books"))
		books();
	else if (!strcmp(what, "many"))
		many();
	else if (!strcmp(what, "other-stderr"))
		other_stderr();
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		do_one(argv[i], argv[i + 1]);
	return EXIT_SUCCESS;
}
