// SPDX-License-Identifier: MIT
/*
 * What works on a timeout, an event, a batch of them: the transport does it.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>

#include "lib.h"

#define NS_PER_S	1000000000ULL

uint64_t timewheel_now(const struct timewheel *tw)
{
	struct timespec ts;

	clock_gettime(tw->clockid, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int timewheel_arm(struct timewheel *tw, uint64_t delay_ns, uint64_t user_data,
		  uint64_t *id)
{
	return tw->transport->arm(tw, 0, delay_ns, user_data, id);
}

int timewheel_arm_at(struct timewheel *tw, uint64_t deadline_ns, uint64_t user_data,
		     uint64_t *id)
{
	return tw->transport->arm(tw, TIMEWHEEL_ABS, deadline_ns, user_data, id);
}

int timewheel_arm_lease(struct timewheel *tw, uint64_t deadline_ns,
			uint64_t user_data, uint64_t *id)
{
	if (!tw->ids.leases)
		return -EINVAL;
	return tw->transport->arm(tw, TIMEWHEEL_ABS | TIMEWHEEL_LEASE, deadline_ns,
				  user_data, id);
}

int timewheel_rearm(struct timewheel *tw, uint64_t id, uint64_t deadline_ns)
{
	return tw->transport->rearm(tw, id, deadline_ns);
}

/* The one that counts: two loads and a store. */
int timewheel_touch(struct timewheel *tw, uint64_t id, uint64_t deadline_ns)
{
	if (__builtin_expect(!ids_match(&tw->ids, id, GENERATION_LEASE), 0))
		return tw->transport->rearm(tw, id, deadline_ns);
	__atomic_store_n(&tw->ids.leases[id_index(id)], deadline_ns, __ATOMIC_RELAXED);
	return 0;
}

int timewheel_cancel(struct timewheel *tw, uint64_t id)
{
	return tw->transport->cancel(tw, id);
}

int timewheel_batch(struct timewheel *tw, struct timewheel_op *ops, unsigned int nr)
{
	return tw->transport->batch(tw, ops, nr < INT_MAX ? nr : INT_MAX);
}

int timewheel_drain(struct timewheel *tw, unsigned int max, timewheel_event_fn *fn,
		    void *data)
{
	if (!max || max > INT_MAX)
		max = INT_MAX;
	return tw->transport->drain(tw, max, fn, data);
}

int timewheel_wait(struct timewheel *tw, int timeout_ms)
{
	struct pollfd pfd = { .fd = tw->fd, .events = POLLIN };
	int ret;

	if (tw->transport->ready(tw))
		return 1;
	ret = poll(&pfd, 1, timeout_ms);
	return ret < 0 ? -errno : ret;
}

int timewheel_stop(struct timewheel *tw)
{
	return tw->transport->stop(tw);
}
