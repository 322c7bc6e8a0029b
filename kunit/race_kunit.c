// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads and hard interrupts that arm, move and cancel the same timeouts, with
 * deadlines that pass meanwhile.  Whatever the interleaving, each arming ends
 * once, and the books say so.
 */

#include <linux/hrtimer.h>
#include <linux/prandom.h>

#include "../module/compat.h"
#include "kunit_util.h"
#include "timeout.h"

#define RACE_SEED	0x72616365
#define RACE_THREADS	2
#define RACE_TIMEOUTS	48
/* On one CPU threads meet only where they sleep or are interrupted. */
#define RACE_STEPS	(num_online_cpus() > 1 ? 100000 : 20000)
#define RACE_PERIOD	(50 * NSEC_PER_USEC)

/**
 * struct race_count - how often a timeout was armed and cancelled
 * @armed: adds that returned 0
 * @cancelled: cancels, other than the sync ones, that returned true
 */
struct race_count {
	atomic_t armed;
	atomic_t cancelled;
};

/**
 * struct race - what all of them share
 * @wheels: the timeouts may be armed on any of these
 * @nr_wheels: how many there are
 * @steps: steps of each thread
 * @tts: the timeouts
 * @counts: of each
 * @back: times each was handed back by a stop
 * @odd: results that no call may have
 * @timer: the interrupt
 * @irq_rnd: its random numbers
 * @irqs: how many there were
 */
struct race {
	struct timewheel *wheels[2];
	unsigned int nr_wheels;
	unsigned int steps;
	struct test_timeout *tts;
	struct race_count counts[RACE_TIMEOUTS];
	unsigned int back[RACE_TIMEOUTS];
	atomic_t odd;
	struct hrtimer timer;
	struct rnd_state irq_rnd;
	unsigned int irqs;
};

/**
 * struct race_thread - one of the threads
 * @thread: the thread
 * @race: the race
 * @rnd: its random numbers
 */
struct race_thread {
	struct test_thread thread;
	struct race *race;
	struct rnd_state rnd;
};

/* Half of the timeouts have a cancelled callback. */
static bool race_is_told(unsigned int i)
{
	return i % 2;
}

/* How often a timeout was cancelled. */
static unsigned int race_prevented(struct race *race, unsigned int i)
{
	if (race_is_told(i))
		return race->tts[i].cancelled;
	return atomic_read(&race->counts[i].cancelled);
}

static void race_allow(struct race *race, int ret, int a, int b, int c)
{
	if (ret && ret != a && ret != b && ret != c)
		atomic_inc(&race->odd);
}

static void race_add(struct race *race, struct timewheel *wheel,
		     unsigned int i, u64 at)
{
	int ret = timewheel_add_at(wheel, &race->tts[i].t, at);

	if (!ret)
		atomic_inc(&race->counts[i].armed);
	race_allow(race, ret, -EBUSY, -ESHUTDOWN, -ENOSPC);
}

/* One random call; those that sleep only where that may be. */
static void race_step(struct race *race, struct rnd_state *rnd, bool may_sleep)
{
	struct timewheel *wheel = race->wheels[prandom_u32_state(rnd) % race->nr_wheels];
	unsigned int i = prandom_u32_state(rnd) % RACE_TIMEOUTS;
	struct timewheel_timeout *t = &race->tts[i].t;
	u64 at = timewheel_now(wheel) - 2 * TICK;
	u32 choice = prandom_u32_state(rnd) % 16;

	/* Two ticks either way. */
	at += prandom_u32_state(rnd) % (4 * (u32)TICK);
	switch (choice) {
	case 0 ... 6:
		race_add(race, wheel, i, at);
		break;
	case 7 ... 9:
		race_allow(race, timewheel_rearm(t, at), -ENOENT, -ESHUTDOWN, 0);
		break;
	case 10 ... 11:
		race_allow(race, timewheel_touch(t, at), -ENOENT, -EINVAL, 0);
		break;
	case 15:
		/* May prevent more than one: those that are told count them. */
		if (may_sleep && race_is_told(i)) {
			timewheel_cancel_sync(t);
			break;
		}
		fallthrough;
	default:
		if (timewheel_cancel(t))
			atomic_inc(&race->counts[i].cancelled);
	}
}

static void race_thread(void *arg)
{
	struct race_thread *rt = arg;
	unsigned int i;

	for (i = 0; i < rt->race->steps; i++) {
		race_step(rt->race, &rt->rnd, true);
		if (i % 32 == 0)
			usleep_range(100, 200);
	}
}

static enum hrtimer_restart race_irq(struct hrtimer *timer)
{
	struct race *race = container_of(timer, struct race, timer);

	race_step(race, &race->irq_rnd, false);
	race->irqs++;
	hrtimer_forward_now(timer, RACE_PERIOD);
	return HRTIMER_RESTART;
}

/* In the callback itself, now and then. */
static void race_again(struct test_timeout *tt)
{
	struct race *race = tt->arg;

	if (READ_ONCE(tt->fired) % 4 == 0)
		race_add(race, READ_ONCE(tt->t.wheel), tt->id,
			 timewheel_expires(&tt->t) + TICK);
}

static struct race *race_new(struct kunit *test, unsigned int nr_wheels)
{
	struct race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, race);
	for (i = 0; i < nr_wheels; i++)
		race->wheels[i] = env_wheel(test, i ? 4 : 256, i ? 1 : 4);
	race->nr_wheels = nr_wheels;
	race->steps = RACE_STEPS;
	race->tts = env_timeouts(test, RACE_TIMEOUTS);
	for (i = 0; i < RACE_TIMEOUTS; i++) {
		env_timeout_init(test, &race->tts[i], i,
				 race_is_told(i) ? &test_ops : &test_quiet_ops);
		race->tts[i].on_expired = race_again;
		race->tts[i].arg = race;
	}
	kunit_info(test, "seed %#x\n", RACE_SEED);
	prandom_seed_state(&race->irq_rnd, RACE_SEED);
	hrtimer_setup(&race->timer, race_irq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	return race;
}

/*
 * A thread that nobody wakes would wait for ever: then say so, and let passes
 * happen until it wakes.
 */
static void race_join(struct kunit *test, struct race *race, struct race_thread *rt)
{
	bool in_time = wait_for(completion_done(&rt->thread.done));

	KUNIT_EXPECT_TRUE_MSG(test, in_time, "a thread waits and nobody wakes it");
	while (!completion_done(&rt->thread.done)) {
		race_step(race, &rt->rnd, false);
		msleep(20);
	}
	thread_join(&rt->thread);
}

/* Let them loose; @meanwhile is what the case itself does. */
static void race_run(struct kunit *test, struct race *race,
		     void (*meanwhile)(struct kunit *test, struct race *race))
{
	struct race_thread *rts;
	unsigned int i;

	rts = kunit_kcalloc(test, RACE_THREADS, sizeof(*rts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rts);
	hrtimer_start(&race->timer, RACE_PERIOD, HRTIMER_MODE_REL_HARD);
	for (i = 0; i < RACE_THREADS; i++) {
		rts[i].race = race;
		prandom_seed_state(&rts[i].rnd, RACE_SEED + 1 + i);
		thread_start(test, &rts[i].thread, race_thread, &rts[i]);
	}
	if (meanwhile)
		meanwhile(test, race);
	for (i = 0; i < RACE_THREADS; i++)
		race_join(test, race, &rts[i]);
	hrtimer_cancel(&race->timer);
	KUNIT_EXPECT_EQ(test, atomic_read(&race->odd), 0);
}

/* Stop all, and hold each timeout's ends against its beginnings. */
static void race_settle(struct kunit *test, struct race *race)
{
	u64 armed = 0, fired = 0, cancelled = 0, unprocessed = 0;
	struct timewheel_timeout *t, *next;
	LIST_HEAD(list);
	unsigned int i;

	for (i = 0; i < race->nr_wheels; i++) {
		struct books_sum sum;

		KUNIT_EXPECT_EQ(test, timewheel_stop(race->wheels[i], &list), 0);
		books_expect_balance(test, race->wheels[i]);
		books_read(race->wheels[i], &sum);
		armed += sum.armed;
		fired += sum.fired;
		cancelled += sum.cancelled;
		unprocessed += sum.unprocessed;
	}
	list_for_each_entry_safe(t, next, &list, node.link) {
		list_del_init(&t->node.link);
		race->back[container_of(t, struct test_timeout, t)->id]++;
	}
	for (i = 0; i < RACE_TIMEOUTS; i++) {
		struct test_timeout *tt = &race->tts[i];
		unsigned int begun = atomic_read(&race->counts[i].armed);
		unsigned int prevented = race_prevented(race, i);

		KUNIT_EXPECT_EQ_MSG(test, begun, tt->fired + prevented + race->back[i],
				    "timeout %u", i);
		KUNIT_EXPECT_GE_MSG(test, prevented,
				    atomic_read(&race->counts[i].cancelled),
				    "timeout %u", i);
		KUNIT_EXPECT_EQ(test, atomic_read(&tt->t.state) & TIMEOUT_STATE, 0);
		armed -= begun;
		fired -= tt->fired;
		cancelled -= prevented;
		unprocessed -= race->back[i];
	}
	KUNIT_EXPECT_EQ(test, armed, 0);
	KUNIT_EXPECT_EQ(test, fired, 0);
	KUNIT_EXPECT_EQ(test, cancelled, 0);
	KUNIT_EXPECT_EQ(test, unprocessed, 0);
	kunit_info(test, "%u steps of each thread, %u interrupts, %u fired\n",
		   race->steps, race->irqs,
		   atomic_read(&((struct test_env *)test->priv)->logged));
}

static void race_one_wheel(struct kunit *test)
{
	struct race *race = race_new(test, 1);

	race_run(test, race, NULL);
	race_settle(test, race);
}

/* The timeouts change wheels, when the one has let go of them. */
static void race_two_wheels(struct kunit *test)
{
	struct race *race = race_new(test, 2);

	race->steps /= 4;
	race_run(test, race, NULL);
	race_settle(test, race);
}

static void race_limit(struct kunit *test)
{
	struct race *race = race_new(test, 1);

	/* Before anybody looks at it. */
	race->wheels[0]->max_pending = RACE_TIMEOUTS / 4;
	race->steps /= 4;
	race_run(test, race, NULL);
	race_settle(test, race);
	KUNIT_EXPECT_EQ(test, atomic64_read(&race->wheels[0]->pending), 0);
}

static void race_stop_soon(struct kunit *test, struct race *race)
{
	struct timewheel_timeout *t, *next;
	LIST_HEAD(list);

	msleep(30);
	KUNIT_EXPECT_EQ(test, timewheel_stop(race->wheels[0], &list), 0);
	books_expect_balance(test, race->wheels[0]);
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(race->wheels[0]), 0);
	list_for_each_entry_safe(t, next, &list, node.link) {
		list_del_init(&t->node.link);
		race->back[container_of(t, struct test_timeout, t)->id]++;
	}
}

/* A stop in the midst of it: after that nothing is armed, and nothing fires. */
static void race_with_stop(struct kunit *test)
{
	struct race *race = race_new(test, 1);

	race->steps /= 4;
	race_run(test, race, race_stop_soon);
	race_settle(test, race);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(race_one_wheel),
	KUNIT_CASE(race_two_wheels),
	KUNIT_CASE(race_limit),
	KUNIT_CASE(race_with_stop),
	{}
};

static struct kunit_suite race_suite = {
	.name = "timewheel_race",
	.init = env_init,
	.exit = env_exit,
	.test_cases = race_cases,
};

kunit_test_suite(race_suite);
