/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All calls from all contexts at once, on wheels that come and go.
 *
 *   actors.c  threads, softirqs and hard interrupts, each with random numbers
 *   steps.c   what an actor does next
 *   owners.c  what the timeouts are in, and their callbacks
 *   works.c   the same of those with a work item
 *   wheels.c  the wheels, made and destroyed meanwhile
 *   books.c   what each wheel says against what was returned and called back
 *
 * What is counted here is counted per CPU without a locked instruction, so that
 * the counting does not order what the wheel should have ordered itself.
 */
#ifndef TIMEWHEEL_STRESS_H
#define TIMEWHEEL_STRESS_H

#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/refcount.h>
#include <linux/srcu.h>

#include "../compat.h"
#include "wheel.h"

#define STRESS_CITIZENS	24U
#define STRESS_SHARED	8U
#define STRESS_WORKS	6U
#define STRESS_NOMADS	2U
#define STRESS_FAR	((u64)3600 * NSEC_PER_SEC)

/**
 * enum stress_place - what a wheel is there for
 * @PLACE_PLAIN: the default shape; lives as long as the round
 * @PLACE_LIMIT: four slots, one level, and few may be pending
 * @PLACE_MORTAL: stopped, destroyed and made anew all the time
 * @PLACE_WORK: the same, with works only
 * @PLACES: how many there are
 */
enum stress_place {
	PLACE_PLAIN,
	PLACE_LIMIT,
	PLACE_MORTAL,
	PLACE_WORK,
	PLACES,
};

/**
 * enum stress_kind - how long an owner lives, and who may call for it
 * @CITIZEN_QUIET: as long as its wheel; anybody; no cancelled callback
 * @CITIZEN_TOLD: the same with one
 * @CITIZEN_PERIODIC: the same, armed as periodic only
 * @NOMAD: as long as the round, on any wheel; no cancelled callback
 * @SHARED: counts its users, of whom the wheel is one while it is armed
 * @SPENDER: whoever armed it forgot it: the callback frees it
 * @KEEPER: the same, far away, so that who armed it can cancel it
 */
enum stress_kind {
	CITIZEN_QUIET,
	CITIZEN_TOLD,
	CITIZEN_PERIODIC,
	NOMAD,
	SHARED,
	SPENDER,
	KEEPER,
};

/**
 * enum stress_count - what was returned and called back
 * @COUNT_OPERATIONS: calls
 * @COUNT_ARMED: adds that returned 0, and expiries of periodic ones
 * @COUNT_REJECTED: adds that did not
 * @COUNT_FIRED: expired callbacks
 * @COUNT_OVERRUNS: what those of periodic ones were told
 * @COUNT_TOLD: cancelled callbacks
 * @COUNT_CANCELLED: cancels that returned true, of those without one
 * @COUNT_BACK: handed back by a stop
 * @COUNT_EARLY: expired callbacks before the deadline
 * @COUNT_ODD: results that the call does not have
 * @COUNTS: how many there are
 */
enum stress_count {
	COUNT_OPERATIONS,
	COUNT_ARMED,
	COUNT_REJECTED,
	COUNT_FIRED,
	COUNT_OVERRUNS,
	COUNT_TOLD,
	COUNT_CANCELLED,
	COUNT_BACK,
	COUNT_EARLY,
	COUNT_ODD,
	COUNTS,
};

/**
 * struct stress_tally - the counts of a wheel, or of the run, on one CPU
 * @n: by enum stress_count
 */
struct stress_tally {
	u64 n[COUNTS];
};

/**
 * struct stress_owner - what a timeout is in
 * @p: the timeout, periodic or not
 * @stress: the run
 * @home: its wheel; NULL for a nomad
 * @kind: enum stress_kind
 * @deadline: of a SPENDER, which is not moved
 * @refs: of a SHARED
 * @rcu: frees a SHARED
 * @armed: of a citizen or a nomad: adds that returned 0
 * @fired: expired callbacks
 * @told: cancelled callbacks
 * @cancelled: cancels that returned true
 * @back: times handed back
 */
struct stress_owner {
	struct timewheel_periodic p;
	struct stress *stress;
	struct stress_wheel *home;
	enum stress_kind kind;
	u64 deadline;
	refcount_t refs;
	struct rcu_head rcu;
	atomic_t armed;
	atomic_t fired;
	atomic_t told;
	atomic_t cancelled;
	atomic_t back;
};

/**
 * struct stress_work - what a work is in
 * @w: the timeout with its work
 * @home: its wheel
 * @hired: its function frees it
 */
struct stress_work {
	struct timewheel_work w;
	struct stress_wheel *home;
	bool hired;
};

/**
 * struct stress_wheel - a wheel and who lives on it
 * @wheel: the wheel
 * @stress: the run
 * @place: what it is there for
 * @tally: what was counted of it
 * @rnd: random numbers of its callbacks, of which there is one at a time
 * @citizens: they stay
 * @shared: they come and go
 * @works: they stay
 * @hired: works allocated that free themselves
 * @ran: works that ran, those hired
 * @runs: works that ran, all of them
 * @silent: a stop may have ended what has no callback
 */
struct stress_wheel {
	struct timewheel *wheel;
	struct stress *stress;
	enum stress_place place;
	struct stress_tally __percpu *tally;
	struct rnd_state rnd;
	struct stress_owner citizens[STRESS_CITIZENS];
	struct stress_owner __rcu *shared[STRESS_SHARED];
	struct stress_work works[STRESS_WORKS];
	atomic64_t hired;
	atomic64_t ran;
	atomic64_t runs;
	bool silent;
};

/**
 * struct stress_sum - a tally and the books it is held against
 * @own: what was counted
 * @books: what the wheel says
 * @overruns: what the wheel says
 * @silent: ended by a stop, without a callback
 */
struct stress_sum {
	struct stress_tally own;
	struct books_sum books;
	u64 overruns;
	u64 silent;
};

/**
 * struct stress - a round
 * @test: the case; only its own thread may use it
 * @srcu: threads hold it while they use a wheel; atomic contexts hold RCU
 * @wheels: by place
 * @tally: what can't be told by wheel: the callbacks of nomads
 * @nomads: they go from wheel to wheel
 * @with_nomads: there are some: so books are compared in sum only
 * @total: of wheels that are gone
 * @operations: calls on wheels that are gone
 * @buried: wheels that are gone
 * @brief: wheels that actors made for a moment
 * @live: owners allocated and not freed
 * @ending: callbacks arm nothing any more
 * @stop: actors end
 */
struct stress {
	struct kunit *test;
	struct srcu_struct srcu;
	struct stress_wheel __rcu *wheels[PLACES];
	struct stress_tally __percpu *tally;
	struct stress_owner nomads[STRESS_NOMADS];
	bool with_nomads;
	struct stress_sum total;
	u64 operations;
	unsigned int buried;
	atomic_t brief;
	atomic_t live;
	bool ending;
	bool stop;
};

/* One more, of a wheel or of the run. */
#define count(of, what)	this_cpu_inc((of)->tally->n[what])

static inline u32 random_below(struct rnd_state *rnd, u32 end)
{
	return prandom_u32_state(rnd) % end;
}

/* Within a tick of now, on either side. */
static inline u64 random_deadline(struct stress_wheel *sw, struct rnd_state *rnd)
{
	u64 tick = sw->wheel->tick_ns;

	return timewheel_now(sw->wheel) - tick + random_below(rnd, 2 * tick);
}

/* owners.c */
void owner_init(struct stress_owner *o, struct stress *s,
		struct stress_wheel *home, enum stress_kind kind);
void owner_add(struct stress_wheel *sw, struct stress_owner *o,
	       struct rnd_state *rnd);
void owner_move(struct stress_wheel *sw, struct stress_owner *o,
		struct rnd_state *rnd);
void owner_cancel(struct stress_wheel *sw, struct stress_owner *o);
void owner_back(struct timewheel_timeout *t);
struct stress_owner *shared_get(struct stress_wheel *sw, unsigned int i);
void shared_put(struct stress_owner *o);
void shared_replace(struct stress_wheel *sw, unsigned int i,
		    struct stress_owner *by);
void shared_add(struct stress_wheel *sw, struct stress_owner *o,
		struct rnd_state *rnd);
struct stress_owner *owner_alloc(struct stress_wheel *sw, enum stress_kind kind,
				 gfp_t gfp);
void spender_add(struct stress_wheel *sw, struct rnd_state *rnd, gfp_t gfp);
struct stress_owner *keeper_add(struct stress_wheel *sw, gfp_t gfp);
void keeper_end(struct stress_owner *o, struct rnd_state *rnd);
void call_result(struct stress_wheel *sw, int ret, int a, int b, int c);

/* works.c */
void works_init(struct stress_wheel *sw);
void work_step(struct stress_wheel *sw, struct rnd_state *rnd, bool may_sleep,
	       bool may_alloc);
void work_back(struct timewheel_timeout *t);

/* wheels.c */
struct stress_wheel *stress_wheel_new(struct stress *s, enum stress_place place,
				      u32 seed);
void stress_wheel_stop(struct stress_wheel *sw, bool listed);
void stress_wheel_replace(struct stress *s, enum stress_place place,
			  struct rnd_state *rnd);
void stress_wheel_bury(struct stress_wheel *sw);
void stress_wheel_brief(struct stress *s, struct rnd_state *rnd);

/* books.c */
void tally_add(struct stress_tally *sum, struct stress_tally __percpu *tally);
void books_compare_wheel(struct stress_wheel *sw);
void books_compare_total(struct stress *s);

/* steps.c */
void stress_step(struct stress *s, struct rnd_state *rnd, bool may_sleep,
		 bool may_alloc);

/* actors.c */
int actors_start(struct stress *s, u32 seed);
void actors_stop(struct stress *s);

#endif /* TIMEWHEEL_STRESS_H */
