// SPDX-License-Identifier: MIT
/*
 * usage: leases [CONNECTIONS [IDLE_MS [SECONDS]]]
 *
 * The idle timeouts of 1,000,000 connections, refreshed without a system call.  Each has
 * a lease, and to refresh it is one store into memory that the kernel looks at when the
 * old deadline comes.  For SECONDS all are refreshed, again and again, and none may
 * expire.  Then they fall silent, and each must expire: once, and not early.
 *
 *	cc -O2 leases.c -o leases $(pkg-config --cflags --libs libtimewheel)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timewheel.h>

#define NS_PER_MS	1000000ULL
#define NS_PER_S	1000000000ULL

/* A connection has nothing else here; in a server this is where its socket is. */
struct connection {
	uint64_t timeout;
	uint64_t deadline_ns;
	unsigned int expired;
};

struct server {
	struct timewheel *tw;
	struct connection *connections;
	unsigned int nr;
	uint64_t idle_ns;
	unsigned long long refreshed;
	unsigned int expired, twice, early;
};

static void idle(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct server *s = data;
	struct connection *c = &s->connections[event->user_data];

	s->expired++;
	s->twice += c->expired++;
	s->early += timewheel_now(tw) < c->deadline_ns;
}

static int connect_all(struct server *s)
{
	uint64_t now = timewheel_now(s->tw);
	unsigned int i;
	int ret;

	for (i = 0; i < s->nr; i++) {
		s->connections[i].deadline_ns = now + s->idle_ns;
		ret = timewheel_arm_lease(s->tw, now + s->idle_ns, i,
					  &s->connections[i].timeout);
		if (ret)
			return ret;
	}
	return 0;
}

/* Something arrived on each of them.  The clock is read now and then, as a server does. */
static int refresh_all(struct server *s)
{
	uint64_t now = 0;
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		if (i % 256 == 0)
			now = timewheel_now(s->tw);
		/* -ENOENT: it has expired, and nobody is to be put off. */
		if (timewheel_touch(s->tw, s->connections[i].timeout, now + s->idle_ns))
			continue;
		s->connections[i].deadline_ns = now + s->idle_ns;
		s->refreshed++;
	}
	return timewheel_drain(s->tw, 0, idle, s);
}

static int serve(struct server *s, uint64_t length_ns)
{
	uint64_t end;
	int ret;

	ret = connect_all(s);
	end = timewheel_now(s->tw) + length_ns;
	while (ret >= 0 && timewheel_now(s->tw) < end)
		ret = refresh_all(s);
	printf("%llu refreshed, %u expired\n", s->refreshed, s->expired);
	fflush(stdout);
	if (s->expired)
		fputs("leases: this machine did not get around to all of them in time\n", stderr);
	while (ret >= 0 && s->expired < s->nr) {
		ret = timewheel_wait(s->tw, -1);
		if (ret > 0)
			ret = timewheel_drain(s->tw, 0, idle, s);
	}
	return ret < 0 ? ret : 0;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1000000;
	int idle_ms = argc > 2 ? atoi(argv[2]) : 5000;
	int seconds = argc > 3 ? atoi(argv[3]) : 10;
	struct server s = { .nr = nr, .idle_ns = idle_ms * NS_PER_MS };
	struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_RINGS | TIMEWHEEL_OPEN_LEASES,
		.capacity = nr,
	};
	int err;

	if (argc > 4 || nr < 1 || idle_ms < 1 || seconds < 0) {
		fputs("usage: leases [CONNECTIONS [IDLE_MS [SECONDS]]]\n", stderr);
		return 2;
	}
	s.connections = calloc(s.nr, sizeof(*s.connections));
	err = s.connections ? timewheel_open(&s.tw, &options) : -ENOMEM;
	if (err) {
		fprintf(stderr, "leases: cannot open the timer wheel: %s\n", strerror(-err));
		return 1;
	}
	printf("%d connections, closed after %d ms of silence\n", nr, idle_ms);
	err = serve(&s, seconds * NS_PER_S);
	if (err)
		fprintf(stderr, "leases: %s\n", strerror(-err));
	printf("%u expired, %u twice, %u early\n", s.expired, s.twice, s.early);
	timewheel_close(s.tw);
	free(s.connections);
	return err || s.twice || s.early;
}
