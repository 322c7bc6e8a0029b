// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which descriptors stand for timers, and which for contexts.
 *
 * A slot for each descriptor, in pages that are made when they are first needed
 * and then stay.  There is no lock: a slot is read and written in one go, and
 * whoever takes a timer out of it owns the reference that it held.  Timers stay
 * where they are when they are freed (see timer.c), so whoever reads a slot may
 * try for a reference of his own, and then looks whether the slot is still the
 * same.
 *
 * A child that shares this memory, as after vfork(), has descriptors of its own:
 * what it closes is open here.  It is told by its process id, and changes
 * nothing.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "table.h"
#include "timer.h"

#define PAGE_SLOTS	512U
#define NR_PAGES	(TABLE_SIZE / PAGE_SLOTS)

/**
 * struct slot - a descriptor
 * @timer: what it stands for; NULL for what is not ours
 */
struct slot {
	struct timer *_Atomic timer;
};

static struct slot *_Atomic pages[NR_PAGES];
static pid_t owner;

/* Stands in the slot of a context; never has a reference. */
static struct timer context_mark;

/* The descriptors of this process are those that the table tells of. */
bool table_mine(void)
{
	return owner == getpid();
}

void table_forked(void)
{
	owner = getpid();
}

static struct slot *slot_of(int fd)
{
	struct slot *page;

	if (fd < 0 || (unsigned int)fd >= TABLE_SIZE)
		return NULL;
	page = atomic_load_explicit(&pages[fd / PAGE_SLOTS], memory_order_acquire);
	return page ? &page[fd % PAGE_SLOTS] : NULL;
}

static struct slot *slot_make(int fd)
{
	struct slot *page, *none = NULL;

	if (fd < 0 || (unsigned int)fd >= TABLE_SIZE)
		return NULL;
	if (!slot_of(fd)) {
		page = mmap(NULL, PAGE_SLOTS * sizeof(*page), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return NULL;
		/* Another thread may have been faster. */
		if (!atomic_compare_exchange_strong(&pages[fd / PAGE_SLOTS], &none, page))
			munmap(page, PAGE_SLOTS * sizeof(*page));
	}
	return slot_of(fd);
}

static struct timer *slot_load(int fd)
{
	struct slot *s = slot_of(fd);

	return s ? atomic_load_explicit(&s->timer, memory_order_acquire) : NULL;
}

static void put(struct timer *t)
{
	if (t && t != &context_mark)
		timer_put(t);
}

/**
 * table_get() - the timer of a descriptor, or of one that was closed unseen
 * @fd: the descriptor
 *
 * Return: the timer, with a reference; NULL for any other descriptor.
 */
struct timer *table_get(int fd)
{
	struct timer *t;

	while ((t = slot_load(fd)) && t != &context_mark) {
		if (!timer_try_get(t))
			continue;
		if (slot_load(fd) == t)
			return t;
		timer_put(t);
	}
	return NULL;
}

/**
 * table_set() - a descriptor now stands for a timer
 * @fd: the descriptor; what it stood for was closed, seen or unseen
 * @t: the timer, whose reference is the table's from now on
 *
 * Return: false if there is no slot; the reference is the caller's still.
 */
bool table_set(int fd, struct timer *t)
{
	struct slot *s = slot_make(fd);

	if (!s)
		return false;
	put(atomic_exchange(&s->timer, t));
	return true;
}

/* It stands for nothing of ours any more. */
void table_clear(int fd)
{
	struct slot *s = slot_of(fd);

	if (s && atomic_load_explicit(&s->timer, memory_order_relaxed))
		put(atomic_exchange(&s->timer, NULL));
}

/* The same, unless another thread has made it stand for something else by now. */
void table_clear_if(int fd, struct timer *t)
{
	struct slot *s = slot_of(fd);

	if (atomic_compare_exchange_strong(&s->timer, &t, NULL))
		put(t);
}

/* @to is a duplicate of @from, whatever it was before. */
void table_duplicate(int from, int to)
{
	struct timer *t = table_get(from);

	if (!t) {
		table_clear(to);
		return;
	}
	timer_expose(t);
	if (!table_set(to, t))
		timer_put(t);
}

bool table_is_used(int fd)
{
	return slot_load(fd);
}

/*
 * A descriptor now stands for a context.  A timer that it stood for was closed
 * unseen; it is left alone, for the caller may hold any lock.
 */
bool table_set_context(int fd)
{
	struct slot *s = slot_make(fd);

	if (s)
		atomic_store(&s->timer, &context_mark);
	return s;
}

bool table_is_context(int fd)
{
	return slot_load(fd) == &context_mark;
}

/**
 * table_each() - call a function for each descriptor that is in the table
 * @first: the first one
 * @last: the last one
 * @fn: gets the timer without a reference, or NULL for a context
 * @data: for @fn
 */
void table_each(unsigned int first, unsigned int last, table_fn *fn, void *data)
{
	struct timer *t;
	unsigned int fd;

	for (fd = first; fd <= last && fd < TABLE_SIZE; fd++) {
		if (!slot_of(fd)) {
			fd |= PAGE_SLOTS - 1;
			continue;
		}
		t = slot_load(fd);
		if (t)
			fn(fd, t == &context_mark ? NULL : t, data);
	}
}
