// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the timeouts are in, and their callbacks.
 */

#include <linux/slab.h>

#include "stress.h"
#include "../../module/compat.h"

/* The call has no other results than 0 and these. */
void call_result(struct stress_wheel *sw, int ret, int a, int b, int c)
{
	count(sw, COUNT_OPERATIONS);
	if (ret && ret != a && ret != b && ret != c)
		count(sw, COUNT_ODD);
}

static struct stress_owner *owner_of(struct timewheel_timeout *t)
{
	return container_of(t, struct stress_owner, p.timeout);
}

static bool owner_is_kept(const struct stress_owner *o)
{
	return o->kind <= NOMAD;
}

/* Those without a cancelled callback count what cancel returns. */
static bool owner_is_told(const struct stress_owner *o)
{
	return o->p.timeout.ops->cancelled;
}

/* Arm one that is there anyway: how is random. */
void owner_add(struct stress_wheel *sw, struct stress_owner *o,
	       struct rnd_state *rnd)
{
	struct timewheel_timeout *t = &o->p.timeout;
	struct timewheel *wheel = sw->wheel;
	u32 tick = wheel->tick_ns;
	u64 at = random_deadline(sw, rnd);
	u32 how = random_below(rnd, 4);
	int ret;

	/* Some rest for a while, and a slow cancel finds them on another wheel. */
	if (o->kind == NOMAD && how == 2)
		at += 20 * tick;
	if (o->kind == CITIZEN_PERIODIC)
		ret = timewheel_periodic_add(wheel, &o->p, at,
					     tick / 2 + random_below(rnd, 2 * tick),
					     how == 3 ? tick : 0);
	else if (how == 0)
		ret = timewheel_add(wheel, t, (s64)random_below(rnd, 2 * tick) - tick);
	else if (how == 1)
		ret = timewheel_add_slack(wheel, t, at, random_below(rnd, 8 * tick));
	else
		ret = timewheel_add_at(wheel, t, at);

	call_result(sw, ret, -EBUSY, -ESHUTDOWN, -ENOSPC);
	if (ret) {
		count(sw, COUNT_REJECTED);
		return;
	}
	count(sw, COUNT_ARMED);
	if (owner_is_kept(o))
		atomic_inc(&o->armed);
}

void owner_move(struct stress_wheel *sw, struct stress_owner *o,
		struct rnd_state *rnd)
{
	struct timewheel_timeout *t = &o->p.timeout;
	u64 at = random_deadline(sw, rnd);

	if (random_below(rnd, 8) < 5)
		call_result(sw, timewheel_rearm(t, at), -ENOENT, -ESHUTDOWN, 0);
	else
		call_result(sw, timewheel_touch(t, at), -ENOENT, -EINVAL, 0);
}

void owner_cancel(struct stress_wheel *sw, struct stress_owner *o)
{
	count(sw, COUNT_OPERATIONS);
	if (!timewheel_cancel(&o->p.timeout) || !owner_is_kept(o))
		return;
	atomic_inc(&o->cancelled);
	if (owner_is_told(o))
		return;
	if (o->home)
		count(o->home, COUNT_CANCELLED);
	else
		count(o->stress, COUNT_CANCELLED);
}

/* A callback does one thing more, which all may do from there. */
static void owner_meddle(struct stress_owner *o)
{
	struct stress_wheel *sw = o->home;
	struct stress_owner *other;

	if (!sw || READ_ONCE(o->stress->ending))
		return;
	other = &sw->citizens[random_below(&sw->rnd, STRESS_CITIZENS)];
	switch (random_below(&sw->rnd, 16)) {
	case 0:
		owner_cancel(sw, other);
		break;
	case 1:
		/* Its own rearm would be an add, here. */
		if (other != o)
			owner_move(sw, other, &sw->rnd);
		break;
	case 2:
		owner_add(sw, other, &sw->rnd);
		break;
	case 3:
		if (owner_is_kept(o))
			owner_cancel(sw, o);
		break;
	case 4 ... 5:
		/* Anew, if nobody was faster. */
		if (owner_is_kept(o))
			owner_add(sw, o, &sw->rnd);
		break;
	case 6:
		count(sw, COUNT_OPERATIONS);
		if (timewheel_stop(sw->wheel, NULL) != -EDEADLK)
			count(sw, COUNT_ODD);
		break;
	}
}

static void owner_free(struct stress_owner *o)
{
	atomic_dec(&o->stress->live);
	kfree(o);
}

/* Armed once more, from its callback, by the only one who may. */
static bool spender_again(struct stress_owner *o)
{
	struct stress_wheel *sw = o->home;
	int ret;

	if (READ_ONCE(o->stress->ending) || random_below(&sw->rnd, 4))
		return false;
	o->deadline = random_deadline(sw, &sw->rnd);
	count(sw, COUNT_OPERATIONS);
	ret = timewheel_rearm(&o->p.timeout, o->deadline);
	if (ret) {
		if (ret != -ESHUTDOWN && ret != -ENOSPC)
			count(sw, COUNT_ODD);
		count(sw, COUNT_REJECTED);
		return false;
	}
	count(sw, COUNT_ARMED);
	return true;
}

static void shared_again(struct stress_owner *o)
{
	if (!READ_ONCE(o->stress->ending) && !random_below(&o->home->rnd, 4))
		shared_add(o->home, o, &o->home->rnd);
}

static void owner_expired(struct timewheel_timeout *t)
{
	struct stress_owner *o = owner_of(t);
	struct stress_wheel *sw = o->home;

	if (!sw) {
		count(o->stress, COUNT_FIRED);
		atomic_inc(&o->fired);
		return;
	}
	count(sw, COUNT_FIRED);
	switch (o->kind) {
	case CITIZEN_PERIODIC:
		count(sw, COUNT_ARMED);
		this_cpu_add(sw->tally->n[COUNT_OVERRUNS], timewheel_overruns(t));
		fallthrough;
	case CITIZEN_QUIET:
	case CITIZEN_TOLD:
		atomic_inc(&o->fired);
		owner_meddle(o);
		break;
	case SHARED:
		owner_meddle(o);
		shared_again(o);
		shared_put(o);
		break;
	default:
		if (timewheel_now(sw->wheel) < o->deadline)
			count(sw, COUNT_EARLY);
		owner_meddle(o);
		if (!spender_again(o))
			owner_free(o);
	}
}

static void owner_cancelled(struct timewheel_timeout *t)
{
	struct stress_owner *o = owner_of(t);

	count(o->home, COUNT_TOLD);
	owner_meddle(o);
	if (owner_is_kept(o))
		atomic_inc(&o->told);
	else if (o->kind == SHARED)
		shared_put(o);
	else
		owner_free(o);
}

/* A stop handed it back: it is ours again, and idle. */
void owner_back(struct timewheel_timeout *t)
{
	struct stress_owner *o = owner_of(t);

	if (o->home)
		count(o->home, COUNT_BACK);
	else
		count(o->stress, COUNT_BACK);
	if (owner_is_kept(o))
		atomic_inc(&o->back);
	else if (o->kind == SHARED)
		shared_put(o);
	else
		owner_free(o);
}

static const struct timewheel_ops told_ops = {
	.expired = owner_expired,
	.cancelled = owner_cancelled,
};

static const struct timewheel_ops quiet_ops = {
	.expired = owner_expired,
};

void owner_init(struct stress_owner *o, struct stress *s,
		struct stress_wheel *home, enum stress_kind kind)
{
	bool quiet = kind == CITIZEN_QUIET || kind == NOMAD;

	o->stress = s;
	o->home = home;
	o->kind = kind;
	refcount_set(&o->refs, 1);
	timewheel_timeout_init(&o->p.timeout, quiet ? &quiet_ops : &told_ops);
}

struct stress_owner *owner_alloc(struct stress_wheel *sw, enum stress_kind kind,
				 gfp_t gfp)
{
	struct stress_owner *o = kzalloc_obj(*o, gfp | __GFP_NOWARN);

	if (!o)
		return NULL;
	atomic_inc(&sw->stress->live);
	owner_init(o, sw->stress, sw, kind);
	return o;
}

static void shared_free(struct rcu_head *rcu)
{
	owner_free(container_of(rcu, struct stress_owner, rcu));
}

/* In any context, so not with kfree_rcu(). */
void shared_put(struct stress_owner *o)
{
	if (refcount_dec_and_test(&o->refs))
		call_rcu(&o->rcu, shared_free);
}

/* One of those that are there now, or NULL. */
struct stress_owner *shared_get(struct stress_wheel *sw, unsigned int i)
{
	struct stress_owner *o;

	rcu_read_lock();
	o = rcu_dereference(sw->shared[i]);
	if (o && !refcount_inc_not_zero(&o->refs))
		o = NULL;
	rcu_read_unlock();
	return o;
}

void shared_replace(struct stress_wheel *sw, unsigned int i,
		    struct stress_owner *by)
{
	struct stress_owner *o;

	o = unrcu_pointer(xchg(&sw->shared[i], RCU_INITIALIZER(by)));
	if (o)
		shared_put(o);
}

/* The wheel is one more user, until it calls back or hands it back. */
void shared_add(struct stress_wheel *sw, struct stress_owner *o,
		struct rnd_state *rnd)
{
	int ret;

	refcount_inc(&o->refs);
	ret = timewheel_add_at(sw->wheel, &o->p.timeout, random_deadline(sw, rnd));
	call_result(sw, ret, -EBUSY, -ESHUTDOWN, -ENOSPC);
	if (!ret) {
		count(sw, COUNT_ARMED);
		return;
	}
	count(sw, COUNT_REJECTED);
	shared_put(o);
}

/* Arm one and forget it. */
void spender_add(struct stress_wheel *sw, struct rnd_state *rnd, gfp_t gfp)
{
	struct stress_owner *o = owner_alloc(sw, SPENDER, gfp);
	int ret;

	if (!o)
		return;
	o->deadline = random_deadline(sw, rnd);
	ret = timewheel_add_at(sw->wheel, &o->p.timeout, o->deadline);
	call_result(sw, ret, -ESHUTDOWN, -ENOSPC, 0);
	if (!ret) {
		count(sw, COUNT_ARMED);
		return;
	}
	count(sw, COUNT_REJECTED);
	owner_free(o);
}

/* Arm one that does not fire; the caller gives it to keeper_end(). */
struct stress_owner *keeper_add(struct stress_wheel *sw, gfp_t gfp)
{
	struct stress_owner *o = owner_alloc(sw, KEEPER, gfp);
	int ret;

	if (!o)
		return NULL;
	o->deadline = U64_MAX;
	ret = timewheel_add(sw->wheel, &o->p.timeout, STRESS_FAR);
	call_result(sw, ret, -ENOSPC, 0, 0);
	if (!ret) {
		count(sw, COUNT_ARMED);
		return o;
	}
	count(sw, COUNT_REJECTED);
	owner_free(o);
	return NULL;
}

/* Move it, perhaps while it is queued, and cancel it: then it is gone. */
void keeper_end(struct stress_owner *o, struct rnd_state *rnd)
{
	struct timewheel_timeout *t = &o->p.timeout;
	struct stress_wheel *sw = o->home;
	u64 at = timewheel_now(sw->wheel) + 2 * STRESS_FAR;
	u32 moves = random_below(rnd, 4);

	while (moves--) {
		call_result(sw, timewheel_rearm(t, at), 0, 0, 0);
		call_result(sw, timewheel_touch(t, at + moves), 0, 0, 0);
		if (!timewheel_pending(t) || timewheel_expires(t) != at + moves)
			count(sw, COUNT_ODD);
	}
	count(sw, COUNT_OPERATIONS);
	if (!timewheel_cancel(t))
		count(sw, COUNT_ODD);
}
