// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel replay: a trace of connections, played against one or more backends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "argument.h"
#include "array.h"
#include "command.h"
#include "decimal.h"
#include "duration.h"
#include "error.h"
#include "replay.h"

#define DEFAULT_IDLE_NS		(5 * DECIMAL_ONE)
#define MAX_SPEED		(1000000 * DECIMAL_ONE)
#define DEFAULT_CAPACITY	65536
#define MAX_CAPACITY		(1U << 24)

/* Beside those that are open, some may be due. */
#define SPARE_CAPACITY		1024U

static const struct backend_ops *const backends[] = {
	&backend_batch,
	&backend_ring,
	&backend_lease,
	&backend_timerfd,
	&backend_heap,
};

#define NR_BACKENDS	ARRAY_SIZE(backends)

/**
 * struct wish - the command line
 * @path: the trace
 * @speed_text: the speed as it was typed
 * @speed: in units of 10^-9
 * @idle_ns: how long a connection may be silent
 * @capacity: timeouts at once, for a backend that wants to know; 0 to find out
 * @calls: count system calls
 * @json: print JSON
 * @backends: in this order
 * @nr: how many
 */
struct wish {
	const char *path;
	const char *speed_text;
	uint64_t speed;
	uint64_t idle_ns;
	uint32_t capacity;
	bool calls;
	bool json;
	const struct backend_ops *backends[NR_BACKENDS];
	unsigned int nr;
};

static void parse_backend(struct wish *wish, const char *text)
{
	unsigned int i;

	for (i = 0; i < NR_BACKENDS && strcmp(text, backends[i]->name); i++)
		;
	if (i == NR_BACKENDS)
		fail_usage("replay", "there is no backend '%s'", text);
	if (wish->nr == NR_BACKENDS)
		fail_usage("replay", "each backend once is enough");
	wish->backends[wish->nr++] = backends[i];
}

static void parse_speed(struct wish *wish, const char *text)
{
	if (decimal_parse(text, &wish->speed) || !wish->speed || wish->speed > MAX_SPEED)
		fail_usage("replay", "'%s' is no speed; write a number such as 0.5, 1, or 10,\n"
			   "up to %ju", text, MAX_SPEED / DECIMAL_ONE);
	wish->speed_text = text;
}

static void parse_idle(struct wish *wish, const char *text)
{
	if (duration_parse(text, &wish->idle_ns))
		fail_usage("replay", "'%s' is no duration; write " DURATION_FORMS, text);
}

static void parse_capacity(struct wish *wish, const char *text)
{
	wish->capacity = argument_number("replay", "number of connections", text, 1);
	if (wish->capacity > MAX_CAPACITY)
		fail_usage("replay", "more than %u connections at once are not kept",
			   MAX_CAPACITY);
}

static void parse(struct wish *wish, int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ "idle", required_argument, NULL, 'i' },
		{ "speed", required_argument, NULL, 's' },
		{ "backend", required_argument, NULL, 'b' },
		{ "capacity", required_argument, NULL, 'c' },
		{ "count-calls", no_argument, NULL, 'n' },
		{ }
	};
	int c;

	while ((c = command_option(&command_replay, argc, argv, options)) != -1) {
		switch (c) {
		case 'j':
			wish->json = true;
			break;
		case 'i':
			parse_idle(wish, optarg);
			break;
		case 's':
			parse_speed(wish, optarg);
			break;
		case 'b':
			parse_backend(wish, optarg);
			break;
		case 'c':
			parse_capacity(wish, optarg);
			break;
		case 'n':
			wish->calls = true;
			break;
		}
	}
	if (optind == argc)
		fail_usage("replay", "which trace? Name a file, or - for the standard input");
	wish->path = argv[optind++];
	if (optind < argc)
		fail_usage("replay", "one trace is enough");
}

static int open_trace(const struct wish *wish)
{
	int fd;

	if (!strcmp(wish->path, "-"))
		return STDIN_FILENO;
	fd = open(wish->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_errno(errno, "cannot read the trace %s", wish->path);
	return fd;
}

/* What can be read again is read before: it may be wrong, and is to be measured. */
static void look(struct wish *wish, int fd, off_t start, struct trace_file *trace)
{
	struct reference ref = { .idle_ns = wish->idle_ns };
	uint64_t most;

	if (start < 0) {
		if (wish->nr != 1)
			fail_usage("replay", "a pipe can be read only once: name one --backend,\n"
				   "or give a file");
		if (!wish->capacity)
			wish->capacity = DEFAULT_CAPACITY;
		return;
	}
	trace_start(trace, fd, trace->name);
	player_read(trace, &ref);
	most = 2 * ref.most + SPARE_CAPACITY;
	if (!wish->capacity)
		wish->capacity = most < MAX_CAPACITY ? most : MAX_CAPACITY;
}

static void play_all(const struct wish *wish, int fd, off_t start, struct trace_file *trace,
		     struct play *plays)
{
	unsigned int i;

	for (i = 0; i < wish->nr; i++) {
		if (start >= 0 && lseek(fd, start, SEEK_SET) < 0)
			fail_errno(errno, "cannot read the trace again");
		fprintf(stderr, "%s: playing it with %s\n", trace->name,
			wish->backends[i]->name);
		plays[i].ops = wish->backends[i];
		plays[i].speed = wish->speed;
		plays[i].count_calls = wish->calls;
		plays[i].capacity = wish->capacity;
		plays[i].ref.idle_ns = wish->idle_ns;
		trace_start(trace, fd, trace->name);
		player_play(&plays[i], trace);
	}
}

static int run_replay(int argc, char **argv)
{
	struct wish wish = {
		.speed = DECIMAL_ONE,
		.speed_text = "1",
		.idle_ns = DEFAULT_IDLE_NS,
	};
	struct trace_file *trace = malloc(sizeof(*trace));
	struct replay replay;
	unsigned int i, bad = 0;
	off_t start;
	int fd;

	parse(&wish, argc, argv);
	fd = open_trace(&wish);
	start = lseek(fd, 0, SEEK_CUR);
	if (!wish.nr && start >= 0) {
		memcpy(wish.backends, backends, sizeof(backends));
		wish.nr = NR_BACKENDS;
	}
	replay = (struct replay){
		.name = fd == STDIN_FILENO ? "standard input" : wish.path,
		.speed = wish.speed_text,
		.idle_ns = wish.idle_ns,
		.plays = calloc(wish.nr + 1, sizeof(struct play)),
		.nr = wish.nr,
	};
	if (!trace || !replay.plays)
		fail("no memory");
	trace->name = replay.name;
	look(&wish, fd, start, trace);

	/* The default slack would have each event played 50 us late. */
	prctl(PR_SET_TIMERSLACK, 1);
	play_all(&wish, fd, start, trace, replay.plays);
	for (i = 0; i < replay.nr; i++)
		bad |= !!player_wrong(&replay.plays[i]);
	if (wish.json)
		replay_json(&replay);
	else
		replay_table(&replay);
	free(replay.plays);
	free(trace);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

const struct command command_replay = {
	.name = "replay",
	.args = "[--json] [--idle DURATION] [--speed FACTOR] [--backend NAME]...\n"
		"       [--capacity NUMBER] [--count-calls] FILE",
	.summary = "play a trace of connections, and see what its timeouts cost",
	.help = "Plays a trace of connections. Each has a timeout: armed when it is opened,\n"
		"put off by each request, cancelled when it is closed, and expired when it is silent\n"
		"for longer than the idle time. FILE, or - for the standard input, has lines\n"
		"\n"
		"  SECONDS CONNECTION open|request|close\n"
		"\n"
		"sorted by time, with up to 9 decimals; CONNECTION is a number, and # begins a\n"
		"comment. 'timewheel trace' writes one. A pipe can be played with one backend only,\n"
		"and those named timewheel-* need /dev/timewheel.\n"
		"\n"
		"Prints for each backend what was done, what it cost, how late the timeouts were,\n"
		"and what differs from what follows from the trace: the exit status is 1 if a\n"
		"timeout was early, missing, or expired twice. Costs are by the clock: with few\n"
		"events, or on a machine that is busy or emulated, only the counts mean something.\n"
		"\n"
		"  --idle DURATION    how long a connection may be silent, in the trace's time (5s)\n"
		"  --speed FACTOR     play it faster than it was, or slower (1)\n"
		"  --backend NAME     play it with this; may be given again (all)\n"
		"  --capacity NUMBER  connections at once, for rings and leases (twice what the\n"
		"                     file needs; 65536 from a pipe)\n"
		"  --count-calls      count system calls, too, each of which takes longer then;\n"
		"                     for root, where tracing is mounted\n"
		"  --json             one JSON object\n"
		"\n"
		"The backends:\n"
		"  timewheel-batch    the wheel, by calls for many timeouts at once\n"
		"  timewheel-ring     the wheel, by shared rings\n"
		"  timewheel-lease    the wheel, by rings, and refreshed by a store\n"
		"  timerfd-epoll      a timerfd for each timeout, in an epoll set\n"
		"  user-heap          a heap in the process, and one timerfd\n",
	.run = run_replay,
};
