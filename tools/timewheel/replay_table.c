// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a replay came to: a column for each backend.
 */
#include <stdint.h>
#include <stdio.h>

#include "duration.h"
#include "json.h"
#include "replay.h"

#define CELL_LEN	48

/* Writes the cell of a play. */
typedef void cell_fn(const struct play *play, char *cell);

static void row(const struct replay *replay, const char *label, cell_fn *fn)
{
	char cell[CELL_LEN];
	unsigned int i;

	printf("  %-22s", label);
	for (i = 0; i < replay->nr; i++) {
		fn(&replay->plays[i], cell);
		printf(" %16s", cell);
	}
	putchar('\n');
}

#define NUMBER_CELL(name, value)					\
static void name(const struct play *play, char *cell)			\
{									\
	snprintf(cell, CELL_LEN, "%ju", (uintmax_t)(value));		\
}

NUMBER_CELL(events, play->ref.events)
NUMBER_CELL(armed, play->armed)
NUMBER_CELL(refreshed, play->refreshed)
NUMBER_CELL(cancelled, play->cancelled)
NUMBER_CELL(expired, play->expired)
NUMBER_CELL(edge_late, play->edge.late)
NUMBER_CELL(edge_expired, play->edge.late_expired)
NUMBER_CELL(edge_unheard, play->edge.unheard)
NUMBER_CELL(early, play->early)
NUMBER_CELL(missing, play->missing)
NUMBER_CELL(twice, play->twice)

#define DURATION_CELL(name, value)					\
static void name(const struct play *play, char *cell)			\
{									\
	duration_format(value, cell);					\
}

DURATION_CELL(late_p50, lateness_percentile(&play->late, 50))
DURATION_CELL(late_p99, lateness_percentile(&play->late, 99))
DURATION_CELL(late_p999, lateness_permille(&play->late, 999))
DURATION_CELL(late_max, play->late.max)
DURATION_CELL(behind_p99, lateness_percentile(&play->behind, 99))
DURATION_CELL(calls_time, play->calls_ns / play->ref.events)
DURATION_CELL(process_time, play->process_ns / play->ref.events)
DURATION_CELL(took, play->took_ns)

static void name(const struct play *play, char *cell)
{
	snprintf(cell, CELL_LEN, "%s", play->ops->name);
}

static void tick(const struct play *play, char *cell)
{
	if (play->tick_ns)
		duration_format(play->tick_ns, cell);
	else
		snprintf(cell, CELL_LEN, "-");
}

static void worker_time(const struct play *play, char *cell)
{
	if (play->worker)
		duration_format(play->worker_ns / play->ref.events, cell);
	else
		snprintf(cell, CELL_LEN, "-");
}

static void calls(const struct play *play, char *cell)
{
	uint64_t hundredths = play->calls * 100 / play->ref.events;

	if (play->calls < 0)
		snprintf(cell, CELL_LEN, "not counted");
	else
		snprintf(cell, CELL_LEN, "%ju.%02ju", hundredths / 100, hundredths % 100);
}

static void print_trace(const struct replay *replay)
{
	const struct reference *ref = &replay->plays->ref;
	char lasts[DURATION_LEN], idle[DURATION_LEN];

	printf("%s: %ju events in %s, %ju connections, %ju at once\n", replay->name,
	       ref->events, duration_format(ref->last_ns - ref->first_ns, lasts),
	       ref->connections, ref->most);
	printf("by the trace, with %s of silence:\n"
	       "%ju armed, %ju refreshed, %ju cancelled, %ju expired\n\n",
	       duration_format(replay->idle_ns, idle), ref->armed, ref->refreshed,
	       ref->cancelled, ref->expired);
}

/**
 * replay_table() - print what a replay came to
 * @replay: the replay
 */
void replay_table(const struct replay *replay)
{
	uint64_t wrong = 0, edge = 0;
	unsigned int i;

	print_trace(replay);
	row(replay, "", name);
	row(replay, "events played", events);
	row(replay, "timeouts armed", armed);
	row(replay, "         refreshed", refreshed);
	row(replay, "         cancelled", cancelled);
	row(replay, "         expired", expired);
	row(replay, "early", early);
	row(replay, "missing", missing);
	row(replay, "twice", twice);
	row(replay, "on the edge: late", edge_late);
	row(replay, "         and expired", edge_expired);
	row(replay, "on the edge: unheard", edge_unheard);
	row(replay, "tick", tick);
	row(replay, "lateness p50", late_p50);
	row(replay, "         p99", late_p99);
	row(replay, "         p99.9", late_p999);
	row(replay, "         max", late_max);
	row(replay, "player's own p99", behind_p99);
	row(replay, "an event, in calls", calls_time);
	row(replay, "     CPU, process", process_time);
	row(replay, "     CPU, worker", worker_time);
	if (replay->plays->count_calls)
		row(replay, "     system calls", calls);
	row(replay, "took", took);

	for (i = 0; i < replay->nr; i++) {
		wrong += player_wrong(&replay->plays[i]);
		edge += replay->plays[i].edge.late + replay->plays[i].edge.unheard;
	}
	if (edge)
		puts("\n  On the edge: event and deadline were closer to each other than the tick\n"
		     "  and the lateness of the machine, so either outcome is right.");
	if (wrong)
		printf("\n  FAILED: %ju early, missing or twice.\n", wrong);
	else
		puts("\n  All else is as the trace says.");
}

static void play_json(const struct play *play)
{
	json_object(NULL);
	json_string("name", play->ops->name);
	json_u64("events", play->ref.events);
	json_u64("armed", play->armed);
	json_u64("refreshed", play->refreshed);
	json_u64("cancelled", play->cancelled);
	json_u64("expired", play->expired);
	json_u64("early", play->early);
	json_u64("missing", play->missing);
	json_u64("twice", play->twice);
	json_object("edge");
	json_u64("late", play->edge.late);
	json_u64("late_expired", play->edge.late_expired);
	json_u64("rearmed", play->edge.rearmed);
	json_u64("unarmed", play->edge.unarmed);
	json_u64("unheard", play->edge.unheard);
	json_end();
	json_u64("tick_ns", play->tick_ns);
	json_u64("late_p50_ns", lateness_percentile(&play->late, 50));
	json_u64("late_p99_ns", lateness_percentile(&play->late, 99));
	json_u64("late_p999_ns", lateness_permille(&play->late, 999));
	json_u64("late_max_ns", play->late.max);
	json_u64("behind_p50_ns", lateness_percentile(&play->behind, 50));
	json_u64("behind_p99_ns", lateness_percentile(&play->behind, 99));
	json_u64("behind_max_ns", play->behind.max);
	json_u64("took_ns", play->took_ns);
	json_u64("in_calls_ns", play->calls_ns);
	json_u64("process_cpu_ns", play->process_ns);
	if (play->worker)
		json_u64("worker_cpu_ns", play->worker_ns);
	if (play->calls >= 0)
		json_u64("system_calls", play->calls);
	json_end();
}

/**
 * replay_json() - print what a replay came to as a JSON object
 * @replay: the replay
 */
void replay_json(const struct replay *replay)
{
	const struct reference *ref = &replay->plays->ref;
	uint64_t wrong = 0;
	unsigned int i;

	json_object(NULL);
	json_string("trace", replay->name);
	json_u64("events", ref->events);
	json_u64("lasts_ns", ref->last_ns - ref->first_ns);
	json_u64("connections", ref->connections);
	json_u64("at_once", ref->most);
	json_u64("idle_ns", replay->idle_ns);
	json_string("speed", replay->speed);
	json_object("rule");
	json_u64("armed", ref->armed);
	json_u64("refreshed", ref->refreshed);
	json_u64("cancelled", ref->cancelled);
	json_u64("expired", ref->expired);
	json_end();
	json_array("backends");
	for (i = 0; i < replay->nr; i++) {
		wrong += player_wrong(&replay->plays[i]);
		play_json(&replay->plays[i]);
	}
	json_end();
	json_bool("agree", !wrong);
	json_end();
}
