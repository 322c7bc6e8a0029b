/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timewheel_cancel_sync() of a timeout whose callback arms it again, or not: when it
 * returns, the timeout is idle, its callback has ended, and nothing more comes.
 *
 * The state word is two bools, changed in one step.  The looks of
 * timeout_quiescent() are steps of their own.
 *
 * NO_COUNT, COUNTED_FIRST and STATE_FIRST each take out one thing that it rests on.
 */

#define ARMINGS	5	/* after so many the callback arms it no more */

bool live = true;	/* TIMEOUT_ACTIVE */
bool queued = true;	/* TIMEOUT_QUEUED, and it is in a queue */
bool linked = false;	/* it is in a slot */
bool firing = false;	/* wheel->firing points to it */
byte begun = 0;		/* callbacks that have begun */
byte armings = 1;
bool returned = false;

active proctype worker()
{
	bool was_live, ok;

end:	do
	:: queued ->	/* timeout_take() */
		linked = false;
		atomic { was_live = live; queued = false };
		if
		:: was_live -> linked = true
		:: else
		fi
	:: linked ->	/* timeout_expire() */
		linked = false;
		/* timeout_begin() */
#ifdef COUNTED_FIRST
		begun++;
#endif
		firing = true;
#ifndef COUNTED_FIRST
		begun++;
#endif
		atomic {
			ok = (live && !queued);
			if
			:: ok -> live = false
			:: else
			fi
		};
		if
		:: ok ->
			/* The callback: the owner may have freed it after the return. */
			assert(!returned);
			if
			:: armings < ARMINGS ->
				armings++;
				atomic { live = true; queued = true }
			:: true
			fi;
			assert(!returned)
		:: else
		fi;
		firing = false
	od
}

active proctype canceller()
{
	byte before;

	do
	::	/* timewheel_cancel() */
		atomic {
			if
			:: live -> live = false; queued = true
			:: else
			fi
		};
		/* timeout_quiescent() */
		before = begun;
#ifdef STATE_FIRST
		if
		:: live || queued -> goto again
		:: else
		fi;
#endif
		if
		:: firing -> goto again
		:: else
		fi;
#ifndef STATE_FIRST
		if
		:: live || queued -> goto again
		:: else
		fi;
#endif
#ifndef NO_COUNT
		if
		:: begun != before -> goto again
		:: else
		fi;
#endif
		break;
again:		skip
	od;
	returned = true;
	assert(!live && !queued && !firing)
}
