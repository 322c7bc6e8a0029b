// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources: queues outside the kernel that the worker looks into at each pass.
 *
 * They keep the protocol of worker.c, with a promise of their own in place of
 * wake_ns, for whoever fills them can't read that:
 *
 *   program                               worker, before it sleeps
 *   release the tail                      publish the promise
 *   full barrier                          full barrier
 *   read the promise                      read the tail
 *
 * The list is the worker's alone.  Who wants a source on it or off it sends a
 * request; so a pass takes no lock.
 */

#include "kunit.h"
#include "source.h"
#include "wheel.h"

void sources_init(struct timewheel_sources *sources)
{
	init_llist_head(&sources->attach);
	init_llist_head(&sources->detach);
	INIT_LIST_HEAD(&sources->list);
}
EXPORT_SYMBOL_IF_KUNIT(sources_init);

/**
 * source_attach - have the worker look into a source from its next pass on
 * @wheel: the wheel
 * @source: the source, complete; its own promise is that no pass is due
 *
 * The worker is not told.  Who fills the source finds that no pass is due, and
 * calls.
 */
void source_attach(struct timewheel *wheel, struct timewheel_source *source)
{
	INIT_LIST_HEAD(&source->link);
	llist_add(&source->attach, &wheel->sources.attach);
}
EXPORT_SYMBOL_IF_KUNIT(source_attach);

/**
 * source_detach - have the worker look into a source no more
 * @wheel: the wheel
 * @source: the source
 *
 * Done when a pass has ended that began after this: worker_flush() waits for it.
 */
void source_detach(struct timewheel *wheel, struct timewheel_source *source)
{
	llist_add(&source->detach, &wheel->sources.detach);
}
EXPORT_SYMBOL_IF_KUNIT(source_detach);

/* The slow half of sources_update(). */
void sources_change(struct timewheel_sources *sources)
{
	struct timewheel_source *source, *next;
	struct llist_node *attach, *detach;

	/* In this order: whose detach is there, his attach was before. */
	detach = llist_del_all(&sources->detach);
	attach = llist_del_all(&sources->attach);
	llist_for_each_entry(source, attach, attach)
		list_add_tail(&source->link, &sources->list);
	/* Gone with the pass. */
	llist_for_each_entry_safe(source, next, detach, detach)
		list_del(&source->link);
}
EXPORT_SYMBOL_IF_KUNIT(sources_change);

/* sources_promise(), where there are some. */
void sources_promise_all(struct timewheel_sources *sources, u64 wake_ns)
{
	struct timewheel_source *source;

	list_for_each_entry(source, &sources->list, link)
		source->ops->promise(source, wake_ns);
	/* Partner: the program's, between its tail and the promise. */
	smp_mb();
}

/* sources_waiting(), where there are some. */
bool sources_any_waiting(const struct timewheel_sources *sources)
{
	struct timewheel_source *source;

	list_for_each_entry(source, &sources->list, link)
		if (source->ops->waiting(source))
			return true;
	return false;
}

/**
 * sources_drain_all - sources_drain(), where there are some
 * @sources: the sources of a wheel, which the caller owns
 * @budget: how much at most
 *
 * The next pass begins with the first that the budget did not suffice for.
 *
 * Return: whether something is left.
 */
bool sources_drain_all(struct timewheel_sources *sources, unsigned int budget)
{
	struct timewheel_source *source, *first = NULL;
	bool more = false;

	list_for_each_entry(source, &sources->list, link) {
		/* Without a budget, too: most have nothing to take, and note that. */
		bool left = source->ops->drain(source, &budget);

		/* Who is cut short comes first then, or others could see to it again. */
		if (left && !budget && !first)
			first = source;
		more |= left;
	}
	/* The list's head moves to before that one. */
	if (first)
		list_move_tail(&sources->list, &first->link);
	return more;
}
EXPORT_SYMBOL_IF_KUNIT(sources_drain_all);
