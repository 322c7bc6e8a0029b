// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module goes and comes while programs open the device, arm and close it.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "module.h"
#include "support.h"

/* Where the kernel checks itself, one is worth several. */
#define CYCLES		(200 / test_slowness())
#define PROGRAMS	3

/* What the programs have seen, all of them. */
static struct {
	unsigned int opened;
	unsigned int absent;
	unsigned int expired;
	bool stop;
} *seen;

static void count(unsigned int *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static bool over(void)
{
	return __atomic_load_n(&seen->stop, __ATOMIC_RELAXED);
}

/* Pending ones are left behind; one that is due is waited for now and then. */
static void use(int fd, uint64_t random)
{
	struct timewheel_setup s = {
		.size = sizeof(s),
		.flags = TIMEWHEEL_SETUP_OWN_WHEEL,
		.tick_ns = 100000,
	};

	if (random % 4 == 0)
		ASSERT_OK(setup(fd, &s));
	arm_many(fd, random % 64, random % 3 ? HOUR : random >> 8 & 0xfffff);
	if (random % 8 == 1) {
		arm(fd, 0, 1);
		wait_readable(fd);
		count(&seen->expired);
	}
}

static noreturn void program(uint64_t seed)
{
	uint64_t random;
	int fd;

	while (!over()) {
		random = random_next(&seed);
		fd = open(DEVICE, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			if (errno != ENOENT && errno != ENODEV && errno != ENXIO)
				test_fail(__FILE__, __LINE__, "open: %s", strerror(errno));
			count(&seen->absent);
			/* It is no program's turn: the module has to come back. */
			usleep(random >> 8 & 0x7ff);
			continue;
		}
		count(&seen->opened);
		use(fd, random);
		close(fd);
		usleep(random >> 16 & 0x3fff);
	}
	_exit(0);
}

/* Until it is let go; how often it was in use. */
static unsigned int unload(void)
{
	unsigned int busy = 0;

	while (module_unload()) {
		ASSERT_EQ(EWOULDBLOCK, errno);
		busy++;
		usleep(200);
	}
	return busy;
}

static void start(pid_t *pids)
{
	unsigned int i;

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(seen != MAP_FAILED);
	for (i = 0; i < PROGRAMS; i++) {
		pids[i] = fork();
		ASSERT_OK(pids[i]);
		if (!pids[i])
			program(0x72656c6f + i);
	}
}

static void finish(pid_t *pids)
{
	unsigned int i;
	int status;

	__atomic_store_n(&seen->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < PROGRAMS; i++) {
		ASSERT_EQ(pids[i], waitpid(pids[i], &status, 0));
		EXPECT_EQ(0, status);
	}
}

TEST_LIMIT(again_and_again, 840)
{
	const unsigned int cycles = CYCLES;
	unsigned int cycle, busy = 0, refused = 0;
	pid_t pids[PROGRAMS];
	long long refs;
	int fd;

	need_module();
	refs = module_refs();
	start(pids);
	for (cycle = 1; cycle <= cycles; cycle++) {
		/* Open for certain, now and then. */
		if (cycle % 10 == 0) {
			fd = tw_open();
			EXPECT_ERR(EWOULDBLOCK, module_unload());
			refused++;
			close(fd);
		}
		busy += unload();
		/* Nor is it there for certain. */
		EXPECT_ERR(ENOENT, open(DEVICE, O_RDWR));
		ASSERT_OK(module_load(""));
		if (cycle % 50 == 0)
			test_say("%u cycles", cycle);
	}
	finish(pids);
	test_say("%u cycles; in use %u times; opened %u times, absent %u times, %u expiries",
		 cycles, busy + refused, seen->opened, seen->absent, seen->expired);
	EXPECT_EQ(cycles / 10, refused);
	EXPECT_LT(0, seen->opened);
	EXPECT_EQ(refs, module_refs());
	module_restore();
}
