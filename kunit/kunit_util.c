// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the suites of whole wheels share.
 */

#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kunit_util.h"
#include "timeout.h"

int env_init(struct kunit *test)
{
	struct test_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	if (!env)
		return -ENOMEM;
	env->test = test;
	env->log = kunit_kcalloc(test, ENV_LOG, sizeof(*env->log), GFP_KERNEL);
	test->priv = env;
	return env->log ? 0 : -ENOMEM;
}

/* Whatever the case was about, the books of its wheels balance. */
void env_exit(struct kunit *test)
{
	struct test_env *env = test->priv;
	unsigned int i;

	if (!env)
		return;
	for (i = 0; i < ENV_WHEELS; i++) {
		struct timewheel *wheel = env->wheels[i];

		if (!wheel)
			continue;
		KUNIT_EXPECT_EQ(test, timewheel_stop(wheel, NULL), 0);
		books_expect_balance(test, wheel);
		KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), 0);
		timewheel_destroy(wheel);
	}
	if (env->bare) {
		books_expect_balance(test, env->bare);
		core_destroy(&env->bare->core);
		books_destroy(env->bare);
	}
	for (i = 0; i < ENV_BLOCKS; i++)
		kvfree(env->blocks[i]);
}

/* Stop and destroy it when the case ends. */
void env_adopt(struct kunit *test, struct timewheel *wheel)
{
	struct test_env *env = test->priv;
	unsigned int i = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, wheel);
	while (i < ENV_WHEELS && env->wheels[i])
		i++;
	KUNIT_ASSERT_LT(test, i, ENV_WHEELS);
	env->wheels[i] = wheel;
}

/* The case destroys it. */
void env_forget(struct kunit *test, struct timewheel *wheel)
{
	struct test_env *env = test->priv;
	unsigned int i;

	for (i = 0; i < ENV_WHEELS; i++)
		if (env->wheels[i] == wheel)
			env->wheels[i] = NULL;
}

struct timewheel *env_wheel_of(struct kunit *test,
			       const struct timewheel_params *params)
{
	struct timewheel *wheel = timewheel_create(params);

	env_adopt(test, wheel);
	return wheel;
}

/* One with a tick of 1 ms. */
struct timewheel *env_wheel(struct kunit *test, u32 slots, u32 levels)
{
	const struct timewheel_params params = {
		.name = "kunit",
		.tick_ns = TICK,
		.slots = slots,
		.levels = levels,
	};

	return env_wheel_of(test, &params);
}

/* One without a worker, whose time begins at 0 and has ticks of 1 ms. */
struct timewheel *env_bare(struct kunit *test)
{
	struct timewheel *wheel = kunit_kzalloc(test, sizeof(*wheel), GFP_KERNEL);
	struct test_env *env = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, wheel);
	KUNIT_ASSERT_EQ(test, core_init(&wheel->core, 64, 2, NUMA_NO_NODE), 0);
	if (books_init(wheel)) {
		core_destroy(&wheel->core);
		KUNIT_FAIL_AND_ABORT(test, "no memory for the books");
	}
	queues_init(&wheel->queues);
	INIT_LIST_HEAD(&wheel->notify);
	init_waitqueue_head(&wheel->quiesced);
	wheel->tick_ns = TICK;
	/* A pass is promised at once, so no producer needs to see to it. */
	atomic64_set(&wheel->wake_ns, 0);
	env->bare = wheel;
	return wheel;
}

/* All that is queued, whatever it takes. */
void bare_drain(struct timewheel *wheel)
{
	while (!queues_empty(&wheel->queues)) {
		queue_drain_cancel(wheel, UINT_MAX);
		queue_drain_submit(wheel, UINT_MAX);
		cond_resched();
	}
}

/* It is @now_ns: all that is due fires. */
void bare_fire(struct timewheel *wheel, u64 now_ns)
{
	struct timewheel_node *n;
	unsigned int budget;

	wheel->now_ns = now_ns;
	do {
		budget = UINT_MAX;
	} while (!core_advance(&wheel->core, div64_u64(now_ns, TICK), &budget));
	while ((n = core_pop(&wheel->core)))
		timeout_expire(wheel, container_of(n, struct timewheel_timeout, node));
}

static void test_expired(struct timewheel_timeout *t)
{
	struct test_timeout *tt = container_of(t, struct test_timeout, t);
	unsigned int place = atomic_fetch_inc(&tt->env->logged);

	if (place < ENV_LOG)
		tt->env->log[place] = tt->id;
	/* It is over: somebody may be arming it anew, and it fire on another wheel. */
	WRITE_ONCE(tt->fired_ns, READ_ONCE(t->wheel)->now_ns);
	WRITE_ONCE(tt->fired, READ_ONCE(tt->fired) + 1);
	if (tt->on_expired)
		tt->on_expired(tt);
}

static void test_cancelled(struct timewheel_timeout *t)
{
	struct test_timeout *tt = container_of(t, struct test_timeout, t);

	WRITE_ONCE(tt->cancelled_ns, READ_ONCE(t->wheel)->now_ns);
	WRITE_ONCE(tt->cancelled, READ_ONCE(tt->cancelled) + 1);
	if (tt->on_cancelled)
		tt->on_cancelled(tt);
}

const struct timewheel_ops test_ops = {
	.expired = test_expired,
	.cancelled = test_cancelled,
};

const struct timewheel_ops test_quiet_ops = {
	.expired = test_expired,
};

/* As if it had never been; it must be idle. */
void env_timeout_init(struct kunit *test, struct test_timeout *tt,
		      unsigned int id, const struct timewheel_ops *ops)
{
	memset(tt, 0, sizeof(*tt));
	timewheel_timeout_init(&tt->t, ops);
	tt->env = test->priv;
	tt->id = id;
	init_completion(&tt->reached);
	init_completion(&tt->release);
}

/* Numbered from 0, with a cancelled callback. */
struct test_timeout *env_timeouts(struct kunit *test, unsigned int nr)
{
	struct test_env *env = test->priv;
	struct test_timeout *tts;
	unsigned int i = 0;

	while (i < ENV_BLOCKS && env->blocks[i])
		i++;
	KUNIT_ASSERT_LT(test, i, ENV_BLOCKS);
	tts = kvcalloc(nr, sizeof(*tts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tts);
	env->blocks[i] = tts;
	for (i = 0; i < nr; i++)
		env_timeout_init(test, &tts[i], i, &test_ops);
	return tts;
}

/* These have fired since the last look, in this order, and no others. */
void log_expect_ids(struct kunit *test, const unsigned int *ids, unsigned int nr)
{
	struct test_env *env = test->priv;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, atomic_read(&env->logged), nr);
	for (i = 0; i < min_t(unsigned int, nr, atomic_read(&env->logged)); i++)
		KUNIT_EXPECT_EQ_MSG(test, env->log[i], ids[i], "place %u of %u",
				    i, nr);
	atomic_set(&env->logged, 0);
}

void env_block(struct test_timeout *tt)
{
	complete(&tt->reached);
	wait_for_completion(&tt->release);
}

void books_expect(struct kunit *test, struct timewheel *wheel,
		  struct test_books want)
{
	struct books_sum sum;

	books_read(wheel, &sum);
	KUNIT_EXPECT_EQ(test, sum.armed, want.armed);
	KUNIT_EXPECT_EQ(test, sum.fired, want.fired);
	KUNIT_EXPECT_EQ(test, sum.cancelled, want.cancelled);
	KUNIT_EXPECT_EQ(test, sum.unprocessed, want.unprocessed);
	KUNIT_EXPECT_EQ(test, sum.pending, want.pending);
	KUNIT_EXPECT_EQ(test, sum.rejected, want.rejected);
	KUNIT_EXPECT_EQ(test, timewheel_nr_pending(wheel), want.pending);
}

/* At rest: each arming ended in one way or is pending, and has its lateness. */
void books_expect_balance(struct kunit *test, struct timewheel *wheel)
{
	struct books_sum sum;
	u64 timely = 0;
	unsigned int i;

	books_read(wheel, &sum);
	KUNIT_EXPECT_EQ(test, sum.armed, sum.fired + sum.cancelled +
					 sum.unprocessed + sum.pending);
	for (i = 0; i < TIMEWHEEL_LATENESS_BUCKETS; i++)
		timely += wheel->books.lateness[i];
	KUNIT_EXPECT_EQ(test, timely, sum.fired);
	if (wheel->max_pending)
		KUNIT_EXPECT_EQ(test, atomic64_read(&wheel->pending), sum.pending);
}

/* Whether computing takes no time. */
bool time_is_virtual(void)
{
	u64 begin = ktime_get_ns();
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		barrier();
	return ktime_get_ns() - begin < 50 * NSEC_PER_USEC;
}

void need_virtual_time(struct kunit *test)
{
	if (!time_is_virtual())
		kunit_skip(test, "exact only in virtual time");
}

void sleep_until(u64 at_ns)
{
	ktime_t at = ns_to_ktime(at_ns);

	while (ktime_get_ns() < at_ns) {
		set_current_state(TASK_IDLE);
		schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
	}
}

void sleep_ns(u64 ns)
{
	sleep_until(ktime_get_ns() + ns);
}

/* Until what is queued has been looked at, and the worker sleeps again. */
void wheel_settle(struct timewheel *wheel)
{
	sleep_ns(2 * wheel->housekeeping_ns);
}

/* When a tick begins. */
u64 wheel_at(const struct timewheel *wheel, u64 tick)
{
	return wheel->epoch_ns + tick * wheel->tick_ns;
}

/* When the first tick begins that is no earlier than the deadline. */
u64 wheel_ceil(const struct timewheel *wheel, u64 deadline_ns)
{
	u64 past = deadline_ns - wheel->epoch_ns;
	u64 rest;

	div64_u64_rem(past, wheel->tick_ns, &rest);
	return rest ? deadline_ns + wheel->tick_ns - rest : deadline_ns;
}

static int thread_run(void *data)
{
	struct test_thread *thread = data;

	thread->fn(thread->arg);
	complete(&thread->done);
	return 0;
}

/* Without a thread there is no going on; the case has started none before. */
void thread_start(struct kunit *test, struct test_thread *thread,
		  void (*fn)(void *arg), void *arg)
{
	struct task_struct *task;

	thread->fn = fn;
	thread->arg = arg;
	init_completion(&thread->done);
	task = kthread_create(thread_run, thread, "timewheel-kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	thread->task = get_task_struct(task);
	wake_up_process(task);
}

/* Until it has left the test module's code. */
void thread_join(struct test_thread *thread)
{
	wait_for_completion(&thread->done);
	kthread_stop(thread->task);
	put_task_struct(thread->task);
}
