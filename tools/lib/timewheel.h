/* SPDX-License-Identifier: MIT */
/*
 * libtimewheel: millions of timeouts from a program, by /dev/timewheel.
 *
 * A handle is one context: its own timeouts, limits and events.  Two transports
 * lie behind the same calls:
 *
 *	calls	each operation, or each batch of them, is an ioctl.  Any thread may
 *		use the handle at any time.
 *	rings	operations and events go through shared memory, and a system call is
 *		made only if the kernel's next look would come too late.  One thread
 *		uses a handle at a time; more threads open more handles.
 *
 * Times are nanoseconds: a deadline on the clock of timewheel_now(), a delay from
 * now.  Nothing expires early, nor later than a tick after its deadline, plus what
 * the machine takes to get to it.
 *
 * Every function that returns int returns 0 or more, or a negative errno; what
 * fails changes nothing.  Only timewheel_wait() returns -EINTR: the others begin
 * again when a signal comes.
 *
 * An id is never 0, and never another timeout's: an id that is no more gives
 * -ENOENT.  A timeout ends in exactly one way: its last event is delivered by
 * timewheel_drain() (TIMEWHEEL_EVENT_LAST is set in it), or timewheel_cancel()
 * returns 0, and then none is, neither one that had been on its way.
 *
 * After a fork() the child has the same context as its parent, and only one of the
 * two may go on with the handle.  The other may call timewheel_close(), which
 * leaves what is pending alone: that ends with the last descriptor of the context.
 * No function may be called from a signal handler, nor after timewheel_close().
 * Of what timewheel_fd() returns, poll() and fcntl() are the program's; arming,
 * cancelling and reading there, past the library, are not.
 */
#ifndef LIBTIMEWHEEL_H
#define LIBTIMEWHEEL_H

#include <linux/timewheel.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All that is declared here is seen outside, and nothing else of the library. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

struct timewheel;

/* timewheel_options.flags */
#define TIMEWHEEL_OPEN_RINGS		(1U << 0) /* the transport */
#define TIMEWHEEL_OPEN_LEASES		(1U << 1) /* rings: touch is one store */
#define TIMEWHEEL_OPEN_OWN_WHEEL	(1U << 2) /* tick_ns to clockid count */
#define TIMEWHEEL_OPEN_INHERIT		(1U << 3) /* keep the file across exec */

/**
 * struct timewheel_options - how a handle is to be; all zero is the default
 * @flags: TIMEWHEEL_OPEN_*
 * @capacity: timeouts at once; one that has expired counts until it is drained.
 *	0: as many as the module allows; rings want a number, and memory for as many
 *	is taken when they are opened
 * @sq_entries: rings: submission ring, a power of two; 0 for 4096
 * @cq_entries: rings: completion ring, likewise
 * @eventfd: signalled once for each look at the wheel that brought events; 0 and
 *	-1 stand for none.  It stays the caller's
 * @slots: own wheel: slots of a level, 0 for the default
 * @levels: own wheel: levels, 0 for the default
 * @clockid: own wheel: CLOCK_MONOTONIC or CLOCK_BOOTTIME, 0 for the default
 * @tick_ns: own wheel: how exact, and how often it may wake; 0 for the default
 * @reserved: 0
 */
struct timewheel_options {
	uint32_t flags;
	uint32_t capacity;
	uint32_t sq_entries;
	uint32_t cq_entries;
	int32_t eventfd;
	uint32_t slots;
	uint32_t levels;
	int32_t clockid;
	uint64_t tick_ns;
	uint64_t reserved[4];
};

/**
 * timewheel_open() - a new context
 * @tw: out: the handle; unchanged on an error
 * @options: how it is to be, or NULL for the default
 *
 * Return: 0; -ENOENT, -ENXIO or -ENODEV if the module is not loaded; -EACCES
 * without permission for /dev/timewheel; -EPROTONOSUPPORT if the module speaks
 * another version; -EOPNOTSUPP if it has no rings; -EINVAL for options that are
 * unknown, out of range or contradict each other, or an eventfd that is none;
 * -EBADF; -EMFILE, -ENFILE; -ENOMEM; -EDQUOT or -ENOSPC if the capacity is more
 * than the user or the module has left, -ENOSPC for one own wheel too many;
 * -EAGAIN if the own wheel gets no thread.
 */
int timewheel_open(struct timewheel **tw, const struct timewheel_options *options);

/**
 * timewheel_adopt() - a handle for a context that is open already
 * @tw: out: the handle; unchanged on an error
 * @fd: its descriptor, as 'timewheel restore FILE -- PROGRAM' hands over; the
 *	handle's from now on, and made non-blocking; the caller's on an error
 *
 * The transport is calls.  What is pending in it is told by timewheel_list().
 *
 * Return: 0; -EBADF; -ENOTTY if it is no context; -EPROTONOSUPPORT; -ENOMEM.
 */
int timewheel_adopt(struct timewheel **tw, int fd);

/**
 * timewheel_close() - give a handle back
 * @tw: the handle, or NULL
 *
 * Cancels all that is pending, unless another process has the context open, too.
 * Not from the callback of timewheel_drain().
 */
void timewheel_close(struct timewheel *tw);

/**
 * timewheel_fd() - the context's descriptor, for poll(), epoll and their like
 * @tw: the handle, whose it stays
 *
 * It is readable (POLLIN) while timewheel_drain() has something to do.
 *
 * Return: the descriptor.
 */
int timewheel_fd(const struct timewheel *tw);

/**
 * timewheel_now() - the clock that deadlines are on, without a system call
 * @tw: the handle
 *
 * Return: nanoseconds, of CLOCK_MONOTONIC unless an own wheel has another.
 */
uint64_t timewheel_now(const struct timewheel *tw);

/**
 * timewheel_arm() - arm a timeout for some time from now
 * @tw: the handle
 * @delay_ns: how long; what is longer than the clock runs is never
 * @user_data: returned in its event
 * @id: out: what it is called
 *
 * Return: 0; -ENOSPC at the capacity, or at the module's limit; -EDQUOT at the
 * user's; -ESHUTDOWN after timewheel_stop(); -ENOMEM.  With rings -EAGAIN: no
 * operation is taken until events have been drained.
 */
int timewheel_arm(struct timewheel *tw, uint64_t delay_ns, uint64_t user_data,
		  uint64_t *id);

/**
 * timewheel_arm_at() - arm a timeout for a point in time
 * @tw: the handle
 * @deadline_ns: when; in the past, it expires at once
 * @user_data: returned in its event
 * @id: out: what it is called
 *
 * Return: as timewheel_arm().
 */
int timewheel_arm_at(struct timewheel *tw, uint64_t deadline_ns, uint64_t user_data,
		     uint64_t *id);

/**
 * timewheel_arm_lease() - arm a timeout that is refreshed by a store
 * @tw: the handle, with TIMEWHEEL_OPEN_LEASES
 * @deadline_ns: when it expires unless timewheel_touch() puts it off
 * @user_data: returned in its event
 * @id: out: what it is called
 *
 * Return: as timewheel_arm(); -EINVAL without TIMEWHEEL_OPEN_LEASES.
 */
int timewheel_arm_lease(struct timewheel *tw, uint64_t deadline_ns,
			uint64_t user_data, uint64_t *id);

/**
 * timewheel_rearm() - move a deadline either way
 * @tw: the handle
 * @id: which timeout
 * @deadline_ns: its new deadline; of a periodic one the next, and those after it
 *	move with it
 *
 * Return: 0; -ENOENT if its last event was delivered, or if it was cancelled;
 * -ESHUTDOWN after timewheel_stop(); with rings -EAGAIN, as timewheel_arm().
 * If it has expired and its event is still to be drained, that cannot be called
 * back: calls return -ENOENT; rings return 0, and the event comes all the same.
 */
int timewheel_rearm(struct timewheel *tw, uint64_t id, uint64_t deadline_ns);

/**
 * timewheel_touch() - put a deadline off
 * @tw: the handle
 * @id: which timeout
 * @deadline_ns: its new deadline, later than the one it has
 *
 * For a timeout of timewheel_arm_lease() this is one store: no system call, no
 * barrier, and no word with the kernel, which looks when the old deadline comes.
 * So an earlier deadline is heeded no sooner than that, and a timewheel_stop() is
 * not noticed.  For any other timeout it is timewheel_rearm().
 *
 * Return: as timewheel_rearm(); for a lease 0 or -ENOENT.
 */
int timewheel_touch(struct timewheel *tw, uint64_t id, uint64_t deadline_ns);

/**
 * timewheel_cancel() - see that a timeout is not heard of any more
 * @tw: the handle
 * @id: which
 *
 * Return: 0, and from now on no event of it is delivered, not even one that is on
 * its way; -ENOENT if its last event was delivered already, if it was cancelled, or
 * never was; with rings -EAGAIN, as timewheel_arm(); -ENOMEM.
 */
int timewheel_cancel(struct timewheel *tw, uint64_t id);

/**
 * timewheel_batch() - many operations at once
 * @tw: the handle
 * @ops: see <linux/timewheel.h>.  ARM fills @id, and each @result is set
 * @nr: how many
 *
 * They are done in order, and one that fails does not keep the next from being
 * done.  Each means what the function for one of it means, with the same errors in
 * its result; CANCEL, too, stops an event that is on its way.  @eventfd is -1 for
 * none.  Rings take no TIMEWHEEL_NO_EVENT and no eventfd of a timeout's own
 * (-EINVAL), and with TIMEWHEEL_LEASE, which only they take, the deadline is in
 * @expires_ns like any other.  TIMEWHEEL_OWN_ID is -EINVAL: ids are the library's.
 *
 * Return: how many operations were looked at; fewer than @nr if rings take no more
 * until events have been drained, and -EAGAIN if not even the first; or -ENOMEM.
 */
int timewheel_batch(struct timewheel *tw, struct timewheel_op *ops, unsigned int nr);

/**
 * typedef timewheel_event_fn - is given an event
 * @tw: the handle; all calls but timewheel_close() may be made
 * @event: what happened; valid until this returns
 * @data: that of timewheel_drain()
 *
 * @event->flags says what:
 *
 *	TIMEWHEEL_EVENT_EXPIRED		@result is how many periods ended, 1 for a
 *					one-shot
 *	TIMEWHEEL_EVENT_UNPROCESSED	handed back by timewheel_stop()
 *	TIMEWHEEL_EVENT_FAILED		rings: the kernel could not arm it after all,
 *					for @result
 *
 * and TIMEWHEEL_EVENT_LAST with it that the id is no more.
 */
typedef void timewheel_event_fn(struct timewheel *tw,
				const struct timewheel_event *event, void *data);

/**
 * timewheel_drain() - deliver the events that wait
 * @tw: the handle
 * @max: deliver at most so many, 0 for all there are
 * @fn: called for each, in the order in which they came
 * @data: for @fn
 *
 * It does not wait, and returns 0 only if there is nothing left.
 *
 * Return: how many were delivered; an error only if none was.
 */
int timewheel_drain(struct timewheel *tw, unsigned int max, timewheel_event_fn *fn,
		    void *data);

/**
 * timewheel_wait() - wait until timewheel_drain() has something to do
 * @tw: the handle
 * @timeout_ms: for how long, -1 for ever
 *
 * What there is may come to nothing: the event of a timeout that was cancelled.
 *
 * Return: 1; 0 if the time was over; -EINTR if a signal came.
 */
int timewheel_wait(struct timewheel *tw, int timeout_ms);

/**
 * timewheel_stop() - cancel all, and take nothing more
 * @tw: the handle
 *
 * When it returns, each timeout that was pending has an event,
 * TIMEWHEEL_EVENT_UNPROCESSED, or TIMEWHEEL_EVENT_EXPIRED if it did so just then.
 * With rings some of them may come only when others have been drained.
 *
 * Return: 0.
 */
int timewheel_stop(struct timewheel *tw);

/**
 * timewheel_info() - what the module and the context's wheel are
 * @tw: the handle
 * @info: filled, its size included
 *
 * Return: 0.
 */
int timewheel_info(struct timewheel *tw, struct timewheel_info *info);

/**
 * timewheel_query() - look at a timeout
 * @tw: the handle
 * @query: @id says which; filled
 *
 * Return: 0; -ENOENT as timewheel_cancel(); -EINVAL for flags or reserved fields
 * that are not 0; with rings -EAGAIN, as timewheel_arm().
 */
int timewheel_query(struct timewheel *tw, struct timewheel_query *query);

/**
 * timewheel_list() - walk over the pending timeouts
 * @tw: the handle
 * @list: see <linux/timewheel.h>
 *
 * Return: 0; -EINVAL, -EFAULT, -ENOMEM; with rings -EAGAIN, as timewheel_arm().
 */
int timewheel_list(struct timewheel *tw, struct timewheel_list *list);

/**
 * timewheel_stats() - the books of the context
 * @tw: the handle
 * @stats: filled, its size included
 *
 * Return: 0; with rings -EAGAIN, as timewheel_arm().
 */
int timewheel_stats(struct timewheel *tw, struct timewheel_stats *stats);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* LIBTIMEWHEEL_H */
