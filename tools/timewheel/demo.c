// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel demo: a TCP server whose idle timeouts live in the wheel, and
 * clients that see whether it keeps them right.
 *
 * The server is that of tools/examples, in a process of its own.  The same
 * clients then call on the same server with a timerfd for each connection.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "demo.h"
#include "device.h"
#include "duration.h"
#include "error.h"
#include "json.h"

#define NS_PER_S		1000000000ULL
#define DEFAULT_CONNECTIONS	2000
#define MAX_CONNECTIONS		500000
#define MIN_IDLE_NS		(NS_PER_S / 10)
#define MAX_IDLE_NS		(3600 * NS_PER_S)
#define BACKLOG			4096
/* Descriptors beside those of connections. */
#define SPARE_FDS		64
#define MEASURED_WHEEL		200000
#define MEASURED_TIMERFD	20000

/* What the server's process leaves for its parent, in shared memory. */
struct report {
	int ok;
	struct server_books books;
	uint64_t calls[NR_CALLS];
	struct timewheel_stats stats;
	uint64_t nr_late;
	uint64_t late[];
};

struct plan {
	unsigned int connections;
	uint64_t idle_ns;
	bool compare;
	bool json;
};

static size_t report_size(unsigned int connections)
{
	/* An active connection that was starved may expire and go on. */
	return sizeof(struct report) + 4ULL * connections * sizeof(uint64_t);
}

static void note_late(struct server *s, uint64_t late_ns)
{
	struct report *report = s->data;

	if (report->nr_late < 4 * s->stop_after)
		report->late[report->nr_late++] = late_ns;
}

static noreturn void serve(const struct plan *plan, const struct idle_ops *ops,
			   int listener, struct report *report)
{
	struct server s = {
		.ops = ops,
		.idle_ns = plan->idle_ns,
		.stop_after = plan->connections,
		.late = note_late,
		.data = report,
		.listener = listener,
	};

	/* Not to outlive the parent. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (server_run(&s)) {
		perror("timewheel: the server");
		_exit(EXIT_FAILURE);
	}
	report->books = s.books;
	memcpy(report->calls, s.calls, sizeof(s.calls));
	if (ops == &idle_wheel)
		timewheel_stats(s.wheel, &report->stats);
	report->ok = 1;
	_exit(EXIT_SUCCESS);
}

static int listen_somewhere(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd;

	*addr = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)addr, sizeof(*addr)) ||
	    listen(fd, BACKLOG) || getsockname(fd, (struct sockaddr *)addr, &len))
		fail_errno(errno, "cannot listen on 127.0.0.1");
	return fd;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void keep_report(struct demo_run *run, const struct report *report)
{
	size_t size = report->nr_late * sizeof(uint64_t);

	run->books = report->books;
	memcpy(run->calls, report->calls, sizeof(run->calls));
	run->stats = report->stats;
	run->nr_late = report->nr_late;
	run->late = malloc(size ? size : 1);
	if (!run->late)
		fail("no memory");
	memcpy(run->late, report->late, size);
	qsort(run->late, run->nr_late, sizeof(uint64_t), compare_u64);
}

static void run_one(const struct plan *plan, const struct idle_ops *ops,
		    struct demo_run *run)
{
	size_t size = report_size(plan->connections);
	struct sockaddr_in addr;
	struct report *report;
	int listener, status;
	pid_t pid;

	fprintf(stderr, "%u connections, timeouts with %s\n", plan->connections,
		run->name);
	report = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report == MAP_FAILED)
		fail_errno(errno, "cannot share memory with the server");
	listener = listen_somewhere(&addr);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		fail_errno(errno, "cannot start the server");
	if (!pid)
		serve(plan, ops, listener, report);
	close(listener);

	if (clients_run(&addr, plan->connections, plan->idle_ns, &run->clients))
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	run->ok = WIFEXITED(status) && !WEXITSTATUS(status) && report->ok;
	keep_report(run, report);
	munmap(report, size);
}

/* A server has two descriptors for each connection with timerfds, else one. */
static void raise_fd_limit(const struct plan *plan)
{
	rlim_t need = plan->connections * (plan->compare ? 2ULL : 1ULL) + SPARE_FDS;
	struct rlimit limit;

	if (plan->compare && need < MEASURED_TIMERFD + SPARE_FDS)
		need = MEASURED_TIMERFD + SPARE_FDS;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		fail_errno(errno, "cannot read the limit of open files");
	if (limit.rlim_cur >= need)
		return;
	limit.rlim_cur = need;
	if (limit.rlim_max < need)
		limit.rlim_max = need;
	if (!setrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (plan->compare && need == MEASURED_TIMERFD + SPARE_FDS)
		fail("to measure the memory of timerfds takes %llu open files.\n"
		     "Raise it, as root: ulimit -n %llu; or say --no-compare.",
		     (unsigned long long)need, (unsigned long long)need);
	fail("%u connections need %llu open files, and the limit is lower.\n"
	     "Raise it, as root: ulimit -n %llu; or ask for fewer connections%s.",
	     plan->connections, (unsigned long long)need,
	     (unsigned long long)need,
	     plan->compare ? ", or --no-compare" : "");
}

static void parse_connections(struct plan *plan, const char *text)
{
	unsigned long nr;
	char *end;

	errno = 0;
	nr = strtoul(text, &end, 10);
	if (errno || *end || !*text || *text == '-' || nr < 4 || nr > MAX_CONNECTIONS)
		fail_usage("demo", "'%s' is no number of connections from 4 to %d",
			   text, MAX_CONNECTIONS);
	plan->connections = nr;
}

static void parse_idle(struct plan *plan, const char *text)
{
	if (duration_parse(text, &plan->idle_ns))
		fail_usage("demo", "'%s' is no duration; write " DURATION_FORMS, text);
	if (plan->idle_ns < MIN_IDLE_NS || plan->idle_ns > MAX_IDLE_NS)
		fail_usage("demo", "the idle time is to be from 100ms to 1h");
}

static void parse(struct plan *plan, int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ "idle", required_argument, NULL, 'i' },
		{ "no-compare", no_argument, NULL, 'n' },
		{ }
	};
	int c;

	while ((c = command_option(&command_demo, argc, argv, options)) != -1) {
		switch (c) {
		case 'j':
			plan->json = true;
			break;
		case 'i':
			parse_idle(plan, optarg);
			break;
		case 'n':
			plan->compare = false;
			break;
		}
	}
	if (optind < argc)
		parse_connections(plan, argv[optind++]);
	if (optind < argc)
		fail_usage("demo", "one number of connections is enough");
	/* So that an emulated machine can connect and send in time. */
	if (!plan->idle_ns)
		plan->idle_ns = 2 * NS_PER_S +
			(plan->connections + 999) / 1000 * NS_PER_S;
}

static unsigned int report_runs(const struct plan *plan, struct demo_run *wheel,
				struct demo_run *timerfd)
{
	unsigned int bad;

	bad = demo_check(wheel, plan->connections);
	if (plan->compare)
		bad += demo_check(timerfd, plan->connections);
	if (plan->json) {
		json_object(NULL);
		json_u64("idle_ns", plan->idle_ns);
		demo_json(wheel);
		if (plan->compare)
			demo_json(timerfd);
		json_bool("agree", !bad);
		json_end();
		return bad;
	}
	demo_table(wheel, plan->compare ? timerfd : NULL);
	if (wheel->clients.starved + timerfd->clients.starved)
		printf("  The machine is slow: %ju clients came too late themselves.\n",
		       wheel->clients.starved + timerfd->clients.starved);
	if (bad)
		printf("\n  FAILED: %u account%s disagree%s.\n", bad,
		       bad == 1 ? "" : "s", bad == 1 ? "s" : "");
	else
		puts("\n  The server's books, the module's and the clients' sockets agree.");
	return bad;
}

static int run_demo(int argc, char **argv)
{
	struct plan plan = { .connections = DEFAULT_CONNECTIONS, .compare = true };
	struct demo_run wheel = { .name = "/dev/timewheel", .wheel = true };
	struct demo_run timerfd = { .name = "timerfd each" };
	unsigned int bad;

	parse(&plan, argc, argv);
	/* With its word for what is wrong, before the server has none. */
	timewheel_close(device_open());
	raise_fd_limit(&plan);

	run_one(&plan, &idle_wheel, &wheel);
	if (plan.compare)
		run_one(&plan, &idle_timerfd, &timerfd);
	fprintf(stderr, "measuring kernel memory\n");
	memory_measure(MEASURED_WHEEL, memory_fill_wheel, &wheel.memory);
	if (plan.compare)
		memory_measure(MEASURED_TIMERFD, memory_fill_timerfd, &timerfd.memory);
	bad = report_runs(&plan, &wheel, &timerfd);
	free(wheel.late);
	free(timerfd.late);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

const struct command command_demo = {
	.name = "demo",
	.args = "[--json] [--idle DURATION] [--no-compare] [CONNECTIONS]",
	.summary = "a TCP server with its idle timeouts in the wheel, and a table",
	.help = "Runs a TCP server on loopback whose idle timeouts are in the wheel, and clients\n"
		"for it (2000 CONNECTIONS by default): a quarter keep sending, a quarter close,\n"
		"half fall silent and must be closed by the server. Then it does the same with\n"
		"a timerfd for each connection, and prints what both took. The exit status is 1\n"
		"if the server's books, the module's and the clients' sockets disagree.\n"
		"\n"
		"  --idle DURATION   how long a connection may be silent (2s + 1s per 1000)\n"
		"  --no-compare      without the timerfds\n"
		"  --json            one JSON object\n",
	.run = run_demo,
};
