// SPDX-License-Identifier: GPL-2.0-only
/*
 * The context that the process's timers are in.
 *
 * It is opened as the program starts, before that changes its user or its root.
 * Its descriptor lies above those that programs use; the table protects it from
 * a program that closes all it does not know.
 *
 * A child has its parent's context as well.  As the timeouts in there are the
 * parent's, it opens one of its own for what it arms itself, so that this ends
 * with it; and if it may not, stays in the parent's.  A context that the program
 * has closed by a system call of its own is lost, and followed by another.
 *
 * Contexts are few, and never forgotten, so that an id is never taken for one of
 * another context.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/timewheel.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "context.h"
#include "lock.h"
#include "say.h"
#include "table.h"
#include "timer.h"

#define DEVICE_PATH	"/dev/timewheel"
#define NR_CONTEXTS	16

/* Descriptors above that of the context, below 1024 or the limit. */
#define ROOM_ABOVE	16

/* What fences the worker: see context_fence(). */
#define NR_OWN_IDS	1

/**
 * struct context - an open file of the device
 * @fd: its descriptor, -1 if it was lost
 */
struct context {
	atomic_int fd;
};

static struct context contexts[NR_CONTEXTS];
static unsigned int nr_contexts;
static struct context *_Atomic current;
static uint64_t tick_ns;
/* Its context is the parent's. */
static atomic_bool forked;

/* --- opening ----------------------------------------------------------------- */

static int open_device(void)
{
	struct timewheel_setup setup = {
		.size = sizeof(setup),
		.eventfd = -1,
		.own_ids = NR_OWN_IDS,
	};
	struct timewheel_info info = { .size = sizeof(info) };
	int fd = syscall(SYS_openat, AT_FDCWD, DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, TIMEWHEEL_IOC_INFO, &info) &&
	    info.abi_version == TIMEWHEEL_ABI_VERSION &&
	    !ioctl(fd, TIMEWHEEL_IOC_SETUP, &setup)) {
		tick_ns = info.tick_ns;
		return fd;
	}
	syscall(SYS_close, fd);
	return -EPROTO;
}

/* Out of the way of the program's descriptors, or as it is if there is no room. */
static int move_up(int fd)
{
	struct rlimit limit;
	int up = -1;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur > 2 * ROOM_ABOVE)
		up = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC,
			     (limit.rlim_cur < 1024 ? limit.rlim_cur : 1024) - ROOM_ABOVE);
	if (up < 0)
		return fd;
	syscall(SYS_close, fd);
	return up;
}

/* Returns NULL after it has said why. */
static struct context *open_context(void)
{
	struct context *c = &contexts[nr_contexts];
	int fd;

	if (nr_contexts == NR_CONTEXTS)
		return NULL;
	fd = open_device();
	if (fd < 0) {
		say(SAID_NO_CONTEXT, "left to the kernel: cannot open %s: %s",
		    DEVICE_PATH, strerrordesc_np(-fd));
		return NULL;
	}
	fd = move_up(fd);
	if (!table_set_context(fd)) {
		syscall(SYS_close, fd);
		return NULL;
	}
	atomic_store(&c->fd, fd);
	nr_contexts++;
	return c;
}

void context_start(void)
{
	current = open_context();
}

/* In a new child; all locks are held. */
void context_forked(void)
{
	forked = true;
}

static void is_needed(int fd, struct timer *t, void *data)
{
	struct context **c = data;

	(void)fd;
	if (t && t->armed && t->context == *c)
		*c = NULL;
}

static void leave_context(struct context *c)
{
	struct context *unneeded = c;
	int fd;

	table_each(0, TABLE_SIZE - 1, is_needed, &unneeded);
	if (!unneeded)
		return;
	fd = atomic_exchange(&c->fd, -1);
	table_clear(fd);
	syscall(SYS_close, fd);
}

static void renew_context(void)
{
	uint64_t signals = lock_all();
	struct context *c;

	if (forked) {
		forked = false;
		c = open_context();
		if (c && current)
			leave_context(current);
		if (c)
			current = c;
	}
	unlock_all(signals);
}

/* The context of what is armed from now on, or NULL. */
struct context *context_current(void)
{
	if (forked)
		renew_context();
	return current;
}

uint64_t context_tick_ns(void)
{
	return tick_ns;
}

/* --- its descriptor ---------------------------------------------------------- */

static bool is_open(int fd)
{
	struct timewheel_info info = { .size = sizeof(info) };

	return fd >= 0 && !ioctl(fd, TIMEWHEEL_IOC_INFO, &info);
}

/**
 * context_is() - is a descriptor a context's, and none of the program's?
 * @fd: a descriptor that the program is about to close
 */
bool context_is(int fd)
{
	if (!table_is_context(fd))
		return false;
	if (is_open(fd))
		return true;
	/* It was closed unseen, and this is the program's. */
	table_clear(fd);
	return false;
}

/* The program wants this number for something else. */
void context_vacate(int fd)
{
	uint64_t signals = lock_all();
	unsigned int i;
	int other;

	for (i = 0; i < nr_contexts; i++) {
		if (contexts[i].fd != fd)
			continue;
		other = move_up(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0));
		contexts[i].fd = table_set_context(other) ? other : -1;
		table_clear(fd);
	}
	unlock_all(signals);
}

/* --- ops ----------------------------------------------------------------------- */

static int op_do(struct context *c, unsigned long request, struct timewheel_op *op)
{
	return ioctl(c->fd, request, op) ? -errno : 0;
}

/* The context that follows @lost, or NULL. */
static struct context *replace_context(struct context *lost)
{
	uint64_t signals = lock_take(LOCK_CONTEXT);

	if (current == lost) {
		lost->fd = -1;
		say(SAID_LOST, "the program has closed the context: what was armed is lost");
		current = open_context();
	}
	lock_drop(LOCK_CONTEXT, signals);
	return current;
}

/**
 * context_arm() - arm a timeout that does nothing but signal an eventfd, once
 * @c: out: the context that it is in
 * @eventfd: the eventfd
 * @deadline_ns: monotonic clock
 * @id: out: what it is called
 *
 * Context: under the lock of its timer.
 *
 * Return: 0 or -errno.
 */
int context_arm(struct context **c, int eventfd, uint64_t deadline_ns, uint64_t *id)
{
	struct timewheel_op op = {
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = TIMEWHEEL_ABS | TIMEWHEEL_NO_EVENT,
		.expires_ns = deadline_ns,
		.eventfd = eventfd,
	};
	int ret;

	for (;;) {
		*c = current;
		if (!*c)
			return -ENODEV;
		ret = op_do(*c, TIMEWHEEL_IOC_ARM, &op);
		if ((ret != -EBADF && ret != -ENOTTY) || is_open((*c)->fd))
			break;
		replace_context(*c);
	}
	*id = op.id;
	return ret;
}

/* Context: under the lock of its timer.  Return: 0, or an error if it has expired. */
int context_rearm(struct context *c, uint64_t id, uint64_t deadline_ns)
{
	struct timewheel_op op = {
		.opcode = TIMEWHEEL_OP_REARM,
		.flags = TIMEWHEEL_ABS,
		.id = id,
		.expires_ns = deadline_ns,
		.eventfd = -1,
	};

	return op_do(c, TIMEWHEEL_IOC_REARM, &op);
}

/* The same. */
int context_cancel(struct context *c, uint64_t id)
{
	struct timewheel_op op = {
		.opcode = TIMEWHEEL_OP_CANCEL,
		.id = id,
		.eventfd = -1,
	};

	return op_do(c, TIMEWHEEL_IOC_CANCEL, &op);
}

/* Context: under the lock of its timer. */
bool context_pending(struct context *c, uint64_t id)
{
	struct timewheel_query query = { .id = id };

	return !ioctl(c->fd, TIMEWHEEL_IOC_QUERY, &query);
}

/**
 * context_fence() - wait until what has expired has signalled its eventfd
 * @c: the context
 *
 * A timeout that CANCEL and REARM don't find any more may be about to signal.  An
 * own id that was cancelled is not given out again before the worker has let go
 * of it, and it does so between two expiries.  So when the second ARM returns,
 * what had expired before the first has signalled.
 *
 * Context: under the lock of a timer.
 */
void context_fence(struct context *c)
{
	/* Of processes that share the context none cancels another's. */
	uint64_t id = (uint64_t)getpid() << 32;
	struct timewheel_op arm = {
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = TIMEWHEEL_ABS | TIMEWHEEL_OWN_ID,
		.id = id,
		.expires_ns = UINT64_MAX,
		.eventfd = -1,
	};
	struct timewheel_op cancel = {
		.opcode = TIMEWHEEL_OP_CANCEL,
		.id = id,
		.eventfd = -1,
	};
	uint64_t signals = lock_take(LOCK_CONTEXT);
	struct timewheel_op ops[4];
	struct timewheel_submit submit = { .ops = (uintptr_t)ops, .nr = 4 };

	for (;;) {
		ops[0] = arm;
		ops[1] = cancel;
		ops[2] = arm;
		ops[3] = cancel;
		if (ioctl(c->fd, TIMEWHEEL_IOC_SUBMIT, &submit) != 4)
			break;
		/* Another process is at it. */
		if (ops[0].result != -EBUSY && ops[2].result != -EBUSY)
			break;
		sched_yield();
	}
	lock_drop(LOCK_CONTEXT, signals);
}

/* The program ends. */
void context_end(void)
{
	struct timewheel_stats st = { .size = sizeof(st) };
	struct context *c = current;

	if (c && !forked && !ioctl(c->fd, TIMEWHEEL_IOC_STATS, &st) && st.armed)
		say(SAID_BOOKS,
		    "timeouts: %ju armed, %ju moved, %ju expired, %ju cancelled, %ju pending",
		    (uintmax_t)st.armed, (uintmax_t)st.rearmed, (uintmax_t)st.fired,
		    (uintmax_t)st.cancelled, (uintmax_t)st.pending);
}
