/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sleep/wake protocol of module/source.c, beside that of module/worker.c: no op
 * in a ring is late because nobody called.
 *
 * As in sleep.pml times are ranks, and the timer may fire whenever it is set.  A
 * producer in the kernel arms one timeout, and a program puts two ops in its ring,
 * one after the other.  It reads the promise in the ring, which may be later than
 * the worker's own, and calls only if that is too late for the op.
 *
 * The property, whenever the worker sleeps and the others are done: the timer is
 * set no later than any deadline that has not passed, be it filed, queued or in
 * a ring.
 *
 * NO_BARRIER, NO_PROGRAM_BARRIER, NO_RING_CHECK, NO_CALL, NO_HEED and TOLD_AFTER_KICK
 * each take out one thing that it rests on.
 */

#define NOW	0
#define NEAR	1
#define HORIZON	2
#define FAR	3
#define NEVER	4

#define ALL	3	/* 0 is the producer's, 1 and 2 are the program's */

#define FREE	0
#define QUEUED	1	/* in the queue, or in the ring */
#define FILED	2
#define ENDED	3

byte promise = NEVER;	/* wake_ns, with WAKE_AWAKE in awake: one word */
byte told = NEVER;	/* wake_ns in the ring */
bool awake = false;
byte timer = NEVER;	/* when the hrtimer is set to fire */
bool running = true;	/* the worker's task state */
bool asleep = false;	/* it is in schedule() */

byte place[ALL];
byte due[ALL];
byte done = 0;

#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define IN_RING (place[1] == QUEUED || place[2] == QUEUED)

/* worker_program() */
inline program_timer(p, set)
{
	p = promise;
	do
	:: awake -> break
	:: else ->
		set = p;
		timer = set;
		p = promise;
		if
		:: p < set -> skip
		:: else -> break
		fi
	od
}

/* worker_queued() */
proctype producer()
{
	byte seen, at, p, set;
	bool hasten;

	place[0] = QUEUED;	/* and the queue was empty */
	at = MIN(due[0], HORIZON);
	atomic {
		hasten = (at < promise && !awake);
		promise = MIN(promise, at)
	};
	if
	:: hasten -> program_timer(p, set)
	:: else
	fi;
	done++
}

proctype program()
{
	byte seen, i = 1;

	do
	:: i < ALL ->
#ifdef NO_PROGRAM_BARRIER
		/* The look passes the store. */
		seen = told;
		place[i] = QUEUED;
#else
		place[i] = QUEUED;
		seen = told;
#endif
		if
		:: due[i] < seen ->
#ifndef NO_CALL
#ifndef TOLD_AFTER_KICK
			/* submission_enter(): the next op needs no call. */
			told = NOW;
#endif
			/* worker_kick() */
			atomic {
				promise = NOW;
				if
				:: !awake -> running = true
				:: else
				fi
			}
#ifdef TOLD_AFTER_KICK
			told = NOW
#endif
#else
			skip
#endif
		:: else
		fi;
		i++
	:: else -> break
	od;
	done++
}

proctype clock()
{
end:	do
	:: atomic { timer != NEVER -> timer = NEVER; running = true }
	od
}

proctype worker()
{
	byte next, at, p, set, i;
	byte horizon = NEVER;
	bool some;

	do
	::	/* worker_sleep() */
		d_step {
			next = NEVER;
			i = 0;
			do
			:: i < ALL ->
				if
				:: place[i] == FILED -> next = MIN(next, due[i])
				:: else
				fi;
				i++
			:: else -> break
			od;
			i = 0
		};
		running = false;
		atomic {
			at = next;
#ifndef NO_HEED
			if
			:: promise < horizon -> at = MIN(at, promise)
			:: else
			fi;
#endif
			promise = at;
			awake = false
		};
#ifdef NO_BARRIER
		some = IN_RING;
#endif
		told = at;
#ifndef NO_BARRIER
		some = IN_RING;
#endif
#ifdef NO_RING_CHECK
		some = false;
#endif
		if
		:: some || place[0] == QUEUED ->
			atomic { promise = MIN(promise, horizon) }
		:: else
		fi;
		if
		:: at == NOW
		:: else ->
			program_timer(p, set);
			asleep = true;
end:			running;
			asleep = false
		fi;

		/* worker_pass() */
		atomic { promise = HORIZON; awake = true };
		horizon = HORIZON;
		told = HORIZON;
		do
		:: i < ALL ->
			atomic {
				if
				:: place[i] == QUEUED -> place[i] = FILED
				:: else
				fi;
				/* Time may have passed, or not. */
				if
				:: place[i] == FILED -> place[i] = ENDED
				:: true
				fi;
				i++
			}
		:: else -> i = 0; break
		od
	od
}

#define IN_TIME(i) (place[i] == FREE || place[i] == ENDED || timer <= due[i])

proctype observer()
{
end:	atomic {
		done == 2 && asleep && !running ->
		assert(IN_TIME(0) && IN_TIME(1) && IN_TIME(2))
	}
}

init
{
	atomic {
		byte i;

		do
		:: i < ALL ->
			if
			:: due[i] = NEAR
			:: due[i] = FAR
			fi;
			i++
		:: else -> break
		od;
		run worker();
		run clock();
		run producer();
		run program();
		run observer()
	}
}
