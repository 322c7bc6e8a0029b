/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clients of the demo: what they do, and what they see.
 */
#ifndef CLIENTS_H
#define CLIENTS_H

#include <netinet/in.h>
#include <stdint.h>

/**
 * struct clients_result - what the clients saw
 * @active: connections that kept sending
 * @closing: connections that closed by themselves
 * @silent: connections that fell silent
 * @silent_closed: silent ones that the server closed
 * @early: of these, closed before their idle time was over
 * @starved: active and closing ones that were closed because this process did
 *	not get to run for the idle time
 * @wrongly_closed: active and closing ones that the server closed otherwise
 * @sent: messages sent
 * @echoed: bytes that came back
 */
struct clients_result {
	uint64_t active;
	uint64_t closing;
	uint64_t silent;
	uint64_t silent_closed;
	uint64_t early;
	uint64_t starved;
	uint64_t wrongly_closed;
	uint64_t sent;
	uint64_t echoed;
};

int clients_run(const struct sockaddr_in *server, unsigned int nr,
		uint64_t idle_ns, struct clients_result *result);

#endif /* CLIENTS_H */
