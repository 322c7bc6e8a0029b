// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run of one peer with so many live: in processes of its own.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "session.h"

/* All that comes after arming takes no longer than so many times that, and a minute. */
#define ALARM_TIMES	3U
#define ALARM_MORE_S	60U

typedef void stage_fn(const struct run *run);

/* Idle comes last: its thread waits for what does not come. */
static void run_costs(const struct run *run)
{
	unsigned int extra = least(run->live, EXTRA_MAX);
	struct session s;

	session_open(&s, run->peer, run->live, extra, run->patience_s);
	session_fill(&s);
	measure_costs(&s, run->wanted);
	if (run->wanted[EXPIRE])
		measure_expiry(&s);
	if (run->wanted[LATENESS])
		measure_lateness(&s);
	if (run->wanted[ARM_SYSCALLS])
		measure_syscalls(&s);
	if (run->wanted[IDLE_WAKEUPS])
		measure_idle(&s);
	else
		s.peer->close(s.self);
}

static void run_threads(const struct run *run)
{
	measure_threads(run->peer, run->live, run->patience_s);
}

/* Why a process ended before it was done. */
static void explain(const struct run *run, int status, char *reason)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		snprintf(reason, REASON_BYTES, "it was not measured");
	else if (WIFEXITED(status))
		snprintf(reason, REASON_BYTES, "it failed, and said why on standard error");
	else if (WTERMSIG(status) == SIGALRM)
		snprintf(reason, REASON_BYTES, "it took longer than %u s",
			 ALARM_TIMES * run->patience_s + ALARM_MORE_S);
	else
		snprintf(reason, REASON_BYTES, "it was killed (%s)%s",
			 strsignal(WTERMSIG(status)),
			 WTERMSIG(status) == SIGKILL ? ": out of memory" : "");
}

/* What was measured is added to @figures. */
static void take(const struct report *report, const char *reason, enum operation first,
		 enum operation last, struct figure *figures)
{
	enum operation i;

	for (i = first; i <= last; i++) {
		figures[i] = report->figures[i];
		if (!figures[i].there && !figures[i].reason[0])
			snprintf(figures[i].reason, REASON_BYTES, "%s",
				 report->reason[0] ? report->reason : reason);
	}
}

static void run_stage(const struct run *run, stage_fn *stage, char *reason)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork()");
	if (!pid) {
		alarm(ALARM_TIMES * run->patience_s + ALARM_MORE_S);
		stage(run);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	explain(run, status, reason);
}

static bool any(const bool *wanted, enum operation first, enum operation last)
{
	enum operation i;

	for (i = first; i <= last; i++)
		if (wanted[i])
			return true;
	return false;
}

/**
 * run_peer() - measure
 * @run: what is to be measured
 * @figures: out: of each operation that is wanted what it costs, or why that is not
 *	known
 */
void run_peer(const struct run *run, struct figure *figures)
{
	const struct peer *peer = run->peer;
	struct report *report = report_begin();
	const char *missing = peer->missing ? peer->missing() : NULL;
	char reason[REASON_BYTES] = "it could not be measured";

	if (missing) {
		take(report, missing, 0, OPERATIONS - 1, figures);
		return;
	}
	if (any(run->wanted, MEMORY_KERNEL, MEMORY_PROCESS)) {
		measure_memory(peer, run->live, run->patience_s);
		take(report, reason, MEMORY_KERNEL, MEMORY_PROCESS, figures);
		report = report_begin();
	}
	if (any(run->wanted, ARM_THREADS, REFRESH_THREADS)) {
		run_stage(run, run_threads, reason);
		take(report, reason, ARM_THREADS, REFRESH_THREADS, figures);
		report = report_begin();
	}
	if (any(run->wanted, ARM, EXPIRE) || any(run->wanted, LATENESS, IDLE_CPU) ||
	    any(run->wanted, ARM_SYSCALLS, EXPIRE_SYSCALLS)) {
		run_stage(run, run_costs, reason);
		take(report, reason, ARM, EXPIRE, figures);
		take(report, reason, LATENESS, IDLE_CPU, figures);
		take(report, reason, ARM_SYSCALLS, EXPIRE_SYSCALLS, figures);
	}
}
