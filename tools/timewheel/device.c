// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/timewheel, opened with errors that name cause and cure.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>

#include "device.h"
#include "error.h"
#include "module.h"

#define NOT_LOADED \
	"the module timewheel is not loaded.\nLoad it, as root: modprobe timewheel"

/* Looks at two clocks at once; the one that took least counts. */
#define LOOKS 16

static noreturn void fail_version(void)
{
	fail("the module does not know this program's ABI version %u.\n"
	     "Install the module and this program from the same release.",
	     TIMEWHEEL_ABI_VERSION);
}

/**
 * device_fail_open() - a handle could not be opened: say why, and what to do
 * @err: a positive errno
 */
noreturn void device_fail_open(int err)
{
	switch (err) {
	case ENOENT:
		if (!module_loaded())
			fail(DEVICE_PATH " is not there: " NOT_LOADED);
		fail("the module is loaded, but " DEVICE_PATH " is not there: this /dev is\n"
		     "not the kernel's own (a container?). Make the device visible in it.");
	case ENXIO:
	case ENODEV:
		fail(DEVICE_PATH " has nothing behind it: " NOT_LOADED);
	case EACCES:
	case EPERM:
		fail("no permission for " DEVICE_PATH ": it is for root and the group timewheel.\n"
		     "Join the group, as root: usermod -aG timewheel USER, then log in anew;\n"
		     "or run this as root.");
	case EMFILE:
	case ENFILE:
		fail("too many open files: raise 'ulimit -n'");
	case EPROTONOSUPPORT:
		fail_version();
	default:
		fail_errno(err, "cannot open " DEVICE_PATH);
	}
}

/**
 * device_open() - a new context
 *
 * Return: a handle; it does not return on an error.
 */
struct timewheel *device_open(void)
{
	struct timewheel *tw;
	int err = timewheel_open(&tw, NULL);

	if (err)
		device_fail_open(-err);
	return tw;
}

/**
 * device_info() - what the module and a context's wheel are
 * @fd: the context, which may be another program's
 * @info: out: the answer
 *
 * Does not return if the module speaks another version of the ABI.
 */
void device_info(int fd, struct timewheel_info *info)
{
	*info = (struct timewheel_info){ .size = sizeof(*info) };
	if (ioctl(fd, TIMEWHEEL_IOC_INFO, info)) {
		if (errno == ENOTTY || errno == EINVAL || errno == E2BIG)
			fail_version();
		fail_errno(errno, "cannot ask the module what it is (INFO)");
	}
	if (info->abi_version != TIMEWHEEL_ABI_VERSION)
		fail_version();
}

/**
 * device_stats() - the books of a context
 * @fd: the context, which may be another program's
 * @stats: out: the books
 */
void device_stats(int fd, struct timewheel_stats *stats)
{
	*stats = (struct timewheel_stats){ .size = sizeof(*stats) };
	if (ioctl(fd, TIMEWHEEL_IOC_STATS, stats))
		fail_errno(errno, "cannot read the books (STATS)");
}

/**
 * device_now() - a clock, in nanoseconds
 * @clockid: which
 */
uint64_t device_now(clockid_t clockid)
{
	struct timespec ts;

	if (clock_gettime(clockid, &ts))
		fail_errno(errno, "cannot read clock %d", clockid);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/**
 * device_wall_ahead() - how far the wall clock is ahead of a context's clock
 * @fd: the context
 *
 * Right to half of what the fastest of several looks at both took.
 *
 * Return: nanoseconds; negative when it is behind.
 */
int64_t device_wall_ahead(int fd)
{
	uint64_t before, after, best = UINT64_MAX;
	struct timewheel_info info;
	int64_t ahead = 0;
	int i;

	for (i = 0; i < LOOKS || best == UINT64_MAX; i++) {
		before = device_now(CLOCK_REALTIME);
		device_info(fd, &info);
		after = device_now(CLOCK_REALTIME);
		/* Somebody may have set it back in between. */
		if (after < before || after - before >= best)
			continue;
		best = after - before;
		ahead = before + best / 2 - info.now_ns;
	}
	return ahead;
}
