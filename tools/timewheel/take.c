// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another program's context, taken by its process id.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contexts.h"
#include "error.h"
#include "take.h"

/* The same on all architectures; the C library may be older. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open	434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd	438
#endif

/**
 * struct choice - the contexts of a process
 * @wanted: the descriptor asked for, -1 for any
 * @nr: how many contexts fit
 * @context: the last of them
 * @list: a line for each that was seen
 * @len: its length
 */
struct choice {
	int wanted;
	unsigned int nr;
	struct context context;
	char list[1024];
	size_t len;
};

static void consider(const struct context *context, void *data)
{
	const char *pending = context_value(context, "pending");
	struct choice *choice = data;
	int len;

	if (sizeof(choice->list) > choice->len) {
		len = snprintf(choice->list + choice->len,
			       sizeof(choice->list) - choice->len,
			       "\n  --fd %d, with %s pending", context->fd,
			       pending ? pending : "an unknown number");
		choice->len += len;
	}
	if (choice->wanted >= 0 && context->fd != choice->wanted)
		return;
	choice->nr++;
	choice->context = *context;
}

static noreturn void fail_process(int err, pid_t pid)
{
	switch (err) {
	case ENOENT:
	case ESRCH:
		fail("there is no process %d", pid);
	case EACCES:
	case EPERM:
		fail("no permission to take a context from process %d: that takes root, or the\n"
		     "same user where one may trace the other (see kernel.yama.ptrace_scope).\n"
		     "Run this as root.", pid);
	case EINVAL:
		fail("%d is a thread: give the id of its process", pid);
	case ENOSYS:
		fail("this kernel has no pidfd_getfd(): Linux 5.6 and later do");
	default:
		fail_errno(err, "cannot take a context from process %d", pid);
	}
}

static void choose(pid_t pid, struct choice *choice)
{
	struct context_scan scan = { };
	int err;

	err = contexts_of(pid, &scan, consider, choice);
	if (err)
		fail_process(-err, pid);
	if (choice->nr == 1)
		return;
	if (!scan.found)
		fail("process %d has no context open: 'timewheel stat' lists those that do", pid);
	if (!choice->nr)
		fail("descriptor %d of process %d is no context; these are:%s",
		     choice->wanted, pid, choice->list);
	fail("process %d has several contexts; choose one:%s", pid, choice->list);
}

/**
 * take_context() - get a descriptor for another program's context
 * @pid: the process
 * @theirs: its descriptor there, or -1 if it has but one
 * @taken: out: the context
 *
 * It does not return on an error.
 */
void take_context(pid_t pid, int theirs, struct taken *taken)
{
	struct choice choice = { .wanted = theirs };
	const char *wheel;
	int pidfd;

	/* First, so that it can't be another process by the time it is used. */
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		fail_process(errno, pid);
	choose(pid, &choice);
	taken->fd = syscall(SYS_pidfd_getfd, pidfd, choice.context.fd, 0);
	if (taken->fd < 0) {
		if (errno == EBADF)
			fail("process %d has closed its context", pid);
		fail_process(errno, pid);
	}
	close(pidfd);

	wheel = context_value(&choice.context, "wheel");
	taken->own_wheel = wheel && strcmp(wheel, "system");
}
