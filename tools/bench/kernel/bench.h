/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of timewheel_bench.ko agree on; main.c says what is measured.
 */
#ifndef TIMEWHEEL_BENCH_H
#define TIMEWHEEL_BENCH_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/timewheel.h>
#include <linux/types.h>

struct bench;

/* Something done to the timeouts whose indices are @which, @nr of them. */
typedef void (*bench_step)(struct bench *b, const u32 *which, u32 nr);

/**
 * struct bench_peer - one way to have timeouts
 * @name: as in the rows
 * @size: bytes of one timeout
 * @open: get ready; @bound: what works on its own stays on the CPU of the bench
 * @close: no timeout is pending, and no callback runs, when it returns
 * @init: make the timeouts fit for use
 * @add: arm each, its own delay from now
 * @add_at: the same from a time read once; NULL where reading it costs nothing
 * @add_due: arm each for @b->due
 * @dear: of the times from this one on, the next at which to expire costs most;
 *	NULL if it is all one
 * @add_here: as @add, on the CPU of the bench wherever the caller runs; NULL if
 *	it can't
 * @no_add_here: why it can't
 * @add_cancel: arm one and cancel it, then the next
 * @rearm: move each to its delay and @b->later_us from now
 * @touch: the same by what is cheaper for a later deadline; NULL if nothing is
 * @cancel: cancel each
 * @settle: have done what was left to somebody else; NULL if nothing is
 * @pass: wake that somebody for nothing, and wait; or, with @idle, find that there
 *	is nothing to wait for.  Returns how long that took
 * @soon: have one more timeout pending that is due before any other and before
 *	somebody would look by himself, but not yet; or no more
 *
 * Each loops by itself, so that what is measured is the call and not a way to it.
 */
struct bench_peer {
	const char *name;
	size_t size;
	int (*open)(struct bench *b, bool bound);
	void (*close)(struct bench *b);
	bench_step init;
	bench_step add;
	bench_step add_at;
	bench_step add_due;
	u64 (*dear)(struct bench *b, u64 ns);
	bench_step add_here;
	const char *no_add_here;
	bench_step add_cancel;
	bench_step rearm;
	bench_step touch;
	bench_step cancel;
	void (*settle)(struct bench *b);
	u64 (*pass)(struct bench *b, bool idle);
	void (*soon)(struct bench *b, bool pending);
};

extern const struct bench_peer peer_timewheel;
extern const struct bench_peer peer_timer_list;
extern const struct bench_peer peer_hrtimer;
extern const struct bench_peer peer_delayed_work;

/* The operations of the rows; result.c has their names. */
enum bench_operation {
	BENCH_ADD,
	BENCH_ADD_AT,
	BENCH_TRANSFER,
	BENCH_ADD_CANCEL,
	BENCH_REARM,
	BENCH_TOUCH,
	BENCH_REFILE,
	BENCH_CANCEL,
	BENCH_UNLINK,
	BENCH_CANCEL_REMOTE,
	BENCH_ONE_PRODUCER,
	BENCH_TWO_PRODUCERS,
	BENCH_EXPIRE,
	BENCH_EMPTY_PASS,
	BENCH_MOVED_PASS,
	BENCH_LIFE,
	BENCH_MEMORY,
	BENCH_OPERATIONS
};

#define BENCH_MAX_RUNS	15U

/**
 * struct bench_result - what the runs of one operation gave
 * @value: what the caller spent for each, in tenths of the unit
 * @cpu: what all CPUs spent for it
 * @runs: how many of them there are
 * @has_cpu: @cpu was measured
 * @reason: why it was not measured, or NULL
 */
struct bench_result {
	u64 value[BENCH_MAX_RUNS];
	u64 cpu[BENCH_MAX_RUNS];
	unsigned int runs;
	bool has_cpu;
	const char *reason;
};

/**
 * struct bench - one peer with one number of timeouts
 * @peer: the peer
 * @live: how many timeouts are pending while operations are measured
 * @extra: how many more there are, to be armed on top of them
 * @ops: how often an operation on the live ones is done
 * @cpu: where the bench runs
 * @items: the timeouts, the live ones first
 * @delay_us: the delay of each
 * @in_order: their indices
 * @shuffled: those of the live ones, in random order
 * @later_us: see &bench_peer.rearm
 * @due_ns: when those expire that are to expire together
 * @due_jiffies: the same in jiffies
 * @wheel: the timewheel's
 * @last: the timewheel's, see its settle
 * @wq: the delayed works'
 * @result: what was measured
 */
struct bench {
	const struct bench_peer *peer;
	u32 live;
	u32 extra;
	u32 ops;
	int cpu;
	void *items;
	u32 *delay_us;
	u32 *in_order;
	u32 *shuffled;
	u32 later_us;
	u64 due_ns;
	unsigned long due_jiffies;
	struct timewheel *wheel;
	u64 epoch_ns;
	struct timewheel_timeout last;
	struct timewheel_timeout first;
	struct workqueue_struct *wq;
	struct bench_result result[BENCH_OPERATIONS];
};

/* load.c: the timeouts, and when they are due */
int load_make(struct bench *b, u64 seed);
void load_free(struct bench *b);
void load_init(struct bench *b);
u32 load_doomed(const struct bench *b);
void load_doom(struct bench *b, bool soon);

/**
 * struct bench_cost - what was spent
 * @caller_ns: by the caller
 * @settle_ns: until what it had left to others was done
 */
struct bench_cost {
	u64 caller_ns;
	u64 settle_ns;
};

/* meter.c: clocks, and waiting */
void meter_init(void);
int meter_run(struct bench *b, bench_step step, const u32 *which, u32 nr,
	      struct bench_cost *cost);
int meter_do(struct bench *b, bench_step step, const u32 *which, u32 nr);
int meter_pause(void);
void meter_expect(u32 nr);
u32 meter_fired(void);
int meter_await(void);
int meter_sleep_until(u64 ns);

/* No more than this between two looks at what else is to be done. */
#define METER_BATCH	32768U

/*
 * Expiries, counted on whatever CPU they come: @due is how many are expected.
 */
struct meter_expiries {
	atomic_t fired;
	int due;
	struct completion done;
};

extern struct meter_expiries meter_expiries;

/* Each callback of each peer does this and nothing else. */
static inline void meter_fire(void)
{
	if (atomic_inc_return(&meter_expiries.fired) == meter_expiries.due)
		complete(&meter_expiries.done);
}

/**
 * struct soak_mark - a moment
 * @begun_ns: the clock
 * @busy_ns: how long all CPUs had been busy, since some time ago
 */
struct soak_mark {
	u64 begun_ns;
	u64 busy_ns;
};

/* soak.c: what all CPUs spend */
int soak_look(void);
int soak_begin(void);
void soak_end(void);
void soak_mark(struct soak_mark *mark);
u64 soak_spent_ns(const struct soak_mark *mark);

/* helper.c: a second thread, on another CPU */
int helper_cpu(const struct bench *b);
int helper_run(struct bench *b, bench_step step, const u32 *which, u32 nr,
	       struct bench_cost *cost);
int helper_run_both(struct bench *b, bench_step step, const u32 *mine,
		    const u32 *its, u32 nr, struct bench_cost *cost);
int helper_echo(struct bench *b, u32 times, u64 *took_ns);

/* What has no other CPU to run on says this. */
#define HELPER_NO_CPU	"takes two CPUs, and there is one"

/* result.c */
void result_add(struct bench *b, enum bench_operation op, u64 value_ns, u32 nr);
void result_add_cpu(struct bench *b, enum bench_operation op, u64 value_ns,
		    u64 cpu_ns, u32 nr);
void result_spent(struct bench *b, enum bench_operation op, u64 spent_ns, u32 nr);
void result_refuse(struct bench *b, enum bench_operation op, const char *reason);
int result_report(struct bench *b);
int result_report_all(struct bench *b, const char *reason);

/* report.c: the rows, to be read in debugfs */
int report_init(void);
void report_exit(void);
__printf(1, 2) int report_row(const char *format, ...);
void report_end(void);

/* Whether values are of these units is for the loader to know. */
extern char *bench_unit;

/* One for each group of operations; 0 or -EINTR, or what keeps all from going on. */
int measure_add(struct bench *b);
int measure_add_cancel(struct bench *b);
int measure_move(struct bench *b);
int measure_cancel(struct bench *b);
int measure_producers(struct bench *b);
int measure_expire(struct bench *b);
int measure_refile(struct bench *b);
int measure_pass(struct bench *b);
int measure_life(struct bench *b);

#endif /* TIMEWHEEL_BENCH_H */
