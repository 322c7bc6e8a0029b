// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a timeout costs on wheels of different shapes: so many timeouts at random
 * deadlines within a span of time, armed through the device, all of which expire.
 *
 * Counted are the nanoseconds of the caller in SUBMIT, and those that the
 * wheel's worker ran: passes, cascades, expiries, everything.
 * In a guest whose clock counts instructions (scripts/levels) they are
 * instructions, and the same each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/timewheel.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

#define BATCH	1000U
#define SEED	1
#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL

static uint64_t tick_ns = MS;
static uint64_t span_ns = 100 * SEC;

static noreturn void die(const char *what)
{
	fprintf(stderr, "levels: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

/* SplitMix64: the same numbers from the same seed. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static int open_wheel(unsigned int slots, unsigned int levels)
{
	struct timewheel_setup setup = {
		.size = sizeof(setup),
		.flags = TIMEWHEEL_SETUP_OWN_WHEEL,
		.tick_ns = tick_ns,
		.slots = slots,
		.levels = levels,
	};
	int fd = open("/dev/timewheel", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("/dev/timewheel");
	if (ioctl(fd, TIMEWHEEL_IOC_SETUP, &setup))
		die("SETUP");
	return fd;
}

static struct timewheel_stats stats_of(int fd)
{
	struct timewheel_stats stats = { .size = sizeof(stats) };

	if (ioctl(fd, TIMEWHEEL_IOC_STATS, &stats))
		die("STATS");
	return stats;
}

/* Arms @nr timeouts; returns the time spent in the calls. */
static uint64_t arm(int fd, unsigned int nr, uint64_t base_ns)
{
	static struct timewheel_op ops[BATCH];
	struct timewheel_submit submit = { .ops = (uintptr_t)ops };
	uint64_t start, spent = 0, seed = SEED;
	unsigned int done, i;

	for (done = 0; done < nr; done += submit.nr) {
		submit.nr = nr - done < BATCH ? nr - done : BATCH;
		for (i = 0; i < submit.nr; i++)
			ops[i] = (struct timewheel_op){
				.opcode = TIMEWHEEL_OP_ARM,
				.flags = TIMEWHEEL_ABS,
				.eventfd = -1,
				.user_data = done + i,
				.expires_ns = base_ns +
					      random_next(&seed) % span_ns,
			};
		start = now_ns();
		if (ioctl(fd, TIMEWHEEL_IOC_SUBMIT, &submit) != (int)submit.nr)
			die("SUBMIT");
		spent += now_ns() - start;
		for (i = 0; i < submit.nr; i++)
			if (ops[i].result) {
				errno = -ops[i].result;
				die("ARM");
			}
	}
	return spent;
}

/* The first use of everything costs once; it is nobody's. */
static void warm_up(void)
{
	int fd = open_wheel(256, 1);

	arm(fd, 10 * BATCH, now_ns());
	close(fd);
}

static void run(unsigned int slots, unsigned int levels, unsigned int nr)
{
	int fd = open_wheel(slots, levels);
	pid_t worker = worker_of(fd);
	uint64_t before, base, caller, ran;
	struct timewheel_stats stats;
	struct timespec end;

	if (!worker)
		die("the wheel's worker");
	before = worker_ran_ns(worker);
	/* Later than the last one is armed. */
	base = now_ns() + 5 * SEC;
	caller = arm(fd, nr, base);
	base += span_ns + tick_ns + SEC;
	end = (struct timespec){ base / SEC, base % SEC };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL))
		;
	stats = stats_of(fd);
	ran = worker_ran_ns(worker) - before;
	if (stats.fired != nr || stats.pending) {
		fprintf(stderr, "levels: %llu of %u fired\n",
			(unsigned long long)stats.fired, nr);
		exit(1);
	}
	printf("%6u x %u  %8u  %8llu  %8llu  %8llu\n", slots, levels, nr,
	       (unsigned long long)caller / nr, (unsigned long long)ran / nr,
	       (unsigned long long)stats.passes);
	fflush(stdout);
	close(fd);
}

/* The numbers in a list separated by commas. */
int main(int argc, char **argv)
{
	char *shape, *count, *shapes, *counts, *at_shape, *at_count;
	unsigned int slots, levels;

	if (argc < 3 || argc > 5) {
		fprintf(stderr,
			"usage: levels SLOTSxLEVELS,... TIMEOUTS,... [TICK_US [SPAN_MS]]\n"
			"What a timeout costs on wheels of these shapes, with so many at once,\n"
			"due within a span (100 s, at a tick of 1 ms).\n");
		return 2;
	}
	if (argc > 3)
		tick_ns = strtoull(argv[3], NULL, 10) * US;
	if (argc > 4)
		span_ns = strtoull(argv[4], NULL, 10) * MS;
	warm_up();
	printf("%10s  %8s  %8s  %8s  %8s\n", "shape", "timeouts", "caller",
	       "worker", "passes");
	shapes = strdup(argv[1]);
	for (shape = strtok_r(shapes, ",", &at_shape); shape;
	     shape = strtok_r(NULL, ",", &at_shape)) {
		if (sscanf(shape, "%ux%u", &slots, &levels) != 2) {
			fprintf(stderr, "levels: '%s' is no SLOTSxLEVELS\n", shape);
			return 2;
		}
		counts = strdup(argv[2]);
		for (count = strtok_r(counts, ",", &at_count); count;
		     count = strtok_r(NULL, ",", &at_count))
			run(slots, levels, strtoul(count, NULL, 10));
		free(counts);
	}
	free(shapes);
	return 0;
}
