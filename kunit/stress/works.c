// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeouts with a work item.  Their expired callback is the module's own, so
 * what is counted here is how often the works ran.
 */

#include <linux/delay.h>
#include <linux/slab.h>

#include "stress.h"
#include "../../module/compat.h"

/* Arm it; a stop or the limit may refuse, and others may be faster. */
static bool work_add(struct stress_wheel *sw, struct stress_work *work,
		     s64 delay_ns)
{
	/* Before it may have run, and be gone. */
	bool hired = work->hired;
	int ret = timewheel_work_add(sw->wheel, &work->w, delay_ns);

	call_result(sw, ret, -EBUSY, -ESHUTDOWN, -ENOSPC);
	if (ret) {
		count(sw, COUNT_REJECTED);
		return false;
	}
	count(sw, COUNT_ARMED);
	if (hired)
		atomic64_inc(&sw->hired);
	return true;
}

static void work_free(struct stress_work *work)
{
	atomic_dec(&work->home->stress->live);
	kfree(work);
}

static void work_fn(struct timewheel_work *w)
{
	struct stress_work *work = container_of(w, struct stress_work, w);
	struct stress_wheel *sw = work->home;
	s64 runs = atomic64_inc_return(&sw->runs);
	bool hired = work->hired;

	if (runs % 16 == 0)
		usleep_range(20, 100);
	if (runs % 8 == 1) {
		count(sw, COUNT_OPERATIONS);
		if (timewheel_stop(sw->wheel, NULL) != -EDEADLK)
			count(sw, COUNT_ODD);
	}
	if (hired)
		atomic64_inc(&sw->ran);
	/* Anew from itself, which is its own only if it was hired. */
	if (!READ_ONCE(sw->stress->ending) && runs % 4 == 2 &&
	    work_add(sw, work, 0))
		return;
	if (hired)
		work_free(work);
}

static void work_init(struct stress_wheel *sw, struct stress_work *work, bool hired)
{
	work->home = sw;
	work->hired = hired;
	timewheel_work_init(&work->w, NULL, work_fn);
}

void works_init(struct stress_wheel *sw)
{
	unsigned int i;

	for (i = 0; i < STRESS_WORKS; i++)
		work_init(sw, &sw->works[i], false);
}

static void work_hire(struct stress_wheel *sw, s64 delay_ns, gfp_t gfp)
{
	struct stress_work *work = kzalloc_obj(*work, gfp | __GFP_NOWARN);

	if (!work)
		return;
	atomic_inc(&sw->stress->live);
	work_init(sw, work, true);
	if (!work_add(sw, work, delay_ns))
		work_free(work);
}

void work_step(struct stress_wheel *sw, struct rnd_state *rnd, bool may_sleep,
	       bool may_alloc)
{
	struct stress_work *work = &sw->works[random_below(rnd, STRESS_WORKS)];
	s64 delay = random_below(rnd, sw->wheel->tick_ns);
	u64 at = random_deadline(sw, rnd);

	switch (random_below(rnd, 16)) {
	case 0:
		if (may_sleep) {
			count(sw, COUNT_OPERATIONS);
			timewheel_work_cancel_sync(&work->w);
			break;
		}
		fallthrough;
	case 1 ... 2:
		count(sw, COUNT_OPERATIONS);
		timewheel_cancel(&work->w.timeout);
		break;
	case 3 ... 5:
		call_result(sw, timewheel_work_rearm(&work->w, at), -ENOENT,
			    -ESHUTDOWN, 0);
		break;
	case 6:
		count(sw, COUNT_OPERATIONS);
		timewheel_pending(&work->w.timeout);
		break;
	case 7 ... 9:
		if (may_alloc) {
			work_hire(sw, delay, may_sleep ? GFP_KERNEL : GFP_ATOMIC);
			break;
		}
		fallthrough;
	default:
		work_add(sw, work, delay);
	}
}

/* A stop handed it back. */
void work_back(struct timewheel_timeout *t)
{
	struct stress_work *work = container_of(t, struct stress_work, w.timeout);
	struct stress_wheel *sw = work->home;

	count(sw, COUNT_BACK);
	if (!work->hired)
		return;
	atomic64_dec(&sw->hired);
	work_free(work);
}
