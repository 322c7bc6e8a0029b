/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * timewheel: what programs see of /dev/timewheel.
 *
 * One open file is one context: its own handles, limits and completions.
 * Times are nanoseconds of the wheel's clock (struct timewheel_info says
 * which), as the opener's time namespace shows it.
 *
 * Every structure has the same layout for 32- and 64-bit programs.  Padding,
 * reserved fields and unknown flags must be zero, else EINVAL.  Structures that
 * begin with a size may grow: the kernel takes a shorter one as zero-extended,
 * and a longer one if what it does not know is zero, else E2BIG.
 */
#ifndef _UAPI_LINUX_TIMEWHEEL_H
#define _UAPI_LINUX_TIMEWHEEL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TIMEWHEEL_ABI_VERSION		1

/* timewheel_info.features: more levels than one, and what an op may ask for */
#define TIMEWHEEL_FEATURE_LEVELS	(1ULL << 0)
#define TIMEWHEEL_FEATURE_PERIODIC	(1ULL << 1)
#define TIMEWHEEL_FEATURE_SLACK		(1ULL << 2)
#define TIMEWHEEL_FEATURE_RINGS		(1ULL << 3)
#define TIMEWHEEL_FEATURE_LEASES	(1ULL << 4)
#define TIMEWHEEL_FEATURE_OWN_IDS	(1ULL << 5)
#define TIMEWHEEL_FEATURE_LIST		(1ULL << 6)

/*
 * timewheel_op.opcode.  0 is none: in a batch it is an error, and an ioctl for a
 * single op takes it for its own.
 */
#define TIMEWHEEL_OP_ARM		1
#define TIMEWHEEL_OP_CANCEL		2
#define TIMEWHEEL_OP_REARM		3

/* timewheel_op.flags */
#define TIMEWHEEL_ABS			(1U << 0) /* expires_ns is absolute */
#define TIMEWHEEL_OWN_ID		(1U << 1) /* the caller names the id */
#define TIMEWHEEL_LEASE			(1U << 2) /* the deadline is in the lease table */
#define TIMEWHEEL_NO_EVENT		(1U << 3) /* signal the eventfd, queue no event */

/**
 * struct timewheel_op - the one form in which work is asked for
 * @opcode: TIMEWHEEL_OP_*
 * @flags: TIMEWHEEL_ABS and its neighbours
 * @pad: 0
 * @result: out: 0 or -errno
 * @id: index in the low 32 bits, generation in the high 32.  Out of ARM, into
 *	CANCEL and REARM, which match all 64 bits.  With TIMEWHEEL_OWN_ID also into
 *	ARM: an index below timewheel_setup.own_ids, and any generation.
 * @user_data: the caller's cookie, returned in the event
 * @expires_ns: deadline, absolute with TIMEWHEEL_ABS, else from now
 * @interval_ns: 0 for a one-shot, else the period, up to 2^63 - 1; 0 with
 *	TIMEWHEEL_LEASE
 * @slack_ns: how much later than the deadline it may expire
 * @eventfd: signalled at each expiry; -1 for the context's own, if it has one.
 *	0 is a descriptor like any other.
 * @pad2: 0
 * @reserved: 0
 *
 * CANCEL looks at @id alone, REARM at @id, @flags and @expires_ns: the rest of
 * the timeout stays as it was armed.  But padding and reserved fields must be 0.
 *
 * A periodic timeout is due at @expires_ns and every @interval_ns after that,
 * whenever it really expires; REARM moves the next period, and those after it
 * with it.  A timeout with slack expires together with others, in the coarsest
 * step that the slack allows.
 */
struct timewheel_op {
	__u8	opcode;
	__u8	flags;
	__u16	pad;
	__s32	result;
	__u64	id;
	__u64	user_data;
	__u64	expires_ns;
	__u64	interval_ns;
	__u64	slack_ns;
	__s32	eventfd;
	__u32	pad2;
	__u64	reserved;
};

/* timewheel_event.flags */
#define TIMEWHEEL_EVENT_EXPIRED		(1U << 0)
#define TIMEWHEEL_EVENT_UNPROCESSED	(1U << 1) /* handed back by STOP */
#define TIMEWHEEL_EVENT_FAILED		(1U << 2) /* an op of a ring failed */
#define TIMEWHEEL_EVENT_LAST		(1U << 3) /* the handle is gone */

/**
 * struct timewheel_event - the one form in which an expiry is reported
 * @user_data: the op's cookie
 * @id: the timeout's id
 * @deadline_ns: when it was due; if it stands for several periods, the last
 * @result: 1 + overruns for an expiry, 0 for one handed back by STOP, -errno
 *	for a ring op that failed
 * @flags: TIMEWHEEL_EVENT_*
 *
 * A periodic timeout has one event for all periods since its last was read:
 * @result says how many, up to 2^24 - 1.
 */
struct timewheel_event {
	__u64	user_data;
	__u64	id;
	__u64	deadline_ns;
	__s32	result;
	__u32	flags;
};

/**
 * struct timewheel_info - what the module and the context's wheel are
 * @size: in: sizeof(struct timewheel_info); out: what the kernel filled
 * @abi_version: TIMEWHEEL_ABI_VERSION
 * @features: TIMEWHEEL_FEATURE_*
 * @tick_ns: length of a tick
 * @slots: slots of each level
 * @levels: levels
 * @clockid: CLOCK_MONOTONIC or CLOCK_BOOTTIME
 * @pad: 0
 * @max_pending: timeouts that this context may hold at once
 * @epoch_ns: the time of tick 0
 * @now_ns: the wheel's clock
 * @min_tick_ns: the shortest tick SETUP takes
 * @max_tick_ns: the longest
 * @max_slots: the most slots SETUP takes
 * @max_levels: the most levels SETUP takes
 */
struct timewheel_info {
	__u32	size;
	__u32	abi_version;
	__u64	features;
	__u64	tick_ns;
	__u32	slots;
	__u32	levels;
	__s32	clockid;
	__u32	pad;
	__u64	max_pending;
	__u64	epoch_ns;
	__u64	now_ns;
	__u64	min_tick_ns;
	__u64	max_tick_ns;
	__u32	max_slots;
	__u32	max_levels;
};

/* timewheel_setup.flags */
#define TIMEWHEEL_SETUP_OWN_WHEEL	(1U << 0) /* tick_ns, slots, levels, clockid count */

/**
 * struct timewheel_setup - how a context is to be; once, before the first op
 * @size: sizeof(struct timewheel_setup)
 * @flags: TIMEWHEEL_SETUP_*
 * @tick_ns: own wheel: length of a tick, 0 for the default
 * @slots: own wheel: slots of a level, 0 for the default
 * @levels: own wheel: levels, 0 for the default
 * @max_pending: timeouts at once, 0 for the most the module allows
 * @clockid: own wheel: CLOCK_MONOTONIC or CLOCK_BOOTTIME, 0 for the default
 * @eventfd: signalled once for each pass of the worker that brought events; 0
 *	and -1 stand for none
 * @sq_entries: submission ring, 0 for none, else a power of two up to
 *	TIMEWHEEL_RING_MAX
 * @cq_entries: completion ring, the same
 * @own_ids: indices from 0 up that the caller names itself, with TIMEWHEEL_OWN_ID;
 *	part of @max_pending, and charged here
 * @pad: 0
 */
struct timewheel_setup {
	__u32	size;
	__u32	flags;
	__u64	tick_ns;
	__u32	slots;
	__u32	levels;
	__u64	max_pending;
	__s32	clockid;
	__s32	eventfd;
	__u32	sq_entries;
	__u32	cq_entries;
	__u32	own_ids;
	__u32	pad;
};

/**
 * struct timewheel_submit - a batch of ops
 * @ops: address of an array of struct timewheel_op
 * @nr: how many, up to TIMEWHEEL_SUBMIT_MAX; 0 to have the rings looked at
 * @flags: 0
 */
struct timewheel_submit {
	__u64	ops;
	__u32	nr;
	__u32	flags;
};

#define TIMEWHEEL_SUBMIT_MAX		(1U << 20)

/* timewheel_query.state */
#define TIMEWHEEL_STATE_PENDING		1
#define TIMEWHEEL_STATE_EXPIRED		2 /* its event is unread */

/**
 * struct timewheel_query - one timeout
 * @id: in: which
 * @user_data: out: its cookie
 * @deadline_ns: out: its deadline
 * @interval_ns: out: its period, 0 for a one-shot
 * @state: out: TIMEWHEEL_STATE_*
 * @flags: in: 0; out: of TIMEWHEEL_NO_EVENT and TIMEWHEEL_LEASE what it was armed
 *	with
 * @slack_ns: out: how late it may be: what was asked for, rounded down to a power
 *	of two
 * @reserved: 0
 *
 * A periodic one is pending, be there events of it to read or not.
 */
struct timewheel_query {
	__u64	id;
	__u64	user_data;
	__u64	deadline_ns;
	__u64	interval_ns;
	__u32	state;
	__u32	flags;
	__u64	slack_ns;
	__u64	reserved[2];
};

/**
 * struct timewheel_list - a walk over the pending timeouts
 * @cursor: in: 0, then what the last call left here; out: where to go on, or
 *	U64_MAX at the end
 * @entries: address of an array of struct timewheel_query
 * @nr: in: its length, not 0; out: how many were filled, which may be none before
 *	the end is reached
 * @pad: 0
 *
 * Those that are pending all along are seen exactly once.
 */
struct timewheel_list {
	__u64	cursor;
	__u64	entries;
	__u32	nr;
	__u32	pad;
};

#define TIMEWHEEL_LATENESS_BUCKETS	40

/**
 * struct timewheel_stats - the books of a context
 * @size: in: sizeof(struct timewheel_stats); out: what the kernel filled
 * @pad: 0
 * @armed: timeouts armed; at rest, fired + cancelled + unprocessed + pending
 * @rearmed: moved to another deadline
 * @fired: expired
 * @cancelled: cancelled before they expired
 * @unprocessed: handed back by STOP
 * @pending: not yet any of these
 * @rejected: ops refused, whatever the reason
 * @overruns: periods that passed without an expiry of their own.  Each expiry of
 *	a periodic timeout counts as armed and as fired.
 * @unread: events that wait to be read
 * @wakeups: how often the wheel's worker woke
 * @passes: how often it went over the wheel
 * @lateness: expiries by how late they were: lateness[0] counts 0 ns,
 *	lateness[n] those from 2^(n-1) to 2^n - 1 ns, the last all above
 */
struct timewheel_stats {
	__u32	size;
	__u32	pad;
	__u64	armed;
	__u64	rearmed;
	__u64	fired;
	__u64	cancelled;
	__u64	unprocessed;
	__u64	pending;
	__u64	rejected;
	__u64	overruns;
	__u64	unread;
	__u64	wakeups;
	__u64	passes;
	__u64	lateness[TIMEWHEEL_LATENESS_BUCKETS];
};

/*
 * Shared memory, sized in SETUP and mapped MAP_SHARED at these offsets.  All that
 * a program reads and writes there it does with loads and stores of the word's size.
 *
 * Submission ring: one thread, or several that take turns, puts ops in.
 *
 *	program					kernel
 *	1 acquire head: is there room?		a acquire tail
 *	2 write the entry at tail & mask	b read the entries
 *	3 release tail				c release head
 *	4 full barrier
 *	5 read wake_ns
 *
 *	1 pairs with c: the kernel has read what was in the entry.  3 pairs with a:
 *	it finds the entry written.  4 pairs with the kernel's full barrier between
 *	its store of wake_ns and its look at tail, before it sleeps: one of them
 *	sees what the other wrote.  So only if the op's deadline lies before
 *	wake_ns, or the ring is full, must SUBMIT be called, with nr 0.  Of several
 *	ops 4 and 5 are done once, for the nearest deadline.  SUBMIT tells the
 *	worker, and waits for it only while the ring is full.  An op that was put in
 *	before the deadline of a timeout came is done before that expires, however
 *	many ops lie in front of it.
 *
 *	An ARM names its own id; a deadline is absolute or in the lease table; an
 *	eventfd of a timeout's own takes a call.  The result of an op is not
 *	written back: one that fails is an event, TIMEWHEEL_EVENT_FAILED.  A few of
 *	them can wait; with more unread, the next op that fails holds the ring up,
 *	and what comes due, until events are taken; SUBMIT says EAGAIN.
 *
 * Completion ring: one thread, or several that take turns, takes events out.
 *
 *	kernel					program
 *	a acquire head: is there room?		1 acquire tail
 *	b write the entries			2 read the entries
 *	c release tail				3 release head
 *
 *	1 pairs with c, a with 3.  What there is no room for waits in the kernel,
 *	in order, and TIMEWHEEL_RING_OVERFLOW is set: read() gives it, and SUBMIT
 *	with nr 0 brings it.  With a completion ring read() has nothing else.
 *
 * Lease table: a __u64 for each own id, a deadline on the wheel's clock.  One
 * relaxed 64-bit store of a later one refreshes the timeout.  The kernel reads it
 * when the timeout is armed, when the deadline it knows has come, and at REARM with
 * TIMEWHEEL_LEASE, which a nearer deadline takes.
 */
#define TIMEWHEEL_OFF_SQ		0x00000000ULL
#define TIMEWHEEL_OFF_CQ		0x10000000ULL
#define TIMEWHEEL_OFF_LEASE		0x20000000ULL

/**
 * struct timewheel_ring - the head of a submission or completion ring
 * @head: next entry the consumer takes
 * @pad: keeps the two sides' words on lines of their own
 * @tail: next entry the producer fills
 * @pad2: see @pad
 * @mask: entries - 1
 * @flags: TIMEWHEEL_RING_*
 * @wake_ns: of the submission ring: from which deadline on the worker's next pass
 *	is early enough, U64_MAX for none
 * @pad3: see @pad
 *
 * The entries follow: struct timewheel_op or struct timewheel_event.
 */
struct timewheel_ring {
	__u32	head;
	__u32	pad[15];
	__u32	tail;
	__u32	pad2[15];
	__u32	mask;
	__u32	flags;
	__u64	wake_ns;
	__u32	pad3[12];
};

#define TIMEWHEEL_RING_MAX		(1U << 17) /* entries */

/* timewheel_ring.flags */
#define TIMEWHEEL_RING_OVERFLOW		(1U << 0) /* events wait in the kernel */

/*
 * The calls.  Each returns 0 but where it says otherwise, or -1 with errno; what
 * fails changes nothing.
 *
 * INFO, STATS	fill the structure; any time
 * SETUP	once, before the first op: else EBUSY.  EINVAL for what is out of
 *		range, EBADF or EINVAL for a descriptor that is no eventfd, ENOSPC
 *		for more own wheels than the module allows, EDQUOT for more own
 *		wheels or submission rings than the user may have, ENOSPC or EDQUOT
 *		for more own ids, ENOMEM, EAGAIN if an own wheel gets no thread
 * ARM		id is filled.  EINVAL for what is malformed, EBADF, ENOSPC when this
 *		context or the module is full, EDQUOT when the user's share is,
 *		ESHUTDOWN after STOP, ENOMEM.
 *		With TIMEWHEEL_OWN_ID, EBUSY while the index is in use, which it is
 *		until its last event has been read
 * CANCEL	ENOENT if it is not pending: it expired, was cancelled, or never was.
 *		After it, nothing expires; events that wait already stay.
 * REARM	ENOENT the same, ESHUTDOWN after STOP
 *		These three tell the error in the op's result, too.
 * SUBMIT	nr 0: look at the rings; EINVAL if there are none.  Else it
 *		returns how many ops were looked at, in order; each op's result tells
 *		what came of it, and one that fails does not keep the next from
 *		being done.  Fewer than nr after a signal or a fault.
 * QUERY	ENOENT if it was cancelled, or its event was read
 * LIST		the pending ones, from the cursor on
 * STOP		cancels all that is pending; when it returns, each has an event,
 *		TIMEWHEEL_EVENT_UNPROCESSED
 *
 * read() gives whole events, as many as fit: EINVAL if none does.  It waits for
 * the first, unless O_NONBLOCK says EAGAIN; after STOP, when all have been read,
 * it returns 0 rather than wait.  poll() says POLLIN while there are events that
 * read() would give, or that are in the completion ring; of the end after STOP it
 * says nothing.
 */
#define TIMEWHEEL_IOC_MAGIC	0xBC

#define TIMEWHEEL_IOC_INFO	_IOWR(TIMEWHEEL_IOC_MAGIC, 0, struct timewheel_info)
#define TIMEWHEEL_IOC_SETUP	_IOW(TIMEWHEEL_IOC_MAGIC, 1, struct timewheel_setup)
#define TIMEWHEEL_IOC_SUBMIT	_IOW(TIMEWHEEL_IOC_MAGIC, 2, struct timewheel_submit)
#define TIMEWHEEL_IOC_ARM	_IOWR(TIMEWHEEL_IOC_MAGIC, 3, struct timewheel_op)
#define TIMEWHEEL_IOC_CANCEL	_IOWR(TIMEWHEEL_IOC_MAGIC, 4, struct timewheel_op)
#define TIMEWHEEL_IOC_REARM	_IOWR(TIMEWHEEL_IOC_MAGIC, 5, struct timewheel_op)
#define TIMEWHEEL_IOC_QUERY	_IOWR(TIMEWHEEL_IOC_MAGIC, 6, struct timewheel_query)
#define TIMEWHEEL_IOC_LIST	_IOWR(TIMEWHEEL_IOC_MAGIC, 7, struct timewheel_list)
#define TIMEWHEEL_IOC_STOP	_IO(TIMEWHEEL_IOC_MAGIC, 8)
#define TIMEWHEEL_IOC_STATS	_IOWR(TIMEWHEEL_IOC_MAGIC, 9, struct timewheel_stats)

#endif /* _UAPI_LINUX_TIMEWHEEL_H */
