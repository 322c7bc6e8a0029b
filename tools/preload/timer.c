// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers that the wheel keeps.
 *
 * The descriptor is an eventfd, so that it can be waited for in all ways there
 * are.  The wheel signals it once for each timeout; and as the kernel's timerfd
 * does, a periodic timer arms its next timeout only when this one has been read,
 * and the clock says how many periods that were.  So for each timeout there is
 * at most one signal, and it is known whether one can be there:
 *
 *	pending		there is none, and if it is cancelled or moved none comes
 *	expired		it is there, or will be in a moment (context_fence())
 *	read		there is none
 *
 * So a setting can take back what was to come of the last: no readiness is left
 * over that a read() would not find.
 *
 * A thread in read() takes the signal first, and learns only then what the timer
 * is.  If the timer was not set meanwhile, it was this timeout's.  Else that is
 * found out: see signal_is_old().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "context.h"
#include "lock.h"
#include "say.h"
#include "table.h"
#include "timer.h"

#define SEC_NS		1000000000ULL
#define NEVER_NS	((uint64_t)INT64_MAX)
#define POOL_BATCH	256

#define SETTIME_FLAGS	(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)

/*
 * Our eventfds are known by the signal that they would raise if they raised one.
 * A descriptor that was closed unseen may be anything by now.
 */
#define MARK_SIGNAL	(_NSIG - 1)

/* --- the pool -------------------------------------------------------------------- */

static struct timer *pool;

static void pool_push(struct timer *t)
{
	t->next = pool;
	pool = t;
}

/* More of them; memory that was a timer once stays one (see table.c). */
static void pool_grow(void)
{
	struct timer *batch;
	int i;

	batch = mmap(NULL, POOL_BATCH * sizeof(*batch), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (batch == MAP_FAILED)
		return;
	for (i = POOL_BATCH; i--;)
		pool_push(&batch[i]);
}

static struct timer *pool_get(void)
{
	uint64_t signals = lock_take(LOCK_POOL);
	struct timer *t;

	if (!pool)
		pool_grow();
	t = pool;
	if (t)
		pool = t->next;
	lock_drop(LOCK_POOL, signals);
	return t;
}

static void pool_put(struct timer *t)
{
	uint64_t signals = lock_take(LOCK_POOL);

	pool_push(t);
	lock_drop(LOCK_POOL, signals);
}

/* --- references -------------------------------------------------------------------- */

static unsigned int lock_of(const struct timer *t)
{
	return (uintptr_t)t / sizeof(*t) % LOCK_TIMERS;
}

bool timer_try_get(struct timer *t)
{
	unsigned int refs = atomic_load_explicit(&t->refs, memory_order_relaxed);

	while (refs)
		if (atomic_compare_exchange_weak(&t->refs, &refs, refs + 1))
			return true;
	return false;
}

/* The last descriptor was closed, and nobody reads.  errno is as it was. */
static void timer_end(struct timer *t)
{
	uint64_t signals = lock_take(lock_of(t));
	int err = errno;

	/* Another process may still wait for it; else it expires unheard. */
	if (t->armed && !t->shared)
		context_cancel(t->context, t->id);
	errno = err;
	lock_drop(lock_of(t), signals);
	pool_put(t);
}

void timer_put(struct timer *t)
{
	if (atomic_fetch_sub(&t->refs, 1) == 1)
		timer_end(t);
}

/* From now on its descriptor may be known elsewhere. */
void timer_expose(struct timer *t)
{
	uint64_t signals = lock_take(lock_of(t));

	t->exposed = true;
	lock_drop(lock_of(t), signals);
}

/* The same by fork(), which holds all locks. */
void timer_share_locked(struct timer *t)
{
	t->exposed = true;
	t->shared = true;
}

/* Another process is about to have it as well. */
void timer_share(struct timer *t)
{
	uint64_t signals = lock_take(lock_of(t));

	timer_share_locked(t);
	lock_drop(lock_of(t), signals);
}

/**
 * timer_open() - timerfd_create() of a timer that the wheel keeps
 * @flags: TFD_NONBLOCK, TFD_CLOEXEC: they are also those of an eventfd
 *
 * Return: a descriptor, or -1 if it is to be left to the kernel.
 */
int timer_open(int flags)
{
	struct timer *t;
	int fd;

	if (!context_current())
		return -1;
	fd = syscall(SYS_eventfd2, 0, flags);
	if (fd < 0)
		return -1;
	t = pool_get();
	if (t) {
		t->armed = false;
		t->exposed = false;
		t->shared = false;
		t->was_set = false;
		t->interval_ns = 0;
		atomic_store(&t->refs, 1);
		if (!syscall(SYS_fcntl, fd, F_SETSIG, MARK_SIGNAL) && table_set(fd, t)) {
			say(SAID_SERVED, "timers are kept by the wheel, whose tick is %ju ns",
			    (uintmax_t)context_tick_ns());
			return fd;
		}
		timer_put(t);
	}
	say(SAID_NO_ROOM, "left to the kernel: there is no room for descriptor %d", fd);
	syscall(SYS_close, fd);
	return -1;
}

/* --- the eventfd ---------------------------------------------------------------------- */

/* If not, it was closed unseen.  Context: the caller has a reference. */
static bool is_ours(struct timer *t, int fd)
{
	if (syscall(SYS_fcntl, fd, F_GETSIG) == MARK_SIGNAL)
		return true;
	if (table_mine())
		table_clear_if(fd, t);
	return false;
}

/* Take the signal if there is one, without waiting. */
static bool take_signal(int fd)
{
	uint64_t count;
	struct iovec iov = { &count, sizeof(count) };

	/* The offset -1 in two halves: where the file is. */
	return syscall(SYS_preadv2, fd, &iov, 1, -1L, -1L, RWF_NOWAIT) > 0;
}

/* The timeout has expired: when this returns its signal has been taken. */
static void take_back(struct timer *t, int fd)
{
	if (take_signal(fd))
		return;
	context_fence(t->context);
	take_signal(fd);
}

/* --- times ------------------------------------------------------------------------------ */

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC_NS + ts.tv_nsec;
}

static bool is_valid(const struct timespec *ts)
{
	return ts->tv_sec >= 0 && ts->tv_nsec >= 0 && (uint64_t)ts->tv_nsec < SEC_NS;
}

/* What is beyond the clock is its end, as with the kernel's own. */
static uint64_t ns_of(const struct timespec *ts)
{
	if ((uint64_t)ts->tv_sec >= NEVER_NS / SEC_NS)
		return NEVER_NS;
	return ts->tv_sec * SEC_NS + ts->tv_nsec;
}

static uint64_t add_ns(uint64_t a, uint64_t b)
{
	return a < NEVER_NS - b ? a + b : NEVER_NS;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ ns / SEC_NS, ns % SEC_NS };
}

/* What timerfd_gettime() says. */
static struct itimerspec timer_left(const struct timer *t, uint64_t now)
{
	uint64_t left = 0;

	if (t->armed && t->deadline_ns > now)
		left = t->deadline_ns - now;
	else if (t->armed && t->interval_ns)
		left = t->interval_ns - (now - t->deadline_ns) % t->interval_ns;
	return (struct itimerspec){
		.it_interval = timespec_of(t->interval_ns),
		.it_value = timespec_of(left),
	};
}

/*
 * To where a program wants to have it, or -EFAULT.  getitimer() fills a structure
 * of the same size, and so says whether that can be written.
 */
static int copy_out(struct itimerspec *to, const struct itimerspec *from)
{
	_Static_assert(sizeof(struct itimerval) == sizeof(*to), "both are four words");

	if (syscall(SYS_getitimer, ITIMER_VIRTUAL, to))
		return -errno;
	*to = *from;
	return 0;
}

/* --- setting ------------------------------------------------------------------------------ */

/* Bring the wheel to a new deadline, 0 for none, and leave no old signal. */
static int timer_program(struct timer *t, int fd, uint64_t deadline_ns)
{
	int ret = -ENOENT;

	if (t->armed) {
		ret = deadline_ns ? context_rearm(t->context, t->id, deadline_ns) :
				    context_cancel(t->context, t->id);
		if (ret)
			take_back(t, fd);
	}
	if (ret && deadline_ns)
		ret = context_arm(&t->context, fd, deadline_ns, &t->id);
	t->armed = deadline_ns && !ret;
	return deadline_ns ? ret : 0;
}

/*
 * Put a timerfd of the kernel's in the place of the eventfd.  Whoever waits for
 * that one in poll() at this moment is woken, to look again.
 */
static int timer_hand_over(struct timer *t, int fd)
{
	int was = syscall(SYS_dup, fd);
	int status = syscall(SYS_fcntl, fd, F_GETFL);
	int flags = syscall(SYS_fcntl, fd, F_GETFD);
	int own = syscall(SYS_timerfd_create, CLOCK_MONOTONIC, status & TFD_NONBLOCK);
	uint64_t one = 1;
	int ret = -ENOMEM;

	if (was >= 0 && own >= 0 &&
	    syscall(SYS_dup3, own, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) >= 0) {
		table_clear_if(fd, t);
		syscall(SYS_write, was, &one, sizeof(one));
		ret = 0;
	}
	if (was >= 0)
		syscall(SYS_close, was);
	if (own >= 0)
		syscall(SYS_close, own);
	return ret;
}

/* Finer than a tick. */
static bool is_fine(uint64_t now, uint64_t deadline_ns, uint64_t interval_ns)
{
	if (interval_ns)
		return interval_ns < context_tick_ns();
	return deadline_ns < add_ns(now, context_tick_ns());
}

/*
 * The first setting tells what a timer is for.  If that is not for the wheel, and
 * nobody else can know the descriptor yet, it becomes the kernel's own.
 */
static bool timer_is_for_kernel(const struct timer *t, uint64_t now,
				uint64_t deadline_ns, uint64_t interval_ns)
{
	const char *what = interval_ns ? "period" : "delay";
	uint64_t ns = interval_ns ?: deadline_ns < now ? 0 : deadline_ns - now;

	if (!is_fine(now, deadline_ns, interval_ns))
		return false;
	if (t->was_set || t->exposed) {
		say(SAID_FINE_LATE,
		    "a %s of %ju ns is less than a tick, and comes up to a tick late: the descriptor is in use",
		    what, (uintmax_t)ns);
		return false;
	}
	say(SAID_FINE, "left to the kernel: a %s of %ju ns is less than a tick", what,
	    (uintmax_t)ns);
	return true;
}

/* Returns 0, -errno, or 1 if the kernel is to do it. */
static int timer_set_ours(struct timer *t, int fd, int flags,
			  const struct itimerspec *new, struct itimerspec *old)
{
	uint64_t interval_ns = ns_of(&new->it_interval);
	uint64_t deadline_ns = ns_of(&new->it_value);
	uint64_t now = clock_now();
	bool fresh = !t->was_set && !t->exposed;
	int ret;

	*old = timer_left(t, now);
	if (deadline_ns && !(flags & TFD_TIMER_ABSTIME))
		deadline_ns = add_ns(now, deadline_ns);
	if (deadline_ns && timer_is_for_kernel(t, now, deadline_ns, interval_ns) &&
	    !timer_hand_over(t, fd))
		return 1;

	ret = timer_program(t, fd, deadline_ns);
	t->deadline_ns = deadline_ns;
	t->interval_ns = interval_ns;
	atomic_fetch_add(&t->settings, 1);
	if (deadline_ns)
		t->was_set = true;
	if (!ret)
		return 0;

	say(SAID_FULL, "the wheel takes no more timeouts: %s", strerrordesc_np(-ret));
	return fresh && !timer_hand_over(t, fd) ? 1 : -ENOMEM;
}

static int kernel_set(int fd, int flags, const struct itimerspec *new,
		      struct itimerspec *old)
{
	return syscall(SYS_timerfd_settime, fd, flags, new, old) ? -errno : 0;
}

static int timer_set_any(struct timer *t, int fd, int flags, const struct itimerspec *new,
			 struct itimerspec *old)
{
	struct itimerspec want, was;
	int ret;

	/*
	 * It does it if that is a timerfd of its own by now.  Else it has looked at
	 * all that can be wrong but the values; for an eventfd it says EINVAL.
	 */
	ret = kernel_set(fd, flags, new, old);
	if (ret != -EINVAL)
		return ret;
	want = *new;
	if (flags & ~SETTIME_FLAGS || !is_valid(&want.it_value) ||
	    !is_valid(&want.it_interval) || !is_ours(t, fd))
		return -EINVAL;
	ret = timer_set_ours(t, fd, flags, &want, &was);
	if (ret > 0)
		return kernel_set(fd, flags, &want, old);
	if (!ret && old)
		ret = copy_out(old, &was);
	return ret;
}

/**
 * timer_set() - timerfd_settime()
 * @t: the timer
 * @fd: its descriptor
 * @flags: as the call has them
 * @new: likewise
 * @old: likewise
 *
 * Return: 0 or -errno, as the kernel's own.
 */
int timer_set(struct timer *t, int fd, int flags, const struct itimerspec *new,
	      struct itimerspec *old)
{
	uint64_t signals = lock_take(lock_of(t));
	int ret = timer_set_any(t, fd, flags, new, old);

	lock_drop(lock_of(t), signals);
	return ret;
}

/* timerfd_gettime(), likewise. */
int timer_get(struct timer *t, int fd, struct itimerspec *now)
{
	uint64_t signals = lock_take(lock_of(t));
	struct itimerspec left;
	int ret;

	ret = syscall(SYS_timerfd_gettime, fd, now) ? -errno : 0;
	if (ret == -EINVAL && is_ours(t, fd)) {
		left = timer_left(t, clock_now());
		ret = copy_out(now, &left);
	}
	lock_drop(lock_of(t), signals);
	return ret;
}

/* --- reading -------------------------------------------------------------------------------- */

/* Before each system call that reads: returns what timer_was_read() asks for. */
unsigned int timer_read_begins(struct timer *t)
{
	if (!t->exposed)
		timer_expose(t);
	return atomic_load(&t->settings);
}

/*
 * The timer was set while somebody read, who has a signal and does not know of
 * which setting.  If the timeout is still pending, the signal was an earlier one's.
 * Else there may be two, and they are to be one.
 */
static bool signal_is_old(struct timer *t, int fd)
{
	if (!t->armed || context_pending(t->context, t->id))
		return true;
	context_fence(t->context);
	take_signal(fd);
	return false;
}

/* Expirations since the last look; the next timeout is armed. */
static uint64_t timer_count(struct timer *t, int fd)
{
	uint64_t now = clock_now(), nr = 1;
	int ret;

	if (!t->armed || now < t->deadline_ns)
		return 0;
	t->armed = false;
	if (!t->interval_ns)
		return 1;
	nr += (now - t->deadline_ns) / t->interval_ns;
	t->deadline_ns = add_ns(t->deadline_ns, nr * t->interval_ns);
	ret = context_arm(&t->context, fd, t->deadline_ns, &t->id);
	t->armed = !ret;
	if (ret)
		say(SAID_FULL, "the wheel takes no more timeouts: %s", strerrordesc_np(-ret));
	return nr;
}

/**
 * timer_was_read() - the kernel has done a read() of a timer's descriptor
 * @t: the timer
 * @fd: the descriptor
 * @settings: what timer_read_begins() gave
 * @len: what the kernel gave, with errno
 * @expirations: out: how many, if it says so
 *
 * Return: what to do.  errno is as it was.
 */
enum timer_read timer_was_read(struct timer *t, int fd, unsigned int settings,
			       ssize_t len, uint64_t *expirations)
{
	enum timer_read ret = TIMER_READ;
	/* The signal was taken, but there is no place for the number. */
	bool fault = len < 0 && errno == EFAULT;
	uint64_t signals;

	if (len != sizeof(*expirations) && !fault)
		return TIMER_READ;

	signals = lock_take(lock_of(t));
	if (!is_ours(t, fd))
		goto out;
	*expirations = 0;
	if ((!fault && settings == t->settings) || !signal_is_old(t, fd))
		*expirations = timer_count(t, fd);
	if (fault)
		errno = EFAULT;
	else if (*expirations)
		ret = TIMER_COUNTED;
	else if (!t->shared)
		ret = TIMER_AGAIN;
	/* Else another process has set it, and knows more. */
out:
	lock_drop(lock_of(t), signals);
	return ret;
}
