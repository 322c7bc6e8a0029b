/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much kernel memory a timeout takes: measured.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>

/**
 * struct memory_use - the answer
 * @bytes: for each timeout, negative when it could not be measured
 * @nr: over how many it was measured
 * @how: by what
 * @grouped: nothing else was counted
 */
struct memory_use {
	double bytes;
	unsigned int nr;
	const char *how;
	bool grouped;
};

/* Makes @nr timeouts in this process and keeps them; -1 with errno. */
typedef int memory_fill(unsigned int nr);

void memory_measure(unsigned int nr, memory_fill *fill, struct memory_use *use);
int memory_fill_wheel(unsigned int nr);
int memory_fill_timerfd(unsigned int nr);

#endif /* MEMORY_H */
