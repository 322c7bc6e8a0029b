// SPDX-License-Identifier: GPL-2.0-only
/*
 * A second thread: one that does the same on another CPU, or one that answers
 * on this one.
 */

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched/task.h>
#include <linux/wait.h>

#include "bench.h"

/* Another CPU than that of the bench, or -1. */
int helper_cpu(const struct bench *b)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (cpu != b->cpu)
			return cpu;
	return -1;
}

/**
 * struct helper - a batch for another CPU
 * @b: the bench
 * @step: what to do
 * @which: to which timeouts
 * @nr: how many
 * @away: how many of those who begin together are not there yet
 * @took_ns: how long it took
 * @done: when it has ended
 */
struct helper {
	struct bench *b;
	bench_step step;
	const u32 *which;
	u32 nr;
	atomic_t away;
	u64 took_ns;
	struct completion done;
};

static u64 helper_step(struct helper *h, const u32 *which)
{
	u64 begun;

	/* The others are running already, on CPUs of their own. */
	atomic_dec(&h->away);
	while (atomic_read(&h->away))
		cpu_relax();
	begun = ktime_get_ns();
	h->step(h->b, which, h->nr);
	return ktime_get_ns() - begun;
}

static int helper_thread(void *data)
{
	struct helper *h = data;

	h->took_ns = helper_step(h, h->which);
	kthread_complete_and_exit(&h->done, 0);
}

static int helper_start(struct helper *h)
{
	struct task_struct *thread;

	init_completion(&h->done);
	thread = kthread_create(helper_thread, h, "timewheel_bench/2");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, helper_cpu(h->b));
	wake_up_process(thread);
	return 0;
}

static void helper_settle(struct bench *b, struct bench_cost *cost)
{
	u64 begun = ktime_get_ns();

	if (!b->peer->settle)
		return;
	b->peer->settle(b);
	cost->settle_ns += ktime_get_ns() - begun;
}

/* As meter_run(), with the step done on another CPU, of which there is one. */
int helper_run(struct bench *b, bench_step step, const u32 *which, u32 nr,
	       struct bench_cost *cost)
{
	struct helper h = { .b = b, .step = step };
	int ret = 0;

	for (; nr && !ret; nr -= h.nr, which += h.nr) {
		h.which = which;
		h.nr = min(nr, METER_BATCH);
		atomic_set(&h.away, 1);
		ret = helper_start(&h);
		if (ret)
			break;
		wait_for_completion(&h.done);
		cost->caller_ns += h.took_ns;
		helper_settle(b, cost);
		ret = meter_pause();
	}
	return ret;
}

/*
 * Both CPUs at once, each with @nr timeouts.  The caller's time is that of both
 * together, so it is to be divided by twice @nr.
 */
int helper_run_both(struct bench *b, bench_step step, const u32 *mine,
		    const u32 *its, u32 nr, struct bench_cost *cost)
{
	struct helper h = { .b = b, .step = step };
	int ret = 0;

	for (; nr && !ret; nr -= h.nr, mine += h.nr, its += h.nr) {
		h.which = its;
		h.nr = min(nr, METER_BATCH);
		atomic_set(&h.away, 2);
		ret = helper_start(&h);
		if (ret)
			break;
		cost->caller_ns += helper_step(&h, mine);
		wait_for_completion(&h.done);
		cost->caller_ns += h.took_ns;
		helper_settle(b, cost);
		ret = meter_pause();
	}
	return ret;
}

/**
 * struct echo - a thread that answers
 * @times: how often
 * @asked: how often it was
 * @answered: how often it did
 * @answers: who waits for the next
 * @done: it has ended
 */
struct echo {
	u32 times;
	u32 asked;
	u32 answered;
	wait_queue_head_t answers;
	struct completion done;
};

static int echo_thread(void *data)
{
	struct echo *e = data;
	u32 i;

	for (i = 1; i <= e->times; i++) {
		set_current_state(TASK_IDLE);
		while (READ_ONCE(e->asked) < i) {
			schedule();
			set_current_state(TASK_IDLE);
		}
		__set_current_state(TASK_RUNNING);
		WRITE_ONCE(e->answered, i);
		/* Partner: wait_event() of who asks. */
		if (wq_has_sleeper(&e->answers))
			wake_up_all(&e->answers);
	}
	kthread_complete_and_exit(&e->done, 0);
}

/* What it takes to wake a thread on this CPU that wakes the caller, @times. */
int helper_echo(struct bench *b, u32 times, u64 *took_ns)
{
	struct echo e = { .times = times };
	struct task_struct *thread;
	u64 begun;
	u32 i;

	init_waitqueue_head(&e.answers);
	init_completion(&e.done);
	thread = kthread_create(echo_thread, &e, "timewheel_bench/2");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, b->cpu);
	/* It may end before its last answer was taken. */
	get_task_struct(thread);

	begun = ktime_get_ns();
	for (i = 1; i <= times; i++) {
		WRITE_ONCE(e.asked, i);
		wake_up_process(thread);
		wait_event(e.answers, READ_ONCE(e.answered) == i);
	}
	*took_ns = ktime_get_ns() - begun;
	wait_for_completion(&e.done);
	put_task_struct(thread);
	return 0;
}
