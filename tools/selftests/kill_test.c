// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that is killed at any moment leaves nothing behind.
 */
#include <signal.h>
#include <sys/wait.h>

#include "module.h"
#include "support.h"

#define MANY	100000U

static noreturn void busy(int fd, uint64_t seed)
{
	static struct timewheel_op ops[512];
	static struct timewheel_event events[512];
	unsigned int i;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (;;) {
		for (i = 0; i < ARRAY_SIZE(ops); i++) {
			uint64_t random = random_next(&seed);

			if (ops[i].id && random % 4)
				ops[i].opcode = random % 2 ? TIMEWHEEL_OP_CANCEL :
							     TIMEWHEEL_OP_REARM;
			else
				ops[i] = op_arm(0, i);
			ops[i].expires_ns = random >> 40;
		}
		submit(fd, ops, ARRAY_SIZE(ops));
		if (read(fd, events, sizeof(events)) < 0 && errno != EAGAIN)
			_exit(1);
	}
}

static void kill_one(uint64_t *seed, unsigned int far)
{
	uint64_t random = random_next(seed);
	int fds[2], status;
	char byte = 0;
	pid_t pid;

	ASSERT_OK(pipe(fds));
	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		int fd = random % 2 ? tw_open() : own_wheel(MS, CLOCK_MONOTONIC);

		arm_many(fd, far, HOUR);
		ASSERT_EQ(1, write(fds[1], &byte, 1));
		busy(fd, random);
	}
	close(fds[1]);
	ASSERT_EQ(1, read(fds[0], &byte, 1));
	close(fds[0]);
	usleep(random % 50000);
	ASSERT_OK(kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
}

TEST_LIMIT(with_many_pending, 300)
{
	uint64_t seed = now_ns(CLOCK_MONOTONIC);
	int i, fd;

	test_say("seed %llu", (unsigned long long)seed);
	close(tw_open());
	for (i = 0; i < 5; i++)
		kill_one(&seed, MANY);
	fd = tw_open();
	arm(fd, 10 * MS, 1);
	EXPECT_EQ(1, read_event(fd).user_data);
	expect_balance(fd);
}

TEST_LIMIT(many_times, 300)
{
	uint64_t seed = now_ns(CLOCK_MONOTONIC);
	int i;

	test_say("seed %llu", (unsigned long long)seed);
	close(tw_open());
	for (i = 0; i < 40; i++)
		kill_one(&seed, 100);
}

/* Killed while it arms, before anything has come back to it. */
TEST_LIMIT(while_it_arms, 300)
{
	uint64_t seed = now_ns(CLOCK_MONOTONIC);
	int i, status;
	pid_t pid;

	test_say("seed %llu", (unsigned long long)seed);
	close(tw_open());
	for (i = 0; i < 20; i++) {
		pid = fork();
		ASSERT_OK(pid);
		if (!pid) {
			arm_many(tw_open(), MANY, HOUR);
			pause();
		}
		usleep(random_next(&seed) % 100000);
		ASSERT_OK(kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
	}
}

/* Sleeping in read() is no shelter. */
TEST(while_it_reads)
{
	int status;
	pid_t pid;

	close(tw_open());
	pid = fork();
	ASSERT_OK(pid);
	if (!pid) {
		struct timewheel_event ev;
		int fd = tw_open();

		arm(fd, HOUR, 1);
		_exit(read(fd, &ev, sizeof(ev)) > 0);
	}
	usleep(200000);
	ASSERT_OK(kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
}

/* After all of that nothing holds the module. */
TEST_LIMIT(nothing_is_left, 300)
{
	uint64_t seed = 1;
	long long refs;

	need_module();
	refs = module_refs();
	kill_one(&seed, 1000);
	EXPECT_EQ(refs, module_refs());
	EXPECT_EQ(0, module_unload());
	module_restore();
}
