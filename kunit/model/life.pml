/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of one timeout, as module/timeout.c and module/wheel.c have it:
 * added, moved, cancelled, drained, fired and handed back by a stop, all at
 * once.
 *
 * The state word is one variable in five bools: what changes in one atomic
 * operation there changes in one atomic block here.  The two queues are one: a
 * timeout lies in one of them at most, and that is asserted.
 *
 * The properties: each arming ends in exactly one way; the wheel does not touch
 * a timeout that its owner may have freed; what is filed at rest is what it was
 * moved to last; a stop ends, and leaves nothing behind.
 *
 * UNLINK_LATE, WRITE_LATE, FIRING_LATE and NO_GRACE each take out one thing that
 * they rest on.
 */

#define USERS	4	/* processes that call the API, each with a reader's slot */

/* The state word. */
bool live, queued, moved, claimed, owed;	/* live: TIMEOUT_ACTIVE */

byte pushes;		/* the timeout is in a queue: 0 or 1 */
bool linked;		/* it is in a slot */
byte expires;		/* the deadline, as a version */
byte filed;		/* the version it was filed under */
bool firing;		/* wheel->firing points to it */
byte begun;		/* callbacks that have begun */
bool stopped;
bool worker_ended;
bool reader[USERS];	/* in an RCU read section */
bool freed;		/* its owner may have freed it */
byte inside;		/* calls under way: who frees it knows of none */

byte armed, fired, cancelled, unprocessed;
byte versions;		/* versions handed out */

#define IDLE		(!live && !queued && !moved && !owed)
#define QUIESCENT	(IDLE && !firing)

inline touched() { assert(!freed) }

/* The tail of an add or a move: CLAIMED is the caller's. */
inline submit(arm, push)
{
	push = false;
#ifdef WRITE_LATE
	atomic {
		claimed = false;
		if
		:: arm -> live = true
		:: else
		fi;
		if
		:: live && queued -> moved = true
		:: live && !queued -> queued = true; push = true
		:: else
		fi
	};
	if
	:: push -> atomic { assert(pushes == 0); pushes++ }
	:: else
	fi;
	atomic { versions++; expires = versions }
#else
	atomic { versions++; expires = versions };
	atomic {
		claimed = false;
		if
		:: arm -> live = true
		:: else
		fi;
		if
		:: live && queued -> moved = true
		:: live && !queued -> queued = true; push = true
		:: else
		fi
	};
	if
	:: push -> atomic { assert(pushes == 0); pushes++ }
	:: else
	fi
#endif
}

/* Begin a call, unless the owner has freed it: nobody calls after that. */
inline enter(me, may)
{
	atomic {
		may = !freed;
		if
		:: may -> inside++; reader[me] = true
		:: else
		fi
	}
}

inline leave(me) { atomic { inside--; reader[me] = false } }

proctype adder(byte me)
{
	byte n = 0;
	bool ok, push, may;

	do
	:: n < 2 ->
		n++;
		enter(me, may);
	if
	:: !may -> goto out
	:: else
	fi;
		ok = false;
		if
		:: stopped
		:: else ->
			atomic {
				if
				:: !live && !claimed && !owed ->
					claimed = true;
					ok = true
				:: else
				fi
			}
		fi;
		if
		:: ok ->
			armed++;
			submit(true, push)
		:: else
		fi;
		leave(me)
	:: else -> break
	od;
out:	skip
}

proctype mover(byte me)
{
	bool ok, push, may;

	enter(me, may);
	if
	:: !may -> goto out
	:: else
	fi;
	ok = false;
	/* The look at stopped comes before the claim. */
	if
	:: stopped
	:: else ->
		atomic {
			if
			:: live && !claimed -> claimed = true; ok = true
			:: else
			fi
		}
	fi;
	if
	:: ok -> submit(false, push)
	:: else
	fi;
	leave(me);
out:	skip
}

/* timewheel_cancel(), inside a read section. */
inline cancel(push)
{
	push = false;
	atomic {
		if
		:: live ->
			live = false;
			moved = false;
			owed = true;
			cancelled++;
			if
			:: !queued -> queued = true; push = true
			:: else
			fi
		:: else
		fi
	};
	if
	:: push -> atomic { assert(pushes == 0); pushes++ }
	:: else
	fi
}

proctype canceller(byte me)
{
	bool push, may;

	enter(me, may);
	if
	:: !may -> goto out
	:: else
	fi;
	cancel(push);
	leave(me);
out:	skip
}

/* timewheel_cancel_sync(), and then the owner frees it. */
proctype freer(byte me)
{
	bool push, may;
	byte seen;

	enter(me, may);
	if
	:: !may -> goto out
	:: else
	fi;
	cancel(push);
	leave(me);
	/* timeout_quiescent(), see sync.pml */
	do
	:: true ->
		seen = begun;
		if
		:: !firing ->
			if
			:: IDLE ->
				if
				:: seen == begun -> break
				:: else
				fi
			:: else
			fi
		:: else
		fi
	od;
	/* Provided that nobody else uses it. */
	atomic {
		if
		:: inside == 0 && QUIESCENT -> freed = true
		:: else
		fi
	};
out:	skip
}

/* timeout_begin() */
inline begin() { firing = true; begun++ }

/* A callback, in which the owner may free it if nobody else uses it. */
inline callback()
{
	touched();
	if
	:: true
	:: atomic { inside == 0 && IDLE && !claimed -> freed = true }
	fi
}

/* timeout_take() */
inline take(was_active, was_claimed, was_owed)
{
	atomic { pushes > 0 -> pushes-- };
	touched();
#ifndef UNLINK_LATE
	linked = false;
#endif
	atomic {
		was_active = live;
		was_claimed = claimed;
		was_owed = owed;
		assert(queued);
		queued = false;
		moved = false
	};
#ifdef UNLINK_LATE
	touched();
	linked = false;
#endif
	if
	:: was_owed ->
		touched();
		begin();
		owed = false;
		callback();
		firing = false
	:: !was_owed && was_active && !was_claimed ->
		touched();
		filed = expires;
		linked = true
	:: else
	fi
}

proctype worker()
{
	bool was_active, was_claimed, was_owed, ok;

	do
	:: stopped -> break
	:: pushes > 0 -> take(was_active, was_claimed, was_owed)
	:: linked ->	/* timeout_expire() */
		touched();
		linked = false;
#ifndef FIRING_LATE
		begin();
#endif
		atomic {
			ok = (live && !queued && !claimed);
			if
			:: ok -> live = false; fired++
			:: else
			fi
		};
		if
		:: ok ->
#ifdef FIRING_LATE
			begin();
#endif
			callback()
		:: else
		fi;
		firing = false
	od;
	worker_ended = true
}

inline grace()
{
#ifndef NO_GRACE
	atomic {
		g = 0;
		do
		:: g < USERS -> was[g] = reader[g]; g++
		:: else -> break
		od;
		g = 0
	};
	do
	:: g < USERS ->
		if
		:: was[g] -> !reader[g]
		:: else
		fi;
		g++
	:: else -> break
	od
#else
	skip
#endif
}

proctype stopper()
{
	bool was_active, was_claimed, was_owed, ok;
	bool was[USERS];
	byte g, round;

	stopped = true;
	worker_ended;
	grace();
	round = 0;
	do
	:: round < 2 ->
		do
		:: pushes > 0 -> take(was_active, was_claimed, was_owed)
		:: else -> break
		od;
		if
		:: linked ->	/* timeout_hand_back() */
			touched();
			linked = false;
			begin();
			atomic {
				ok = (live && !queued && !claimed);
				if
				:: ok -> live = false; unprocessed++
				:: else
				fi
			};
			if
			:: ok -> callback()
			:: else -> linked = true
			fi;
			firing = false
		:: else
		fi;
		if
		:: round == 0 -> grace()
		:: else
		fi;
		round++
	:: else -> break
	od;
	/* At rest: everybody is done but for those who may still look. */
	inside == 0;
	assert(pushes == 0 && !linked && !live && !queued);
	assert(armed == fired + cancelled + unprocessed)
}

/* At rest, filed is what it was moved to last. */
proctype observer()
{
end:	atomic {
		linked && live && !queued && !claimed && inside == 0 && !firing &&
		!stopped && pushes == 0 -> assert(filed == expires)
	}
}

init
{
	atomic {
		run worker();
		run stopper();
		run observer();
		run adder(0);
		run mover(1);
		run canceller(2);
		run freer(3)
	}
}
