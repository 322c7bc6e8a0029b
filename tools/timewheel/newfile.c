// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that is there as a whole, or not at all: it is written under another
 * name in the same directory, brought to the disk, and renamed.  Whoever looks,
 * also after a crash, finds the old file or the new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "newfile.h"

#define PATTERN "/.timewheel-XXXXXX"

static const char *target;
static char *directory;
static char *temporary;

static noreturn void no_memory(void)
{
	fail("no memory");
}

/* When the program ends before it is done. */
static void discard(void)
{
	if (temporary)
		unlink(temporary);
}

static void hold_signals(int how)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(how, &mask, NULL);
}

/* It is to take the place of a file, not of a device or of a link to one. */
static void check_target(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		fail("%s is there and is no regular file: give another name", path);
}

/**
 * newfile_open() - begin a file, readable for its owner only
 * @path: the name it is to have; one at a time
 *
 * Signals wait until it is done.  It does not return on an error.
 *
 * Return: where to write.
 */
FILE *newfile_open(const char *path)
{
	char *copy = strdup(path);
	FILE *file;
	int fd;

	if (!copy)
		no_memory();
	check_target(path);
	target = path;
	directory = dirname(copy);
	temporary = malloc(strlen(directory) + sizeof(PATTERN));
	if (!temporary)
		no_memory();
	strcpy(temporary, directory);
	strcat(temporary, PATTERN);

	hold_signals(SIG_BLOCK);
	fd = mkstemp(temporary);
	if (fd < 0) {
		int err = errno;

		free(temporary);
		temporary = NULL;
		fail_errno(err, "cannot make a file in %s", directory);
	}
	if (atexit(discard))
		no_memory();
	file = fdopen(fd, "w");
	if (!file)
		no_memory();
	return file;
}

/**
 * newfile_commit() - all is written: give it its name
 * @file: what newfile_open() returned
 *
 * When it returns, the file is on the disk.  It does not return on an error.
 */
void newfile_commit(FILE *file)
{
	int dir;

	if (ferror(file) || fflush(file) || fsync(fileno(file)))
		fail_errno(errno ?: EIO, "cannot write %s", target);
	if (fclose(file))
		fail_errno(errno, "cannot write %s", target);
	if (rename(temporary, target))
		fail_errno(errno, "cannot give %s its name", target);
	free(temporary);
	temporary = NULL;

	dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems can't, and don't have to. */
	if (dir < 0 || (fsync(dir) && errno != EINVAL))
		fail_errno(errno, "%s is written, but its name may be lost in a crash: %s",
			   target, directory);
	close(dir);
	hold_signals(SIG_UNBLOCK);
}
