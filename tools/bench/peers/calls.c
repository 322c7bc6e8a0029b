// SPDX-License-Identifier: GPL-2.0-only
/*
 * A context of /dev/timewheel that is used by calls: what the two peers that do so
 * have in common.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../worker.h"
#include "calls.h"

const char *timewheel_missing(void)
{
	if (!access("/dev/timewheel", R_OK | W_OK))
		return NULL;
	return "there is no /dev/timewheel here: load the module, or run scripts/bench-user";
}

void *calls_open(unsigned int capacity)
{
	struct timewheel_setup setup = {
		.size = sizeof(setup),
		.flags = TIMEWHEEL_SETUP_OWN_WHEEL,
	};
	struct calls *c = malloc(sizeof(*c));

	if (!c)
		fail("no memory");
	c->fd = open("/dev/timewheel", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (c->fd < 0)
		fail("/dev/timewheel: %s", strerror(errno));
	if (ioctl(c->fd, TIMEWHEEL_IOC_SETUP, &setup))
		fail("SETUP: %s", strerror(errno));
	c->worker = worker_of(c->fd);
	c->ids = malloc(capacity * sizeof(*c->ids));
	if (!c->worker || !c->ids)
		fail("no worker, or no memory for %u ids", capacity);
	return c;
}

unsigned int calls_collect(void *self, uint32_t *expired, bool wait)
{
	struct calls *c = self;
	struct pollfd pfd = { .fd = c->fd, .events = POLLIN };
	unsigned int i, nr;
	ssize_t len;

	if (wait && poll(&pfd, 1, -1) < 0)
		fail("poll(): %s", strerror(errno));
	len = read(c->fd, c->events, sizeof(c->events));
	nr = len > 0 ? len / sizeof(*c->events) : 0;
	for (i = 0; i < nr; i++)
		expired[i] = c->events[i].user_data;
	return nr;
}

pid_t calls_worker(void *self)
{
	struct calls *c = self;

	return c->worker;
}

void calls_close(void *self)
{
	struct calls *c = self;

	close(c->fd);
	free(c->ids);
	free(c);
}
