// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timerfds, as tests use them.
 */
#include <dirent.h>
#include <stdlib.h>

#include "timerfd.h"

struct itimerspec tfd_spec(uint64_t value_ns, uint64_t interval_ns)
{
	return (struct itimerspec){
		.it_value = { value_ns / SEC, value_ns % SEC },
		.it_interval = { interval_ns / SEC, interval_ns % SEC },
	};
}

/* One that read() does not wait for, unless the test says otherwise. */
int tfd_open(int flags)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, flags);

	ASSERT_OK(fd);
	return fd;
}

static void set(int fd, int flags, uint64_t value_ns, uint64_t interval_ns)
{
	struct itimerspec spec = tfd_spec(value_ns, interval_ns);

	ASSERT_OK(timerfd_settime(fd, flags, &spec, NULL));
}

void tfd_set(int fd, uint64_t value_ns, uint64_t interval_ns)
{
	set(fd, 0, value_ns, interval_ns);
}

void tfd_set_at(int fd, uint64_t deadline_ns, uint64_t interval_ns)
{
	set(fd, TFD_TIMER_ABSTIME, deadline_ns, interval_ns);
}

struct tfd_left tfd_left(int fd)
{
	struct itimerspec spec;

	ASSERT_OK(timerfd_gettime(fd, &spec));
	return (struct tfd_left){
		.value = spec.it_value.tv_sec * SEC + spec.it_value.tv_nsec,
		.interval = spec.it_interval.tv_sec * SEC + spec.it_interval.tv_nsec,
	};
}

/* Expirations; 0 if read() would wait. */
uint64_t tfd_read(int fd)
{
	uint64_t count = 0;
	ssize_t len = read(fd, &count, sizeof(count));

	if (len < 0 && errno == EAGAIN)
		return 0;
	ASSERT_EQ(sizeof(count), len);
	ASSERT_NE(0, count);
	return count;
}

/* For a descriptor with O_NONBLOCK. */
void tfd_expect_idle(int fd)
{
	EXPECT_FALSE(readable(fd, 0));
	EXPECT_EQ(0, tfd_read(fd));
}

/* How often a timer has expired by then. */
uint64_t tfd_periods(uint64_t first_ns, uint64_t interval_ns, uint64_t now_ns)
{
	return now_ns < first_ns ? 0 : 1 + (now_ns - first_ns) / interval_ns;
}

void sleep_until(uint64_t deadline_ns)
{
	struct timespec ts = { deadline_ns / SEC, deadline_ns % SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

/* The kernel says of a timerfd of its own which clock it has. */
bool tfd_is_kernels(int fd)
{
	char path[64], line[128];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file))
		found |= !strncmp(line, "clockid:", strlen("clockid:"));
	fclose(file);
	return found;
}

/* How many descriptors lead to the device, or to anything; and the last of them. */
static unsigned int count_fds(const char *what, int *fd)
{
	char target[64] = "";
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir;

	dir = opendir("/proc/self/fd");
	ASSERT_TRUE(dir);
	while ((entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target,
					 sizeof(target) - 1);

		if (len < 0 || atoi(entry->d_name) == dirfd(dir))
			continue;
		target[len] = '\0';
		if (what && strcmp(target, what))
			continue;
		nr++;
		if (fd)
			*fd = atoi(entry->d_name);
	}
	closedir(dir);
	return nr;
}

unsigned int contexts_open(int *fd)
{
	return count_fds(DEVICE, fd);
}

unsigned int fds_open(void)
{
	return count_fds(NULL, NULL);
}

/* The tests run under 'timewheel run'. */
bool served(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "timewheel-preload.so");
}
