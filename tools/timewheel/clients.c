// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clients of the demo.
 *
 * Each connects and sends one byte.  After that a quarter keep sending, a
 * quarter close before they are idle, and half fall silent and wait for the
 * server to close them.  When all the silent ones are gone, and the active ones
 * have been so for longer than the idle time, the active ones close too.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients.h"
#include "device.h"
#include "error.h"

#define EVENTS		512
#define CONNECTS	256	/* outstanding at once: less than the backlog */
#define LOOKS		16	/* connections between two looks at the others */
#define PER_ADDRESS	2000	/* few, for finding a free port gets slow */
#define SENDS_PER_IDLE	4
#define LOOP_MS		20
#define ACT_NS		(LOOP_MS * 1000000ULL)

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

enum role {
	ACTIVE,
	CLOSING,
	SILENT,
};

struct client {
	int fd;
	enum role role;
	bool answered;
	bool starved;		/* was itself silent for too long */
	uint64_t last;		/* just before the last byte was sent */
	uint64_t due;		/* when to send or close next */
};

struct clients {
	struct client *all;
	unsigned int nr;
	unsigned int left[SILENT + 1];
	unsigned int told[SILENT + 1];
	unsigned int unanswered;
	uint64_t idle_ns;
	uint64_t acted;
	int epfd;
	struct clients_result *result;
};

static void send_byte(struct clients *cs, struct client *c)
{
	uint64_t now = device_now(CLOCK_MONOTONIC);

	if (c->last && now >= c->last + cs->idle_ns)
		c->starved = true;
	c->last = now;
	if (send(c->fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		cs->result->sent++;
}

static void answered(struct clients *cs, struct client *c)
{
	if (!c->answered)
		cs->unanswered--;
	c->answered = true;
}

static void close_client(struct clients *cs, struct client *c)
{
	answered(cs, c);
	close(c->fd);
	c->fd = -1;
	cs->left[c->role]--;
}

/*
 * The server may close what was silent for the idle time.  On a machine so slow
 * that this process did not run in time, that can be any client.
 */
static void closed_by_server(struct clients *cs, struct client *c)
{
	bool idle = device_now(CLOCK_MONOTONIC) >= c->last + cs->idle_ns;

	if (c->role == SILENT)
		cs->result->silent_closed++;
	else if (idle || c->starved)
		cs->result->starved++;
	else
		cs->result->wrongly_closed++;
	if (c->role == SILENT && !idle)
		cs->result->early++;
	close_client(cs, c);
}

static void readable(struct clients *cs, struct client *c)
{
	char buf[64];
	ssize_t len;

	if (c->fd < 0)
		return;
	len = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (len > 0) {
		answered(cs, c);
		cs->result->echoed += len;
	} else if (!len || (errno != EAGAIN && errno != EINTR)) {
		closed_by_server(cs, c);
	}
}

static void look(struct clients *cs, int timeout_ms)
{
	struct epoll_event events[EVENTS];
	int i, nr;

	do {
		nr = epoll_wait(cs->epfd, events, EVENTS, timeout_ms);
		for (i = 0; i < nr; i++)
			readable(cs, events[i].data.ptr);
		timeout_ms = 0;
	} while (nr == EVENTS);
}

/* Loopback has 2^24 addresses; one has fewer ports than we may need. */
static int connect_from(const struct sockaddr_in *server, unsigned int n)
{
	struct sockaddr_in from = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + n / PER_ADDRESS),
	};
	int fd, one = 1;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one)) &&
	    !bind(fd, (struct sockaddr *)&from, sizeof(from)) &&
	    !connect(fd, (const struct sockaddr *)server, sizeof(*server)))
		return fd;
	close(fd);
	return -1;
}

/* Sends and closes what is due. */
static void act(struct clients *cs)
{
	uint64_t now = device_now(CLOCK_MONOTONIC);
	unsigned int i;

	if (now < cs->acted + ACT_NS)
		return;
	cs->acted = now;
	for (i = 0; i < cs->nr; i++) {
		struct client *c = &cs->all[i];

		if (c->fd < 0 || c->role == SILENT || now < c->due)
			continue;
		if (c->role == CLOSING) {
			close_client(cs, c);
			continue;
		}
		send_byte(cs, c);
		c->due = c->last + cs->idle_ns / SENDS_PER_IDLE;
	}
}

/* What a client is to do next, after its first byte. */
static uint64_t first_due(const struct clients *cs, const struct client *c, unsigned int n)
{
	/* Closers go at some time between a tenth and half of idle. */
	if (c->role == CLOSING)
		return c->last + cs->idle_ns / 10 +
		       n * 7919ULL % 1000 * (cs->idle_ns * 2 / 5 / 1000);
	return c->last + cs->idle_ns / SENDS_PER_IDLE;
}

static void progress(unsigned int n, unsigned int nr)
{
	if (n * 10ULL / nr != (n - 1) * 10ULL / nr)
		fprintf(stderr, "  %u of %u connected\n", n, nr);
}

static int open_clients(struct clients *cs, const struct sockaddr_in *server)
{
	struct epoll_event ev = { .events = EPOLLIN };
	unsigned int i;

	for (i = 0; i < cs->nr; i++)
		cs->all[i].fd = -1;
	for (i = 0; i < cs->nr; i++) {
		struct client *c = &cs->all[i];

		c->role = i % 4 < 2 ? i % 4 : SILENT;
		c->fd = connect_from(server, i);
		ev.data.ptr = c;
		if (c->fd < 0 || epoll_ctl(cs->epfd, EPOLL_CTL_ADD, c->fd, &ev)) {
			fprintf(stderr, "timewheel: connection %u: %s\n", i + 1,
				strerror(errno));
			return -1;
		}
		cs->left[c->role]++;
		cs->unanswered++;
		send_byte(cs, c);
		c->due = first_due(cs, c, i);
		progress(i + 1, cs->nr);
		/* The backlog must not fill, nor the first fall silent. */
		do {
			if (i % LOOKS == 0 || cs->unanswered > CONNECTS)
				look(cs, cs->unanswered > CONNECTS ? LOOP_MS : 0);
			act(cs);
		} while (cs->unanswered > CONNECTS);
	}
	return 0;
}

/* Says how many of each kind there are, if that is news. */
static void tell_open(struct clients *cs)
{
	if (!memcmp(cs->told, cs->left, sizeof(cs->left)))
		return;
	memcpy(cs->told, cs->left, sizeof(cs->left));
	fprintf(stderr, "  open: %u active, %u about to close, %u silent\n",
		cs->left[ACTIVE], cs->left[CLOSING], cs->left[SILENT]);
}

static void close_all(struct clients *cs)
{
	unsigned int i;

	for (i = 0; i < cs->nr; i++)
		if (cs->all[i].fd >= 0)
			close_client(cs, &cs->all[i]);
}

/**
 * clients_run() - connect, behave, see
 * @server: where to connect to
 * @nr: how many
 * @idle_ns: how long the server lets a connection be silent
 * @result: out: what they saw
 *
 * Return: 0 when all went its way, -1 when it could not, said on stderr.
 */
int clients_run(const struct sockaddr_in *server, unsigned int nr,
		uint64_t idle_ns, struct clients_result *result)
{
	struct clients cs = { .nr = nr, .idle_ns = idle_ns, .result = result };
	uint64_t begin, now, said;
	int err;

	*result = (struct clients_result){ };
	cs.all = calloc(nr, sizeof(*cs.all));
	cs.epfd = epoll_create1(EPOLL_CLOEXEC);
	if (!cs.all || cs.epfd < 0)
		fail("no memory");

	err = open_clients(&cs, server);
	begin = device_now(CLOCK_MONOTONIC);
	said = begin;
	while (!err) {
		look(&cs, LOOP_MS);
		act(&cs);
		now = device_now(CLOCK_MONOTONIC);
		if (!cs.left[SILENT] && !cs.left[CLOSING] && now > begin + idle_ns * 3 / 2)
			break;
		if (now > said + 1000000000) {
			said = now;
			tell_open(&cs);
		}
		/* The server may be slow, but not that slow. */
		if (now > begin + 10 * idle_ns + 60000000000) {
			fprintf(stderr, "timewheel: %u silent connections are not closed\n",
				cs.left[SILENT]);
			err = -1;
		}
	}
	close_all(&cs);
	result->active = (nr + 3) / 4;
	result->closing = (nr + 2) / 4;
	result->silent = nr - result->active - result->closing;
	close(cs.epfd);
	free(cs.all);
	return err;
}
