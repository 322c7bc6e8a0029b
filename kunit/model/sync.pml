/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timewheel_cancel_sync() of a timeout whose callback arms it again, or not: when it
 * returns, the timeout is idle, its callback has ended, and nothing more comes.
 *
 * The state word is two bools, changed in one step.  The looks of
 * timeout_quiescent() are steps of their own.
 *
 * NO_SEQ, SEQ_LATE and FIRING_FIRST each take out one thing that it rests on.
 */

#define ARMINGS	5	/* after so many the callback arms it no more */

bool live = true;	/* TIMEOUT_ACTIVE */
bool queued = true;	/* TIMEOUT_QUEUED, and it is in a queue */
bool linked = false;	/* it is in a slot */
bool firing = false;	/* wheel->firing points to it */
byte seq = 1;
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
		firing = true;
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
			:: seq < ARMINGS ->
				seq++;
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
#ifndef SEQ_LATE
		before = seq;
#endif
#ifdef FIRING_FIRST
		if
		:: firing -> goto again
		:: else
		fi;
#endif
		if
		:: live || queued -> goto again
		:: else
		fi;
#ifdef SEQ_LATE
		before = seq;
#endif
#ifndef FIRING_FIRST
		if
		:: firing -> goto again
		:: else
		fi;
#endif
#ifndef NO_SEQ
		if
		:: seq != before -> goto again
		:: else
		fi;
#endif
		break;
again:		skip
	od;
	returned = true;
	assert(!live && !queued && !firing)
}
