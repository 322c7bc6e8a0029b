// SPDX-License-Identifier: GPL-2.0-only
/*
 * The API from hard interrupt context: an hrtimer's callback arms, moves and
 * cancels.
 */

#include <linux/hrtimer.h>
#include <linux/preempt.h>

#include "../module/compat.h"
#include "kunit_util.h"

/**
 * struct irq_case - what an interrupt is to do
 * @timer: brings it about
 * @step: done in it
 * @wheel: for @step
 * @tts: for @step
 * @ret: what the calls of @step returned
 * @hard: it was a hard interrupt
 * @round: interrupts so far
 * @done: the last one has been
 */
struct irq_case {
	struct hrtimer timer;
	/* Returns whether there is to be another. */
	bool (*step)(struct irq_case *ic);
	struct timewheel *wheel;
	struct test_timeout *tts;
	int ret[8];
	bool hard;
	unsigned int round;
	struct completion done;
};

static enum hrtimer_restart irq_timer(struct hrtimer *timer)
{
	struct irq_case *ic = container_of(timer, struct irq_case, timer);

	ic->hard = in_hardirq();
	if (ic->step(ic)) {
		ic->round++;
		hrtimer_forward_now(timer, TICK / 4);
		return HRTIMER_RESTART;
	}
	complete(&ic->done);
	return HRTIMER_NORESTART;
}

static struct irq_case *irq_new(struct kunit *test, struct timewheel *wheel,
				struct test_timeout *tts)
{
	struct irq_case *ic = kunit_kzalloc(test, sizeof(*ic), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ic);
	ic->wheel = wheel;
	ic->tts = tts;
	hrtimer_setup(&ic->timer, irq_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_HARD);
	return ic;
}

/* Do @step in a hard interrupt at @at_ns. */
static void irq_do(struct kunit *test, struct irq_case *ic, u64 at_ns,
		   bool (*step)(struct irq_case *ic))
{
	ic->step = step;
	ic->hard = false;
	ic->round = 0;
	init_completion(&ic->done);
	hrtimer_start(&ic->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_HARD);
	wait_for_completion(&ic->done);
	hrtimer_cancel(&ic->timer);
	KUNIT_EXPECT_TRUE(test, ic->hard);
}

static bool step_add(struct irq_case *ic)
{
	ic->ret[0] = timewheel_add_at(ic->wheel, &ic->tts[0].t,
				      wheel_at(ic->wheel, 1005));
	ic->ret[1] = timewheel_add(ic->wheel, &ic->tts[1].t, 100 * TICK);
	ic->ret[2] = timewheel_add_at(ic->wheel, &ic->tts[0].t, 0);
	ic->ret[3] = timewheel_add_at(ic->wheel, &ic->tts[2].t, 0);
	return false;
}

static void irq_adds(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 3);
	struct irq_case *ic = irq_new(test, wheel, tts);

	irq_do(test, ic, wheel_at(wheel, 1000), step_add);
	KUNIT_EXPECT_EQ(test, ic->ret[0], 0);
	KUNIT_EXPECT_EQ(test, ic->ret[1], 0);
	KUNIT_EXPECT_EQ(test, ic->ret[2], -EBUSY);
	KUNIT_EXPECT_EQ(test, ic->ret[3], 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[1].fired)));
	KUNIT_EXPECT_GE(test, tts[0].fired_ns, wheel_at(wheel, 1005));
	KUNIT_EXPECT_GE(test, tts[1].fired_ns, wheel_at(wheel, 1100));
	if (time_is_virtual()) {
		KUNIT_EXPECT_LE(test, tts[2].fired_ns, wheel_at(wheel, 1000) + PROMPT);
		KUNIT_EXPECT_LE(test, tts[0].fired_ns, wheel_at(wheel, 1005) + PROMPT);
		KUNIT_EXPECT_LE(test, tts[1].fired_ns, wheel_at(wheel, 1101) + PROMPT);
	}
	log_expect(test, 2, 0, 1);
}

static bool step_move(struct irq_case *ic)
{
	ic->ret[0] = timewheel_rearm(&ic->tts[0].t, wheel_at(ic->wheel, 1010));
	ic->ret[1] = timewheel_rearm(&ic->tts[1].t, wheel_at(ic->wheel, 5000));
	ic->ret[2] = timewheel_touch(&ic->tts[2].t, wheel_at(ic->wheel, 3000));
	ic->ret[3] = timewheel_touch(&ic->tts[0].t, 0);
	ic->ret[4] = timewheel_rearm(&ic->tts[3].t, 0);
	ic->ret[5] = timewheel_pending(&ic->tts[0].t);
	return false;
}

static void irq_moves(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 4);
	struct irq_case *ic = irq_new(test, wheel, tts);
	unsigned int i;

	for (i = 0; i < 3; i++)
		timewheel_add_at(wheel, &tts[i].t, wheel_at(wheel, 2000));
	irq_do(test, ic, wheel_at(wheel, 1000), step_move);
	KUNIT_EXPECT_EQ(test, ic->ret[0], 0);
	KUNIT_EXPECT_EQ(test, ic->ret[1], 0);
	KUNIT_EXPECT_EQ(test, ic->ret[2], 0);
	KUNIT_EXPECT_EQ(test, ic->ret[3], -EINVAL);
	KUNIT_EXPECT_EQ(test, ic->ret[4], -ENOENT);
	KUNIT_EXPECT_EQ(test, ic->ret[5], true);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[1].fired)));
	log_expect(test, 0, 2, 1);
	KUNIT_EXPECT_GE(test, tts[0].fired_ns, wheel_at(wheel, 1010));
	KUNIT_EXPECT_GE(test, tts[2].fired_ns, wheel_at(wheel, 3000));
	KUNIT_EXPECT_GE(test, tts[1].fired_ns, wheel_at(wheel, 5000));
	if (time_is_virtual())
		KUNIT_EXPECT_LE(test, tts[0].fired_ns, wheel_at(wheel, 1010) + PROMPT);
}

static bool step_cancel(struct irq_case *ic)
{
	ic->ret[0] = timewheel_cancel(&ic->tts[0].t);
	ic->ret[1] = timewheel_cancel(&ic->tts[0].t);
	ic->ret[2] = timewheel_cancel(&ic->tts[1].t);
	ic->ret[3] = timewheel_add_at(ic->wheel, &ic->tts[2].t, U64_MAX);
	ic->ret[4] = timewheel_cancel(&ic->tts[2].t);
	return false;
}

static void irq_cancels(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 3);
	struct irq_case *ic = irq_new(test, wheel, tts);

	timewheel_add_at(wheel, &tts[0].t, wheel_at(wheel, 100000));
	irq_do(test, ic, wheel_at(wheel, 1000), step_cancel);
	KUNIT_EXPECT_EQ(test, ic->ret[0], true);
	KUNIT_EXPECT_EQ(test, ic->ret[1], false);
	KUNIT_EXPECT_EQ(test, ic->ret[2], false);
	KUNIT_EXPECT_EQ(test, ic->ret[3], 0);
	KUNIT_EXPECT_EQ(test, ic->ret[4], true);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[0].cancelled) &&
					 READ_ONCE(tts[2].cancelled)));
	wheel_settle(wheel);
	KUNIT_EXPECT_EQ(test, tts[0].cancelled, 1);
	KUNIT_EXPECT_EQ(test, tts[1].cancelled, 0);
	KUNIT_EXPECT_EQ(test, tts[2].cancelled, 1);
	books_expect(test, wheel, (struct test_books){ .armed = 2, .cancelled = 2 });
}

/* Each quarter of a tick: one more, due in the next tick. */
static bool step_stream(struct irq_case *ic)
{
	unsigned int i = ic->round;

	if (timewheel_add(ic->wheel, &ic->tts[i].t, TICK / 3))
		ic->ret[0]++;
	if (i % 4 == 3 && timewheel_cancel(&ic->tts[i].t))
		ic->ret[1]++;
	if (i % 4 == 2 && timewheel_rearm(&ic->tts[i].t,
					  timewheel_now(ic->wheel) + TICK))
		ic->ret[2]++;
	return i < 1999;
}

static void irq_stream(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 2000);
	struct irq_case *ic = irq_new(test, wheel, tts);
	unsigned int i, early = 0, late = 0, ended = 0;

	irq_do(test, ic, wheel_at(wheel, 1000) + 1, step_stream);
	KUNIT_EXPECT_EQ(test, ic->ret[0], 0);
	KUNIT_EXPECT_TRUE(test, wait_for(!timewheel_nr_pending(wheel)));
	wheel_settle(wheel);
	for (i = 0; i < 2000; i++) {
		u64 expires = timewheel_expires(&tts[i].t);

		ended += tts[i].fired + tts[i].cancelled == 1;
		if (!tts[i].fired)
			continue;
		early += tts[i].fired_ns < wheel_ceil(wheel, expires);
		late += tts[i].fired_ns > wheel_ceil(wheel, expires) + PROMPT;
	}
	KUNIT_EXPECT_EQ(test, early, 0);
	KUNIT_EXPECT_EQ(test, ended, 2000);
	if (time_is_virtual()) {
		KUNIT_EXPECT_EQ(test, late, 0);
		KUNIT_EXPECT_EQ(test, ic->ret[1], 500);
		KUNIT_EXPECT_EQ(test, ic->ret[2], 0);
	}
}

static struct kunit_case irq_cases[] = {
	KUNIT_CASE(irq_adds),
	KUNIT_CASE(irq_moves),
	KUNIT_CASE(irq_cancels),
	KUNIT_CASE(irq_stream),
	{}
};

static struct kunit_suite irq_suite = {
	.name = "timewheel_irq",
	.init = env_init,
	.exit = env_exit,
	.test_cases = irq_cases,
};

kunit_test_suite(irq_suite);
