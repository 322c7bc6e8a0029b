// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much memory a timeout takes, of the kernel's and of the process's own.
 */
#include <stdio.h>
#include <unistd.h>

#include "../../timewheel/memory.h"
#include "session.h"

/* For memory_fill, which is not told. */
static const struct peer *peer_filled;
static unsigned int patience;

/* Of this process, what no file or device has. */
static double anonymous_bytes(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	unsigned long long kib = 0;
	char line[128];

	if (!file)
		fail("/proc/self/smaps_rollup cannot be read");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Anonymous: %llu", &kib) == 1)
			break;
	fclose(file);
	return kib * 1024.0;
}

/* Without what the bench has for itself: it fills what there is, in order. */
static int fill(unsigned int nr)
{
	static uint32_t index[BATCH];
	static uint64_t deadline[BATCH];
	struct session s = {
		.peer = peer_filled, .live = nr, .patience_s = patience,
		.index = index, .deadline = deadline,
	};
	const char *reason = s.peer->limit ? s.peer->limit(nr) : NULL;
	double before;

	if (reason)
		fail("%s", reason);
	alarm(patience * 2);
	before = anonymous_bytes();
	s.self = s.peer->open(nr);
	s.worker = s.peer->worker ? s.peer->worker(s.self) : 0;
	session_fill(&s);
	report_value(MEMORY_PROCESS, (anonymous_bytes() - before) / nr);
	return 0;
}

/**
 * measure_memory() - memory of each timeout
 * @peer: whose
 * @live: how many there are to be
 * @patience_s: how long filling may take
 */
void measure_memory(const struct peer *peer, unsigned int live, unsigned int patience_s)
{
	struct memory_use use;

	peer_filled = peer;
	patience = patience_s;
	memory_measure(live, fill, &use);
	if (use.bytes >= 0 && use.grouped)
		report_value(MEMORY_KERNEL, use.bytes);
	else
		report_none(MEMORY_KERNEL, use.grouped ? "" :
			    "there is no memory control group here to be charged");
}
