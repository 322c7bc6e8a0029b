// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel-preload.so: the timerfds of an unmodified program, kept by the wheel.
 *
 *	interpose.c	the functions that a program finds here first
 *	table.c		which descriptors stand for timers
 *	timer.c		what a timer does
 *	context.c	the one context that they are all in
 *	lock.c		locks, of which signal handlers and fork() need not know
 *	real.c		the C library
 *	say.c		--verbose
 *
 * What happens at the beginning, at the end, and in between when there are two.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "lock.h"
#include "real.h"
#include "say.h"
#include "table.h"
#include "timer.h"

/* While all locks are held. */
static uint64_t signals_before_fork;

static void share(int fd, struct timer *t, void *data)
{
	(void)fd;
	(void)data;
	if (t)
		timer_share_locked(t);
}

static void before_fork(void)
{
	uint64_t signals = lock_all();

	signals_before_fork = signals;
	table_each(0, TABLE_SIZE - 1, share, NULL);
}

static void after_fork(void)
{
	unlock_all(signals_before_fork);
}

static void in_child(void)
{
	table_forked();
	context_forked();
	unlock_all(signals_before_fork);
}

__attribute__((constructor)) static void start(void)
{
	real_start();
	say_start();
	table_forked();
	context_start();
	pthread_atfork(before_fork, after_fork, in_child);
}

__attribute__((destructor)) static void end(void)
{
	context_end();
}
