// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wheels: made, stopped by anybody, and destroyed while others still have
 * their hands on them.
 */

#include <linux/slab.h>

#include "stress.h"
#include "../../module/compat.h"

/* As short as an emulated CPU can follow. */
#define STRESS_TICK	(250 * (u64)NSEC_PER_USEC)

static const struct timewheel_params stress_shapes[PLACES] = {
	[PLACE_PLAIN] = { .name = "stress-plain", .tick_ns = STRESS_TICK },
	[PLACE_LIMIT] = { .name = "stress-limit", .tick_ns = STRESS_TICK,
			  .slots = 4, .levels = 1, .max_pending = 12 },
	[PLACE_MORTAL] = { .name = "stress-mortal", .tick_ns = STRESS_TICK,
			   .slots = 4, .levels = 3, .clockid = CLOCK_BOOTTIME },
	[PLACE_WORK] = { .name = "stress-work", .tick_ns = STRESS_TICK,
			 .slots = 16, .levels = 2 },
};

static void stress_wheel_people(struct stress_wheel *sw)
{
	unsigned int i;

	for (i = 0; i < STRESS_CITIZENS; i++)
		owner_init(&sw->citizens[i], sw->stress, sw,
			   CITIZEN_QUIET + i % 3);
	works_init(sw);
}

/* One more wheel; the caller publishes it. */
struct stress_wheel *stress_wheel_new(struct stress *s, enum stress_place place,
				      u32 seed)
{
	struct stress_wheel *sw = kzalloc_obj(*sw, GFP_KERNEL);

	if (!sw)
		return NULL;
	sw->tally = alloc_percpu(struct stress_tally);
	if (!sw->tally)
		goto free;
	sw->stress = s;
	sw->place = place;
	prandom_seed_state(&sw->rnd, seed);
	stress_wheel_people(sw);
	sw->wheel = timewheel_create(&stress_shapes[place]);
	if (IS_ERR(sw->wheel))
		goto free_tally;
	return sw;

free_tally:
	free_percpu(sw->tally);
free:
	kfree(sw);
	return NULL;
}

/*
 * Anybody who may sleep.  @listed: with a list to hand back to; works have no
 * cancelled callback, so for them there always is one.  For nomads there is none:
 * they may be armed elsewhere before they are taken off it.
 */
void stress_wheel_stop(struct stress_wheel *sw, bool listed)
{
	struct timewheel_timeout *t, *next;
	LIST_HEAD(list);
	int ret;

	if (sw->place == PLACE_WORK)
		listed = true;
	else if (sw->stress->with_nomads)
		listed = false;
	if (!listed)
		WRITE_ONCE(sw->silent, true);
	ret = timewheel_stop(sw->wheel, listed ? &list : NULL);
	call_result(sw, ret, 0, 0, 0);
	list_for_each_entry_safe(t, next, &list, node.link) {
		list_del_init(&t->node.link);
		if (sw->place == PLACE_WORK)
			work_back(t);
		else
			owner_back(t);
	}
}

/* Nobody can reach it any more: compare its books, and let go of it. */
void stress_wheel_bury(struct stress_wheel *sw)
{
	unsigned int i;

	for (i = 0; i < STRESS_SHARED; i++)
		shared_replace(sw, i, NULL);
	stress_wheel_stop(sw, true);
	books_compare_wheel(sw);
	timewheel_destroy(sw->wheel);
	sw->stress->buried++;
	free_percpu(sw->tally);
	kfree(sw);
}

/* Another wheel in its place; stopped before or after others lose sight of it. */
void stress_wheel_replace(struct stress *s, enum stress_place place,
			  struct rnd_state *rnd)
{
	struct stress_wheel *old, *new;

	new = stress_wheel_new(s, place, prandom_u32_state(rnd));
	KUNIT_EXPECT_NOT_NULL(s->test, new);
	if (!new)
		return;
	old = rcu_dereference_protected(s->wheels[place], true);
	if (random_below(rnd, 2))
		stress_wheel_stop(old, random_below(rnd, 2));
	rcu_assign_pointer(s->wheels[place], new);
	if (random_below(rnd, 2))
		stress_wheel_stop(old, random_below(rnd, 2));
	/* Threads hold the one, the others the other. */
	synchronize_srcu(&s->srcu);
	synchronize_rcu();
	stress_wheel_bury(old);
}

/* One for a moment, of any shape, with a timeout that is handed back. */
void stress_wheel_brief(struct stress *s, struct rnd_state *rnd)
{
	const struct timewheel_params params = {
		.name = "stress-brief",
		.tick_ns = NSEC_PER_MSEC,
		.slots = 1 + random_below(rnd, 64),
		.levels = 1 + random_below(rnd, 4),
		.flags = TIMEWHEEL_BIND_CPU,
		.cpu = raw_smp_processor_id(),
	};
	struct stress_wheel *sw = rcu_dereference_protected(s->wheels[PLACE_PLAIN], true);
	struct timewheel *wheel = timewheel_create(&params);
	struct stress_owner o = {};
	LIST_HEAD(list);

	if (IS_ERR(wheel)) {
		count(sw, COUNT_ODD);
		return;
	}
	owner_init(&o, s, sw, KEEPER);
	if (random_below(rnd, 2) && timewheel_start(wheel))
		count(sw, COUNT_ODD);
	if (timewheel_add(wheel, &o.p.timeout, STRESS_FAR) ||
	    timewheel_rearm(&o.p.timeout, U64_MAX) ||
	    timewheel_nr_pending(wheel) != 1 ||
	    timewheel_stop(wheel, &list) ||
	    list_first_entry_or_null(&list, struct timewheel_timeout, node.link) != &o.p.timeout ||
	    !list_is_singular(&list) ||
	    timewheel_start(wheel) != -ESHUTDOWN ||
	    timewheel_add(wheel, &o.p.timeout, 0) != -ESHUTDOWN ||
	    timewheel_rearm(&o.p.timeout, 0) != -ENOENT ||
	    timewheel_cancel_sync(&o.p.timeout))
		count(sw, COUNT_ODD);
	timewheel_destroy(wheel);
	this_cpu_add(sw->tally->n[COUNT_OPERATIONS], 10);
	atomic_inc(&s->brief);
}
