// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows, in /sys/kernel/debug/timewheel_bench/rows.  Reading waits for the
 * next one, and ends when there are no more to come.
 */

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "bench.h"
#include "compat.h"

/**
 * struct report_entry - a row
 * @link: in report_rows
 * @text: one line, with its end
 */
struct report_entry {
	struct list_head link;
	char *text;
};

static LIST_HEAD(report_rows);
static DEFINE_MUTEX(report_lock);	/* the rows, and how many there are */
static DECLARE_WAIT_QUEUE_HEAD(report_wait);
static unsigned int report_nr;
static bool report_ended;
static struct dentry *report_dir;

static void *report_seq_start(struct seq_file *m, loff_t *pos)
{
	if (wait_event_interruptible(report_wait, READ_ONCE(report_ended) ||
				     READ_ONCE(report_nr) > *pos))
		return ERR_PTR(-ERESTARTSYS);
	mutex_lock(&report_lock);
	return seq_list_start(&report_rows, *pos);
}

/* At the last one so far what was read is passed on, before the next is waited for. */
static void *report_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &report_rows, pos);
}

static void report_seq_stop(struct seq_file *m, void *v)
{
	if (!IS_ERR(v))
		mutex_unlock(&report_lock);
}

static int report_seq_show(struct seq_file *m, void *v)
{
	seq_puts(m, list_entry(v, struct report_entry, link)->text);
	return 0;
}

static const struct seq_operations report_sops = {
	.start = report_seq_start,
	.next = report_seq_next,
	.stop = report_seq_stop,
	.show = report_seq_show,
};
DEFINE_SEQ_ATTRIBUTE(report);

int report_init(void)
{
	report_dir = debugfs_create_dir("timewheel_bench", NULL);
	if (IS_ERR(report_dir))
		return PTR_ERR(report_dir);
	debugfs_create_file("rows", 0400, report_dir, NULL, &report_fops);
	return 0;
}

void report_exit(void)
{
	struct report_entry *entry, *next;

	debugfs_remove_recursive(report_dir);
	list_for_each_entry_safe(entry, next, &report_rows, link) {
		kfree(entry->text);
		kfree(entry);
	}
}

/* 0 or -ENOMEM. */
int report_row(const char *format, ...)
{
	struct report_entry *entry;
	va_list args;

	entry = kzalloc_obj(*entry, GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	va_start(args, format);
	entry->text = kvasprintf(GFP_KERNEL, format, args);
	va_end(args);
	if (!entry->text) {
		kfree(entry);
		return -ENOMEM;
	}
	mutex_lock(&report_lock);
	list_add_tail(&entry->link, &report_rows);
	WRITE_ONCE(report_nr, report_nr + 1);
	mutex_unlock(&report_lock);
	wake_up_interruptible(&report_wait);
	return 0;
}

/* No more will come. */
void report_end(void)
{
	WRITE_ONCE(report_ended, true);
	wake_up_interruptible(&report_wait);
}
