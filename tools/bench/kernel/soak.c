// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long all CPUs were busy.
 *
 * On each CPU a thread that gives way to all others looks at the clock again and
 * again.  What it gets is what nobody else wanted; the rest was spent, on threads,
 * softirqs and interrupts alike, whether or not this kernel accounts for these.
 * It takes the time of some looks for somebody else's but for the shortest it has
 * seen, when it is more than twice that.
 *
 * A CPU that is never idle has its tick, and others have threads of their own: what
 * is spent when nothing is measured is looked at beforehand, and taken off.
 */

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "bench.h"

/* So many looks take longer than the grain of UML's clock, which is 256 ns. */
#define SOAK_LOOKS		16U

/* How often, and for how long, it is tried to find a moment without much to do. */
#define SOAK_MIN_TRIES		5U
#define SOAK_TRIES		200U
#define SOAK_TRY_NS		(20 * NSEC_PER_MSEC)

/* Not much, in millionths. */
#define SOAK_QUIET		20000

/**
 * struct soaker - what a CPU had left
 * @thread: runs there
 * @begun: it counts
 * @left_ns: the time that it got; written by itself
 */
struct soaker {
	struct task_struct *thread;
	struct completion begun;
	u64 left_ns;
};

static DEFINE_PER_CPU(struct soaker, soakers);

/* Of a million nanoseconds of the clock, those spent on all CPUs in any case. */
static u64 soak_background;

static int soak_thread(void *data)
{
	struct soaker *s = data;
	u64 now, gap, shortest = U64_MAX, last = ktime_get_ns();
	unsigned int i;

	complete(&s->begun);
	while (!kthread_should_stop()) {
		for (i = 0; i < SOAK_LOOKS; i++) {
			cond_resched();
			now = ktime_get_ns();
		}
		gap = now - last;
		last = now;
		shortest = min(shortest, gap);
		WRITE_ONCE(s->left_ns, s->left_ns +
			   (gap > 2 * shortest ? shortest : gap));
	}
	return 0;
}

/* Ends what soak_begin() began. */
void soak_end(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct soaker *s = per_cpu_ptr(&soakers, cpu);

		if (s->thread)
			kthread_stop(s->thread);
		s->thread = NULL;
	}
}

/*
 * From here on CPUs have no idle time; 0 or -errno.  It waits for that: a CPU that has
 * nothing to do may take a tick to hear of a new thread.
 */
int soak_begin(void)
{
	struct task_struct *thread;
	int cpu;

	for_each_online_cpu(cpu) {
		struct soaker *s = per_cpu_ptr(&soakers, cpu);

		thread = kthread_create(soak_thread, s, "timewheel_soak/%d", cpu);
		if (IS_ERR(thread)) {
			soak_end();
			return PTR_ERR(thread);
		}
		s->thread = thread;
		init_completion(&s->begun);
		kthread_bind(thread, cpu);
		sched_set_normal(thread, MAX_NICE);
		wake_up_process(thread);
	}
	for_each_online_cpu(cpu)
		wait_for_completion(&per_cpu_ptr(&soakers, cpu)->begun);
	return 0;
}

/* What is spent between this and soak_spent_ns() with the same @mark. */
void soak_mark(struct soak_mark *mark)
{
	int cpu;

	mark->begun_ns = ktime_get_ns();
	mark->busy_ns = 0;
	for_each_possible_cpu(cpu) {
		const struct soaker *s = per_cpu_ptr(&soakers, cpu);

		if (s->thread)
			mark->busy_ns += mark->begun_ns - READ_ONCE(s->left_ns);
	}
}

u64 soak_spent_ns(const struct soak_mark *mark)
{
	struct soak_mark now;
	u64 busy, background;

	soak_mark(&now);
	busy = now.busy_ns - mark->busy_ns;
	background = div_u64((now.begun_ns - mark->begun_ns) * soak_background,
			     USEC_PER_SEC);
	return busy > background ? busy - background : 0;
}

/* What is spent within one try, as &soak_background; or -errno. */
static s64 soak_try(void)
{
	struct soak_mark mark;
	u64 spent;
	int ret;

	soak_mark(&mark);
	ret = meter_sleep_until(mark.begun_ns + SOAK_TRY_NS);
	if (ret)
		return ret;
	spent = soak_spent_ns(&mark);
	return div64_u64(spent * USEC_PER_SEC, ktime_get_ns() - mark.begun_ns);
}

/*
 * Look at what is spent when nothing is measured.  The least of several tries: what
 * is still busy with its start, or a host that does something else, ends.
 */
int soak_look(void)
{
	s64 least = S64_MAX, spent;
	unsigned int i;
	int ret;

	ret = soak_begin();
	if (ret)
		return ret;
	soak_background = 0;
	for (i = 0; i < SOAK_TRIES && least >= 0; i++) {
		if (i >= SOAK_MIN_TRIES && least <= SOAK_QUIET)
			break;
		spent = soak_try();
		least = min(least, spent);
	}
	soak_end();
	if (least < 0)
		return least;
	soak_background = least;
	return 0;
}
