// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel save and restore, on one machine that stays up.
 *
 * No clock is set here, so a difference between the wall clock and a wheel's
 * clock, as a file and a context show it, is the same for each of its timeouts.
 * What must be exact is held against that; where save and restore each looked at
 * the clocks, they may differ by what the looking took.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "module.h"
#include "savefile.h"
#include "support.h"
#include "walltime.h"

#define SAVED		"/tmp/saved"
#define BOOKS		"/sys/kernel/debug/timewheel/1-system/books"
#define EVENT_LAST	(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST)
#define YEAR		(365 * 24 * HOUR)

/* Two looks at two clocks, on a machine that may be stopped in between. */
#define LOOKS_NS	(5 * SEC)

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

static char said[65536];

/* A shell command, and what it says; returns its exit status. */
__printf(1, 2) static int run(const char *format, ...)
{
	char command[PATH_MAX];
	va_list args;
	size_t len;
	FILE *pipe;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	pipe = popen(command, "r");
	ASSERT_TRUE(pipe);
	len = fread(said, 1, sizeof(said) - 1, pipe);
	said[len] = '\0';
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_said(int line, int want, int status, const char *word)
{
	if (status != want || !strstr(said, word))
		test_fail(__FILE__, line, "expected status %d and '%s'; got %d and:\n%s", want,
			  word, status, said);
}

#define EXPECT_SAID(want, word, ...) expect_said(__LINE__, want, run(__VA_ARGS__), word)

static void need(uint64_t features)
{
	int fd = tw_open();
	struct timewheel_info info = info_of(fd);

	close(fd);
	if (features & ~info.features)
		SKIP("the module lacks the features %#llx",
		     (unsigned long long)(features & ~info.features));
	if (run("timewheel --version 2>&1"))
		SKIP("the timewheel command is not installed");
}

static uint64_t arm_with(int fd, uint64_t deadline_ns, uint64_t cookie, uint64_t interval_ns,
			 uint64_t slack_ns)
{
	struct timewheel_op op = op_arm_at(deadline_ns, cookie);

	op.interval_ns = interval_ns;
	op.slack_ns = slack_ns;
	return arm_op(fd, op);
}

static struct savefile read_saved(void)
{
	struct savefile_error error;
	struct savefile saved;
	FILE *file = fopen(SAVED, "r");

	ASSERT_TRUE(file);
	ASSERT_EQ(0, savefile_read(file, &saved, &error));
	fclose(file);
	return saved;
}

static void write_saved(struct saved_timeout *timeouts, size_t nr)
{
	const struct savefile saved = {
		.saved_ns = now_ns(CLOCK_REALTIME),
		.nr = nr,
		.timeouts = timeouts,
	};
	FILE *file = fopen(SAVED, "w");
	size_t i;

	ASSERT_TRUE(file);
	for (i = 0; i < nr; i++)
		timeouts[i].id = i;
	ASSERT_EQ(0, savefile_write(file, &saved));
	ASSERT_EQ(0, fclose(file));
}

/* --- what 'holder heir' said ------------------------------------------------- */

struct seen {
	uint64_t cookie;
	uint64_t deadline_ns;
	uint64_t interval_ns;
	uint64_t slack_ns;
	int result;
	unsigned int flags;
};

/* The n-th event, from 0. */
static struct seen event_seen(unsigned int n)
{
	const char *p = said;
	struct seen seen;

	for (n++; n && (p = strstr(p, "event ")); n--)
		p++;
	if (n || sscanf(p, "vent %" SCNu64 " %" SCNu64 " %d %u", &seen.cookie,
			&seen.deadline_ns, &seen.result, &seen.flags) != 4) {
		test_fail(__FILE__, __LINE__, "an event is missing:\n%s", said);
		test_stop();
	}
	return seen;
}

/* What is pending with a cookie: it must be there once. */
static struct seen pending_seen(uint64_t cookie)
{
	struct seen seen = { }, found = { };
	const char *p = said;
	unsigned int nr = 0;

	while ((p = strstr(p, "pending "))) {
		p++;
		if (sscanf(p, "ending %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &seen.cookie, &seen.deadline_ns, &seen.interval_ns,
			   &seen.slack_ns) == 4 && seen.cookie == cookie) {
			found = seen;
			nr++;
		}
	}
	if (nr != 1) {
		test_fail(__FILE__, __LINE__, "%" PRIu64 " is there %u times:\n%s", cookie, nr,
			  said);
		test_stop();
	}
	return found;
}

static unsigned int count_said(const char *word)
{
	const char *p = said;
	unsigned int nr = 0;

	while ((p = strstr(p, word))) {
		nr++;
		p++;
	}
	return nr;
}

/* --- saving ------------------------------------------------------------------ */

TEST(what_is_saved_is_what_is_pending)
{
	struct savefile saved;
	uint64_t start, ahead, ids[5];
	struct timewheel_op op;
	int fd, efd = eventfd(0, 0);
	size_t i;

	need(TIMEWHEEL_FEATURE_LIST | TIMEWHEEL_FEATURE_PERIODIC | TIMEWHEEL_FEATURE_SLACK);
	fd = tw_open();
	start = now_ns(CLOCK_MONOTONIC);
	ids[0] = arm_with(fd, start + HOUR, 10, 0, 0);
	ids[1] = arm_with(fd, start + 24 * HOUR + 1, UINT64_MAX, 0, 0);
	ids[2] = arm_with(fd, start + 2 * HOUR, 12, 3 * HOUR, 0);
	ids[3] = arm_with(fd, UINT64_MAX, 13, 0, 1000000);
	op = op_arm_at(start + 3 * HOUR, 14);
	op.flags |= TIMEWHEEL_NO_EVENT;
	op.eventfd = efd;
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	ids[4] = op.id;
	/* Expired and not read; cancelled. */
	arm(fd, 0, 99);
	wait_readable(fd);
	EXPECT_EQ(0, cancel(fd, arm(fd, HOUR, 98)));

	EXPECT_SAID(0, "5 timeouts saved to " SAVED, "timewheel save --pid %d --fd %d " SAVED
		    " 2>&1", getpid(), fd);
	EXPECT_TRUE(strstr(said, "1 of them signals an eventfd only"));
	EXPECT_TRUE(strstr(said, "1 event is not saved"));

	saved = read_saved();
	ASSERT_EQ(5, saved.nr);
	EXPECT_FALSE(saved.wheel.own);
	ahead = saved.timeouts[0].wall_ns - (start + HOUR);
	EXPECT_LE(now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC), ahead + LOOKS_NS);
	EXPECT_GE(now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC) + LOOKS_NS, ahead);
	EXPECT_EQ(start + 24 * HOUR + 1 + ahead, saved.timeouts[1].wall_ns);
	EXPECT_EQ(start + 2 * HOUR + ahead, saved.timeouts[2].wall_ns);
	EXPECT_EQ(WALLTIME_NEVER, saved.timeouts[3].wall_ns);
	EXPECT_EQ(start + 3 * HOUR + ahead, saved.timeouts[4].wall_ns);
	for (i = 0; i < saved.nr; i++) {
		EXPECT_EQ(ids[i], saved.timeouts[i].id);
		EXPECT_EQ(i == 1 ? UINT64_MAX : 10 + i, saved.timeouts[i].cookie);
		EXPECT_EQ(i == 2 ? 3 * HOUR : 0, saved.timeouts[i].interval_ns);
		/* Rounded down to a power of two. */
		EXPECT_EQ(i == 3 ? 524288 : 0, saved.timeouts[i].slack_ns);
		EXPECT_EQ(i == 4, saved.timeouts[i].no_event);
	}
	/* The program keeps them. */
	EXPECT_EQ(5, stats_of(fd).pending);
	EXPECT_EQ(99, read_event(fd).user_data);
}

TEST(a_file_is_replaced_as_a_whole)
{
	struct stat before, after;
	unsigned int files = 0;
	struct dirent *entry;
	DIR *dir;
	int fd;

	need(TIMEWHEEL_FEATURE_LIST);
	fd = tw_open();
	arm(fd, HOUR, 1);
	ASSERT_OK(mkdir("/tmp/dir", 0755));
	EXPECT_EQ(0, run("umask 0; timewheel save --pid %d --fd %d /tmp/dir/file", getpid(), fd));
	ASSERT_OK(stat("/tmp/dir/file", &before));
	EXPECT_EQ(S_IFREG | 0600, before.st_mode);
	EXPECT_EQ(0, run("timewheel save --pid %d --fd %d /tmp/dir/file", getpid(), fd));
	ASSERT_OK(stat("/tmp/dir/file", &after));
	EXPECT_NE(before.st_ino, after.st_ino);

	/* A name without a directory. */
	EXPECT_EQ(0, run("cd /tmp/dir && timewheel save --pid %d --fd %d file", getpid(), fd));

	dir = opendir("/tmp/dir");
	ASSERT_TRUE(dir);
	while ((entry = readdir(dir)))
		files += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(dir);
	EXPECT_EQ(1, files);
	run("rm -r /tmp/dir");
}

/* When there is no room, the old file stays, and nothing else. */
TEST(a_full_disk_leaves_the_old_file)
{
	char before[8192], after[8192];
	size_t len;
	FILE *file;
	int fd;

	need(TIMEWHEEL_FEATURE_LIST);
	if (geteuid())
		SKIP("only root can mount");
	fd = tw_open();
	arm(fd, HOUR, 1);
	ASSERT_OK(mkdir("/tmp/small", 0755));
	ASSERT_OK(mount("small", "/tmp/small", "tmpfs", 0, "size=16k"));
	EXPECT_EQ(0, run("timewheel save --pid %d --fd %d /tmp/small/file", getpid(), fd));
	file = fopen("/tmp/small/file", "r");
	ASSERT_TRUE(file);
	len = fread(before, 1, sizeof(before), file);
	fclose(file);

	arm_many(fd, 1000, HOUR);
	EXPECT_SAID(1, "cannot write /tmp/small/file: No space left",
		    "timewheel save --pid %d --fd %d /tmp/small/file 2>&1", getpid(), fd);
	file = fopen("/tmp/small/file", "r");
	ASSERT_TRUE(file);
	EXPECT_EQ(len, fread(after, 1, sizeof(after), file));
	fclose(file);
	EXPECT_EQ(0, memcmp(before, after, len));
	EXPECT_SAID(0, "file\n", "ls -A /tmp/small");
	EXPECT_EQ(5, strlen(said));
	ASSERT_OK(umount("/tmp/small"));
	rmdir("/tmp/small");
}

TEST(save_says_what_is_in_its_way)
{
	int fd, second;

	need(TIMEWHEEL_FEATURE_LIST);
	EXPECT_SAID(1, "has no context open", "timewheel save --pid %d " SAVED " 2>&1", getpid());
	fd = tw_open();
	arm(fd, HOUR, 1);
	EXPECT_EQ(0, run("timewheel save --pid %d " SAVED " 2>&1", getpid()));
	second = tw_open();
	EXPECT_SAID(1, "has several contexts", "timewheel save --pid %d " SAVED " 2>&1", getpid());
	EXPECT_TRUE(strstr(said, "with 1 pending"));
	EXPECT_TRUE(strstr(said, "with 0 pending"));
	EXPECT_SAID(1, "is no context; these are:", "timewheel save --pid %d --fd 0 " SAVED " 2>&1",
		    getpid());
	EXPECT_SAID(0, "\"saved\": 0", "timewheel save --json --pid %d --fd %d " SAVED " 2>&1",
		    getpid(), second);
	EXPECT_SAID(1, "no regular file", "timewheel save --pid %d --fd %d /dev/null 2>&1",
		    getpid(), fd);
	EXPECT_SAID(1, "cannot make a file in /nowhere",
		    "timewheel save --pid %d --fd %d /nowhere/file 2>&1", getpid(), fd);
	EXPECT_SAID(1, "there is no process 999999999", "timewheel save --pid 999999999 x 2>&1");
	EXPECT_SAID(2, "Give --pid", "timewheel save x 2>&1");
	EXPECT_SAID(2, "'x' is no process id", "timewheel save --pid x x 2>&1");
	EXPECT_SAID(2, "to which file?", "timewheel save --pid 1 2>&1");
	EXPECT_SAID(2, "one file is enough", "timewheel save --pid 1 a b 2>&1");
	if (geteuid() || run("grep -q ^user: /etc/passwd"))
		return;
	EXPECT_SAID(0, "1 timeout saved to /tmp/own",
		    "su member -s /bin/sh -c 'timewheel sleep 1h & pid=$!\n"
		    "until timewheel stat --pid $pid | grep -q \"pending *1$\"; do sleep 0.1; done\n"
		    "timewheel save --pid $pid /tmp/own; status=$?; kill $pid; exit $status' 2>&1");
	EXPECT_SAID(1, "Run this as root",
		    "su user -s /bin/sh -c 'timewheel save --pid %d --fd %d /tmp/theirs 2>&1'",
		    getpid(), fd);
}

/* --- restoring ----------------------------------------------------------------- */

/* From one context into another: what one look at the clocks differs is all. */
TEST(a_program_gets_what_was_saved)
{
	struct seen first, seen;
	uint64_t start, shift;
	int fd;

	need(TIMEWHEEL_FEATURE_LIST | TIMEWHEEL_FEATURE_PERIODIC | TIMEWHEEL_FEATURE_SLACK);
	fd = tw_open();
	start = now_ns(CLOCK_MONOTONIC);
	arm_with(fd, start + HOUR, 1, 0, 0);
	arm_with(fd, start + 24 * HOUR, 2, 0, 1048576);
	arm_with(fd, start + 7 * HOUR, 3, 5 * HOUR, 0);
	arm_with(fd, UINT64_MAX, 4, 0, 0);
	EXPECT_EQ(0, run("timewheel save --pid %d --fd %d " SAVED, getpid(), fd));
	close(fd);

	EXPECT_SAID(0, "4 timeouts restored, 0 overdue",
		    "timewheel restore " SAVED " -- ./holder heir 0 2>&1");
	first = pending_seen(1);
	shift = first.deadline_ns - (start + HOUR);
	EXPECT_LT((long long)shift, (long long)LOOKS_NS);
	EXPECT_GT((long long)shift, -(long long)LOOKS_NS);
	seen = pending_seen(2);
	EXPECT_EQ(start + 24 * HOUR + shift, seen.deadline_ns);
	EXPECT_EQ(1048576, seen.slack_ns);
	seen = pending_seen(3);
	EXPECT_EQ(start + 7 * HOUR + shift, seen.deadline_ns);
	EXPECT_EQ(5 * HOUR, seen.interval_ns);
	EXPECT_EQ(UINT64_MAX, pending_seen(4).deadline_ns);
	EXPECT_EQ(4, count_said("pending "));

	/* Whatever 3 was before. */
	EXPECT_EQ(0, run("timewheel restore " SAVED " 3</dev/null 4</dev/null -- ./holder heir 0"));
	EXPECT_EQ(4, count_said("pending "));
	EXPECT_EQ(0, run("timewheel restore " SAVED " 3<&- -- ./holder heir 0"));
	EXPECT_EQ(4, count_said("pending "));
}

TEST(overdue_ones_fire_at_once_and_in_order)
{
	const uint64_t now = now_ns(CLOCK_REALTIME), boot = now - now_ns(CLOCK_MONOTONIC);
	struct saved_timeout timeouts[] = {
		{ .cookie = 60, .wall_ns = now + HOUR },
		{ .cookie = 40, .wall_ns = now - SEC },
		/* The same instant: as they stand here. */
		{ .cookie = 31, .wall_ns = now - 2 * SEC },
		{ .cookie = 32, .wall_ns = now - 2 * SEC, .no_event = true },
		/* Slack does not keep it. */
		{ .cookie = 33, .wall_ns = now - 2 * SEC, .slack_ns = 24 * HOUR },
		/* Before this machine started, and before anything. */
		{ .cookie = 20, .wall_ns = boot - HOUR },
		{ .cookie = 10, .wall_ns = boot - YEAR },
		{ .cookie = 9, .wall_ns = 0 },
	};
	static const unsigned int order[] = { 9, 10, 20, 31, 32, 33, 40 };
	unsigned int i;
	struct seen seen;

	need(TIMEWHEEL_FEATURE_LIST);
	write_saved(timeouts, ARRAY_SIZE(timeouts));
	EXPECT_SAID(0, "8 timeouts restored, 7 overdue",
		    "timewheel restore " SAVED " -- ./holder heir 7 2>&1");
	EXPECT_TRUE(strstr(said, "1 of them signalled an eventfd only"));
	EXPECT_TRUE(strstr(said, "now it has events"));
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		seen = event_seen(i);
		EXPECT_EQ(order[i], seen.cookie);
		EXPECT_EQ(1, seen.result);
		EXPECT_EQ(EVENT_LAST, seen.flags);
		if (order[i] < 30)
			EXPECT_EQ(0, seen.deadline_ns);
	}
	/* They are a second apart, to the nanosecond. */
	EXPECT_EQ(SEC, event_seen(6).deadline_ns - event_seen(5).deadline_ns);
	pending_seen(60);
	EXPECT_EQ(1, count_said("pending "));
}

TEST(a_periodic_one_fires_once_and_keeps_phase)
{
	const uint64_t now = now_ns(CLOCK_REALTIME);
	struct saved_timeout timeouts[] = {
		/* What the others are measured by. */
		{ .cookie = 1, .wall_ns = now + 100 * HOUR },
		/* 1000 instants missed, the last one a second ago. */
		{ .cookie = 2, .wall_ns = now - 1000 * HOUR - SEC, .interval_ns = HOUR },
		/* Not yet due. */
		{ .cookie = 3, .wall_ns = now + 2 * HOUR, .interval_ns = 5 * HOUR },
		{ .cookie = 4, .wall_ns = WALLTIME_NEVER, .interval_ns = HOUR },
	};
	struct seen event;
	uint64_t ahead;

	need(TIMEWHEEL_FEATURE_LIST | TIMEWHEEL_FEATURE_PERIODIC);
	write_saved(timeouts, ARRAY_SIZE(timeouts));
	EXPECT_SAID(0, "4 timeouts restored, 1 overdue",
		    "timewheel restore " SAVED " -- ./holder heir 1 2>&1");
	event = event_seen(0);
	EXPECT_EQ(2, event.cookie);
	EXPECT_EQ(1, event.result);
	EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED, event.flags);
	ahead = now + 100 * HOUR - pending_seen(1).deadline_ns;
	EXPECT_EQ(now - SEC - ahead, event.deadline_ns);
	EXPECT_EQ(now - SEC + HOUR - ahead, pending_seen(2).deadline_ns);
	EXPECT_EQ(HOUR, pending_seen(2).interval_ns);
	EXPECT_EQ(now + 2 * HOUR - ahead, pending_seen(3).deadline_ns);
	EXPECT_EQ(UINT64_MAX, pending_seen(4).deadline_ns);
	EXPECT_EQ(HOUR, pending_seen(4).interval_ns);
}

/* Its last instant was before the machine started, its next is to come. */
TEST(a_long_period_spans_the_start_of_the_machine)
{
	const uint64_t now = now_ns(CLOCK_REALTIME), boot = now - now_ns(CLOCK_MONOTONIC);
	struct saved_timeout timeouts[] = {
		{ .cookie = 1, .wall_ns = now + 100 * HOUR },
		{ .cookie = 2, .wall_ns = boot - HOUR, .interval_ns = YEAR },
		/* Twice missed before that, and with a slack that does not keep it. */
		{ .cookie = 3, .wall_ns = boot - 2 * YEAR - 2 * HOUR, .interval_ns = YEAR,
		  .slack_ns = 1ULL << 50 },
	};
	uint64_t ahead;
	unsigned int i;

	need(TIMEWHEEL_FEATURE_LIST | TIMEWHEEL_FEATURE_PERIODIC | TIMEWHEEL_FEATURE_SLACK);
	write_saved(timeouts, ARRAY_SIZE(timeouts));
	EXPECT_EQ(0, run("timewheel restore " SAVED " -- ./holder heir 2 2>&1"));
	for (i = 0; i < 2; i++) {
		/* The last instants: 2 h and 1 h before the start. */
		EXPECT_EQ(3 - i, event_seen(i).cookie);
		EXPECT_EQ(0, event_seen(i).deadline_ns);
		EXPECT_EQ(1, event_seen(i).result);
		EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED, event_seen(i).flags);
	}
	ahead = now + 100 * HOUR - pending_seen(1).deadline_ns;
	EXPECT_EQ(boot - HOUR + YEAR - ahead, pending_seen(2).deadline_ns);
	EXPECT_EQ(boot - 2 * HOUR + YEAR - ahead, pending_seen(3).deadline_ns);
	EXPECT_EQ(1ULL << 50, pending_seen(3).slack_ns);
	EXPECT_EQ(3, count_said("pending "));
}

TEST(restore_prints_and_ends)
{
	const uint64_t now = now_ns(CLOCK_REALTIME), boot = now - now_ns(CLOCK_MONOTONIC);
	struct saved_timeout timeouts[] = {
		{ .cookie = 2, .wall_ns = now + SEC / 10 },
		{ .cookie = 1, .wall_ns = boot - HOUR },
	};
	uint64_t deadline[2] = { }, printed_now[2] = { };
	char expected[128], when[WALLTIME_LEN];
	int64_t late[2] = { };
	const char *p;
	int i;

	need(TIMEWHEEL_FEATURE_LIST);
	write_saved(timeouts, ARRAY_SIZE(timeouts));
	EXPECT_EQ(0, run("timewheel restore --json " SAVED));
	for (i = 0, p = said; i < 2; i++) {
		snprintf(expected, sizeof(expected),
			 "{\"cookie\": %d, \"deadline\": \"%s\", \"deadline_ns\": ", i + 1,
			 walltime_format(timeouts[1 - i].wall_ns, when));
		ASSERT_EQ(0, strncmp(p, expected, strlen(expected)));
		if (sscanf(p + strlen(expected), "%" SCNu64 ", \"now_ns\": %" SCNu64
			   ", \"late_ns\": %" SCNd64, &deadline[i], &printed_now[i],
			   &late[i]) != 3)
			test_fail(__FILE__, __LINE__, "line %d of:\n%s", i, said);
		/* What one look at the clocks by restore and one here differ by. */
		EXPECT_LT(deadline[i] - timeouts[1 - i].wall_ns + LOOKS_NS, 2 * LOOKS_NS);
		EXPECT_EQ(printed_now[i] - deadline[i], late[i]);
		EXPECT_GE(late[i], 0);
		p = strchr(p, '\n') + 1;
	}
	EXPECT_EQ('\0', *p);
	EXPECT_EQ(2, count_said("\"missed\": 0, \"last\": true}\n"));
	EXPECT_GE(late[0], (long long)HOUR);

	write_saved(timeouts, ARRAY_SIZE(timeouts));
	EXPECT_EQ(0, run("timewheel restore " SAVED " 2>/dev/null"));
	snprintf(expected, sizeof(expected), "cookie 1, due %s, fired 1h",
		 walltime_format(timeouts[1].wall_ns, when));
	EXPECT_EQ(0, strncmp(said, expected, strlen(expected)));
	EXPECT_EQ(2, count_said(" late\n"));

	write_saved(timeouts, 0);
	EXPECT_SAID(0, "0 timeouts restored", "timewheel restore " SAVED " 2>&1");
}

/* A periodic one goes on until it is interrupted, and tells what was missed. */
TEST(restore_is_interrupted)
{
	struct saved_timeout timeout = {
		.cookie = 5,
		.wall_ns = now_ns(CLOCK_REALTIME) - 90 * HOUR,
		.interval_ns = 20 * HOUR,
	};

	need(TIMEWHEEL_FEATURE_LIST | TIMEWHEEL_FEATURE_PERIODIC);
	write_saved(&timeout, 1);
	run("rm -f /tmp/out; timewheel restore --json " SAVED " >/tmp/out 2>/tmp/err & pid=$!\n"
	    "until [ -s /tmp/out ] || ! kill -0 $pid; do sleep 0.1; done\n"
	    "kill -INT $pid; wait $pid; echo status $?; cat /tmp/out /tmp/err");
	EXPECT_TRUE(strstr(said, "\"missed\": 4, \"last\": false}"));
	EXPECT_TRUE(strstr(said, "status 130"));
	EXPECT_TRUE(strstr(said, "interrupted, 1 still pending"));
}

TEST(an_own_wheel_is_made_again)
{
	struct timewheel_setup s = {
		.size = sizeof(s), .flags = TIMEWHEEL_SETUP_OWN_WHEEL, .tick_ns = 5 * MS,
		.slots = 64, .levels = 3, .clockid = CLOCK_BOOTTIME,
	};
	uint64_t start, shift;
	int fd;

	need(TIMEWHEEL_FEATURE_LIST);
	fd = tw_open();
	ASSERT_OK(setup(fd, &s));
	start = now_ns(CLOCK_BOOTTIME);
	arm_at(fd, start + HOUR, 1);
	EXPECT_EQ(0, run("timewheel save --pid %d --fd %d " SAVED, getpid(), fd));
	close(fd);
	EXPECT_SAID(0, "wheel 5000000 64 3 7\n",
		    "timewheel restore " SAVED " -- ./holder heir 0 2>&1");
	shift = pending_seen(1).deadline_ns - (start + HOUR);
	EXPECT_LT((long long)shift, (long long)LOOKS_NS);
	EXPECT_GT((long long)shift, -(long long)LOOKS_NS);
}

/* From the books of the wheel: how many were ever armed on it. */
static long long armed_ever(void)
{
	char text[64];
	long long armed;
	FILE *file = fopen(BOOKS, "r");

	if (!file)
		SKIP("no " BOOKS);
	ASSERT_TRUE(fgets(text, sizeof(text), file));
	fclose(file);
	if (sscanf(text, "armed %lld", &armed) != 1)
		test_stop();
	return armed;
}

TEST(of_a_bad_file_nothing_is_armed)
{
	struct saved_timeout timeouts[] = {
		{ .cookie = 1, .wall_ns = 0 },
		{ .cookie = 2, .wall_ns = 0 },
	};
	long long armed;
	char sentence[80];
	struct stat st;

	need(TIMEWHEEL_FEATURE_LIST);
	armed = armed_ever();
	write_saved(timeouts, 2);
	ASSERT_OK(stat(SAVED, &st));

	snprintf(sentence, sizeof(sentence), "at byte %lld, the file ends in the middle of a line",
		 (long long)st.st_size - 1);
	ASSERT_OK(truncate(SAVED, st.st_size - 1));
	EXPECT_SAID(1, sentence, "timewheel restore " SAVED " 2>&1");
	EXPECT_TRUE(strstr(said, "Nothing was armed."));
	EXPECT_SAID(1, sentence, "timewheel restore " SAVED " -- ./holder heir 0 2>&1");

	write_saved(timeouts, 2);
	EXPECT_EQ(0, run("sed -i 's/cookie 2/cookie 3/' " SAVED));
	EXPECT_SAID(1, "the line that begins here was altered", "timewheel restore " SAVED " 2>&1");

	EXPECT_SAID(1, "cannot read /nowhere: No such file", "timewheel restore /nowhere 2>&1");
	EXPECT_SAID(1, "at byte 0,", "timewheel restore /bin/busybox 2>&1");
	EXPECT_SAID(1, "Is a directory", "timewheel restore /tmp 2>&1");
	EXPECT_EQ(armed, armed_ever());

	/* And of a good one, two are. */
	write_saved(timeouts, 2);
	EXPECT_EQ(0, run("timewheel restore " SAVED " 2>&1"));
	EXPECT_EQ(armed + 2, armed_ever());
}

TEST(restore_says_what_is_in_its_way)
{
	struct saved_timeout timeout = { .cookie = 1 };

	need(TIMEWHEEL_FEATURE_LIST);
	write_saved(&timeout, 1);
	EXPECT_SAID(127, "cannot run /nowhere", "timewheel restore " SAVED " -- /nowhere 2>&1");
	EXPECT_SAID(126, "cannot run /tmp", "timewheel restore " SAVED " -- /tmp 2>&1");
	EXPECT_SAID(2, "from which file?", "timewheel restore 2>&1");
	EXPECT_SAID(2, "from which file?", "timewheel restore -- true 2>&1");
	EXPECT_SAID(2, "which program?", "timewheel restore " SAVED " -- 2>&1");
	EXPECT_SAID(2, "a program comes behind --", "timewheel restore " SAVED " true 2>&1");
	EXPECT_SAID(2, "--json is for what this prints",
		    "timewheel restore --json " SAVED " -- true 2>&1");
	/* Options behind -- are the program's. */
	EXPECT_SAID(0, "--json --frob\n", "timewheel restore " SAVED " -- echo --json --frob 2>&1");
}

TEST(more_than_fit_are_refused)
{
	struct saved_timeout timeouts[3] = { };

	need(TIMEWHEEL_FEATURE_LIST);
	need_module();
	write_saved(timeouts, 3);
	module_reload("max_timeouts=2");
	EXPECT_SAID(1, "there are 3 timeouts, and a context may hold 2",
		    "timewheel restore " SAVED " 2>&1");
	/* Room by itself, but not beside others. */
	module_reload("max_timeouts=4");
	EXPECT_SAID(1, "max_timeouts of the module, now 4",
		    "timewheel sleep 1h 1h >/dev/null & pid=$!\n"
		    "until timewheel stat --pid $pid | grep -q 'pending *2$'; do sleep 0.1; done\n"
		    "timewheel restore " SAVED " 2>&1\n"
		    "status=$?; kill $pid; wait $pid; exit $status");
	module_restore();
}

/* The module is loaded anew in between: a day stays a day. */
TEST(timeouts_outlive_the_module)
{
	uint64_t start, shift;
	struct savefile saved;
	int fd;

	need(TIMEWHEEL_FEATURE_LIST);
	need_module();
	fd = tw_open();
	start = now_ns(CLOCK_MONOTONIC);
	arm_at(fd, start + 24 * HOUR, 1);
	arm_at(fd, start + 24 * HOUR + 1, 2);
	arm_at(fd, start + SEC, 3);
	EXPECT_EQ(0, run("timewheel save --pid %d --fd %d " SAVED, getpid(), fd));
	close(fd);
	saved = read_saved();
	module_restore();
	/* So that the third is overdue, if it was pending: on a slow machine it is gone. */
	while (now_ns(CLOCK_MONOTONIC) < start + SEC)
		usleep(1000);
	EXPECT_EQ(0, run("timewheel restore " SAVED " -- ./holder heir %zu 2>&1", saved.nr - 2));
	if (saved.nr == 3)
		EXPECT_EQ(3, event_seen(0).cookie);
	else
		EXPECT_EQ(2, saved.nr);
	shift = pending_seen(1).deadline_ns - (start + 24 * HOUR);
	EXPECT_LT((long long)shift, (long long)LOOKS_NS);
	EXPECT_GT((long long)shift, -(long long)LOOKS_NS);
	EXPECT_EQ(pending_seen(1).deadline_ns + 1, pending_seen(2).deadline_ns);
}

static atomic_bool busy;

/* Arms and cancels as fast as it can, under cookies from 1000 up. */
static void *churn(void *arg)
{
	uint64_t ids[64] = { };
	int fd = *(int *)arg;
	unsigned int n;

	for (n = 0; atomic_load(&busy); n++) {
		if (ids[n % 64])
			cancel(fd, ids[n % 64]);
		ids[n % 64] = arm(fd, HOUR, 1000 + n);
	}
	return NULL;
}

TEST(a_busy_program_is_saved)
{
	unsigned int seen[1000] = { };
	struct savefile saved;
	pthread_t thread;
	int fd, round;
	size_t i;

	need(TIMEWHEEL_FEATURE_LIST);
	fd = tw_open();
	arm_many(fd, ARRAY_SIZE(seen), HOUR);
	atomic_store(&busy, true);
	ASSERT_EQ(0, pthread_create(&thread, NULL, churn, &fd));
	for (round = 0; round < 3; round++) {
		EXPECT_EQ(0, run("timewheel save --pid %d --fd %d " SAVED " >/tmp/out", getpid(),
				 fd));
		/* One id twice would be refused here. */
		saved = read_saved();
		for (i = 0; i < saved.nr; i++)
			if (saved.timeouts[i].cookie < ARRAY_SIZE(seen))
				seen[saved.timeouts[i].cookie]++;
		savefile_free(&saved);
		for (i = 0; i < ARRAY_SIZE(seen); i++)
			EXPECT_EQ(round + 1, seen[i]);
	}
	atomic_store(&busy, false);
	pthread_join(thread, NULL);
}

/* The rest of the test is in a process that has another CLOCK_MONOTONIC. */
static void new_clock(long long ahead_s)
{
	char text[64];
	int fd, len, status;
	pid_t pid;

	if (access("/proc/self/ns/time", F_OK))
		SKIP("this kernel has no time namespaces");
	if (unshare(CLONE_NEWTIME))
		SKIP("no time namespace to be had: %s", strerror(errno));
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	ASSERT_OK(fd);
	len = snprintf(text, sizeof(text), "monotonic %lld 0\n", ahead_s);
	ASSERT_EQ(len, write(fd, text, len));
	close(fd);
	pid = fork();
	ASSERT_OK(pid);
	if (pid) {
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
	}
}

/* Its deadlines are in its own clock, and come out in everybody's. */
TEST(a_program_with_another_clock_is_saved)
{
	const uint64_t now = now_ns(CLOCK_REALTIME);
	struct savefile saved;

	need(TIMEWHEEL_FEATURE_LIST);
	new_clock(100000);
	run("rm -f /tmp/out; ./holder arm 1:3600000 >/tmp/out & pid=$!\n"
	    "until [ -s /tmp/out ] || ! kill -0 $pid; do sleep 0.1; done\n"
	    "timewheel save --pid $pid " SAVED "; kill $pid");
	saved = read_saved();
	ASSERT_EQ(1, saved.nr);
	EXPECT_LE(now + HOUR - LOOKS_NS, saved.timeouts[0].wall_ns);
	EXPECT_GE(now_ns(CLOCK_REALTIME) + HOUR + LOOKS_NS, saved.timeouts[0].wall_ns);
}

/* A clock that began later than the machine's. */
TEST(a_program_with_a_young_clock_gets_them)
{
	const uint64_t up = now_ns(CLOCK_MONOTONIC), now = now_ns(CLOCK_REALTIME);
	struct saved_timeout timeouts[] = {
		{ .cookie = 1, .wall_ns = now + 100 * HOUR },
		{ .cookie = 2, .wall_ns = now - 3 * SEC, .interval_ns = YEAR },
		{ .cookie = 3, .wall_ns = now - 3 * SEC - 1 },
	};
	uint64_t ahead;

	need(TIMEWHEEL_FEATURE_LIST | TIMEWHEEL_FEATURE_PERIODIC);
	/* It begins 1 to 2 s before now, and what is overdue was due before that. */
	new_clock(-(long long)(up / SEC - 1));
	write_saved(timeouts, ARRAY_SIZE(timeouts));
	EXPECT_SAID(0, "3 timeouts restored, 2 overdue",
		    "timewheel restore " SAVED " -- ./holder heir 2 2>&1");
	EXPECT_EQ(3, event_seen(0).cookie);
	EXPECT_EQ(0, event_seen(0).deadline_ns);
	EXPECT_EQ(2, event_seen(1).cookie);
	EXPECT_EQ(0, event_seen(1).deadline_ns);
	ahead = now + 100 * HOUR - pending_seen(1).deadline_ns;
	EXPECT_EQ(now - 3 * SEC + YEAR - ahead, pending_seen(2).deadline_ns);
	/* It was that clock and no other. */
	EXPECT_LE(now - ahead, 10 * SEC);
}

TEST_LIMIT(many_are_saved_and_restored, 300)
{
	const unsigned int nr = 20000;
	int fd;

	need(TIMEWHEEL_FEATURE_LIST);
	fd = tw_open();
	arm_many(fd, nr, 24 * HOUR);
	EXPECT_SAID(0, "\"saved\": 20000,", "timewheel save --json --pid %d --fd %d " SAVED,
		    getpid(), fd);
	close(fd);
	/* Each cookie is there once. */
	EXPECT_SAID(0, "20000 0 19999\n",
		    "timewheel restore " SAVED " -- ./holder heir 0 >/tmp/out 2>/tmp/err\n"
		    "sed -n 's/^pending \\([0-9]*\\) .*/\\1/p' /tmp/out | sort -nu >/tmp/cookies\n"
		    "echo $(wc -l </tmp/cookies) $(head -n 1 /tmp/cookies) $(tail -n 1 /tmp/cookies)");
}
