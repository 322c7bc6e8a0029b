// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device, /dev/timewheel: takes structures from programs and hands them to
 * whom they concern.
 */

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "context.h"
#include "device.h"
#include "event.h"
#include "op.h"
#include "report.h"

/**
 * union device_arg - what an ioctl takes and gives
 * @size: where a structure that may grow has its size
 * @info: of TIMEWHEEL_IOC_INFO
 * @setup: of TIMEWHEEL_IOC_SETUP
 * @submit: of TIMEWHEEL_IOC_SUBMIT
 * @query: of TIMEWHEEL_IOC_QUERY
 * @list: of TIMEWHEEL_IOC_LIST
 * @stats: of TIMEWHEEL_IOC_STATS
 */
union device_arg {
	u32 size;
	struct timewheel_info info;
	struct timewheel_setup setup;
	struct timewheel_submit submit;
	struct timewheel_query query;
	struct timewheel_list list;
	struct timewheel_stats stats;
};

/**
 * struct device_ioctl - an ioctl
 * @cmd: its number
 * @min_size: the least size of a structure that may grow, 0 if it may not.  The
 *	size in @cmd does not count then: it was that of another version.
 * @run: does it, with the structure copied in; what it leaves there is copied
 *	out if it returns 0 and @cmd says so
 * @opcode: instead of @run, for what takes a single op
 */
struct device_ioctl {
	unsigned int cmd;
	u32 min_size;
	int (*run)(struct context *ctx, union device_arg *arg);
	u8 opcode;
};

static int device_info(struct context *ctx, union device_arg *arg)
{
	if (arg->info.pad)
		return -EINVAL;
	report_info(ctx, &arg->info);
	return 0;
}

static int device_setup(struct context *ctx, union device_arg *arg)
{
	return context_setup(ctx, &arg->setup);
}

static int device_submit(struct context *ctx, union device_arg *arg)
{
	if (arg->submit.flags)
		return -EINVAL;
	return op_submit(ctx, u64_to_user_ptr(arg->submit.ops), arg->submit.nr);
}

static int device_query(struct context *ctx, union device_arg *arg)
{
	return report_query(ctx, &arg->query);
}

static int device_list(struct context *ctx, union device_arg *arg)
{
	return report_list(ctx, &arg->list);
}

static int device_stop(struct context *ctx, union device_arg *arg)
{
	return context_stop(ctx);
}

static int device_stats(struct context *ctx, union device_arg *arg)
{
	if (arg->stats.pad)
		return -EINVAL;
	report_stats(ctx, &arg->stats);
	return 0;
}

/* By number. */
static const struct device_ioctl device_ioctls[] = {
	{ .cmd = TIMEWHEEL_IOC_INFO, .run = device_info,
	  .min_size = offsetofend(struct timewheel_info, abi_version) },
	{ .cmd = TIMEWHEEL_IOC_SETUP, .run = device_setup,
	  .min_size = offsetofend(struct timewheel_setup, flags) },
	{ .cmd = TIMEWHEEL_IOC_SUBMIT, .run = device_submit },
	{ .cmd = TIMEWHEEL_IOC_ARM, .opcode = TIMEWHEEL_OP_ARM },
	{ .cmd = TIMEWHEEL_IOC_CANCEL, .opcode = TIMEWHEEL_OP_CANCEL },
	{ .cmd = TIMEWHEEL_IOC_REARM, .opcode = TIMEWHEEL_OP_REARM },
	{ .cmd = TIMEWHEEL_IOC_QUERY, .run = device_query },
	{ .cmd = TIMEWHEEL_IOC_LIST, .run = device_list },
	{ .cmd = TIMEWHEEL_IOC_STOP, .run = device_stop },
	{ .cmd = TIMEWHEEL_IOC_STATS, .run = device_stats,
	  .min_size = offsetofend(struct timewheel_stats, pad) },
};

static const struct device_ioctl *device_find(unsigned int cmd)
{
	const unsigned int size_mask = _IOC_SIZEMASK << _IOC_SIZESHIFT;
	unsigned int nr = _IOC_NR(cmd), differs;
	const struct device_ioctl *ioctl;

	if (nr >= ARRAY_SIZE(device_ioctls))
		return NULL;
	nr = array_index_nospec(nr, ARRAY_SIZE(device_ioctls));
	ioctl = &device_ioctls[nr];

	differs = cmd ^ ioctl->cmd;
	if (ioctl->min_size && _IOC_SIZE(cmd) >= ioctl->min_size)
		differs &= ~size_mask;
	return differs ? NULL : ioctl;
}

/* The size is the first look's: a second might find another. */
static int device_copy_in(const struct device_ioctl *ioctl, void __user *user,
			  union device_arg *arg, u32 *size)
{
	u32 ksize = _IOC_SIZE(ioctl->cmd);
	int ret;

	if (!ioctl->min_size) {
		*size = ksize;
		return copy_from_user(arg, user, ksize) ? -EFAULT : 0;
	}
	if (get_user(*size, (u32 __user *)user))
		return -EFAULT;
	if (*size < ioctl->min_size)
		return -EINVAL;
	/* More than any version will have: don't look through it. */
	if (*size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(arg, ksize, user, *size);
	*size = min(*size, ksize);
	return ret;
}

static int device_run(struct context *ctx, const struct device_ioctl *ioctl,
		      void __user *user)
{
	union device_arg arg;
	u32 size;
	int ret;

	ret = device_copy_in(ioctl, user, &arg, &size);
	if (ret)
		return ret;
	ret = ioctl->run(ctx, &arg);
	if (ret || !(_IOC_DIR(ioctl->cmd) & _IOC_READ))
		return ret;
	if (ioctl->min_size)
		arg.size = size;
	return copy_to_user(user, &arg, size) ? -EFAULT : 0;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long word)
{
	const struct device_ioctl *ioctl = device_find(cmd);
	struct context *ctx = file->private_data;
	void __user *user = (void __user *)word;

	if (!ioctl)
		return -ENOTTY;
	if (ioctl->opcode)
		return op_single(ctx, user, ioctl->opcode);
	return device_run(ctx, ioctl, user);
}

static int device_open(struct inode *inode, struct file *file)
{
	struct context *ctx = context_open();

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	file->private_data = ctx;
	/* A read with RWF_NOWAIT, or from io_uring, does not wait. */
	file->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	context_close(file->private_data);
	return 0;
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct context *ctx = file->private_data;

	if (!context_bound(ctx))
		return -EINVAL;
	switch ((u64)vma->vm_pgoff << PAGE_SHIFT) {
	case TIMEWHEEL_OFF_SQ:
		return shared_map(&ctx->submission.ring.memory, vma);
	case TIMEWHEEL_OFF_CQ:
		return shared_map(&ctx->completion.memory, vma);
	case TIMEWHEEL_OFF_LEASE:
		return lease_map(ctx, vma);
	}
	return -EINVAL;
}

static void device_show_fdinfo(struct seq_file *m, struct file *file)
{
	report_fdinfo(file->private_data, m);
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.read_iter = event_read,
	.poll = event_poll,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = device_mmap,
	.show_fdinfo = device_show_fdinfo,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "timewheel",
	.fops = &device_fops,
	.mode = 0660,
};

int device_init(void)
{
	return misc_register(&device);
}

/* No file is open, or the module could not go. */
void device_exit(void)
{
	misc_deregister(&device);
}
