// SPDX-License-Identifier: GPL-2.0-only
/*
 * What many selftests do: open, arm, wait, read, look at the books.
 */
#include "support.h"

#define BATCH	1024U

int tw_open_with(int flags)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | flags);

	if (fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		SKIP("no " DEVICE ": the module is not loaded");
	ASSERT_OK(fd);
	return fd;
}

int tw_open(void)
{
	return tw_open_with(0);
}

uint64_t now_ns(clockid_t clockid)
{
	struct timespec ts;

	ASSERT_OK(clock_gettime(clockid, &ts));
	return ts.tv_sec * SEC + ts.tv_nsec;
}

struct timewheel_op op_arm(uint64_t expires_ns, uint64_t user_data)
{
	return (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_ARM,
		.user_data = user_data,
		.expires_ns = expires_ns,
		.eventfd = -1,
	};
}

struct timewheel_op op_arm_at(uint64_t expires_ns, uint64_t user_data)
{
	struct timewheel_op op = op_arm(expires_ns, user_data);

	op.flags = TIMEWHEEL_ABS;
	return op;
}

struct timewheel_op op_cancel(uint64_t id)
{
	return (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_CANCEL,
		.id = id,
		.eventfd = -1,
	};
}

struct timewheel_op op_rearm(uint64_t id, uint64_t expires_ns)
{
	return (struct timewheel_op){
		.opcode = TIMEWHEEL_OP_REARM,
		.id = id,
		.expires_ns = expires_ns,
		.eventfd = -1,
	};
}

struct timewheel_op op_periodic(uint64_t expires_ns, uint64_t interval_ns,
				uint64_t user_data)
{
	struct timewheel_op op = op_arm(expires_ns, user_data);

	op.interval_ns = interval_ns;
	return op;
}

uint64_t arm_op(int fd, struct timewheel_op op)
{
	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_ARM, &op));
	EXPECT_EQ(0, op.result);
	return op.id;
}

uint64_t arm(int fd, uint64_t expires_ns, uint64_t user_data)
{
	return arm_op(fd, op_arm(expires_ns, user_data));
}

uint64_t arm_at(int fd, uint64_t expires_ns, uint64_t user_data)
{
	return arm_op(fd, op_arm_at(expires_ns, user_data));
}

int cancel(int fd, uint64_t id)
{
	struct timewheel_op op = op_cancel(id);

	return ioctl(fd, TIMEWHEEL_IOC_CANCEL, &op);
}

int rearm(int fd, uint64_t id, uint64_t expires_ns)
{
	struct timewheel_op op = op_rearm(id, expires_ns);

	return ioctl(fd, TIMEWHEEL_IOC_REARM, &op);
}

int query(int fd, uint64_t id, struct timewheel_query *query)
{
	*query = (struct timewheel_query){ .id = id };
	return ioctl(fd, TIMEWHEEL_IOC_QUERY, query);
}

int submit(int fd, struct timewheel_op *ops, unsigned int nr)
{
	struct timewheel_submit submit = { .ops = (uintptr_t)ops, .nr = nr };

	return ioctl(fd, TIMEWHEEL_IOC_SUBMIT, &submit);
}

/* Timeouts with the cookies 0 to nr - 1. */
void arm_many(int fd, unsigned int nr, uint64_t expires_ns)
{
	static struct timewheel_op ops[BATCH];
	unsigned int done, n, i;

	for (done = 0; done < nr; done += n) {
		n = nr - done < BATCH ? nr - done : BATCH;
		for (i = 0; i < n; i++)
			ops[i] = op_arm(expires_ns, done + i);
		ASSERT_EQ(n, submit(fd, ops, n));
		for (i = 0; i < n; i++)
			ASSERT_EQ(0, ops[i].result);
	}
}

int setup(int fd, const struct timewheel_setup *setup)
{
	return ioctl(fd, TIMEWHEEL_IOC_SETUP, setup);
}

/* A context with a wheel of its own. */
int own_wheel(uint64_t tick_ns, int clockid)
{
	struct timewheel_setup s = {
		.size = sizeof(s),
		.flags = TIMEWHEEL_SETUP_OWN_WHEEL,
		.tick_ns = tick_ns,
		.clockid = clockid,
	};
	int fd = tw_open();

	ASSERT_OK(setup(fd, &s));
	return fd;
}

struct timewheel_info info_of(int fd)
{
	struct timewheel_info info = { .size = sizeof(info) };

	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_INFO, &info));
	return info;
}

struct timewheel_stats stats_of(int fd)
{
	struct timewheel_stats stats = { .size = sizeof(stats) };

	ASSERT_OK(ioctl(fd, TIMEWHEEL_IOC_STATS, &stats));
	return stats;
}

/* Every armed timeout is in exactly one place. */
void expect_balance(int fd)
{
	struct timewheel_stats st = stats_of(fd);
	uint64_t late = 0;
	int i;

	EXPECT_EQ(st.armed, st.fired + st.cancelled + st.unprocessed + st.pending);
	for (i = 0; i < TIMEWHEEL_LATENESS_BUCKETS; i++)
		late += st.lateness[i];
	EXPECT_EQ(st.fired, late);
}

bool readable(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int nr;

	do {
		nr = poll(&pfd, 1, timeout_ms);
	} while (nr < 0 && errno == EINTR);
	ASSERT_OK(nr);
	return nr && pfd.revents & POLLIN;
}

void wait_readable(int fd)
{
	ASSERT_TRUE(readable(fd, PATIENCE_MS));
}

/* The next event, whatever it says. */
struct timewheel_event read_any_event(int fd)
{
	struct timewheel_event ev;

	wait_readable(fd);
	ASSERT_EQ(sizeof(ev), read(fd, &ev, sizeof(ev)));
	return ev;
}

/* The next event, of a one-shot; what must hold of every such does. */
struct timewheel_event read_event(int fd)
{
	struct timewheel_event ev = read_any_event(fd);

	/* A one-shot is gone with its event, be it expired or handed back. */
	EXPECT_TRUE(ev.flags & TIMEWHEEL_EVENT_LAST);
	if (ev.flags & TIMEWHEEL_EVENT_EXPIRED) {
		EXPECT_EQ(TIMEWHEEL_EVENT_EXPIRED | TIMEWHEEL_EVENT_LAST, ev.flags);
		EXPECT_EQ(1, ev.result);
	} else {
		EXPECT_EQ(TIMEWHEEL_EVENT_UNPROCESSED | TIMEWHEEL_EVENT_LAST, ev.flags);
		EXPECT_EQ(0, ev.result);
	}
	return ev;
}

void expect_no_event(int fd)
{
	struct timewheel_event ev;
	int flags = fcntl(fd, F_GETFL);

	EXPECT_FALSE(readable(fd, 0));
	ASSERT_OK(fcntl(fd, F_SETFL, flags | O_NONBLOCK));
	EXPECT_ERR(EAGAIN, read(fd, &ev, sizeof(ev)));
	ASSERT_OK(fcntl(fd, F_SETFL, flags));
}

/* How often it was signalled since the last look; 0 if not at all. */
uint64_t eventfd_count(int fd)
{
	uint64_t count;

	if (!readable(fd, 0))
		return 0;
	ASSERT_EQ(sizeof(count), read(fd, &count, sizeof(count)));
	return count;
}

/* SplitMix64: the same numbers from the same seed. */
uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}
