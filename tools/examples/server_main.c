// SPDX-License-Identifier: MIT
/*
 * usage: server [--timerfd] [PORT [IDLE_MS [CONNECTIONS]]]
 *
 * An echo server on loopback that closes connections after IDLE_MS of silence.  When
 * CONNECTIONS have come and gone it prints what it counted, and ends.
 *
 * How to build it stands in server.c.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "server.h"

static int listen_on(int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd, one = 1;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 4096)) {
		perror("listen");
		exit(EXIT_FAILURE);
	}
	return fd;
}

static void print_books(const struct server_books *books)
{
	printf("%ju connections: %ju closed for silence, %ju by the peer, %ju refused\n",
	       (uintmax_t)books->accepted, (uintmax_t)books->closed_idle,
	       (uintmax_t)books->closed_peer, (uintmax_t)books->failed);
	printf("%ju armed, %ju moved, %ju cancelled, %ju fired, %ju early\n",
	       (uintmax_t)books->armed, (uintmax_t)books->rearmed,
	       (uintmax_t)books->cancelled, (uintmax_t)books->fired,
	       (uintmax_t)books->early);
}

int main(int argc, char **argv)
{
	struct server s = { .ops = &idle_wheel };
	int port, idle_ms, connections;

	if (argc > 1 && !strcmp(argv[1], "--timerfd")) {
		s.ops = &idle_timerfd;
		argc--;
		argv++;
	}
	port = argc > 1 ? atoi(argv[1]) : 7007;
	idle_ms = argc > 2 ? atoi(argv[2]) : 10000;
	connections = argc > 3 ? atoi(argv[3]) : 0;
	if (argc > 4 || port < 1 || port > 65535 || idle_ms < 1 || connections < 0) {
		fputs("usage: server [--timerfd] [PORT [IDLE_MS [CONNECTIONS]]]\n", stderr);
		return 2;
	}
	s.idle_ns = idle_ms * 1000000ULL;
	s.stop_after = connections;
	s.listener = listen_on(port);
	printf("127.0.0.1 port %d, closing after %d ms of silence\n", port, idle_ms);
	fflush(stdout);
	if (server_run(&s)) {
		perror("server");
		return EXIT_FAILURE;
	}
	print_books(&s.books);
	return s.books.early ? EXIT_FAILURE : EXIT_SUCCESS;
}
