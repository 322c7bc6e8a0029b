// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an actor does next: a random call, of those that its context allows.
 */

#include "stress.h"

static void step_look(struct stress_wheel *sw, struct stress_owner *o)
{
	count(sw, COUNT_OPERATIONS);
	if (timewheel_pending(&o->p.timeout) && !timewheel_expires(&o->p.timeout))
		count(sw, COUNT_ODD);
	timewheel_nr_pending(sw->wheel);
}

static void step_kept(struct stress_wheel *sw, struct stress_owner *o,
		      struct rnd_state *rnd, bool may_sleep)
{
	switch (random_below(rnd, 16)) {
	case 0:
		step_look(sw, o);
		break;
	case 1 ... 3:
		owner_cancel(sw, o);
		break;
	case 4:
		/* May prevent more than one: those that are told count them. */
		if (may_sleep && o->p.timeout.ops->cancelled) {
			count(sw, COUNT_OPERATIONS);
			timewheel_cancel_sync(&o->p.timeout);
			break;
		}
		fallthrough;
	case 5 ... 9:
		owner_move(sw, o, rnd);
		break;
	default:
		owner_add(sw, o, rnd);
	}
}

static void step_shared(struct stress_wheel *sw, struct rnd_state *rnd,
			bool may_sleep, bool may_alloc)
{
	unsigned int i = random_below(rnd, STRESS_SHARED);
	struct stress_owner *o = shared_get(sw, i);
	u32 choice = random_below(rnd, 8);

	if (may_alloc && (!o || choice == 0))
		shared_replace(sw, i, owner_alloc(sw, SHARED,
						  may_sleep ? GFP_KERNEL : GFP_ATOMIC));
	if (!o)
		return;
	switch (choice) {
	case 0 ... 3:
		shared_add(sw, o, rnd);
		break;
	case 4:
		if (may_sleep) {
			count(sw, COUNT_OPERATIONS);
			timewheel_cancel_sync(&o->p.timeout);
			break;
		}
		fallthrough;
	case 5:
		owner_cancel(sw, o);
		break;
	default:
		owner_move(sw, o, rnd);
	}
	shared_put(o);
}

/* Nobody stops the wheel that a keeper is on, while there are actors. */
static void step_keeper(struct stress_wheel *sw, struct rnd_state *rnd, bool may_sleep)
{
	struct stress_owner *o;

	if (sw->place == PLACE_MORTAL)
		return;
	o = keeper_add(sw, may_sleep ? GFP_KERNEL : GFP_ATOMIC);
	if (o)
		keeper_end(o, rnd);
}

/* Anybody may stop those that go, and now and then somebody does. */
static void step_rare(struct stress *s, struct stress_wheel *sw, struct rnd_state *rnd)
{
	switch (random_below(rnd, 4)) {
	case 0:
		stress_wheel_brief(s, rnd);
		break;
	case 1:
		if (sw->place == PLACE_MORTAL || sw->place == PLACE_WORK)
			stress_wheel_stop(sw, random_below(rnd, 2));
		break;
	default:
		call_result(sw, timewheel_start(sw->wheel), -ESHUTDOWN, 0, 0);
	}
}

/**
 * stress_step - one step of an actor
 * @s: the run; the caller holds what keeps its wheels
 * @rnd: the actor's
 * @may_sleep: it is a thread
 * @may_alloc: it may at least allocate
 */
void stress_step(struct stress *s, struct rnd_state *rnd, bool may_sleep,
		 bool may_alloc)
{
	struct stress_wheel *sw;

	/* Held by SRCU or RCU, as the actor may. */
	sw = rcu_dereference_check(s->wheels[random_below(rnd, PLACES)],
				   srcu_read_lock_held(&s->srcu));
	if (may_sleep && !random_below(rnd, 8192)) {
		step_rare(s, sw, rnd);
		return;
	}
	if (sw->place == PLACE_WORK) {
		work_step(sw, rnd, may_sleep, may_alloc);
		return;
	}
	switch (random_below(rnd, 16)) {
	case 0 ... 1:
		if (may_alloc) {
			spender_add(sw, rnd, may_sleep ? GFP_KERNEL : GFP_ATOMIC);
			break;
		}
		fallthrough;
	case 2 ... 5:
		step_shared(sw, rnd, may_sleep, may_alloc);
		break;
	case 6:
		if (may_alloc) {
			step_keeper(sw, rnd, may_sleep);
			break;
		}
		fallthrough;
	case 7 ... 8:
		if (s->with_nomads) {
			step_kept(sw, &s->nomads[random_below(rnd, STRESS_NOMADS)],
				  rnd, may_sleep);
			break;
		}
		fallthrough;
	default:
		step_kept(sw, &sw->citizens[random_below(rnd, STRESS_CITIZENS)],
			  rnd, may_sleep);
	}
}
