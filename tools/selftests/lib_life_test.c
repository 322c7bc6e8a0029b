// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library, with whatever a program may do in any order: each timeout ends once.
 *
 * A few timeouts, so that ids' indices come again all the time, are armed, moved,
 * touched and cancelled at random, with events drained now and then, a few at a time.
 * A model says what must hold: a timeout is delivered once, not before its last
 * deadline, and not if it was cancelled.  The rings are small enough to be full most
 * of the time, and the kernel so far behind that it refuses much.
 */
#include "lib_support.h"

#define SLOTS	12
#define STEPS	30000

enum life {
	FREE,
	PENDING,
};

/**
 * struct slot - a timeout of the model
 * @life: whether it is there
 * @id: what it is called
 * @user_data: its cookie, which no other has
 * @deadline_ns: what was last asked for; it may have expired before that
 * @earliest_ns: the earliest deadline it has had
 */
struct slot {
	enum life life;
	uint64_t id;
	uint64_t user_data;
	uint64_t deadline_ns;
	uint64_t earliest_ns;
};

struct model {
	struct slot slots[SLOTS];
	uint64_t cookie;
	uint64_t seed;
	unsigned long armed, cancelled, delivered, again;
	bool leases;
};

static uint64_t draw(struct model *m, uint64_t below)
{
	return random_next(&m->seed) % below;
}

static uint64_t draw_deadline(struct timewheel *tw, struct model *m)
{
	uint64_t now = timewheel_now(tw);

	switch (draw(m, 4)) {
	case 0:
		return now + HOUR;
	case 1:
		return now + draw(m, 5 * MS);
	default:
		return now;
	}
}

static void delivered(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	struct model *m = data;
	struct slot *s = NULL;
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (m->slots[i].life == PENDING && m->slots[i].id == event->id)
			s = &m->slots[i];
	/* Neither twice, nor after it was cancelled. */
	ASSERT_TRUE(s);
	EXPECT_EQ(s->user_data, event->user_data);
	EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST, event->flags);
	EXPECT_LE(s->earliest_ns, event->deadline_ns);
	EXPECT_LE(event->deadline_ns, timewheel_now(tw));
	s->life = FREE;
	m->delivered++;
}

static void arm_slot(struct timewheel *tw, struct model *m, struct slot *s)
{
	uint64_t deadline_ns = draw_deadline(tw, m), id;
	bool lease = m->leases && draw(m, 2);
	int ret;

	if (lease)
		ret = timewheel_arm_lease(tw, deadline_ns, m->cookie, &id);
	else
		ret = timewheel_arm_at(tw, deadline_ns, m->cookie, &id);
	if (ret == -EAGAIN) {
		m->again++;
		return;
	}
	ASSERT_EQ(0, ret);
	*s = (struct slot){
		.life = PENDING, .id = id, .user_data = m->cookie++,
		.deadline_ns = deadline_ns, .earliest_ns = deadline_ns,
	};
	m->armed++;
}

static void move_slot(struct timewheel *tw, struct model *m, struct slot *s)
{
	uint64_t deadline_ns = draw_deadline(tw, m);
	bool touch = draw(m, 2);
	int ret;

	if (touch && deadline_ns < s->deadline_ns)
		return;
	ret = touch ? timewheel_touch(tw, s->id, deadline_ns) :
		      timewheel_rearm(tw, s->id, deadline_ns);
	if (ret == -EAGAIN) {
		m->again++;
		return;
	}
	/* Calls say so when it has expired, and then the event comes. */
	if (ret) {
		EXPECT_EQ(-ENOENT, ret);
		return;
	}
	s->deadline_ns = deadline_ns;
	if (deadline_ns < s->earliest_ns)
		s->earliest_ns = deadline_ns;
}

static void cancel_slot(struct timewheel *tw, struct model *m, struct slot *s)
{
	int ret = timewheel_cancel(tw, s->id);

	if (ret == -EAGAIN) {
		m->again++;
		return;
	}
	/* The event has not been delivered, so it is in time. */
	ASSERT_EQ(0, ret);
	EXPECT_EQ(-ENOENT, timewheel_cancel(tw, s->id));
	s->life = FREE;
	m->cancelled++;
}

static void step(struct timewheel *tw, struct model *m)
{
	struct slot *s = &m->slots[draw(m, SLOTS)];

	/* The kernel gets its turn, and is heard seldom: events wait, and it is behind. */
	if (!draw(m, 50))
		ASSERT_LE(0, timewheel_wait(tw, 1));
	if (!draw(m, 30))
		ASSERT_LE(0, timewheel_drain(tw, draw(m, 8), delivered, m));
	if (s->life == FREE)
		arm_slot(tw, m, s);
	else if (!draw(m, 6))
		cancel_slot(tw, m, s);
	else if (!draw(m, 2))
		move_slot(tw, m, s);
}

/* All that is left is brought to its end. */
static void finish(struct timewheel *tw, struct model *m)
{
	unsigned int i, left;
	int ret;

	for (i = 0; i < SLOTS; i++)
		while (m->slots[i].life == PENDING) {
			ret = timewheel_rearm(tw, m->slots[i].id, 0);
			m->slots[i].earliest_ns = 0;
			if (ret != -EAGAIN)
				break;
			ASSERT_LE(0, timewheel_drain(tw, 0, delivered, m));
		}
	do {
		ASSERT_LE(0, timewheel_drain(tw, 0, delivered, m));
		for (left = 0, i = 0; i < SLOTS; i++)
			left += m->slots[i].life == PENDING;
		if (left)
			ASSERT_EQ(1, timewheel_wait(tw, PATIENCE_MS));
	} while (left);
	expect_drained(tw);
}

static struct timewheel_stats live(const struct timewheel_options *options, uint64_t seed)
{
	struct timewheel *tw = lib_open(options);
	struct timewheel_stats stats;
	struct model m = {
		.seed = seed,
		.leases = options && options->flags & TIMEWHEEL_OPEN_LEASES,
	};
	unsigned int i;

	for (i = 0; i < STEPS; i++)
		step(tw, &m);
	finish(tw, &m);
	stats = lib_stats(tw);
	EXPECT_EQ(m.armed, m.delivered + m.cancelled);
	EXPECT_EQ(0, stats.pending);
	EXPECT_LE(m.delivered, stats.fired);
	test_say("armed %lu, cancelled %lu, delivered %lu, EAGAIN %lu; the kernel refused %llu",
		 m.armed, m.cancelled, m.delivered, m.again,
		 (unsigned long long)stats.rejected);
	lib_close(tw);
	return stats;
}

TEST_LIMIT(calls, 600)
{
	live(NULL, 1);
}

TEST_LIMIT(rings, 600)
{
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_RINGS, .capacity = SLOTS,
	};

	EXPECT_LT(0, live(&options, 2).rejected);
}

TEST_LIMIT(small_rings, 600)
{
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_RINGS, .capacity = SLOTS,
		.sq_entries = 4, .cq_entries = 2,
	};

	EXPECT_LT(0, live(&options, 3).rejected);
}

TEST_LIMIT(small_rings_and_leases, 600)
{
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_RINGS | TIMEWHEEL_OPEN_LEASES, .capacity = SLOTS,
		.sq_entries = 16, .cq_entries = 1,
	};

	EXPECT_LT(0, live(&options, 4).rejected);
}

TEST_LIMIT(tiny_rings, 600)
{
	const struct timewheel_options options = {
		.flags = TIMEWHEEL_OPEN_RINGS | TIMEWHEEL_OPEN_LEASES, .capacity = SLOTS,
		.sq_entries = 1, .cq_entries = 1,
	};

	EXPECT_LT(0, live(&options, 5).rejected);
}
