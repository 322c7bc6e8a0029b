/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sleep/wake protocol of module/worker.c: no lost wake-up.
 *
 * Times are ranks: NEAR comes before the horizon of a pass (housekeeping_ms
 * ahead), FAR after it.  The timer may fire whenever it is set.  Each producer
 * arms one timeout, near or far.
 *
 * The property, whenever the worker sleeps and the producers are done: the
 * timer is set no later than any near deadline that is not yet expired; than
 * the horizon, if anything is queued; than any far deadline that is filed.
 *
 * And whoever waits in worker_flush() for a pass to begin and end gets one, also
 * when nothing else would bring it about: he would be left in an invalid end
 * state.  worker_await() waits for a round in the same way.
 *
 * NO_BARRIER, NO_QUEUE_CHECK, NO_RESTART, LOOK_FIRST, NO_HEED, NO_KICK and
 * COUNT_FIRST each take out one thing that it rests on.
 */

#define NOW	0
#define NEAR	1
#define HORIZON	2
#define FAR	3
#define NEVER	4

#define PRODUCERS 2

#define FREE	0
#define QUEUED	1
#define FILED	2
#define ENDED	3

byte promise = NEVER;	/* wake_ns, with WAKE_AWAKE in awake: one word */
bool awake = false;
byte timer = NEVER;	/* when the hrtimer is set to fire */
bool running = true;	/* the worker's task state */
bool asleep = false;	/* it is in schedule() */

byte place[PRODUCERS];	/* where the timeout is */
byte due[PRODUCERS];	/* its deadline */
byte queued = 0;	/* timeouts in the queue */
byte done = 0;		/* producers that are done */

bool waiting = false;	/* the flusher has read the count of passes */
bool counted = false;	/* a pass was counted since */
bool flushed = false;	/* and has ended */

#define MIN(a, b) ((a) < (b) -> (a) : (b))

/* worker_program() */
inline program(p, set)
{
	p = promise;
	do
	:: awake -> break
	:: else ->
		set = p;
		/* worker_is_set() */
		if
		:: timer == set -> skip
		:: else -> timer = set
		fi;
		p = promise;
#ifdef NO_RESTART
		break
#else
		if
		:: p < set -> skip
		:: else -> break
		fi
#endif
	od
}

proctype producer(byte i)
{
	byte seen, at, p, set;
	bool first, hasten;

	atomic { first = (queued == 0); place[i] = QUEUED; queued++ };
	seen = promise;
	if
	:: first || due[i] < seen ->
		at = (first -> MIN(due[i], HORIZON) : due[i]);
		atomic {
			hasten = (at < promise && !awake);
			promise = MIN(promise, at)
		};
		if
		:: hasten -> program(p, set)
		:: else
		fi
	:: else
	fi;
	done++
}

/* worker_flush() */
proctype flusher()
{
	bool wake = false;

	waiting = true;
#ifndef NO_KICK
	/* worker_kick() */
	atomic {
		wake = (promise > NOW && !awake);
		promise = NOW
	};
	if
	:: wake -> running = true
	:: else
	fi;
#endif
	done++;
	flushed
}

proctype clock()
{
end:	do
	:: atomic { timer != NEVER -> timer = NEVER; running = true }
	od
}

proctype worker()
{
	byte next, at, p, set, i, look;
	byte horizon = NEVER;
	bool some;

	do
	::	/* worker_sleep() */
		d_step {	/* core_next(): the worker's alone */
			next = NEVER;
			i = 0;
			do
			:: i < PRODUCERS ->
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
#ifdef NO_BARRIER
		/* The look passes the store, and is taken for a later one. */
		some = (queued > 0);
#endif
#ifdef LOOK_FIRST
		/* So does the look at the timer. */
		look = timer;
#endif
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
#ifdef NO_BARRIER
			;
			if
			:: some -> promise = MIN(promise, horizon)
			:: else
			fi
#endif
		};
#if !defined(NO_QUEUE_CHECK) && !defined(NO_BARRIER)
		if
		:: queued > 0 -> atomic { promise = MIN(promise, horizon) }
		:: else
		fi;
#endif
		if
		:: at == NOW -> running = true
		:: else ->
#ifdef LOOK_FIRST
			if
			:: look == at -> skip
			:: else -> program(p, set)
			fi;
#else
			program(p, set);
#endif
			asleep = true;
end:			running;
			asleep = false
		fi;

		/* worker_pass() */
#ifdef COUNT_FIRST
		counted = waiting;
#endif
		atomic { promise = HORIZON; awake = true };
#ifndef COUNT_FIRST
		counted = waiting;
#endif
		horizon = HORIZON;
		atomic {	/* takes all that is queued at once */
			do
			:: i < PRODUCERS ->
				if
				:: place[i] == QUEUED -> place[i] = FILED; queued--
				:: else
				fi;
				/* Time may have passed, or not. */
				if
				:: place[i] == FILED -> place[i] = ENDED
				:: true
				fi;
				i++
			:: else -> i = 0; break
			od
		};
		/* worker_end_pass() */
		flushed = flushed || counted
	od
}

#define IN_TIME(i) (place[i] == FREE || place[i] == ENDED || \
		    (timer <= due[i] && (place[i] == FILED || timer <= HORIZON)))

proctype observer()
{
end:	atomic {
		done == PRODUCERS && asleep && !running ->
		assert(IN_TIME(0) && IN_TIME(1))
	}
}

init
{
	atomic {
		byte i;

		/* All mixtures; which of the producers it is makes no difference. */
		do
		:: i < PRODUCERS ->
			if
			:: i == 0 || due[i - 1] == FAR -> due[i] = FAR
			:: due[i] = NEAR
			fi;
			i++
		:: else -> break
		od;
		run worker();
		run clock();
		run producer(0);
		/* The second arms another, or waits for the worker. */
		if
		:: run producer(1)
		:: run flusher()
		fi;
		run observer()
	}
}
