/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run of the demo, and the table of two.
 */
#ifndef DEMO_H
#define DEMO_H

#include <linux/timewheel.h>
#include <stdbool.h>
#include <stdint.h>

#include "clients.h"
#include "memory.h"
#include "server.h"

/**
 * struct demo_run - what one server and its clients came to
 * @name: heads its column
 * @wheel: its timeouts are in the wheel, so that there are STATS
 * @ok: server and clients reached their end
 * @books: what the server counted
 * @calls: its system calls
 * @stats: what the module says
 * @clients: what the clients saw
 * @nr_late: expiries with a lateness
 * @late: their lateness, sorted
 * @memory: kernel memory of a timeout
 */
struct demo_run {
	const char *name;
	bool wheel;
	bool ok;
	struct server_books books;
	uint64_t calls[NR_CALLS];
	struct timewheel_stats stats;
	struct clients_result clients;
	uint64_t nr_late;
	uint64_t *late;
	struct memory_use memory;
};

unsigned int demo_check(const struct demo_run *run, unsigned int connections);
void demo_table(const struct demo_run *wheel, const struct demo_run *timerfd);
void demo_json(const struct demo_run *run);

#endif /* DEMO_H */
