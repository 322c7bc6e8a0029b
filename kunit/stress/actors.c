// SPDX-License-Identifier: GPL-2.0-only
/*
 * The actors: threads, which now and then act in an interrupt on another CPU;
 * and hrtimers on each CPU, in hard and soft interrupt, and a timer_list.
 */

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timer.h>

#include "stress.h"
#include "../../module/compat.h"

#define ACTOR_MAX	32U
#define ACTOR_PERIOD	(50 * (u64)NSEC_PER_USEC)

/**
 * struct actor_thread - a thread
 * @task: the thread
 * @stress: the run
 * @rnd: its random numbers
 * @irq: acts in a hard interrupt of its own CPU
 * @done: it has ended
 */
struct actor_thread {
	struct task_struct *task;
	struct stress *stress;
	struct rnd_state rnd;
	struct irq_work irq;
	struct completion done;
};

/**
 * struct actor_timer - an interrupt that comes again and again
 * @hr: brings it about
 * @jiffies: or this does
 * @stress: the run
 * @rnd: its random numbers
 * @hard: it is a hard interrupt
 */
struct actor_timer {
	struct hrtimer hr;
	struct timer_list jiffies;
	struct stress *stress;
	struct rnd_state rnd;
	bool hard;
};

static struct actor_thread actor_threads[ACTOR_MAX];
static struct actor_timer actor_timers[2 * ACTOR_MAX];
static struct actor_timer actor_jiffies;
static unsigned int nr_threads, nr_timers;

static void actor_in_irq(struct stress *s, struct rnd_state *rnd)
{
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < 4; i++)
		stress_step(s, rnd, false, false);
	rcu_read_unlock();
}

/* The thread waits for it, so the random numbers are this one's. */
static void actor_call(void *arg)
{
	struct actor_thread *a = arg;

	actor_in_irq(a->stress, &a->rnd);
}

static void actor_irq_work(struct irq_work *irq)
{
	actor_call(container_of(irq, struct actor_thread, irq));
}

static void actor_elsewhere(struct actor_thread *a)
{
	int cpu = cpumask_nth(random_below(&a->rnd, num_online_cpus()),
			      cpu_online_mask);

	if (cpu < nr_cpu_ids)
		smp_call_function_single(cpu, actor_call, a, true);
}

static int actor_run(void *data)
{
	struct actor_thread *a = data;
	struct stress *s = a->stress;
	unsigned int n, i;
	int idx;

	for (n = 1; !READ_ONCE(s->stop); n++) {
		idx = srcu_read_lock(&s->srcu);
		for (i = 0; i < 8; i++)
			stress_step(s, &a->rnd, true, true);
		srcu_read_unlock(&s->srcu, idx);
		if (n % 8 == 0)
			actor_elsewhere(a);
		if (n % 1024 == 0 && irq_work_queue(&a->irq))
			irq_work_sync(&a->irq);
		/* So that callbacks find what was armed, and not always its end. */
		if (n % 128 == 0)
			usleep_range(50, 200);
		else
			cond_resched();
	}
	complete(&a->done);
	while (!kthread_should_stop())
		usleep_range(100, 200);
	return 0;
}

static enum hrtimer_restart actor_timer(struct hrtimer *hr)
{
	struct actor_timer *a = container_of(hr, struct actor_timer, hr);
	u64 begin = ktime_get_ns();
	unsigned int i;

	if (READ_ONCE(a->stress->stop))
		return HRTIMER_NORESTART;
	rcu_read_lock();
	for (i = 0; i < 4; i++)
		stress_step(a->stress, &a->rnd, false, !a->hard);
	rcu_read_unlock();
	/* A slow machine has to have time for the others, too. */
	hrtimer_forward_now(hr, max(ACTOR_PERIOD, 8 * (ktime_get_ns() - begin)));
	return HRTIMER_RESTART;
}

static void actor_jiffy(struct timer_list *timer)
{
	unsigned int i;

	if (READ_ONCE(actor_jiffies.stress->stop))
		return;
	rcu_read_lock();
	for (i = 0; i < 16; i++)
		stress_step(actor_jiffies.stress, &actor_jiffies.rnd, false, true);
	rcu_read_unlock();
	mod_timer(timer, jiffies + 1);
}

static int actor_thread_start(struct stress *s, u32 seed, unsigned int cpu)
{
	struct actor_thread *a = &actor_threads[nr_threads];
	struct task_struct *task;

	a->stress = s;
	prandom_seed_state(&a->rnd, seed);
	init_irq_work(&a->irq, actor_irq_work);
	init_completion(&a->done);
	task = kthread_create(actor_run, a, "timewheel-stress/%u", nr_threads);
	if (IS_ERR(task))
		return PTR_ERR(task);
	a->task = get_task_struct(task);
	nr_threads++;
	wake_up_process(task);
	return 0;
}

struct actor_timer_start {
	struct actor_timer *timer;
	enum hrtimer_mode mode;
};

/* On the CPU where it is to come. */
static long actor_timer_begin(void *arg)
{
	struct actor_timer_start *start = arg;

	hrtimer_setup(&start->timer->hr, actor_timer, CLOCK_MONOTONIC, start->mode);
	hrtimer_start(&start->timer->hr, ACTOR_PERIOD, start->mode);
	return 0;
}

static void actor_timer_start(struct stress *s, u32 seed, unsigned int cpu, bool hard)
{
	struct actor_timer_start start = {
		.timer = &actor_timers[nr_timers],
		.mode = hard ? HRTIMER_MODE_REL_PINNED_HARD : HRTIMER_MODE_REL_PINNED_SOFT,
	};

	start.timer->stress = s;
	start.timer->hard = hard;
	prandom_seed_state(&start.timer->rnd, seed);
	nr_timers++;
	work_on_cpu(cpu, actor_timer_begin, &start);
}

/* One thread more than there are CPUs. */
int actors_start(struct stress *s, u32 seed)
{
	unsigned int cpu, i, cpus = min(num_online_cpus(), ACTOR_MAX - 1);
	int ret;

	nr_threads = 0;
	nr_timers = 0;
	for (i = 0; i <= cpus; i++) {
		ret = actor_thread_start(s, seed++, i);
		if (ret)
			return ret;
	}
	i = 0;
	for_each_online_cpu(cpu) {
		if (i++ == cpus)
			break;
		actor_timer_start(s, seed++, cpu, true);
		actor_timer_start(s, seed++, cpu, false);
	}
	actor_jiffies.stress = s;
	prandom_seed_state(&actor_jiffies.rnd, seed);
	timer_setup(&actor_jiffies.jiffies, actor_jiffy, 0);
	mod_timer(&actor_jiffies.jiffies, jiffies + 1);
	return 0;
}

/*
 * Wait for all of them.  A thread that nobody wakes would wait for ever: that is
 * said, and whoever runs this gives up.
 */
void actors_stop(struct stress *s)
{
	unsigned int i;

	WRITE_ONCE(s->stop, true);
	for (i = 0; i < nr_threads; i++) {
		struct actor_thread *a = &actor_threads[i];

		if (!wait_for_completion_timeout(&a->done, 120 * HZ)) {
			KUNIT_FAIL(s->test, "a thread waits and nobody wakes it");
			wait_for_completion(&a->done);
		}
		kthread_stop(a->task);
		put_task_struct(a->task);
		irq_work_sync(&a->irq);
	}
	for (i = 0; i < nr_timers; i++)
		hrtimer_cancel(&actor_timers[i].hr);
	if (actor_jiffies.stress)
		timer_delete_sync(&actor_jiffies.jiffies);
	actor_jiffies.stress = NULL;
}
