// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/timewheel: a directory for each wheel.
 *
 * The core is the worker's, and the levels are looked at without it: what is
 * shown of them is near, and exact when the worker sleeps.
 */

#include <linux/bitmap.h>
#include <linux/debugfs.h>
#include <linux/kconfig.h>
#include <linux/seq_file.h>

#include "debugfs.h"
#include "wheel.h"

static struct dentry *debugfs_root;
/* Names of wheels need not differ; those of directories do. */
static atomic_t debugfs_wheels = ATOMIC_INIT(0);

static int books_show(struct seq_file *m, void *unused)
{
	struct timewheel *wheel = m->private;
	const struct timewheel_books *books = &wheel->books;
	struct books_sum sum;

	books_read(wheel, &sum);
	seq_printf(m, "armed %llu\nrearmed %llu\nfired %llu\ncancelled %llu\n",
		   sum.armed, sum.rearmed, sum.fired, sum.cancelled);
	seq_printf(m, "unprocessed %llu\npending %llu\nrejected %llu\n",
		   sum.unprocessed, sum.pending, sum.rejected);
	seq_printf(m, "overruns %llu\nwakeups %llu\npasses %llu\n",
		   READ_ONCE(books->overruns), READ_ONCE(books->wakeups),
		   READ_ONCE(books->passes));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(books);

static int levels_show(struct seq_file *m, void *unused)
{
	struct timewheel *wheel = m->private;
	const struct wheel_core *core = &wheel->core;
	unsigned int i;

	seq_puts(m, "level slot_ns slots occupied\n");
	for (i = 0; i < core->levels; i++) {
		unsigned int occupied;

		/* The worker may be at it: this is for looking only. */
		occupied = data_race(bitmap_weight(core->level[i].due,
						   core->mask + 1));
		seq_printf(m, "%u %llu %u %u\n", i,
			   wheel->tick_ns << core->level[i].shift, core->mask + 1,
			   occupied);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(levels);

static int lateness_show(struct seq_file *m, void *unused)
{
	struct timewheel *wheel = m->private;
	unsigned int i;

	seq_puts(m, "below_ns expiries\n");
	for (i = 0; i < TIMEWHEEL_LATENESS_BUCKETS; i++) {
		u64 n = READ_ONCE(wheel->books.lateness[i]);

		if (n)
			seq_printf(m, "%llu %llu\n", 1ULL << i, n);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(lateness);

void debugfs_show_wheel(struct timewheel *wheel)
{
	char name[TIMEWHEEL_NAME_LEN + 12];
	struct dentry *dir;

	snprintf(name, sizeof(name), "%u-%s",
		 atomic_inc_return(&debugfs_wheels), wheel->name);
	dir = debugfs_create_dir(name, debugfs_root);
	debugfs_create_file("books", 0400, dir, wheel, &books_fops);
	debugfs_create_file("levels", 0400, dir, wheel, &levels_fops);
	debugfs_create_file("lateness", 0400, dir, wheel, &lateness_fops);
	wheel->debugfs = dir;
}

/* Waits for those who are reading. */
void debugfs_hide_wheel(struct timewheel *wheel)
{
	debugfs_remove_recursive(wheel->debugfs);
}

void debugfs_init(void)
{
	debugfs_root = debugfs_create_dir("timewheel", NULL);
}

void debugfs_exit(void)
{
	debugfs_remove_recursive(debugfs_root);
}
