// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of a program one after the other, each in its own process.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define EXIT_SKIP	4
#define REASON_LEN	128

/* What a test's process leaves for its parent. */
struct outcome {
	int failed;
	char reason[REASON_LEN];
};

static struct test *first;
static struct test **last = &first;
static unsigned int nr_tests;
static struct outcome *outcome;
/* What is waited for: SIGCHLD, and SIGTERM. */
static sigset_t signals;

void test_register(struct test *test)
{
	*last = test;
	last = &test->next;
	nr_tests++;
}

void test_say(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* One write, so that lines of several threads stay whole. */
	dprintf(STDOUT_FILENO, "# %s\n", text);
}

void test_fail(const char *file, int line, const char *format, ...)
{
	const char *name = strrchr(file, '/');
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	test_say("%s:%d: %s", name ? name + 1 : file, line, text);
	outcome->failed = 1;
}

noreturn void test_stop(void)
{
	_exit(EXIT_FAILURE);
}

noreturn void test_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(outcome->reason, REASON_LEN, format, args);
	va_end(args);
	_exit(EXIT_SKIP);
}

static void run_child(const struct test *test)
{
	setpgid(0, 0);
	test->run();
	_exit(outcome->failed ? EXIT_FAILURE : EXIT_SUCCESS);
}

/*
 * Sleeps until the child has ended or its time is over.  If it is the program's time
 * that is over, the child and its own must not outlive it.
 */
static bool wait_child(pid_t pid, unsigned int limit_s, int *status)
{
	struct timespec limit = { .tv_sec = limit_s };
	int signal;

	while (waitpid(pid, status, WNOHANG) != pid) {
		signal = sigtimedwait(&signals, NULL, &limit);
		if (signal == SIGCHLD || (signal < 0 && errno == EINTR))
			continue;
		kill(-pid, SIGKILL);
		waitpid(pid, status, 0);
		if (signal == SIGTERM)
			_exit(128 + SIGTERM);
		return false;
	}
	/* What it left behind, if anything. */
	kill(-pid, SIGKILL);
	return true;
}

/* On a kernel that checks itself all takes longer: so many times. */
unsigned int test_slowness(void)
{
	const char *slow = getenv("TIMEWHEEL_SLOW");
	unsigned long times = slow ? strtoul(slow, NULL, 10) : 1;

	return times ?: 1;
}

/* Returns the exit status of the test. */
static int run_test(const struct test *test)
{
	unsigned int limit_s = test->limit_s * test_slowness();
	int status;
	bool ended;
	pid_t pid;

	*outcome = (struct outcome){ };
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		test_say("cannot fork: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	if (!pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		run_child(test);
	}
	setpgid(pid, pid);
	ended = wait_child(pid, limit_s, &status);
	if (!ended) {
		test_say("%s: not done after %u s", test->name, limit_s);
		return EXIT_FAILURE;
	}
	if (WIFSIGNALED(status)) {
		test_say("%s: ended by signal %d", test->name, WTERMSIG(status));
		return EXIT_FAILURE;
	}
	if (WEXITSTATUS(status) == EXIT_SKIP && outcome->failed)
		return EXIT_FAILURE;
	return WEXITSTATUS(status);
}

int main(void)
{
	unsigned int n = 0, failed = 0, skipped = 0;
	const struct test *test;
	int status;

	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcome == MAP_FAILED)
		return EXIT_FAILURE;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);

	setbuf(stdout, NULL);
	printf("TAP version 13\n1..%u\n", nr_tests);
	for (test = first; test; test = test->next) {
		n++;
		status = run_test(test);
		if (status == EXIT_SKIP) {
			skipped++;
			printf("ok %u %s # SKIP %s\n", n, test->name, outcome->reason);
		} else {
			failed += !!status;
			printf("%sok %u %s\n", status ? "not " : "", n, test->name);
		}
	}
	printf("# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0\n",
	       n - failed - skipped, failed, skipped);
	if (failed)
		return EXIT_FAILURE;
	return skipped == n ? EXIT_SKIP : EXIT_SUCCESS;
}
