// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel_bench: what timeouts cost kernel code, by the timewheel, struct
 * timer_list, struct hrtimer and struct delayed_work, in one load of one module.
 *
 * All peers do the same work, with the same delays, random over 600 s (from 100 s
 * on, so that none is due before it was measured), in the same random orders, with
 * 10^3 to 10^6 of them live.  Peers take turns for each number.  Rows are the medians
 * of several runs, each on timeouts and a wheel of its own.
 *
 * Time is that of the kernel's clock.  Where that is slow (UML: 60 ns) or counts
 * instructions (QEMU -icount) makes no difference: it is read around a batch of up
 * to 32,768 operations, never around one.  What an operation itself reads of the
 * clock is part of it: an add takes a delay, as callers have it, and so do those of
 * the peers.  add-at has its time from one look a batch; so have rearm and touch.
 *
 * "value" is what the caller spent for one operation.  The timewheel leaves a part
 * to its worker.  For single operations (add, rearm, cancel, ...) the worker is bound
 * to the CPU of the caller, where it can't run while the caller does; after each
 * batch the caller waits until all is done, and that time, two switches of threads
 * and a pass for each batch included, is the worker's share: "transfer" and "unlink"
 * by themselves, and "cpu" together with the caller's.  A peer that leaves nothing
 * has the same in both.
 *
 * For what comes by itself (expire, refile, life) both are the time that all CPUs
 * spent: threads, softirqs and interrupts, as soak.c has it.  That holds in UML and
 * under -icount as well.  The latter is nearly the same each time; on UML what the
 * host does meanwhile counts, hence the median.
 *
 * A life has an ordinary wheel, whose worker runs when and where it wants.
 *
 *   add.c        add, transfer, add-at, add-cancel
 *   pass.c       empty-pass, moved-pass
 *   move.c       rearm, touch
 *   cancel.c     cancel, unlink, cancel-remote
 *   producers.c  one-producer, two-producers
 *   expire.c     expire, refile
 *   life.c       life
 *
 * timewheel.c, timer_list.c, hrtimer.c and delayed_work.c are the peers, and report.c
 * is where the rows are read.  Unloading ends it at any time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "bench.h"
#include "compat.h"

#define BENCH_MIN_LIVE	100U
#define BENCH_MAX_LIVE	10000000U
#define BENCH_MAX_SIZES	8

static unsigned int bench_live[BENCH_MAX_SIZES] = { 1000, 10000, 100000, 1000000 };
static int bench_sizes = 4;
module_param_array_named(live, bench_live, uint, &bench_sizes, 0444);
MODULE_PARM_DESC(live, "timeouts that are pending: up to eight numbers");

static unsigned int bench_runs = 5;
module_param_named(runs, bench_runs, uint, 0444);
MODULE_PARM_DESC(runs, "runs, of which rows are the medians (5)");

static unsigned int bench_ops = 100000;
module_param_named(ops, bench_ops, uint, 0444);
MODULE_PARM_DESC(ops, "how many to move, to cancel, and to have expire at once (100000)");

static char *bench_peers = "timewheel,timer_list,hrtimer,delayed_work";
module_param_named(peers, bench_peers, charp, 0444);
MODULE_PARM_DESC(peers, "which peers, separated by commas (all)");

static ulong bench_seed = 1937011301;
module_param_named(seed, bench_seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of the random numbers");

char *bench_unit = "ns";
module_param_named(unit, bench_unit, charp, 0444);
MODULE_PARM_DESC(unit, "what the clock counts, as the rows are to say it (ns)");

static const struct bench_peer *const bench_all_peers[] = {
	&peer_timewheel, &peer_timer_list, &peer_hrtimer, &peer_delayed_work,
};

static const struct bench_peer *bench_chosen[ARRAY_SIZE(bench_all_peers)];
static unsigned int bench_nr_peers;
static struct task_struct *bench_thread;

/* Each finds the live ones pending, and leaves them so, where it says nothing else. */
static int (*const bench_measures[])(struct bench *b) = {
	measure_add,
	measure_pass,
	measure_add_cancel,
	measure_move,
	measure_cancel,
	measure_producers,
	measure_expire,
	measure_refile,
};

static int bench_operations(struct bench *b)
{
	unsigned int i;
	int ret;

	ret = b->peer->open(b, true);
	if (!ret) {
		load_init(b);
		meter_expect(0);
	}
	for (i = 0; i < ARRAY_SIZE(bench_measures) && !ret; i++) {
		/* Those that are to expire say so themselves. */
		if (bench_measures[i] == measure_expire && meter_fired())
			pr_warn("%u timeouts of %s expired while they were measured\n",
				meter_fired(), b->peer->name);
		ret = bench_measures[i](b);
	}
	b->peer->close(b);
	return ret;
}

static int bench_life(struct bench *b)
{
	int ret;

	ret = b->peer->open(b, false);
	if (!ret) {
		load_init(b);
		ret = measure_life(b);
	}
	b->peer->close(b);
	return ret;
}

/* One peer with so many live ones: all runs, and the rows. */
static int bench_peer_live(struct bench *b)
{
	unsigned int run;
	int ret;

	ret = load_make(b, bench_seed);
	if (!ret)
		ret = soak_look();
	for (run = 1; run <= bench_runs && !ret; run++) {
		pr_info("%u live, %s, run %u of %u\n", b->live, b->peer->name, run,
			bench_runs);
		ret = bench_operations(b);
		if (!ret)
			ret = bench_life(b);
	}
	load_free(b);
	if (ret == -ENOMEM)
		return result_report_all(b, "there is no memory for so many");
	return ret ?: result_report(b);
}

static int bench_run(void *unused)
{
	unsigned int i, p;
	struct bench *b;
	int ret = 0;

	for (i = 0; i < bench_sizes && !ret; i++) {
		for (p = 0; p < bench_nr_peers && !ret; p++) {
			b = kzalloc_obj(*b, GFP_KERNEL);
			if (!b) {
				ret = -ENOMEM;
				break;
			}
			b->peer = bench_chosen[p];
			b->live = bench_live[i];
			b->extra = bench_ops;
			b->ops = min(b->live, bench_ops);
			b->cpu = raw_smp_processor_id();
			ret = bench_peer_live(b);
			kfree(b);
		}
	}
	if (ret && ret != -EINTR)
		pr_err("it ends before all was measured: error %d\n", ret);
	report_end();
	return ret;
}

static int bench_choose(void)
{
	char *list, *rest, *name;
	unsigned int i;

	list = kstrdup(bench_peers, GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	rest = list;
	while ((name = strsep(&rest, ","))) {
		for (i = 0; i < ARRAY_SIZE(bench_all_peers); i++)
			if (!strcmp(name, bench_all_peers[i]->name))
				break;
		if (i == ARRAY_SIZE(bench_all_peers) ||
		    bench_nr_peers == ARRAY_SIZE(bench_chosen)) {
			pr_err("peers: there are timewheel, timer_list, hrtimer and delayed_work, not '%s'\n",
			       name);
			kfree(list);
			return -EINVAL;
		}
		bench_chosen[bench_nr_peers++] = bench_all_peers[i];
	}
	kfree(list);
	return 0;
}

static int bench_check(void)
{
	int i;

	for (i = 0; i < bench_sizes; i++) {
		if (bench_live[i] < BENCH_MIN_LIVE || bench_live[i] > BENCH_MAX_LIVE) {
			pr_err("live: %u is not from %u to %u\n", bench_live[i],
			       BENCH_MIN_LIVE, BENCH_MAX_LIVE);
			return -EINVAL;
		}
	}
	if (!bench_runs || bench_runs > BENCH_MAX_RUNS) {
		pr_err("runs: %u is not from 1 to %u\n", bench_runs, BENCH_MAX_RUNS);
		return -EINVAL;
	}
	if (bench_ops < BENCH_MIN_LIVE || bench_ops > BENCH_MAX_LIVE) {
		pr_err("ops: %u is not from %u to %u\n", bench_ops, BENCH_MIN_LIVE,
		       BENCH_MAX_LIVE);
		return -EINVAL;
	}
	return bench_choose();
}

static int __init bench_init(void)
{
	int ret;

	ret = bench_check();
	if (ret)
		return ret;
	ret = report_init();
	if (ret)
		return ret;
	meter_init();
	bench_thread = kthread_create(bench_run, NULL, "timewheel_bench");
	if (IS_ERR(bench_thread)) {
		report_exit();
		return PTR_ERR(bench_thread);
	}
	kthread_bind(bench_thread, cpumask_first(cpu_online_mask));
	get_task_struct(bench_thread);
	wake_up_process(bench_thread);
	return 0;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	/* It may have ended by itself. */
	kthread_stop(bench_thread);
	put_task_struct(bench_thread);
	report_exit();
}
module_exit(bench_exit);

MODULE_DESCRIPTION("Cost of timewheel, timer_list, hrtimer and delayed_work");
MODULE_LICENSE("GPL");
