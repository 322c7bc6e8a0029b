/* SPDX-License-Identifier: MIT */
/*
 * A TCP echo server that closes connections on which nothing arrives.
 *
 * server.c is the server, idle_wheel.c keeps its timeouts in the timer wheel.
 * idle_timerfd.c keeps them in one timerfd for each connection, as programs do
 * today; it is here for comparison.
 */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <timewheel.h>

/* Kinds of system calls the server makes; those before CALL_REST for timeouts. */
enum server_call {
	CALL_SETUP,		/* open a handle, make and add its eventfd */
	CALL_SUBMIT,		/* timewheel_batch() is one, as long as nothing is late */
	CALL_READ_EVENTS,	/* and timewheel_drain() another */
	CALL_TIMERFD_CREATE,
	CALL_TIMERFD_SETTIME,
	CALL_TIMERFD_READ,
	CALL_TIMERFD_EPOLL,
	CALL_TIMERFD_CLOSE,
	CALL_REST,
	NR_CALLS,
};

/* A system call, counted. */
#define COUNTED(s, kind, call)	((s)->calls[kind]++, (call))

/* No timeout is called so. */
#define NO_ID	0

/**
 * struct conn - a connection; the server's array of them is indexed by fd
 * @open: it is there
 * @id: wheel: the id of its timeout, NO_ID for none
 * @deadline: timerfd: when it becomes idle
 * @timerfd: timerfd: its timer
 */
struct conn {
	bool open;
	uint64_t id;
	uint64_t deadline;
	int timerfd;
};

/**
 * struct server_books - what the server itself counted
 * @accepted: connections
 * @closed_idle: closed because nothing arrived
 * @closed_peer: closed by the other side, or for an error
 * @failed: connections refused because their timeout could not be armed
 * @armed: timeouts armed
 * @rearmed: timeouts moved
 * @cancelled: timeouts cancelled
 * @fired: expiries reported
 * @stale: expiries of timeouts that the server had just given up
 * @refused: moves that came after the expiry
 * @early: expiries reported before their deadline
 */
struct server_books {
	uint64_t accepted;
	uint64_t closed_idle;
	uint64_t closed_peer;
	uint64_t failed;
	uint64_t armed;
	uint64_t rearmed;
	uint64_t cancelled;
	uint64_t fired;
	uint64_t stale;
	uint64_t refused;
	uint64_t early;
};

struct server;

/**
 * struct idle_ops - who keeps the timeouts
 * @open: make ready; returns 0 or -1 with errno
 * @arm: begin to watch a connection
 * @rearm: something arrived on it
 * @cancel: it is about to be closed
 * @flush: do what was asked for since the last time; once in a round
 * @expired: an epoll event that is not about a socket
 */
struct idle_ops {
	int (*open)(struct server *s);
	void (*arm)(struct server *s, int fd);
	void (*rearm)(struct server *s, int fd);
	void (*cancel)(struct server *s, int fd);
	void (*flush)(struct server *s);
	void (*expired)(struct server *s, uint64_t data);
};

extern const struct idle_ops idle_wheel;
extern const struct idle_ops idle_timerfd;

/* epoll data: a socket is its fd, what concerns timeouts has this bit. */
#define SERVER_TIMEOUT	0x100000000ULL

/**
 * struct server - a server
 * @ops: who keeps its timeouts
 * @idle_ns: how long a connection may be silent
 * @stop_after: end when so many connections have come and gone, 0: never
 * @late: called with the lateness of each expiry, may be NULL
 * @data: for @late
 * @epfd: its epoll instance
 * @listener: its listening socket
 * @wheel: the handle, with @ops = &idle_wheel
 * @conns: its connections, by fd
 * @nr_conns: length of that array
 * @nr_open: connections open now
 * @books: counts
 * @calls: system calls by kind
 */
struct server {
	const struct idle_ops *ops;
	uint64_t idle_ns;
	uint64_t stop_after;
	void (*late)(struct server *s, uint64_t late_ns);
	void *data;

	int epfd;
	int listener;
	struct timewheel *wheel;
	struct conn *conns;
	size_t nr_conns;
	uint64_t nr_open;
	struct server_books books;
	uint64_t calls[NR_CALLS];
};

int server_run(struct server *s);

/* For the keepers of timeouts. */
void server_idle(struct server *s, int fd);
void server_drop(struct server *s, int fd);
void server_fired(struct server *s, uint64_t deadline_ns, uint64_t now_ns);
uint64_t server_now(void);

#endif /* SERVER_H */
