// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sleep protocol of the rings: a program calls only when the kernel's next look
 * would come too late, and nothing is late because nobody called.
 *
 * Each thread has a wheel to itself, so that no pass is made for another's sake,
 * and one timeout at a time: an op that the kernel overlooked as it went to sleep
 * would stay where it is for good.
 */
#include <pthread.h>

#include "module.h"
#include "ring.h"

#define THREADS	4
#define ROUNDS	4000
#define TICK	(MS / 10)
/* Of the module, in this test. */
#define HOUSEKEEPING	MS

struct program {
	pthread_t thread;
	uint64_t seed;
	unsigned long calls;
	struct timewheel_stats stats;
};

/*
 * The event is in the ring while the pass that brought it still goes on: who looks
 * for it there puts the next op in as the worker makes up its mind to sleep.
 */
static struct timewheel_event spin_and_wait(struct rings *r)
{
	struct timewheel_event ev;
	unsigned int spins;

	for (spins = 0; spins < 20000; spins++)
		if (ring_pop(r, &ev))
			return ev;
	return ring_wait(r);
}

/* Now before, now after. */
static void dawdle(uint64_t *state)
{
	unsigned int i, spins = random_next(state) % 1000;

	if (random_next(state) % 4)
		return;
	for (i = 0; i < spins; i++)
		__asm__ volatile("" : : : "memory");
}

/*
 * Due before now, within the tick, or about when the pass after this one is due at
 * the latest: it is what a pass that goes on promises, so that nobody calls.
 */
static uint64_t deadline(uint64_t *state)
{
	static const uint64_t within[] = { TICK, 3 * TICK, 2 * HOUSEKEEPING };
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	return now - TICK + random_next(state) % within[random_next(state) % 3];
}

static void *ask_and_wait(void *data)
{
	struct program *program = data;
	uint64_t *state = &program->seed;
	struct timewheel_event ev;
	struct rings r;
	uint64_t due;
	int round;

	rings_open(&r, 8, 8, 4, TICK);
	for (round = 1; round <= ROUNDS; round++) {
		due = deadline(state);
		ring_ask(&r, op_own(id_of(1, round), due, round));
		ev = spin_and_wait(&r);
		EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST, ev.flags);
		EXPECT_EQ(round, ev.user_data);
		EXPECT_EQ(due, ev.deadline_ns);
		EXPECT_LE(due, now_ns(CLOCK_MONOTONIC));
		dawdle(state);
	}
	program->calls = r.calls;
	expect_balance(r.fd);
	program->stats = stats_of(r.fd);
	rings_close(&r);
	return NULL;
}

TEST_LIMIT(nothing_is_overlooked, 280)
{
	struct program programs[THREADS] = { };
	unsigned long calls = 0;
	int i;

	need_module();
	module_reload("housekeeping_ms=1");
	for (i = 0; i < THREADS; i++) {
		programs[i].seed = i + 1;
		ASSERT_EQ(0, pthread_create(&programs[i].thread, NULL, ask_and_wait,
					    &programs[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(programs[i].thread, NULL);
		EXPECT_EQ(ROUNDS, programs[i].stats.fired);
		/* Not one call more than ops, though nobody else wakes the worker. */
		EXPECT_GE(ROUNDS, programs[i].calls);
		calls += programs[i].calls;
	}
	test_say("%d ops, %lu calls", THREADS * ROUNDS, calls);
	module_restore();
}

/*
 * While a pass is due anyway, one that is early enough for all that is put in, not
 * one call is made, and each expires in time for it.
 */
TEST(a_pass_that_comes_anyway)
{
	uint64_t due = now_ns(CLOCK_MONOTONIC) + 2 * SEC;
	struct timewheel_event ev;
	struct rings r;
	int i;

	rings_open(&r, 64, 64, 64, MS);
	ring_ask(&r, op_own(id_of(0, 1), due, 0));
	/* The pass that this one made has gone by, and the next is known. */
	while (stats_of(r.fd).pending != 1 ||
	       __atomic_load_n(&r.sq->wake_ns, __ATOMIC_RELAXED) > due)
		usleep(100);
	EXPECT_EQ(1, r.calls);
	for (i = 1; i < 64; i++)
		ring_ask(&r, op_own(id_of(i, 1), due + i * MS, i));
	EXPECT_EQ(1, r.calls);
	for (i = 0; i < 64; i++) {
		ev = ring_wait(&r);
		EXPECT_EQ(i, ev.user_data);
		EXPECT_EQ(due + i * MS, ev.deadline_ns);
	}
	EXPECT_EQ(1, r.calls);
	rings_close(&r);
}
