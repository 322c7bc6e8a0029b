/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What module/submission.c holds back: no timeout expires before an op that was put
 * in before its deadline, and none waits for ever.
 *
 * A program fills a ring of two entries for as long as there is room.  One of the
 * ops, whichever, cancels the timeout; or none does.  A pass does one op and no
 * more.  Time passes at any moment.
 *
 * NO_HOLD, CLOCK_AFTER_COUNT, COUNT_ANEW, SEEN_NOW and SEEN_EMPTY_THEN each take
 * out one thing that it rests on.
 */

#define ENTRIES	2
#define DUE	1	/* the deadline; time is 0, 1 or 2 */
#define LAST	2

/* A count of two is done in two passes, and the one that was under way in two. */
#define PATIENCE	4

byte now = 0;
byte nr = 0;		/* ops in the ring */
byte place = 0;		/* which of them is the cancel, from 1 on; 0 for none */
bool put = false;	/* it has been put in ... */
bool in_time = false;	/* ... before the deadline */
bool armed = true;

active proctype clock()
{
	do
	:: now < LAST -> now++
	:: else -> break
	od
}

active proctype program()
{
	do
	:: atomic {
		nr < ENTRIES ->
		nr++;
		if
		:: !put ->
			put = true;
			place = nr;
			in_time = now < DUE
		:: true
		fi
	   }
	od
}

active proctype worker()
{
	byte pass, owed = 0, owed_at = 0, seen = 0, held = 0, there;
	bool more;

	do
	::	/* worker_pass() */
#ifndef CLOCK_AFTER_COUNT
		pass = now;
#endif
		/* submission_drain() */
		there = nr;
#ifdef CLOCK_AFTER_COUNT
		pass = now;
#endif
		if
#ifdef COUNT_ANEW
		:: true ->
#else
		:: !owed ->
#endif
			owed = there;
			owed_at = pass
		:: else
		fi;
		if
		:: there -> atomic {
			/* submission_take(), with a budget of one */
			nr--;
			if
			:: place == 1 -> armed = false; place = 0
			:: place > 1 -> place--
			:: else
			fi;
			owed = (owed -> owed - 1 : 0)
		   }
		:: else
		fi;
		more = nr > 0;
		/* submission_settle() */
		if
		:: !more -> owed = 0;
#ifdef SEEN_EMPTY_THEN
			/* Later than the look at the ring. */
			owed_at = now
#else
			owed_at = pass
#endif
		:: else
		fi;
		if
#ifdef SEEN_NOW
		:: !owed -> seen = pass
#else
		:: !owed -> seen = owed_at
#endif
		:: else
		fi;
		/* timeout_expire(), submission_hold() */
		if
#ifdef NO_HOLD
		:: armed && DUE <= pass ->
#else
		:: armed && DUE <= pass && DUE <= seen ->
#endif
			assert(!in_time);
			armed = false
		:: armed && DUE <= pass && DUE > seen ->
			held++;
			assert(held <= PATIENCE)
		:: else
		fi
	od
}
