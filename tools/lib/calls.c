// SPDX-License-Identifier: MIT
/*
 * The transport of calls: each operation is an ioctl, and events come from read().
 *
 * The kernel's answers are the program's, but for one: a CANCEL that comes after the
 * expiry and before its event was delivered.  To the kernel that is too late; here
 * the event is dropped when it is read, and the cancelling was in time.
 */
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "lib.h"

/* How long a callback in the kernel may need for what is under way. */
#define MOMENT_NS	50000

void calls_init(struct calls *calls)
{
	pthread_mutex_init(&calls->lock, NULL);
}

void calls_destroy(struct calls *calls)
{
	late_clear(&calls->late);
	pthread_mutex_destroy(&calls->lock);
}

static int calls_arm(struct timewheel *tw, unsigned int flags, uint64_t time_ns,
		     uint64_t user_data, uint64_t *id)
{
	struct timewheel_op op = {
		.opcode = TIMEWHEEL_OP_ARM,
		.flags = flags,
		.user_data = user_data,
		.expires_ns = time_ns,
		.eventfd = -1,
	};
	int ret = lib_ioctl(tw->fd, TIMEWHEEL_IOC_ARM, &op);

	if (!ret)
		*id = op.id;
	return ret;
}

static int calls_rearm(struct timewheel *tw, uint64_t id, uint64_t deadline_ns)
{
	struct timewheel_op op = {
		.opcode = TIMEWHEEL_OP_REARM,
		.flags = TIMEWHEEL_ABS,
		.id = id,
		.expires_ns = deadline_ns,
		.eventfd = -1,
	};

	return lib_ioctl(tw->fd, TIMEWHEEL_IOC_REARM, &op);
}

static int kernel_cancel(struct timewheel *tw, uint64_t id)
{
	struct timewheel_op op = {
		.opcode = TIMEWHEEL_OP_CANCEL,
		.id = id,
		.eventfd = -1,
	};

	return lib_ioctl(tw->fd, TIMEWHEEL_IOC_CANCEL, &op);
}

/* Take its events out of those that were read; true if the last was among them. */
static bool drop_read(struct calls *calls, uint64_t id)
{
	bool last = false;
	unsigned int i;

	for (i = calls->at; i < calls->nr; i++) {
		if (calls->events[i].id != id)
			continue;
		last |= calls->events[i].flags & TIMEWHEEL_EVENT_LAST;
		calls->events[i].flags = 0;
	}
	return last;
}

/* The kernel cancelled nothing: 0 if that is because its event waits, or -ENOENT. */
static int find_event(struct timewheel *tw, uint64_t id)
{
	struct timewheel_query query;
	int ret;

	for (;;) {
		query = (struct timewheel_query){ .id = id };
		ret = lib_ioctl(tw->fd, TIMEWHEEL_IOC_QUERY, &query);
		if (ret || query.flags & TIMEWHEEL_NO_EVENT)
			return -ENOENT;
		if (query.state != TIMEWHEEL_STATE_PENDING)
			return 0;
		/* The worker has it in hand, and is about to queue the event. */
		nanosleep(&(struct timespec){ .tv_nsec = MOMENT_NS }, NULL);
		/* A periodic one goes on after that. */
		if (query.interval_ns && !kernel_cancel(tw, id))
			return 0;
	}
}

/* One that was read, or is in the kernel; under the lock. */
static bool events_wait(const struct timewheel *tw)
{
	struct pollfd pfd = { .fd = tw->fd, .events = POLLIN };

	return tw->calls.at < tw->calls.nr || poll(&pfd, 1, 0);
}

/*
 * A periodic one that was cancelled in time stays in the set, though mostly no event of
 * it waits.  So before that grows: with no event at all, none is of those in there.  A
 * program may cancel for long before it has something to drain.
 */
static void trim_late(struct timewheel *tw)
{
	struct late *late = &tw->calls.late;

	if (late->nr && late_full(late) && !events_wait(tw))
		late_clear(late);
}

/* The same as cancel_late(); the id is in the set, and leaves it if no event will come. */
static int cancel_expected(struct timewheel *tw, uint64_t id, int ret)
{
	struct calls *calls = &tw->calls;
	bool last;

	if (ret > 0)
		ret = kernel_cancel(tw, id);
	last = drop_read(calls, id);
	if (ret == -ENOENT)
		ret = last ? 0 : find_event(tw, id);
	if (ret || last)
		late_remove(&calls->late, id);
	return ret;
}

/*
 * Cancel, and see that no event is delivered that waits all the same.  @ret is what the
 * kernel said, or 1 if it is still to be asked.  Under the lock nobody reads events: one
 * is in the kernel, or has been read.
 */
static int cancel_late(struct timewheel *tw, uint64_t id, int ret)
{
	struct calls *calls = &tw->calls;

	pthread_mutex_lock(&calls->lock);
	trim_late(tw);
	if (late_has(&calls->late, id))
		ret = -ENOENT;
	else if (late_add(&calls->late, id))
		ret = -ENOMEM;
	else
		ret = cancel_expected(tw, id, ret);
	pthread_mutex_unlock(&calls->lock);
	return ret;
}

static bool periodic(const struct calls *calls)
{
	return __atomic_load_n(&calls->periodic, __ATOMIC_RELAXED);
}

/* A periodic one may have an event that waits, and be cancelled in time, too. */
static int calls_cancel(struct timewheel *tw, uint64_t id)
{
	int ret;

	if (periodic(&tw->calls))
		return cancel_late(tw, id, 1);
	ret = kernel_cancel(tw, id);
	return ret == -ENOENT ? cancel_late(tw, id, ret) : ret;
}

/* All of them, unless the memory ends: a signal only interrupts. */
static int submit(struct timewheel *tw, struct timewheel_op *ops, unsigned int nr)
{
	unsigned int done = 0;
	int ret;

	while (done < nr) {
		struct timewheel_submit submit = {
			.ops = (uintptr_t)(ops + done),
			.nr = nr - done < TIMEWHEEL_SUBMIT_MAX ? nr - done :
								 TIMEWHEEL_SUBMIT_MAX,
		};

		ret = lib_ioctl(tw->fd, TIMEWHEEL_IOC_SUBMIT, &submit);
		if (ret < 0)
			return done ? (int)done : ret;
		done += ret;
	}
	return done;
}

static bool is_cancel(const struct timewheel_op *op)
{
	return op->opcode == TIMEWHEEL_OP_CANCEL;
}

/* The same, but that each cancelling is a call. */
static int submit_periodic(struct timewheel *tw, struct timewheel_op *ops,
			   unsigned int nr)
{
	unsigned int done = 0, end;
	int ret;

	while (done < nr) {
		if (is_cancel(&ops[done]) && !op_malformed(&ops[done])) {
			ops[done].result = calls_cancel(tw, ops[done].id);
			done++;
			continue;
		}
		for (end = done + 1; end < nr && !is_cancel(&ops[end]);)
			end++;
		ret = submit(tw, ops + done, end - done);
		if (ret < 0)
			return done ? (int)done : ret;
		done += ret;
	}
	return done;
}

static int calls_batch(struct timewheel *tw, struct timewheel_op *ops, unsigned int nr)
{
	struct calls *calls = &tw->calls;
	unsigned int i;
	int done;

	for (i = 0; i < nr && !periodic(calls); i++)
		if (ops[i].opcode == TIMEWHEEL_OP_ARM && ops[i].interval_ns)
			__atomic_store_n(&calls->periodic, true, __ATOMIC_RELAXED);
	if (periodic(calls))
		return submit_periodic(tw, ops, nr);

	done = submit(tw, ops, nr);
	for (i = 0; (int)i < done; i++)
		if (is_cancel(&ops[i]) && ops[i].result == -ENOENT)
			ops[i].result = cancel_late(tw, ops[i].id, -ENOENT);
	return done;
}

/* Read up to @want; @all is whether those were all there are.  Returns how many. */
static int read_events(struct timewheel *tw, unsigned int want, bool *all)
{
	struct calls *calls = &tw->calls;
	ssize_t len;

	if (want > CALLS_EVENTS)
		want = CALLS_EVENTS;
	do {
		len = read(tw->fd, calls->events, want * sizeof(calls->events[0]));
	} while (len < 0 && errno == EINTR);
	if (len < 0 && errno != EAGAIN)
		return -errno;
	/* Nothing waits any more, so nothing of those that were cancelled does. */
	if (len < 0)
		late_clear(&calls->late);
	calls->at = 0;
	calls->nr = len < 0 ? 0 : len / sizeof(calls->events[0]);
	*all = calls->nr < want;
	return calls->nr;
}

/* Whether an event is to be delivered: it may be of one that was cancelled. */
static bool wanted(struct calls *calls, const struct timewheel_event *event)
{
	if (!event->flags)
		return false;
	if (!late_has(&calls->late, event->id))
		return true;
	if (event->flags & TIMEWHEEL_EVENT_LAST)
		late_remove(&calls->late, event->id);
	return false;
}

/*
 * The next event, for a caller who lacks @want: 1, or 0 if there is none.  @all says
 * that there were no more when the caller last looked: that is enough for one who
 * has delivered some, and saves a call.
 */
static int next_event(struct timewheel *tw, unsigned int want, bool some, bool *all,
		      struct timewheel_event *event)
{
	struct calls *calls = &tw->calls;
	int ret;

	for (;;) {
		while (calls->at < calls->nr) {
			*event = calls->events[calls->at++];
			if (wanted(calls, event))
				return 1;
		}
		if (some && *all && !calls->late.nr)
			return 0;
		ret = read_events(tw, want, all);
		if (ret <= 0)
			return ret;
	}
}

static int calls_drain(struct timewheel *tw, unsigned int max, timewheel_event_fn *fn,
		       void *data)
{
	struct timewheel_event event;
	unsigned int nr = 0;
	bool all = false;
	int ret = 0;

	while (nr < max) {
		pthread_mutex_lock(&tw->calls.lock);
		ret = next_event(tw, max - nr, nr, &all, &event);
		pthread_mutex_unlock(&tw->calls.lock);
		if (ret <= 0)
			break;
		nr++;
		fn(tw, &event, data);
	}
	return nr ? (int)nr : ret;
}

static bool calls_ready(struct timewheel *tw)
{
	(void)tw;
	return false;
}

/* Under the lock: a cancelling that fails for this finds the event. */
static int calls_stop(struct timewheel *tw)
{
	int ret;

	pthread_mutex_lock(&tw->calls.lock);
	ret = lib_ioctl(tw->fd, TIMEWHEEL_IOC_STOP, NULL);
	pthread_mutex_unlock(&tw->calls.lock);
	return ret;
}

static int calls_settle(struct timewheel *tw)
{
	(void)tw;
	return 0;
}

static int calls_query(struct timewheel *tw, struct timewheel_query *query)
{
	bool cancelled;

	pthread_mutex_lock(&tw->calls.lock);
	cancelled = late_has(&tw->calls.late, query->id);
	pthread_mutex_unlock(&tw->calls.lock);
	return cancelled ? -ENOENT : lib_ioctl(tw->fd, TIMEWHEEL_IOC_QUERY, query);
}

const struct transport calls_transport = {
	.arm = calls_arm,
	.rearm = calls_rearm,
	.cancel = calls_cancel,
	.batch = calls_batch,
	.drain = calls_drain,
	.ready = calls_ready,
	.stop = calls_stop,
	.settle = calls_settle,
	.query = calls_query,
};
