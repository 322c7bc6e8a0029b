// SPDX-License-Identifier: GPL-2.0-only
/*
 * The books.
 */

#include <linux/percpu.h>

#include "kunit.h"
#include "stats.h"
#include "wheel.h"

int books_init(struct timewheel *wheel)
{
	wheel->producer = alloc_percpu_gfp(struct books_producer,
					   GFP_KERNEL_ACCOUNT);
	return wheel->producer ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_IF_KUNIT(books_init);

void books_destroy(struct timewheel *wheel)
{
	free_percpu(wheel->producer);
}
EXPORT_SYMBOL_IF_KUNIT(books_destroy);

/**
 * books_read - add the books up
 * @wheel: the wheel whose they are
 * @sum: out: exact when nothing is under way, else near
 */
void books_read(const struct timewheel *wheel, struct books_sum *sum)
{
	const struct timewheel_books *books = &wheel->books;
	u64 ended;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	/* Endings first: a timeout that ends meanwhile counts as pending. */
	sum->fired = READ_ONCE(books->fired);
	sum->unprocessed = READ_ONCE(books->unprocessed);
	for_each_possible_cpu(cpu)
		sum->cancelled += local64_read(&per_cpu_ptr(wheel->producer, cpu)->cancelled);
	for_each_possible_cpu(cpu) {
		struct books_producer *p = per_cpu_ptr(wheel->producer, cpu);

		sum->armed += local64_read(&p->armed);
		sum->rearmed += local64_read(&p->rearmed);
		sum->rejected += local64_read(&p->rejected);
	}
	ended = sum->fired + sum->unprocessed + sum->cancelled;
	sum->pending = sum->armed > ended ? sum->armed - ended : 0;
}
EXPORT_SYMBOL_IF_KUNIT(books_read);
