/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suites of whole wheels share: wheels that end with their case,
 * timeouts that note what becomes of them, and time.
 */
#ifndef TIMEWHEEL_KUNIT_UTIL_H
#define TIMEWHEEL_KUNIT_UTIL_H

#include <linux/completion.h>
#include <linux/delay.h>

#include "compat.h"
#include "wheel.h"

#define ENV_WHEELS	4
#define ENV_BLOCKS	8
#define ENV_LOG		32768

#define TICK		((u64)NSEC_PER_MSEC)
/*
 * In virtual time only looking at the clock takes time, 256 ns; a worker that
 * is woken in time looks a few times.
 */
#define PROMPT		((u64)20 * NSEC_PER_USEC)

/**
 * struct test_env - a case's wheels, and what their callbacks said
 * @test: the case
 * @wheels: wheels made by env_wheel(), stopped and destroyed at the end
 * @bare: one made by env_bare(), which nobody works but the case
 * @blocks: memory of timeouts, freed at the end
 * @log: the numbers of the timeouts that fired, in that order
 * @logged: how many did
 */
struct test_env {
	struct kunit *test;
	struct timewheel *wheels[ENV_WHEELS];
	struct timewheel *bare;
	void *blocks[ENV_BLOCKS];
	unsigned int *log;
	atomic_t logged;
};

/**
 * struct test_timeout - a timeout that notes what becomes of it
 * @t: the timeout
 * @env: the case's
 * @id: its number, which is logged when it fires
 * @fired: times it fired
 * @cancelled: times it was told that it is cancelled
 * @fired_ns: the time of the pass in which it fired last
 * @cancelled_ns: the time of the pass in which it was told last
 * @on_expired: called at the end of its expired callback, if set
 * @on_cancelled: the same of its cancelled callback
 * @reached: completed when @on_expired of env_block() runs
 * @release: what that waits for
 * @arg: the case's
 */
struct test_timeout {
	struct timewheel_timeout t;
	struct test_env *env;
	unsigned int id;
	unsigned int fired;
	unsigned int cancelled;
	u64 fired_ns;
	u64 cancelled_ns;
	void (*on_expired)(struct test_timeout *tt);
	void (*on_cancelled)(struct test_timeout *tt);
	struct completion reached;
	struct completion release;
	void *arg;
};

/* With and without a cancelled callback. */
extern const struct timewheel_ops test_ops;
extern const struct timewheel_ops test_quiet_ops;

int env_init(struct kunit *test);
void env_exit(struct kunit *test);
void env_adopt(struct kunit *test, struct timewheel *wheel);
void env_forget(struct kunit *test, struct timewheel *wheel);
struct timewheel *env_wheel_of(struct kunit *test,
			       const struct timewheel_params *params);
struct timewheel *env_wheel(struct kunit *test, u32 slots, u32 levels);
struct timewheel *env_bare(struct kunit *test);
void bare_drain(struct timewheel *wheel);
void bare_fire(struct timewheel *wheel, u64 now_ns);
struct test_timeout *env_timeouts(struct kunit *test, unsigned int nr);
void env_timeout_init(struct kunit *test, struct test_timeout *tt,
		      unsigned int id, const struct timewheel_ops *ops);

void log_expect_ids(struct kunit *test, const unsigned int *ids, unsigned int nr);
#define log_expect(test, ...) \
	log_expect_ids(test, (const unsigned int []){ __VA_ARGS__ }, \
		       sizeof((unsigned int []){ __VA_ARGS__ }) / sizeof(int))

/* Sleeps in the callback until released; a case may, to hold the worker. */
void env_block(struct test_timeout *tt);

/**
 * struct test_books - what the books must say
 * @armed: and so on, as in struct books_sum
 */
struct test_books {
	u64 armed, fired, cancelled, unprocessed, pending, rejected;
};

void books_expect(struct kunit *test, struct timewheel *wheel,
		  struct test_books want);
void books_expect_balance(struct kunit *test, struct timewheel *wheel);
u64 books_pending(struct timewheel *wheel);

bool time_is_virtual(void);
void need_virtual_time(struct kunit *test);
void sleep_ns(u64 ns);
void sleep_until(u64 at_ns);
void wheel_settle(struct timewheel *wheel);
u64 wheel_at(const struct timewheel *wheel, u64 tick);
u64 wheel_ceil(const struct timewheel *wheel, u64 deadline_ns);

/* Until it is so, but not for ever; then says whether it is. */
#define WAIT_STEPS	3000
#define wait_for(condition) ({					\
	unsigned int __left = WAIT_STEPS;			\
	bool __so;						\
								\
	while (!(__so = (condition)) && --__left)		\
		msleep(20);					\
	__so;							\
})

/**
 * struct test_thread - a kernel thread of a case
 * @fn: what it does, once
 * @arg: for @fn
 * @task: the thread
 * @done: completed when @fn has returned
 */
struct test_thread {
	void (*fn)(void *arg);
	void *arg;
	struct task_struct *task;
	struct completion done;
};

void thread_start(struct kunit *test, struct test_thread *thread,
		  void (*fn)(void *arg), void *arg);
void thread_join(struct test_thread *thread);

#endif /* TIMEWHEEL_KUNIT_UTIL_H */
