// SPDX-License-Identifier: GPL-2.0-only
/*
 * Being told to end, by Ctrl-C or by kill(1).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "error.h"
#include "interrupt.h"

#define EXIT_SIGNAL 128	/* and the number of the signal */

/**
 * interrupt_catch() - read SIGINT and SIGTERM from a descriptor from now on
 *
 * Return: the descriptor, to be polled among others.
 */
int interrupt_catch(void)
{
	sigset_t mask;
	int fd;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	fd = signalfd(-1, &mask, SFD_CLOEXEC);
	if (fd < 0)
		fail_errno(errno, "cannot watch for signals");
	return fd;
}

/**
 * interrupt_status() - the exit status that names the signal
 * @fd: the descriptor, readable
 */
int interrupt_status(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return EXIT_FAILURE;
	return EXIT_SIGNAL + info.ssi_signo;
}
