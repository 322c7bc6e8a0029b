// SPDX-License-Identifier: GPL-2.0-only
/*
 * The books of a wheel against what its callers and callbacks saw: exactly.
 */

#include "stress.h"

static void tally_sum(struct stress_tally *sum, const struct stress_tally *t)
{
	unsigned int i;

	for (i = 0; i < COUNTS; i++)
		/* Others may be counting. */
		sum->n[i] += READ_ONCE(t->n[i]);
}

void tally_add(struct stress_tally *sum, struct stress_tally __percpu *tally)
{
	int cpu;

	for_each_possible_cpu(cpu)
		tally_sum(sum, per_cpu_ptr(tally, cpu));
}

/*
 * One that stays: each arming had one end.  Those without a cancelled callback
 * may be ended silently, once, by a stop with nobody to hand back to.
 */
static u64 books_compare_owner(struct stress *s, struct stress_owner *o,
			       bool may_be_silent)
{
	bool told = o->p.timeout.ops->cancelled;
	int fired = o->kind == CITIZEN_PERIODIC ? 0 : atomic_read(&o->fired);
	int prevented = atomic_read(told ? &o->told : &o->cancelled);
	int rest = atomic_read(&o->armed) - fired - prevented - atomic_read(&o->back);

	KUNIT_EXPECT_GE_MSG(s->test, rest, 0, "kind %d", o->kind);
	/* A nomad may be so on each wheel. */
	if (o->kind != NOMAD)
		KUNIT_EXPECT_LE_MSG(s->test, rest, !told && may_be_silent,
				    "kind %d", o->kind);
	KUNIT_EXPECT_GE(s->test, prevented, atomic_read(&o->cancelled));
	KUNIT_EXPECT_FALSE(s->test, timewheel_pending(&o->p.timeout));
	return rest;
}

/* What holds of any wheel, whoever uses it. */
static void books_compare_self(struct stress *s, struct timewheel *wheel,
			       const struct books_sum *sum)
{
	u64 timely = 0;
	unsigned int i;

	KUNIT_EXPECT_EQ(s->test, sum->pending, 0);
	KUNIT_EXPECT_EQ(s->test, sum->armed,
			sum->fired + sum->cancelled + sum->unprocessed);
	for (i = 0; i < TIMEWHEEL_LATENESS_BUCKETS; i++)
		timely += wheel->books.lateness[i];
	KUNIT_EXPECT_EQ(s->test, timely, sum->fired);
	KUNIT_EXPECT_EQ(s->test, atomic64_read(&wheel->pending), 0);
	KUNIT_EXPECT_EQ(s->test, atomic_read(&wheel->works), 0);
	KUNIT_EXPECT_EQ(s->test, wheel->core.nr, 0);
	KUNIT_EXPECT_TRUE(s->test, queues_empty(&wheel->queues));
}

static void books_compare_ends(struct stress *s, const struct stress_sum *sum)
{
	const struct stress_tally *own = &sum->own;

	KUNIT_EXPECT_EQ(s->test, sum->books.fired, own->n[COUNT_FIRED]);
	KUNIT_EXPECT_EQ(s->test, sum->overruns, own->n[COUNT_OVERRUNS]);
	KUNIT_EXPECT_EQ(s->test, sum->books.cancelled + sum->books.unprocessed,
			own->n[COUNT_TOLD] + own->n[COUNT_CANCELLED] +
			own->n[COUNT_BACK] + sum->silent);
}

static void books_compare_works(struct stress_wheel *sw, const struct stress_sum *sum)
{
	struct kunit *test = sw->stress->test;
	unsigned int i;

	/* Two expiries of one that is still queued run once. */
	KUNIT_EXPECT_LE(test, atomic64_read(&sw->runs), sum->books.fired);
	KUNIT_EXPECT_EQ(test, atomic64_read(&sw->ran), atomic64_read(&sw->hired));
	KUNIT_EXPECT_EQ(test, sum->books.unprocessed, sum->own.n[COUNT_BACK]);
	for (i = 0; i < STRESS_WORKS; i++) {
		KUNIT_EXPECT_FALSE(test, timewheel_pending(&sw->works[i].w.timeout));
		KUNIT_EXPECT_FALSE(test, work_busy(&sw->works[i].w.work));
	}
}

/* The wheel was stopped, and nobody uses it any more. */
void books_compare_wheel(struct stress_wheel *sw)
{
	struct stress *s = sw->stress;
	struct stress_sum sum = {};
	unsigned int i;

	tally_add(&sum.own, sw->tally);
	books_read(sw->wheel, &sum.books);
	sum.overruns = sw->wheel->books.overruns;
	for (i = 0; i < STRESS_CITIZENS; i++)
		sum.silent += books_compare_owner(s, &sw->citizens[i], sw->silent);

	books_compare_self(s, sw->wheel, &sum.books);
	KUNIT_EXPECT_EQ(s->test, sum.books.armed, sum.own.n[COUNT_ARMED]);
	KUNIT_EXPECT_EQ(s->test, sum.books.rejected, sum.own.n[COUNT_REJECTED]);
	KUNIT_EXPECT_EQ(s->test, sum.own.n[COUNT_EARLY], 0);
	KUNIT_EXPECT_EQ(s->test, sum.own.n[COUNT_ODD], 0);
	s->operations += sum.own.n[COUNT_OPERATIONS];
	if (sw->place == PLACE_WORK) {
		books_compare_works(sw, &sum);
		return;
	}
	if (!s->with_nomads)
		books_compare_ends(s, &sum);

	tally_sum(&s->total.own, &sum.own);
	s->total.overruns += sum.overruns;
	s->total.silent += sum.silent;
	s->total.books.armed += sum.books.armed;
	s->total.books.fired += sum.books.fired;
	s->total.books.cancelled += sum.books.cancelled;
	s->total.books.unprocessed += sum.books.unprocessed;
}

/* All wheels are gone: what nomads did can't be told by wheel. */
void books_compare_total(struct stress *s)
{
	unsigned int i;

	tally_add(&s->total.own, s->tally);
	for (i = 0; i < STRESS_NOMADS; i++)
		s->total.silent += books_compare_owner(s, &s->nomads[i], true);
	KUNIT_EXPECT_EQ(s->test, s->total.books.armed, s->total.own.n[COUNT_ARMED]);
	books_compare_ends(s, &s->total);
	KUNIT_EXPECT_EQ(s->test, atomic_read(&s->live), 0);
}
