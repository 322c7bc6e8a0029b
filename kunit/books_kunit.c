// SPDX-License-Identifier: GPL-2.0-only
/*
 * The books: each arming ends in exactly one way, whatever its callbacks do.
 */

#include <linux/kthread.h>
#include <linux/slab.h>

#include "kunit_util.h"

#define FAR	(3600 * (u64)NSEC_PER_SEC)

static void books_each_end(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 5);
	LIST_HEAD(unprocessed);

	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[0].t, 0), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[1].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[2].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[2].t, FAR), -EBUSY);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[0].fired)));
	books_expect(test, wheel, (struct test_books){
		.armed = 3, .fired = 1, .pending = 2, .rejected = 1 });
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[1].t));
	books_expect(test, wheel, (struct test_books){
		.armed = 3, .fired = 1, .cancelled = 1, .pending = 1, .rejected = 1 });
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, &unprocessed), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[3].t, 0), -ESHUTDOWN);
	books_expect(test, wheel, (struct test_books){
		.armed = 3, .fired = 1, .cancelled = 1, .unprocessed = 1, .rejected = 2 });
}

/* Asked of an idle timeout, each call says so and counts nothing. */
static void books_idle(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_FALSE(test, timewheel_pending(&tt->t));
		KUNIT_EXPECT_EQ(test, timewheel_rearm(&tt->t, U64_MAX), -ENOENT);
		KUNIT_EXPECT_EQ(test, timewheel_touch(&tt->t, U64_MAX), -ENOENT);
		KUNIT_EXPECT_FALSE(test, timewheel_cancel(&tt->t));
		KUNIT_EXPECT_FALSE(test, timewheel_cancel_sync(&tt->t));
		books_expect(test, wheel, (struct test_books){ .armed = i, .fired = i });
		/* And again when it has fired. */
		if (i)
			break;
		KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tt->t, 5), 0);
		KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired)));
		KUNIT_EXPECT_EQ(test, timewheel_expires(&tt->t), 5);
	}
}

/* A thread whose data is NULL is no worker of the wheel that is none. */
static int books_stranger(void *data)
{
	struct test_env env = {};
	struct test_timeout tt = { .env = &env };
	int ret;

	timewheel_timeout_init(&tt.t, &test_ops);
	ret = timewheel_rearm(&tt.t, 0);
	if (ret == -ENOENT && (timewheel_cancel(&tt.t) || timewheel_cancel_sync(&tt.t)))
		ret = 1;
	while (!kthread_should_stop())
		msleep(20);
	return ret;
}

static void books_never_armed(struct kunit *test)
{
	struct task_struct *task = kthread_run(books_stranger, NULL, "timewheel-kunit");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	msleep(100);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), -ENOENT);
}

static void books_look(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	u64 at = timewheel_now(wheel) + FAR;
	struct books_sum sum;

	KUNIT_EXPECT_EQ(test, timewheel_add_at(wheel, &tt->t, at), 0);
	KUNIT_EXPECT_TRUE(test, timewheel_pending(&tt->t));
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tt->t), at);
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 1);
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tt->t, at + 1), 0);
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tt->t, at + 2), 0);
	KUNIT_EXPECT_EQ(test, timewheel_expires(&tt->t), at + 2);
	books_read(wheel, &sum);
	KUNIT_EXPECT_EQ(test, sum.rearmed, 2);
	KUNIT_EXPECT_EQ(test, sum.armed, 1);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tt->t));
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tt->t));
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 0);
}

static struct timewheel *books_limited(struct kunit *test, u64 max_pending)
{
	const struct timewheel_params params = {
		.name = "kunit-limit",
		.max_pending = max_pending,
	};

	return env_wheel_of(test, &params);
}

static void books_limit(struct kunit *test)
{
	struct timewheel *wheel = books_limited(test, 2);
	struct test_timeout *tts = env_timeouts(test, 5);

	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[0].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[1].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[2].t, FAR), -ENOSPC);
	KUNIT_EXPECT_FALSE(test, timewheel_pending(&tts[2].t));
	/* A move is no second one. */
	KUNIT_EXPECT_EQ(test, timewheel_rearm(&tts[0].t, U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[0].t, FAR), -EBUSY);
	/* One cancelled, at once one accepted; it fires, and again. */
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[0].t));
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[2].t, 0), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[2].fired)));
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[3].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tts[4].t, FAR), -ENOSPC);
	books_expect(test, wheel, (struct test_books){
		.armed = 4, .fired = 1, .cancelled = 1, .pending = 2, .rejected = 3 });
	KUNIT_EXPECT_EQ(test, atomic64_read(&wheel->pending), 2);
}

/* From a callback of the last one that fits there is room for one. */
static void books_limit_again(struct test_timeout *tt)
{
	if (tt->fired < 5)
		*(int *)tt->arg += timewheel_add(tt->t.wheel, &tt->t, 0);
}

static void books_limit_in_callback(struct kunit *test)
{
	struct timewheel *wheel = books_limited(test, 1);
	struct test_timeout *tt = env_timeouts(test, 1);
	int errors = 0;

	tt->on_expired = books_limit_again;
	tt->arg = &errors;
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, 0), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired) == 5));
	KUNIT_EXPECT_EQ(test, errors, 0);
	books_expect(test, wheel, (struct test_books){ .armed = 5, .fired = 5 });
}

/* A timeout that a wheel has not let go of can't go to another. */
static void books_other_wheel(struct kunit *test)
{
	struct timewheel *one = env_wheel(test, 256, 4);
	struct timewheel *other = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 2);

	env_timeout_init(test, &tts[0], 0, &test_quiet_ops);
	KUNIT_EXPECT_EQ(test, timewheel_add(one, &tts[0].t, FAR), 0);
	KUNIT_EXPECT_EQ(test, timewheel_add(other, &tts[0].t, FAR), -EBUSY);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tts[0].t));
	if (time_is_virtual())
		KUNIT_EXPECT_EQ(test, timewheel_add(other, &tts[0].t, FAR), -EBUSY);
	/* Back on the same one it may go at once, and on another in the end. */
	KUNIT_EXPECT_EQ(test, timewheel_add(one, &tts[0].t, FAR), 0);
	KUNIT_EXPECT_TRUE(test, timewheel_cancel_sync(&tts[0].t));
	KUNIT_EXPECT_EQ(test, timewheel_add(other, &tts[0].t, 0), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[0].fired)));
	books_expect(test, one, (struct test_books){ .armed = 2, .cancelled = 2 });
	books_expect(test, other, (struct test_books){
		.armed = 1, .fired = 1, .rejected = time_is_virtual() ? 2 : 1 });
}

static void books_rearm_self(struct test_timeout *tt)
{
	if (tt->fired < 10)
		timewheel_rearm(&tt->t, timewheel_now(tt->t.wheel) + TICK);
}

static void books_callback_rearms(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);

	tt->on_expired = books_rearm_self;
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, TICK), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired) == 10));
	wheel_settle(wheel);
	books_expect(test, wheel, (struct test_books){ .armed = 10, .fired = 10 });
}

/* The first of a tick cancels the next, arms another, and moves a third. */
static void books_meddle(struct test_timeout *tt)
{
	int *ret = tt->arg;

	ret[0] = timewheel_cancel(&tt[1].t);
	/* So far off that the next tick comes first, however late the worker is. */
	ret[1] = timewheel_rearm(&tt[2].t, tt->t.expires + 2000 * TICK);
	ret[2] = timewheel_add_at(tt->t.wheel, &tt[3].t, 0);
	ret[3] = timewheel_rearm(&tt[4].t, U64_MAX);
}

static void books_callback_meddles(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 6);
	u64 at = timewheel_now(wheel) + 500 * TICK;
	int ret[4] = { -1, -1, -1, -1 };

	tts[0].on_expired = books_meddle;
	tts[0].arg = ret;
	timewheel_add_at(wheel, &tts[0].t, at);
	timewheel_add_at(wheel, &tts[1].t, at);
	timewheel_add_at(wheel, &tts[2].t, at);
	timewheel_add_at(wheel, &tts[5].t, at);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[2].fired)));
	wheel_settle(wheel);
	KUNIT_EXPECT_EQ(test, ret[0], true);
	KUNIT_EXPECT_EQ(test, ret[1], 0);
	KUNIT_EXPECT_EQ(test, ret[2], 0);
	KUNIT_EXPECT_EQ(test, ret[3], -ENOENT);
	log_expect(test, 0, 5, 3, 2);
	KUNIT_EXPECT_EQ(test, tts[1].cancelled, 1);
	books_expect(test, wheel, (struct test_books){
		.armed = 5, .fired = 4, .cancelled = 1 });
}

/**
 * struct books_own - a timeout that ends its own life
 * @t: the timeout
 * @freed: counts them
 */
struct books_own {
	struct timewheel_timeout t;
	atomic_t *freed;
};

static void books_free(struct timewheel_timeout *t)
{
	struct books_own *own = container_of(t, struct books_own, t);

	atomic_inc(own->freed);
	kfree(own);
}

static const struct timewheel_ops books_own_ops = {
	.expired = books_free,
	.cancelled = books_free,
};

/* KASAN sees to it that nobody looks at them afterwards. */
static void books_callback_frees(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	atomic_t freed = ATOMIC_INIT(0);
	unsigned int i;

	for (i = 0; i < 300; i++) {
		struct books_own *own = kzalloc(sizeof(*own), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, own);
		own->freed = &freed;
		timewheel_timeout_init(&own->t, &books_own_ops);
		/* A third fires, a third is cancelled, a third is stopped. */
		KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &own->t, i % 3 ? FAR : 5 * TICK), 0);
		if (i % 3 == 1)
			KUNIT_EXPECT_TRUE(test, timewheel_cancel(&own->t));
	}
	KUNIT_EXPECT_TRUE(test, wait_for(atomic_read(&freed) == 200));
	KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&freed), 300);
	books_expect(test, wheel, (struct test_books){
		.armed = 300, .fired = 100, .cancelled = 100, .unprocessed = 100 });
}

/* Told once for each cancel, and only then armed again, there if it likes. */
static void books_arm_again(struct test_timeout *tt)
{
	if (tt->cancelled < 3)
		timewheel_add(tt->t.wheel, &tt->t, FAR);
}

static void books_cancelled_once(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	unsigned int i;

	tt->on_cancelled = books_arm_again;
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, FAR), 0);
	for (i = 1; i <= 3; i++) {
		KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tt->t));
		KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->cancelled) == i));
		KUNIT_EXPECT_EQ(test, timewheel_pending(&tt->t), i < 3);
	}
	wheel_settle(wheel);
	KUNIT_EXPECT_EQ(test, tt->cancelled, 3);
	KUNIT_EXPECT_EQ(test, tt->fired, 0);
	books_expect(test, wheel, (struct test_books){ .armed = 3, .cancelled = 3 });
}

/* One without a cancelled callback: cancelled, and armed again, at once. */
static void books_cancel_and_add(struct kunit *test)
{
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tt = env_timeouts(test, 1);
	unsigned int i;

	env_timeout_init(test, tt, 0, &test_quiet_ops);
	for (i = 0; i < 1000; i++) {
		KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, FAR), 0);
		KUNIT_EXPECT_TRUE(test, timewheel_cancel(&tt->t));
		if (i % 100 == 0)
			wheel_settle(wheel);
	}
	KUNIT_EXPECT_EQ(test, timewheel_add(wheel, &tt->t, 0), 0);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tt->fired)));
	books_expect(test, wheel, (struct test_books){
		.armed = 1001, .fired = 1, .cancelled = 1000 });
}

static void books_lateness(struct kunit *test)
{
	static const struct {
		u64 late;
		unsigned int bucket;
	} cases[] = {
		{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 7, 3 }, { 8, 4 },
		{ 1000000, 20 },	/* 2^19 is 524,288 */
		{ U64_MAX, TIMEWHEEL_LATENESS_BUCKETS - 1 },
	};
	struct timewheel *wheel = env_wheel(test, 256, 4);
	struct test_timeout *tts = env_timeouts(test, 3);
	unsigned int i, most = 0;
	u64 late;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ(test, lateness_bucket(cases[i].late), cases[i].bucket);

	/* Three that are a known time late, more or less. */
	for (i = 0; i < 3; i++)
		timewheel_add_at(wheel, &tts[i].t, timewheel_now(wheel) - 700 * TICK);
	KUNIT_EXPECT_TRUE(test, wait_for(READ_ONCE(tts[2].fired)));
	for (i = 0; i < 3; i++) {
		late = tts[i].fired_ns - timewheel_expires(&tts[i].t);
		most = max(most, lateness_bucket(late));
		KUNIT_EXPECT_GE(test, wheel->books.lateness[lateness_bucket(late)], 1);
	}
	/* 2^29 to 2^30 ns are 537 to 1074 ms. */
	KUNIT_EXPECT_GE(test, most, 30);
	if (time_is_virtual())
		KUNIT_EXPECT_EQ(test, wheel->books.lateness[30], 3);
}

static struct kunit_case books_cases[] = {
	KUNIT_CASE(books_each_end),
	KUNIT_CASE(books_idle),
	KUNIT_CASE(books_never_armed),
	KUNIT_CASE(books_look),
	KUNIT_CASE(books_limit),
	KUNIT_CASE(books_limit_in_callback),
	KUNIT_CASE(books_other_wheel),
	KUNIT_CASE(books_callback_rearms),
	KUNIT_CASE(books_callback_meddles),
	KUNIT_CASE(books_callback_frees),
	KUNIT_CASE(books_cancelled_once),
	KUNIT_CASE(books_cancel_and_add),
	KUNIT_CASE(books_lateness),
	{}
};

static struct kunit_suite books_suite = {
	.name = "timewheel_books",
	.init = env_init,
	.exit = env_exit,
	.test_cases = books_cases,
};

kunit_test_suite(books_suite);
