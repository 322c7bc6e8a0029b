// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel run: a program whose timerfds are in the wheel.
 *
 * The work is done by a library that the dynamic linker loads before the
 * program's own (tools/preload).  It loads nothing into a program that is linked
 * statically or that gets another user's rights, and says nothing of it: so that
 * is found out here.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "command.h"
#include "device.h"
#include "error.h"
#include "program.h"

#define LIBRARY		"timewheel-preload.so"
#define LIBRARY_ENV	"TIMEWHEEL_PRELOAD"
#define VERBOSE_ENV	"TIMEWHEEL_VERBOSE"

/* A script's interpreter may be a script, as often as the kernel has it. */
#define MAX_SCRIPTS	4

#define NOTHING_IS_LOADED \
	"no library can be loaded before it, and its timerfds\nwould be the kernel's. Run it without 'timewheel run'"

/* --- the library --------------------------------------------------------------- */

/* Where this program is, without its name. */
static void own_directory(char *dir, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", dir, size - 1);

	if (len < 0)
		fail_errno(errno, "cannot find out where this program is (/proc/self/exe)");
	dir[len] = '\0';
	*strrchr(dir, '/') = '\0';
}

static void check_library(const char *path)
{
	if (access(path, R_OK))
		fail_errno(errno, "cannot read %s, which " LIBRARY_ENV " names", path);
}

/* In the installed tree, or where it was built. */
static void find_library(char *path, size_t size)
{
	const char *named = getenv(LIBRARY_ENV);
	char dir[PATH_MAX];

	if (named && *named) {
		check_library(named);
		if (!realpath(named, path))
			fail_errno(errno, "cannot find %s", named);
	} else {
		own_directory(dir, sizeof(dir));
		snprintf(path, size, "%.2000s/../lib/timewheel/" LIBRARY, dir);
		if (access(path, R_OK))
			snprintf(path, size, "%.2000s/preload/" LIBRARY, dir);
		if (access(path, R_OK))
			fail("there is no %.2000s/../lib/timewheel/" LIBRARY ".\n"
			     "Install it ('make install-tools'), or name it in the environment:\n"
			     LIBRARY_ENV "=/path/to/" LIBRARY, dir);
	}
	if (strpbrk(path, " :"))
		fail("the dynamic linker can't load %s: there is a blank or a colon in\n"
		     "its name. Copy it elsewhere, and name that in " LIBRARY_ENV ".", path);
}

/* Before those that are loaded already. */
static void preload(const char *path)
{
	const char *before = getenv("LD_PRELOAD");
	char *all;

	if (asprintf(&all, "%s%s%s", path, before && *before ? ":" : "", before ?: "") < 0 ||
	    setenv("LD_PRELOAD", all, true))
		fail("no memory");
	free(all);
}

/* --- the program --------------------------------------------------------------- */

static void check_rights(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		program_fail(path, errno);
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	    (st.st_mode & S_ISGID && st.st_mode & 0010 && st.st_gid != getegid()) ||
	    (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0))
		fail("%s runs with the rights of another user or group: " NOTHING_IS_LOADED "\n"
		     "or as that user.", path);
}

static void check_interpreter(const char *path, const char *linker)
{
	const char *name = strrchr(linker, '/');

	if (strncmp(name ? name + 1 : linker, "ld-linux", strlen("ld-linux")))
		fail("%s is not for the GNU C library, but for that of\n"
		     "%s: the library that would be loaded before it is.", path, linker);
}

/* What the program header says that loads its libraries, if there is one. */
static void check_segments(const char *path, int fd, const Elf64_Ehdr *elf)
{
	char linker[PATH_MAX] = "";
	Elf64_Phdr segment;
	size_t len;
	int i;

	for (i = 0; i < elf->e_phnum; i++) {
		if (pread(fd, &segment, sizeof(segment), elf->e_phoff + i * sizeof(segment)) !=
		    sizeof(segment))
			break;
		if (segment.p_type != PT_INTERP)
			continue;
		len = segment.p_filesz < PATH_MAX ? segment.p_filesz : PATH_MAX - 1;
		if (pread(fd, linker, len, segment.p_offset) < 0)
			break;
		check_interpreter(path, linker);
		return;
	}
	fail("%s is linked statically: " NOTHING_IS_LOADED ".", path);
}

/* The first word behind "#!"; returns false if there is none. */
static bool script_interpreter(char *head, char *path, size_t size)
{
	char *word = strtok(head + 2, " \t\n");

	if (!word)
		return false;
	snprintf(path, size, "%s", word);
	return true;
}

/* Does not return if nothing can be loaded into it. */
static void check_program(const char *name)
{
	char path[PATH_MAX], head[256] = "";
	Elf64_Ehdr elf;
	int scripts, fd, err;

	err = program_find(name, path, sizeof(path));
	if (err)
		program_fail(name, -err);
	for (scripts = 0; scripts <= MAX_SCRIPTS; scripts++) {
		check_rights(path);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		/* It may be for execution only. */
		if (fd < 0)
			return;
		if (pread(fd, &elf, sizeof(elf), 0) == sizeof(elf) &&
		    !memcmp(elf.e_ident, ELFMAG, SELFMAG)) {
			if (elf.e_ident[EI_CLASS] != ELFCLASS64)
				fail("%s is a program of 32 bit: " NOTHING_IS_LOADED ".", path);
			check_segments(path, fd, &elf);
			close(fd);
			return;
		}
		err = pread(fd, head, sizeof(head) - 1, 0);
		close(fd);
		/* What else it may be, the kernel will say. */
		if (err < 2 || memcmp(head, "#!", 2) ||
		    !script_interpreter(head, path, sizeof(path)))
			return;
		memset(head, 0, sizeof(head));
	}
}

/* --- the device ------------------------------------------------------------------ */

static void check_device(void)
{
	struct timewheel *tw = device_open();
	struct timewheel_info info;

	device_info(timewheel_fd(tw), &info);
	timewheel_close(tw);
	if (~info.features & TIMEWHEEL_FEATURE_OWN_IDS)
		fail("the module has no ids of the program's own, which this needs.\n"
		     "Install the module and this program from the same release.");
}

static int run_run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "verbose", no_argument, NULL, 'v' },
		{ }
	};
	char **program = program_take("run", &argc, argv);
	char library[PATH_MAX];
	bool verbose = false;
	int c;

	while ((c = command_option(&command_run, argc, argv, options)) != -1)
		verbose = c == 'v';
	if (optind < argc)
		fail_usage("run", "a program comes behind --, but '%s' is before it",
			   argv[optind]);
	if (!program)
		fail_usage("run", "which program? Put it behind --");

	find_library(library, sizeof(library));
	check_program(program[0]);
	check_device();
	preload(library);
	if (verbose && setenv(VERBOSE_ENV, "1", true))
		fail("no memory");
	program_exec(program);
}

const struct command command_run = {
	.name = "run",
	.args = "[--verbose] -- PROGRAM [ARGUMENT]...",
	.summary = "run a program whose timerfds are in the wheel",
	.help = "Runs PROGRAM, unmodified, with its timerfds kept by the wheel: all of\n"
		"a process in one context. They behave as timerfd_create(2) says, and are late by\n"
		"up to a tick. What it runs in turn is served likewise.\n"
		"\n"
		"Left to the kernel are other clocks than CLOCK_MONOTONIC, and timers that are\n"
		"first set to a period or a delay shorter than a tick. PROGRAM must be a dynamically\n"
		"linked 64-bit program for the GNU C library, or a script. What else differs is in\n"
		"timewheel(1).\n"
		"\n"
		"  --verbose   say on standard error when the wheel keeps a program's timers, what\n"
		"              is left to the kernel and why, once each, and at the end how many\n"
		"              timeouts there were\n"
		"\n"
		"The library that does it is found by where this command is: DIRECTORY/timewheel,\n"
		"DIRECTORY/../lib/timewheel/" LIBRARY ". " LIBRARY_ENV " names\n"
		"another.\n",
	.run = run_run,
};
