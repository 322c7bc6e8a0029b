// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refresh one of a million, by each of the sides in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../syscalls.h"
#include "costs.h"
#include "parts.h"
#include "sides.h"

#define REFRESHES	1000000U
#define SETTIMES	20000U

/* How often a side runs before it is measured, and what part of it. */
#define WARM_UPS	12U
#define WARM_UP_PART	10U

/* More than all that a side looks at; a page each. */
#define OTHER_BYTES	(64UL << 20)
#define PAGE_BYTES	4096UL

/* What a timerfd takes, and more; what the rest of the machine keeps. */
#define TIMERFD_BYTES	1024ULL
#define SPARE_BYTES	(256ULL << 20)
/* Descriptors for everything else. */
#define SPARE_FILES	64U

/**
 * struct refreshed - what is refreshed
 * @nr: leases of each of the two
 * @rings: leases in a bare context
 * @order: its indices, in random order
 * @library: leases of the library
 * @fds: timerfds, in random order
 * @nr_fds: how many
 */
struct refreshed {
	unsigned int nr;
	struct rings rings;
	uint32_t *order;
	struct library library;
	int *fds;
	unsigned int nr_fds;
};

typedef void refresh_fn(struct refreshed *all, unsigned int times);

static void store(struct refreshed *all, unsigned int times)
{
	leases_store(&all->rings, all->order, times);
}

static void touch(struct refreshed *all, unsigned int times)
{
	library_touch(&all->library, times);
}

static void settime(struct refreshed *all, unsigned int times)
{
	timerfds_settime(all->fds, all->nr_fds, times);
}

/* Use other memory, and give it back: the processor forgets where any is. */
static void use_other_memory(void)
{
	unsigned long at;
	char *other;

	other = mmap(NULL, OTHER_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (other == MAP_FAILED)
		die("mmap()");
	for (at = 0; at < OTHER_BYTES; at += PAGE_BYTES)
		other[at] = 1;
	if (munmap(other, OTHER_BYTES))
		die("munmap()");
}

/*
 * An emulator's TLB begins with few entries, and gets more only when it is flushed
 * while it is full, as happens all the time where processes take turns.  Without
 * that it would be measured, and not the operation: so each side runs for a while,
 * and so does something else in between.  Then once more, for the caches.
 */
static void warm_up(struct refreshed *all, refresh_fn *fn, unsigned int times)
{
	unsigned int i;

	for (i = 0; i < WARM_UPS; i++) {
		fn(all, times / WARM_UP_PART);
		use_other_memory();
	}
	fn(all, times);
}

static void measure(struct refreshed *all, refresh_fn *fn, unsigned int times,
		    enum measure what, pid_t worker)
{
	struct meter m;

	warm_up(all, fn, times);
	m = meter_start(worker);
	fn(all, times);
	meter_called(&m);
	if (worker)
		meter_settled(&m);
	costs_record(&m, what, times);
}

static void counted_store(void *all)
{
	store(all, REFRESHES);
}

static void counted_touch(void *all)
{
	touch(all, REFRESHES);
}

static void report_syscalls(const char *what, counted_fn *fn, struct refreshed *all)
{
	long nr = syscalls_of(fn, all);

	if (nr < 0)
		printf("%u times %s: this kernel does not trace system calls\n",
		       REFRESHES, what);
	else
		printf("%u times %s: %ld system calls (goal 0, %s)\n", REFRESHES, what, nr,
		       nr ? "not met" : "met");
}

static unsigned long long available_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	if (!file)
		die("/proc/meminfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			break;
	fclose(file);
	return kib << 10;
}

/* As many timerfds as there may be, up to @nr. */
static unsigned int timerfds_most(unsigned int nr)
{
	unsigned long long bytes = available_bytes(), most;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		die("the limit of open files");
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	most = bytes > SPARE_BYTES ? (bytes - SPARE_BYTES) / TIMERFD_BYTES : 1;
	if (most > limit.rlim_cur - SPARE_FILES)
		most = limit.rlim_cur - SPARE_FILES;
	return most < nr ? most : nr;
}

static void timerfds_fill(struct refreshed *all)
{
	unsigned int i, other;
	int swap;

	all->nr_fds = timerfds_most(all->nr);
	all->fds = malloc(all->nr_fds * sizeof(*all->fds));
	if (!all->fds)
		die("memory");
	fprintf(stderr, "million: arming %u timerfds\n", all->nr_fds);
	all->nr_fds = timerfds_open(all->fds, all->nr_fds);
	for (i = all->nr_fds - 1; i; i--) {
		other = random_below(i + 1);
		swap = all->fds[i];
		all->fds[i] = all->fds[other];
		all->fds[other] = swap;
	}
}

void refresh_rounds(const struct plan *plan, unsigned int rounds)
{
	struct refreshed all = { .nr = plan->live, .order = shuffled(plan->live) };
	unsigned int i;

	fprintf(stderr, "million: arming twice %u leases\n", all.nr);
	wheel_fill(&all.rings, all.nr, true);
	library_fill(&all.library, all.nr);
	timerfds_fill(&all);
	printf("refreshed in random order: %u leases, %u timerfds\n", all.nr, all.nr_fds);
	for (i = 0; i < rounds; i++) {
		progress("refresh", i, rounds);
		measure(&all, store, REFRESHES, REFRESH_STORE, all.rings.worker);
		measure(&all, settime, SETTIMES, REFRESH_SETTIME, 0);
		measure(&all, touch, REFRESHES, REFRESH_TOUCH, all.library.worker);
	}
	report_syscalls("a store", counted_store, &all);
	report_syscalls("timewheel_touch()", counted_touch, &all);
	timerfds_close(all.fds, all.nr_fds);
	library_close(&all.library);
	rings_close(&all.rings);
	free(all.fds);
	free(all.order);
}
