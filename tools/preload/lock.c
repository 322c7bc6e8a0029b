// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks that no signal handler can meet.
 *
 * A handler may read, set or close a timer that the thread it interrupts is at
 * work on.  So the thread takes no signal while it holds a lock.  The system
 * call is made directly: glibc's functions leave out the signals that it uses
 * itself, and one of them ends threads.  For the same reason nothing is called
 * under a lock that is a cancellation point.
 *
 * fork() takes all of them, so that the child finds each timer whole.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

static pthread_mutex_t locks[NR_LOCKS] = {
	[0 ... NR_LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER,
};

static uint64_t signals_block(void)
{
	uint64_t all = UINT64_MAX, before;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	return before;
}

static void signals_restore(uint64_t before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/**
 * lock_take() - take a lock
 * @nr: which
 *
 * Return: the signals that were blocked, for lock_drop().
 */
uint64_t lock_take(unsigned int nr)
{
	uint64_t signals = signals_block();

	pthread_mutex_lock(&locks[nr]);
	return signals;
}

void lock_drop(unsigned int nr, uint64_t signals)
{
	pthread_mutex_unlock(&locks[nr]);
	signals_restore(signals);
}

uint64_t lock_all(void)
{
	uint64_t signals = signals_block();
	unsigned int i;

	for (i = 0; i < NR_LOCKS; i++)
		pthread_mutex_lock(&locks[i]);
	return signals;
}

void unlock_all(uint64_t signals)
{
	unsigned int i;

	for (i = 0; i < NR_LOCKS; i++)
		pthread_mutex_unlock(&locks[i]);
	signals_restore(signals);
}
