// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer that sends signals: POSIX timers.
 *
 * To learn which have expired takes SIGEV_SIGNAL, with the timeout's number in the
 * signal, and a signalfd that reads many signals at a time.  With SIGEV_NONE there is
 * nothing to wait for, and timer_gettime() of each timer to find out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "../common.h"
#include "peer.h"

#define SIGNALS		64U
/* What else the user has pending; it is the user's limit. */
#define SPARE_SIGNALS	64U

/**
 * struct timer - a timeout
 * @id: its timer
 * @there: it has one
 */
struct timer {
	timer_t id;
	bool there;
};

/**
 * struct posix_timers - a timer for each timeout
 * @capacity: how many there can be
 * @fd: signalfd
 * @signal: what they send, which is blocked
 * @timers: of each timeout
 * @read: what signalfd told
 */
struct posix_timers {
	unsigned int capacity;
	int fd;
	int signal;
	struct timer *timers;
	struct signalfd_siginfo read[SIGNALS];
};

static const char *posix_timer_limit(unsigned int capacity)
{
	return raise_limit(RLIMIT_SIGPENDING, capacity + SPARE_SIGNALS,
			   "signals pending (ulimit -i)");
}

/* Each of several has a signal of its own. */
static int next_signal(void)
{
	static int signal;

	if (!signal)
		signal = SIGRTMIN;
	return signal++;
}

static void *posix_timer_open(unsigned int capacity)
{
	struct posix_timers *t = malloc(sizeof(*t));
	sigset_t set;

	if (!t)
		fail("no memory");
	t->capacity = capacity;
	t->signal = next_signal();
	t->timers = calloc(capacity, sizeof(*t->timers));
	if (!t->timers)
		fail("no memory for %u timers", capacity);
	sigemptyset(&set);
	sigaddset(&set, t->signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
	t->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (t->fd < 0)
		fail("signalfd(): %s", strerror(errno));
	return t;
}

static void create(struct posix_timers *t, uint32_t index)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = t->signal,
		.sigev_value.sival_int = index,
	};

	if (timer_create(CLOCK_MONOTONIC, &event, &t->timers[index].id))
		fail("timer_create(): %s", strerror(errno));
	t->timers[index].there = true;
}

static void set(struct posix_timers *t, uint32_t index, uint64_t ns)
{
	struct itimerspec its = { .it_value = { ns / SEC, ns % SEC } };

	if (timer_settime(t->timers[index].id, TIMER_ABSTIME, &its, NULL))
		fail("timer_settime(): %s", strerror(errno));
}

/* One that has expired can be armed again. */
static void posix_timer_arm(void *self, const struct work *work)
{
	struct posix_timers *t = self;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		if (!t->timers[work->index[i]].there)
			create(t, work->index[i]);
		set(t, work->index[i], work->deadline_ns[i]);
	}
}

static void posix_timer_refresh(void *self, const struct work *work)
{
	unsigned int i;

	for (i = 0; i < work->nr; i++)
		set(self, work->index[i], work->deadline_ns[i]);
}

static void posix_timer_cancel(void *self, const struct work *work)
{
	struct posix_timers *t = self;
	struct timer *timer;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		timer = &t->timers[work->index[i]];
		if (timer_delete(timer->id))
			fail("timer_delete(): %s", strerror(errno));
		timer->there = false;
	}
}

static unsigned int posix_timer_collect(void *self, uint32_t *expired, bool wait)
{
	struct posix_timers *t = self;
	struct pollfd pfd = { .fd = t->fd, .events = POLLIN };
	unsigned int i, nr;
	ssize_t len;

	if (wait && poll(&pfd, 1, -1) < 0)
		fail("poll(): %s", strerror(errno));
	len = read(t->fd, t->read, sizeof(t->read));
	nr = len > 0 ? len / sizeof(*t->read) : 0;
	for (i = 0; i < nr; i++)
		expired[i] = t->read[i].ssi_int;
	return nr;
}

static void posix_timer_close(void *self)
{
	struct posix_timers *t = self;
	unsigned int i;

	for (i = 0; i < t->capacity; i++)
		if (t->timers[i].there)
			timer_delete(t->timers[i].id);
	close(t->fd);
	free(t->timers);
	free(t);
}

const struct peer peer_posix_timer = {
	.name = "posix-timer",
	.in_interrupt = true,
	.limit = posix_timer_limit,
	.open = posix_timer_open,
	.arm = posix_timer_arm,
	.refresh = posix_timer_refresh,
	.cancel = posix_timer_cancel,
	.collect = posix_timer_collect,
	.close = posix_timer_close,
};
