// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel_stress_kunit.ko: all calls from all contexts at once, in rounds.
 *
 * Each round has wheels and owners of its own.  At its end everything that is
 * due fires without help, or a wake-up was lost; then all is stopped, and the
 * books are compared.
 */

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "stress.h"
#include "../../module/compat.h"

static unsigned long operations = 10000000;
module_param(operations, ulong, 0444);
MODULE_PARM_DESC(operations, "Calls to make in all (default 10000000)");

static unsigned int seed = 0x73747265;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Of the random numbers (default 0x73747265)");

#define ROUNDS	10

/**
 * struct stress_round - a case
 * @number: from 1
 */
struct stress_round {
	unsigned int number;
};

static const struct stress_round rounds[ROUNDS] = {
	{ 1 }, { 2 }, { 3 }, { 4 }, { 5 }, { 6 }, { 7 }, { 8 }, { 9 }, { 10 },
};

static void round_desc(const struct stress_round *round, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "round %u", round->number);
}

KUNIT_ARRAY_PARAM(stress_rounds, rounds, round_desc);

static void stress_free(struct stress *s)
{
	cleanup_srcu_struct(&s->srcu);
	free_percpu(s->tally);
	kfree(s);
}

static struct stress *stress_new(struct kunit *test)
{
	struct stress *s = kzalloc_obj(*s, GFP_KERNEL);
	unsigned int i;

	if (!s)
		return NULL;
	s->test = test;
	s->tally = alloc_percpu(struct stress_tally);
	if (!s->tally)
		goto free;
	if (init_srcu_struct(&s->srcu))
		goto free_tally;
	for (i = 0; i < STRESS_NOMADS; i++)
		owner_init(&s->nomads[i], s, NULL, NOMAD);
	return s;

free_tally:
	free_percpu(s->tally);
free:
	kfree(s);
	return NULL;
}

static struct stress_wheel *stress_at(struct stress *s, enum stress_place place)
{
	return rcu_dereference_protected(s->wheels[place], true);
}

/* Calls made up to now; only this thread takes wheels away. */
static u64 stress_operations(struct stress *s)
{
	struct stress_tally sum = {};
	unsigned int i;

	for (i = 0; i < PLACES; i++)
		tally_add(&sum, stress_at(s, i)->tally);
	return s->operations + sum.n[COUNT_OPERATIONS];
}

/* Wheels go and come until there were enough calls. */
static void stress_meanwhile(struct stress *s, struct rnd_state *rnd,
			     unsigned int number, u64 end)
{
	unsigned long tell = jiffies + 5 * HZ;
	u64 done;

	while ((done = stress_operations(s)) < end) {
		stress_wheel_replace(s, PLACE_MORTAL, rnd);
		stress_wheel_replace(s, PLACE_WORK, rnd);
		msleep(random_below(rnd, 20));
		if (time_after(jiffies, tell)) {
			tell = jiffies + 5 * HZ;
			pr_info("timewheel-stress: round %u of %u, %llu of %llu operations\n",
				number, ROUNDS, done, end);
		}
	}
}

/* All that is left is due: it must fire, although nobody arms any more. */
static void stress_run_out(struct stress *s, struct stress_wheel *sw)
{
	unsigned int i, left = 3000;

	for (i = 0; i < STRESS_CITIZENS; i++)
		if (sw->citizens[i].kind == CITIZEN_PERIODIC)
			owner_cancel(sw, &sw->citizens[i]);
	while (timewheel_nr_pending(sw->wheel) && --left)
		msleep(20);
	KUNIT_EXPECT_EQ_MSG(s->test, timewheel_nr_pending(sw->wheel), 0,
			    "due, and nobody wakes the worker");
}

static void stress_end(struct stress *s)
{
	unsigned int i;

	WRITE_ONCE(s->ending, true);
	for (i = 0; i < PLACES; i++) {
		struct stress_wheel *sw = stress_at(s, i);

		if (!sw)
			continue;
		/* An actor may have stopped the others. */
		if (i == PLACE_PLAIN || i == PLACE_LIMIT)
			stress_run_out(s, sw);
		RCU_INIT_POINTER(s->wheels[i], NULL);
		stress_wheel_bury(sw);
	}
	rcu_barrier();
	books_compare_total(s);
}

static void stress_round(struct kunit *test)
{
	const struct stress_round *round = test->param_value;
	u32 round_seed = seed + 0x10000 * round->number;
	struct stress *s = stress_new(test);
	struct rnd_state rnd;
	unsigned int i;
	u64 begin;

	KUNIT_ASSERT_NOT_NULL(test, s);
	/* Books by wheel in the one half, in sum in the other. */
	s->with_nomads = round->number % 2 == 0;
	prandom_seed_state(&rnd, round_seed);
	for (i = 0; i < PLACES; i++) {
		struct stress_wheel *sw;

		sw = stress_wheel_new(s, i, prandom_u32_state(&rnd));
		KUNIT_EXPECT_NOT_NULL(test, sw);
		if (!sw)
			goto end;
		rcu_assign_pointer(s->wheels[i], sw);
	}

	begin = ktime_get_ns();
	i = actors_start(s, round_seed + 1);
	KUNIT_EXPECT_EQ(test, i, 0);
	if (!i)
		stress_meanwhile(s, &rnd, round->number, operations / ROUNDS);
	actors_stop(s);
end:
	stress_end(s);
	pr_info("timewheel-stress: round %u of %u: seed %#x, %llu operations in %llu ms, %llu armed, %llu fired, %llu cancelled, %llu handed back, %u wheels and %d brief ones\n",
		round->number, ROUNDS, seed, s->operations,
		div_u64(ktime_get_ns() - begin, NSEC_PER_MSEC),
		s->total.books.armed, s->total.books.fired,
		s->total.books.cancelled, s->total.books.unprocessed,
		s->buried, atomic_read(&s->brief));
	stress_free(s);
}

static struct kunit_case stress_cases[] = {
	KUNIT_CASE_PARAM(stress_round, stress_rounds_gen_params),
	{}
};

static struct kunit_suite stress_suite = {
	.name = "timewheel_stress",
	.test_cases = stress_cases,
};

kunit_test_suite(stress_suite);

MODULE_DESCRIPTION("All calls of timewheel.ko from all contexts at once");
MODULE_AUTHOR("The timewheel authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_IMPORT_KUNIT_NS();
