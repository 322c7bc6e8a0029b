/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources: queues outside the kernel that the worker looks into at each pass.
 */
#ifndef TIMEWHEEL_SOURCE_H
#define TIMEWHEEL_SOURCE_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/types.h>

struct timewheel;
struct timewheel_source;

/**
 * struct source_ops - what the worker does with a source; it holds no lock
 * @promise: publish that the next pass comes at this time of the wheel's clock, or
 *	earlier
 * @waiting: whether there is something to drain
 * @drain: take what is there, at most so many; lower the budget by as many.
 *	Return whether something is left that could be taken.  Called in each pass,
 *	if need be with a budget of 0.
 */
struct source_ops {
	void (*promise)(struct timewheel_source *source, u64 wake_ns);
	bool (*waiting)(struct timewheel_source *source);
	bool (*drain)(struct timewheel_source *source, unsigned int *budget);
};

/**
 * struct timewheel_source - a queue that the worker looks into at each pass
 * @ops: what it is
 * @attach: link in &struct timewheel_sources.attach
 * @detach: link in &struct timewheel_sources.detach
 * @link: place in &struct timewheel_sources.list, the worker's alone
 */
struct timewheel_source {
	const struct source_ops *ops;
	struct llist_node attach;
	struct llist_node detach;
	struct list_head link;
};

/**
 * struct timewheel_sources - the sources of a wheel
 * @attach: those that the worker is to begin with
 * @detach: those that it is to end with
 * @list: worker: those attached, the next to be drained first
 */
struct timewheel_sources {
	struct llist_head attach;
	struct llist_head detach;
	struct list_head list;
};

void sources_init(struct timewheel_sources *sources);
void sources_change(struct timewheel_sources *sources);
void sources_promise_all(struct timewheel_sources *sources, u64 wake_ns);
bool sources_any_waiting(const struct timewheel_sources *sources);
bool sources_drain_all(struct timewheel_sources *sources, unsigned int budget);

/*
 * The worker's side is inline as far as a wheel goes that has no sources, as most
 * have none.
 */

/* At the start of a pass: carry out what was asked for. */
static inline void sources_update(struct timewheel_sources *sources)
{
	if (unlikely(!llist_empty(&sources->attach) ||
		     !llist_empty(&sources->detach)))
		sources_change(sources);
}

/* Publish a promise to all; then a full barrier, before the look at what is there. */
static inline void sources_promise(struct timewheel_sources *sources, u64 wake_ns)
{
	if (!list_empty(&sources->list))
		sources_promise_all(sources, wake_ns);
}

/* Something is there that a pass could take. */
static inline bool sources_waiting(const struct timewheel_sources *sources)
{
	return !list_empty(&sources->list) && sources_any_waiting(sources);
}

/* Take at most @budget of what is there; returns whether something is left. */
static inline bool sources_drain(struct timewheel_sources *sources,
				 unsigned int budget)
{
	return !list_empty(&sources->list) && sources_drain_all(sources, budget);
}

void source_attach(struct timewheel *wheel, struct timewheel_source *source);
void source_detach(struct timewheel *wheel, struct timewheel_source *source);

#endif /* TIMEWHEEL_SOURCE_H */
