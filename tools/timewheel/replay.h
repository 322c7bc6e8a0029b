/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a replay came to, as a table or as JSON.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "player.h"

/**
 * struct replay - all plays of a trace
 * @name: what the trace is called
 * @speed: as it was typed
 * @idle_ns: how long a connection may be silent
 * @plays: each
 * @nr: how many
 */
struct replay {
	const char *name;
	const char *speed;
	uint64_t idle_ns;
	struct play *plays;
	unsigned int nr;
};

void replay_table(const struct replay *replay);
void replay_json(const struct replay *replay);

#endif /* REPLAY_H */
