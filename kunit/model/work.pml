/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timewheel_work_cancel_sync() of a work that arms its timeout again, or not: when it
 * returns, neither is under way, nor comes.
 *
 * timewheel_cancel_sync(), of which sync.pml is, and cancel_work_sync() are steps here.
 *
 * NO_COUNT, COUNTED_LATE, WORK_FIRST and WORK_LAST each take out one thing that it rests on.
 */

#define ARMINGS	5	/* after so many the work arms it no more */

bool armed = true;
bool firing = false;	/* its callback runs */
bool pending = false;	/* the work is queued */
bool running = false;
byte queued = 0;	/* how often the timeout has queued the work */
byte armings = 1;

active proctype worker()
{
end:	do
	:: atomic { armed -> armed = false; firing = true };
		/* work_expired() */
#ifndef COUNTED_LATE
		queued++;
#endif
		pending = true;
		firing = false;
#ifdef COUNTED_LATE
		queued++
#endif
	od
}

active proctype workqueue()
{
end:	do
	:: atomic { pending && !running -> pending = false; running = true };
		if
		:: armings < ARMINGS -> armings++; armed = true
		:: true
		fi;
		running = false
	od
}

inline cancel_timeout() { atomic { !firing -> armed = false } }
/* It may be queued again while it is waited for, and so it looks once more. */
inline cancel_work() { atomic { pending = false }; atomic { !running && !pending } }

active proctype canceller()
{
	byte before;

	do
	::
		before = queued;
#ifndef WORK_FIRST
		cancel_timeout();
#endif
		cancel_work();
#ifndef WORK_LAST
		cancel_timeout();
#endif
#ifndef NO_COUNT
		if
		:: queued != before
		:: else -> break
		fi
#else
		break
#endif
	od;
	assert(!armed && !firing && !pending && !running)
}
