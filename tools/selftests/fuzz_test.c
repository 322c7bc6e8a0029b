// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several processes do what no program should, on contexts that they share and
 * that they don't: random ioctls, reads, polls and mmaps, with sizes, flags, ids
 * and pointers that are nearly right, while eventfds and contexts are closed.
 *
 * TIMEWHEEL_FUZZ_SEED and TIMEWHEEL_FUZZ_SECONDS choose another run.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "fdpass.h"
#include "module.h"
#include "support.h"

#define PROGRAMS	4
#define CONTEXTS	6
#define EVENTFDS	4
#define IDS		64
#define PAGES		5
#define FUZZ_OPS	100000U
#define DEBUG_WHEELS	"/sys/kernel/debug/timewheel"

/* One process. */
struct fuzz {
	uint64_t seed;
	int ctx[CONTEXTS];
	int efd[EVENTFDS];
	uint64_t ids[IDS];
	int mailbox[2];
	int epoll;
	unsigned char *pages;
	size_t page;
	unsigned int ops;
	unsigned int worked;
};

static struct fuzz f;

static uint64_t below(uint64_t end)
{
	return random_next(&f.seed) % end;
}

static bool one_in(uint64_t n)
{
	return !below(n);
}

static int any_ctx(void)
{
	return f.ctx[below(CONTEXTS)];
}

/* An eventfd, or what is none. */
static int any_eventfd(void)
{
	switch (below(10)) {
	case 0 ... 4:
		return f.efd[below(EVENTFDS)];
	case 5:
		return 0;
	case 6:
		return any_ctx();
	case 7:
		return below(2) ? 1 << 20 : (int)random_next(&f.seed);
	default:
		return -1;
	}
}

static uint64_t any_id(void)
{
	uint64_t id = f.ids[below(IDS)];

	switch (below(12)) {
	case 0:
		return id + 1;
	case 1:
		return id ^ 1ULL << below(64);
	case 2:
		return id + (1ULL << 32);
	case 3:
		return random_next(&f.seed);
	case 4:
		/* Its own, of a context that reserved some. */
		return below(80) | (1 + below(3)) << 32;
	default:
		return id;
	}
}

static uint64_t any_time(void)
{
	switch (below(12)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - below(3);
	case 2:
		return 1ULL << below(64);
	case 3:
		return now_ns(CLOCK_MONOTONIC) + below(4 * MS) - 2 * MS;
	case 4 ... 5:
		return HOUR + below(HOUR);
	default:
		return below(3 * MS);
	}
}

/*
 * Where to put @size bytes: most often whole, else across the end of what can be
 * written or is there at all.  The pages are: written to, read only, none,
 * written to again, and none, so that nothing else of the program is hit.
 */
static void *any_place(size_t size)
{
	unsigned char *end;

	switch (below(16)) {
	case 0:
		return NULL;
	case 1:
		/* None of a program's, or the page that is none. */
		if (sizeof(void *) == 8)
			return (void *)(uintptr_t)(random_next(&f.seed) | 1ULL << 63);
		return f.pages + 2 * f.page + below(f.page);
	case 2:
		return (void *)(uintptr_t)-below(4096);
	case 3:
		/* From there on read only. */
		end = f.pages + f.page;
		break;
	case 4:
		end = f.pages + 2 * f.page;
		break;
	case 5:
		/* Before the first byte there is none. */
		return f.pages + 3 * f.page - below(size + 1);
	case 6:
		return f.pages + 3 * f.page + below(f.page - size % f.page);
	default:
		return f.pages + below(f.page - size % f.page) / 8 * 8;
	}
	return end - below(size + 1);
}

/* As much of it as can be put there. */
static void *put(const void *from, size_t size)
{
	unsigned char *to = any_place(size);
	size_t i;

	for (i = 0; i < size; i++) {
		unsigned char *at = to + i;

		if ((at >= f.pages && at < f.pages + f.page) ||
		    (at >= f.pages + 3 * f.page && at < f.pages + 4 * f.page))
			*at = ((const unsigned char *)from)[i];
	}
	return to;
}

/* Now and then one bit is not as it should be. */
static void spoil(void *data, size_t size)
{
	if (one_in(6))
		((unsigned char *)data)[below(size)] ^= 1 << below(8);
}

static struct timewheel_op any_op(void)
{
	struct timewheel_op op = {
		.opcode = 1 + below(3),
		.flags = below(3) ? 0 : below(16),
		.id = any_id(),
		.user_data = random_next(&f.seed),
		.expires_ns = any_time(),
		.interval_ns = one_in(4) ? 50000 + below(5 * MS) : 0,
		.slack_ns = one_in(4) ? any_time() : 0,
		.eventfd = any_eventfd(),
	};

	if (one_in(50))
		op.interval_ns = any_time();
	spoil(&op, sizeof(op));
	return op;
}

/* What calls on the device may fail with; another errno is a mistake. */
static bool errno_allowed(int err)
{
	static const int allowed[] = {
		EFAULT, EINVAL, ENOTTY, EBUSY, EBADF, ENOENT, ENOSPC, EDQUOT,
		ESHUTDOWN, EOPNOTSUPP, E2BIG, ENOMEM, EINTR, EAGAIN, ESPIPE,
		ENODEV, ENXIO, EPERM, EACCES, EOVERFLOW, EMFILE, EEXIST,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(allowed); i++)
		if (allowed[i] == err)
			return true;
	return false;
}

static long judge(const char *what, long ret)
{
	f.ops++;
	if (ret >= 0)
		f.worked++;
	else if (!errno_allowed(errno))
		test_fail(__FILE__, __LINE__, "%s fails with %d (%s), seed %#llx", what,
			  errno, strerror(errno), (unsigned long long)f.seed);
	return ret;
}

/* The command itself may be spoilt too. */
static long fuzz_ioctl(unsigned long cmd, void *arg)
{
	if (one_in(40))
		cmd ^= 1UL << below(32);
	return judge("ioctl", ioctl(any_ctx(), cmd, arg));
}

/* Of an op that was done, if it lies where it can be read. */
static void learn_id(const void *place)
{
	const unsigned char *op = place;

	if (op >= f.pages && op + sizeof(struct timewheel_op) <= f.pages + f.page)
		memcpy(&f.ids[below(IDS)], op + offsetof(struct timewheel_op, id),
		       sizeof(f.ids[0]));
}

static void do_op(void)
{
	static const unsigned long cmds[] = {
		TIMEWHEEL_IOC_ARM, TIMEWHEEL_IOC_CANCEL, TIMEWHEEL_IOC_REARM,
	};
	struct timewheel_op op = any_op();
	void *place;

	if (below(4))
		op.opcode = 0;
	place = put(&op, sizeof(op));
	if (fuzz_ioctl(cmds[below(3)], place) == 0)
		learn_id(place);
}

static void do_submit(void)
{
	struct timewheel_submit s = { .nr = below(one_in(8) ? 400 : 40) };
	struct timewheel_op ops[40];
	unsigned int i, nr = s.nr < 40 ? s.nr : 40;
	void *place;

	for (i = 0; i < nr; i++)
		ops[i] = any_op();
	place = put(ops, nr * sizeof(ops[0]));
	s.ops = (uintptr_t)place;
	/* The address is right, or wrong by intent. */
	spoil(&s.nr, sizeof(s.nr) + sizeof(s.flags));
	if (fuzz_ioctl(TIMEWHEEL_IOC_SUBMIT, put(&s, sizeof(s))) > 0)
		learn_id(place);
}

static void do_setup(void)
{
	struct timewheel_setup s = {
		.size = sizeof(s),
		.flags = below(2),
		.max_pending = one_in(3) ? below(2000) : 0,
		.eventfd = any_eventfd(),
		.own_ids = one_in(3) ? below(100) : 0,
	};

	if (s.flags || one_in(8)) {
		s.tick_ns = below(3) ? 20000 + below(4 * MS) : any_time();
		s.slots = below(3) ? below(300) : 1U << below(14);
		s.levels = below(6);
		s.clockid = below(2) ? CLOCK_BOOTTIME : below(4) ? 0 : CLOCK_MONOTONIC;
	}
	if (one_in(2)) {
		s.sq_entries = 1 << below(6);
		s.cq_entries = below(4) ? 1U << below(6) : below(64);
	}
	spoil(&s, sizeof(s));
	fuzz_ioctl(TIMEWHEEL_IOC_SETUP, put(&s, sizeof(s)));
}

static void do_query(void)
{
	struct timewheel_query q = { .id = any_id() };

	spoil(&q, sizeof(q));
	fuzz_ioctl(TIMEWHEEL_IOC_QUERY, put(&q, sizeof(q)));
}

static void do_list(void)
{
	struct timewheel_list list = {
		.cursor = below(3) ? 0 : below(2) ? below(200) : any_id(),
		.nr = below(50),
	};

	list.entries = (uintptr_t)any_place(list.nr * sizeof(struct timewheel_query));
	spoil(&list.nr, sizeof(list.nr) + sizeof(list.pad));
	fuzz_ioctl(TIMEWHEEL_IOC_LIST, put(&list, sizeof(list)));
}

static void do_look(void)
{
	struct timewheel_stats stats = { .size = sizeof(stats) };
	struct timewheel_info info = { .size = sizeof(info) };

	if (one_in(4)) {
		stats.size = below(2 * sizeof(stats));
		info.size = below(2 * sizeof(info));
	}
	spoil(&stats, 8);
	spoil(&info, 8);
	fuzz_ioctl(TIMEWHEEL_IOC_STATS, put(&stats, sizeof(stats)));
	fuzz_ioctl(TIMEWHEEL_IOC_INFO, put(&info, sizeof(info)));
}

/* A signal comes when it is the machine's turn, so waiting ends. */
static void do_read(void)
{
	size_t size = below(4) ? 32 * below(20) : below(700);
	struct iovec iov[2] = {
		{ any_place(size), size },
		{ any_place(size / 2), size / 2 },
	};
	int fd = any_ctx();

	if (one_in(8))
		fcntl(fd, F_SETFL, one_in(4) ? 0 : O_NONBLOCK);
	switch (below(5)) {
	case 0:
		judge("readv", readv(fd, iov, 2));
		break;
	case 1:
		judge("preadv2", preadv2(fd, iov, 2, -1, RWF_NOWAIT));
		break;
	case 2:
		judge("pread", pread(fd, iov[0].iov_base, size, below(3)));
		break;
	default:
		judge("read", read(fd, iov[0].iov_base, size));
	}
}

static void do_wait(void)
{
	struct epoll_event ev = { .events = EPOLLIN | (one_in(2) ? EPOLLET : 0) };
	struct pollfd pfd = { .fd = any_ctx(), .events = POLLIN };

	judge("poll", poll(&pfd, 1, below(2)));
	if (one_in(2))
		judge("epoll_ctl", epoll_ctl(f.epoll, 1 + below(3), any_ctx(), &ev));
	judge("epoll_wait", epoll_wait(f.epoll, &ev, 1, 0));
}

/* Into a ring, or the lease table, while the worker looks at it. */
static void scribble(unsigned char *page)
{
	struct timewheel_ring *ring = (struct timewheel_ring *)page;
	struct timewheel_op op;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		switch (below(8)) {
		case 0:
			ring->head += below(3);
			break;
		case 1:
			((uint64_t *)page)[below(f.page / 8)] = any_time();
			break;
		case 2 ... 4:
			ring->tail += below(3);
			break;
		default:
			op = any_op();
			/* What a ring may ask for. */
			if (below(3)) {
				op.flags = TIMEWHEEL_ABS | TIMEWHEEL_OWN_ID;
				op.id = below(80) | (1 + below(3)) << 32;
				op.expires_ns = now_ns(CLOCK_MONOTONIC) + below(2 * MS);
				op.eventfd = -1;
			}
			memcpy(page + sizeof(*ring) + below(32) * sizeof(op), &op, sizeof(op));
		}
	}
}

static void do_mmap(void)
{
	static const off_t offsets[] = {
		TIMEWHEEL_OFF_SQ, TIMEWHEEL_OFF_CQ, TIMEWHEEL_OFF_LEASE, 1 << 16,
	};
	struct timewheel_submit look = { };
	size_t size = f.page * (below(3) ? 1 : 1 + below(3));
	int fd = any_ctx(), prot = PROT_READ | (below(4) ? PROT_WRITE : 0);
	void *addr;

	addr = mmap(NULL, size, prot, below(8) ? MAP_SHARED : MAP_PRIVATE, fd,
		    offsets[below(4)]);
	judge("mmap", addr == MAP_FAILED ? -1 : 0);
	if (addr == MAP_FAILED)
		return;
	if (prot & PROT_WRITE)
		scribble(addr);
	judge("SUBMIT of none", ioctl(fd, TIMEWHEEL_IOC_SUBMIT, &look));
	munmap(addr, size);
}

static void do_other(void)
{
	char path[64], text[2048];
	int fd = any_ctx(), info;

	switch (below(4)) {
	case 0:
		judge("write", write(fd, &f, below(64)));
		break;
	case 1:
		judge("lseek", lseek(fd, below(100), below(3)));
		break;
	default:
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		info = open(path, O_RDONLY | O_CLOEXEC);
		if (info >= 0) {
			judge("fdinfo", read(info, text, sizeof(text)));
			close(info);
		}
	}
}

/* Another context in place of one; what is left pending goes with it. */
static void do_reopen(void)
{
	int *fd = &f.ctx[below(CONTEXTS)];

	close(*fd);
	*fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_OK(*fd);
}

static void do_eventfd(void)
{
	int *fd = &f.efd[below(EVENTFDS)];
	uint64_t value = UINT64_MAX - 1;

	/* Full, so that signalling finds no room. */
	if (one_in(4) && write(*fd, &value, sizeof(value)) < 0)
		errno = 0;
	close(*fd);
	*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_OK(*fd);
}

/* A context changes hands: then two processes have it. */
static void do_pass(void)
{
	struct pollfd pfd = { .fd = f.mailbox[0], .events = POLLIN };
	int *fd = &f.ctx[below(CONTEXTS)];

	if (poll(&pfd, 1, 0) == 1) {
		int got = try_receive_fd(f.mailbox[0]);

		if (got >= 0) {
			close(*fd);
			*fd = got;
		}
	}
	try_send_fd(f.mailbox[1], any_ctx());
}

static void do_anything(void)
{
	switch (below(40)) {
	case 0 ... 11:
		do_op();
		break;
	case 12 ... 17:
		do_submit();
		break;
	case 18 ... 19:
		do_setup();
		break;
	case 20 ... 21:
		do_query();
		break;
	case 22 ... 23:
		do_list();
		break;
	case 24:
		do_look();
		break;
	case 25 ... 30:
		do_read();
		break;
	case 31 ... 32:
		do_wait();
		break;
	case 33 ... 34:
		do_mmap();
		break;
	case 35:
		if (one_in(2)) {
			do_other();
			break;
		}
		do_reopen();
		break;
	case 36:
		do_eventfd();
		break;
	case 37 ... 38:
		do_pass();
		break;
	default:
		if (one_in(4))
			judge("STOP", ioctl(any_ctx(), TIMEWHEEL_IOC_STOP));
	}
}

static void ring(int sig)
{
	(void)sig;
}

static void prepare(uint64_t seed)
{
	struct itimerval often = { { 0, 5000 }, { 0, 5000 } };
	struct sigaction sa = { .sa_handler = ring };
	unsigned int i;

	f.seed = seed;
	f.page = sysconf(_SC_PAGESIZE);
	f.pages = mmap(NULL, PAGES * f.page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(f.pages != MAP_FAILED);
	ASSERT_OK(mprotect(f.pages + f.page, f.page, PROT_READ));
	ASSERT_OK(mprotect(f.pages + 2 * f.page, f.page, PROT_NONE));
	ASSERT_OK(mprotect(f.pages + 4 * f.page, f.page, PROT_NONE));
	/* Half of the contexts are everybody's: they were inherited. */
	for (i = CONTEXTS / 2; i < CONTEXTS; i++)
		f.ctx[i] = tw_open_with(O_NONBLOCK);
	for (i = 0; i < EVENTFDS; i++)
		f.efd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f.epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_OK(f.epoll);
	ASSERT_OK(sigaction(SIGALRM, &sa, NULL));
	ASSERT_OK(setitimer(ITIMER_REAL, &often, NULL));
}

/* Whoever had it last, after STOP its books balance. */
static void expect_books(void)
{
	struct itimerval never = { };
	struct timewheel_stats st;
	unsigned int i;

	ASSERT_OK(setitimer(ITIMER_REAL, &never, NULL));
	for (i = CONTEXTS / 2; i < CONTEXTS; i++) {
		ASSERT_OK(ioctl(f.ctx[i], TIMEWHEEL_IOC_STOP));
		st = stats_of(f.ctx[i]);
		EXPECT_EQ(0, st.pending);
		EXPECT_EQ(st.armed, st.fired + st.cancelled + st.unprocessed);
	}
}

static noreturn void fuzz(uint64_t seed, uint64_t seconds)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + seconds * SEC;

	prepare(seed);
	while (f.ops < FUZZ_OPS && now_ns(CLOCK_MONOTONIC) < end)
		do_anything();
	expect_books();
	test_say("%u calls, of which %u worked", f.ops, f.worked);
	_exit(0);
}

static uint64_t from_env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* A kernel that looks for mistakes is worth more time. */
static uint64_t seconds_here(void)
{
	return access("/sys/kernel/debug/kmemleak", F_OK) ? 10 : 120;
}

static unsigned long long wheel_line(const char *wheel, const char *name)
{
	unsigned long long value = ~0ULL;
	char path[300], line[128];
	FILE *file;

	snprintf(path, sizeof(path), DEBUG_WHEELS "/%s/books", wheel);
	file = fopen(path, "r");
	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ')
			value = strtoull(line + strlen(name), NULL, 10);
	fclose(file);
	return value;
}

/* Of all wheels the system wheel is left, with nothing on it. */
static void expect_one_wheel(void)
{
	struct dirent *entry;
	unsigned int wheels = 0;
	DIR *dir = opendir(DEBUG_WHEELS);

	if (!dir) {
		test_say("no debugfs: the wheels are not looked at");
		return;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		wheels++;
		EXPECT_EQ(0, wheel_line(entry->d_name, "pending"));
		EXPECT_EQ(wheel_line(entry->d_name, "armed"),
			  wheel_line(entry->d_name, "fired") +
			  wheel_line(entry->d_name, "cancelled"));
	}
	closedir(dir);
	EXPECT_EQ(1, wheels);
}

static void run(unsigned int programs)
{
	uint64_t seed = from_env("TIMEWHEEL_FUZZ_SEED", 0x66757a7a);
	uint64_t seconds = from_env("TIMEWHEEL_FUZZ_SECONDS", seconds_here());
	pid_t pids[PROGRAMS];
	unsigned int i;
	int status;

	test_say("seed %#llx, %llu s", (unsigned long long)seed,
		 (unsigned long long)seconds);
	ASSERT_OK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, f.mailbox));
	for (i = 0; i < CONTEXTS / 2; i++)
		f.ctx[i] = tw_open_with(O_NONBLOCK);
	for (i = 0; i < programs; i++) {
		pids[i] = fork();
		ASSERT_OK(pids[i]);
		if (!pids[i])
			fuzz(seed + i, seconds);
	}
	/* They have them now. */
	for (i = 0; i < CONTEXTS / 2; i++)
		close(f.ctx[i]);
	for (i = 0; i < programs; i++) {
		ASSERT_EQ(pids[i], waitpid(pids[i], &status, 0));
		EXPECT_EQ(0, status);
	}
	/* And what is on its way between them is let go of. */
	close(f.mailbox[0]);
	close(f.mailbox[1]);
}

TEST_LIMIT(one_process, 400)
{
	run(1);
}

TEST_LIMIT(several_processes, 400)
{
	run(PROGRAMS);
}

/* Nothing of all that is left: the module can go. */
TEST_LIMIT(nothing_is_left, 120)
{
	long long refs;

	need_module();
	refs = module_refs();
	EXPECT_EQ(0, refs);
	expect_one_wheel();
	EXPECT_EQ(0, module_unload());
	module_restore();
}
