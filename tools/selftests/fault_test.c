// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of each call fails once: the call fails with an errno or does
 * without, changes nothing, and leaks nothing.
 */
#include <sys/mman.h>

#include "faults.h"
#include "support.h"

#define OPS	200

static int nth_fd;
static int efd = -1;

/**
 * struct walk - a call whose allocations are to fail
 * @make: what it is to be called on, freshly made
 * @call: the call: -1 and errno, or not
 * @check: what holds after it failed
 */
struct walk {
	int (*make)(void);
	int (*call)(int fd);
	void (*check)(int fd, const struct timewheel_stats *before);
};

/* Refused ops are counted, and the worker goes its way; all else is the same. */
static void expect_unchanged(int fd, const struct timewheel_stats *before)
{
	struct timewheel_stats after = stats_of(fd);

	after.rejected = before->rejected;
	after.wakeups = before->wakeups;
	after.passes = before->passes;
	EXPECT_EQ(0, memcmp(before, &after, sizeof(after)));
}

static int call_setup(int fd);

/* Until the call is through without a failure; returns how often it failed. */
static unsigned int walk(const char *name, const struct walk *w)
{
	unsigned int nth, failed = 0, absorbed = 0;
	struct timewheel_stats before;
	bool happened = true;
	int fd, ret, err;

	/* The memory of this program itself is there then, all of it. */
	fd = w->make ? w->make() : -1;
	ASSERT_OK(w->call(fd));
	close(fd);

	for (nth = 1; happened; nth++) {
		ASSERT_GT(FAULTS_MAX, nth);
		fd = w->make ? w->make() : -1;
		if (fd >= 0)
			before = stats_of(fd);
		fail_nth(nth_fd, nth);
		ret = w->call(fd);
		err = errno;
		happened = fail_happened(nth_fd);
		if (ret < 0) {
			failed++;
			/* Nothing else was wrong. */
			EXPECT_TRUE(happened);
			/* A thread that can't be made may be told of so. */
			if (w->call != call_setup || err != EAGAIN)
				EXPECT_EQ(ENOMEM, err);
			if (fd >= 0)
				(w->check ?: expect_unchanged)(fd, &before);
			/* And the next attempt works. */
			EXPECT_LE(0, w->call(fd));
		} else {
			absorbed += happened;
		}
		if (fd >= 0)
			close(fd);
	}
	test_say("%s: %u allocations, %u of them fail the call, it does without %u",
		 name, nth - 2, failed, absorbed);
	return failed;
}

static void begin(void)
{
	close(tw_open());
	need_faults();
	nth_fd = faults_of(0);
	efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_OK(efd);
	leaks_begin();
}

static int call_open(int unused)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	(void)unused;
	if (fd >= 0)
		close(fd);
	return fd;
}

TEST_LIMIT(open_and_close, 300)
{
	begin();
	EXPECT_LT(0, walk("open", &(struct walk){ .call = call_open }));
	leaks_end();
}

static int call_info(int fd)
{
	struct timewheel_info info = { .size = sizeof(info) };

	return ioctl(fd, TIMEWHEEL_IOC_INFO, &info);
}

static int call_stats(int fd)
{
	struct timewheel_stats stats = { .size = sizeof(stats) };

	return ioctl(fd, TIMEWHEEL_IOC_STATS, &stats);
}

static uint64_t known;

/* With something in it: pending, and expired and unread. */
static int make_used(void)
{
	int fd = tw_open_with(O_NONBLOCK);

	arm(fd, 0, 1);
	wait_readable(fd);
	arm_many(fd, 100, HOUR);
	known = arm(fd, HOUR, 2);
	return fd;
}

static int call_query(int fd)
{
	struct timewheel_query q;

	return query(fd, known, &q);
}

static int call_list(int fd)
{
	static struct timewheel_query entries[64];
	struct timewheel_list list = { .entries = (uintptr_t)entries, .nr = 64 };

	return ioctl(fd, TIMEWHEEL_IOC_LIST, &list);
}

static int call_rearm(int fd)
{
	return rearm(fd, known, 2 * HOUR);
}

static int call_cancel(int fd)
{
	return cancel(fd, known);
}

static int call_stop(int fd)
{
	return ioctl(fd, TIMEWHEEL_IOC_STOP);
}

static int call_read(int fd)
{
	struct timewheel_event ev;

	return read(fd, &ev, sizeof(ev));
}

static int call_poll(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0);
}

/* There may be nothing to map, which is no matter of memory. */
static int call_mmap(int fd)
{
	void *addr = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, TIMEWHEEL_OFF_SQ);

	if (addr == MAP_FAILED)
		return errno == ENOMEM ? -1 : 0;
	munmap(addr, 4096);
	return 0;
}

TEST_LIMIT(looking_and_ending, 300)
{
	begin();
	walk("INFO", &(struct walk){ .make = make_used, .call = call_info });
	walk("STATS", &(struct walk){ .make = make_used, .call = call_stats });
	walk("QUERY", &(struct walk){ .make = make_used, .call = call_query });
	walk("LIST", &(struct walk){ .make = make_used, .call = call_list });
	walk("REARM", &(struct walk){ .make = make_used, .call = call_rearm });
	walk("CANCEL", &(struct walk){ .make = make_used, .call = call_cancel });
	walk("STOP", &(struct walk){ .make = make_used, .call = call_stop });
	walk("read", &(struct walk){ .make = make_used, .call = call_read });
	walk("poll", &(struct walk){ .make = make_used, .call = call_poll });
	walk("mmap", &(struct walk){ .make = make_used, .call = call_mmap });
	leaks_end();
}

static int make_new(void)
{
	return tw_open_with(O_NONBLOCK);
}

static int call_setup(int fd)
{
	struct timewheel_setup s = {
		.size = sizeof(s),
		.flags = TIMEWHEEL_SETUP_OWN_WHEEL,
		.slots = 1024,
		.levels = 3,
		.max_pending = 1000,
		.eventfd = efd,
		.own_ids = 300,
	};

	return setup(fd, &s);
}

/* As it was: on the system wheel, with the module's limit. */
static void check_setup(int fd, const struct timewheel_stats *before)
{
	struct timewheel_info info = info_of(fd), fresh;
	int other = tw_open();

	fresh = info_of(other);
	close(other);
	fresh.now_ns = info.now_ns;
	EXPECT_EQ(0, memcmp(&fresh, &info, sizeof(info)));
	expect_unchanged(fd, before);
}

static const struct walk setup_walk = {
	.make = make_new,
	.call = call_setup,
	.check = check_setup,
};

TEST_LIMIT(setup_of_an_own_wheel, 600)
{
	begin();
	EXPECT_LT(0, walk("SETUP", &setup_walk));
	leaks_end();
}

/* The thread is made by kthreadd, whose allocations fail here. */
TEST_LIMIT(setup_without_a_thread, 600)
{
	begin();
	close(nth_fd);
	nth_fd = faults_of(2);
	EXPECT_LT(0, walk("SETUP, kthreadd", &setup_walk));
	leaks_end();
}

static int call_arm(int fd)
{
	struct timewheel_op op = op_arm(HOUR, 1);

	op.eventfd = efd;
	return ioctl(fd, TIMEWHEEL_IOC_ARM, &op);
}

TEST_LIMIT(arm, 300)
{
	begin();
	EXPECT_LT(0, walk("ARM", &(struct walk){ .make = make_new, .call = call_arm }));
	leaks_end();
}

/*
 * Of a batch, what was refused says so, and the rest is done.  A call that fails
 * as a whole did none.
 */
static int call_submit(int fd)
{
	static struct timewheel_op ops[OPS];
	struct timewheel_stats before = stats_of(fd);
	unsigned int i, done = 0;
	int ret, err;

	for (i = 0; i < OPS; i++) {
		ops[i] = op_arm(HOUR, i);
		ops[i].result = 1;
	}
	ret = submit(fd, ops, OPS);
	err = errno;
	for (i = 0; i < OPS; i++) {
		if (ops[i].result != 1 && ops[i].result)
			EXPECT_EQ(-ENOMEM, ops[i].result);
		done += !ops[i].result;
	}
	if (ret >= 0)
		EXPECT_EQ(OPS, ret);
	else
		EXPECT_EQ(0, done);
	EXPECT_EQ(before.armed + done, stats_of(fd).armed);
	expect_balance(fd);
	errno = err;
	return ret;
}

TEST_LIMIT(submit_and_growth, 600)
{
	begin();
	EXPECT_LT(0, walk("SUBMIT", &(struct walk){ .make = make_new, .call = call_submit }));
	leaks_end();
}
