// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading the module, and what the kernel says of it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "module.h"
#include "support.h"

#define SYS_DIR	"/sys/module/timewheel"

static char saved_params[512];
static gid_t saved_group;

static const char *module_file(void)
{
	const char *path = getenv("TIMEWHEEL_KO");

	return path ? path : "/lib/timewheel/timewheel.ko";
}

static void read_text(const char *path, char *buf, size_t size)
{
	ssize_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ASSERT_OK(fd);
	len = read(fd, buf, size - 1);
	ASSERT_OK(len);
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	close(fd);
}

/* The parameters the module has now, as insmod takes them. */
static void save_params(void)
{
	char path[300], value[64];
	struct dirent *entry;
	size_t len = 0;
	DIR *dir;

	dir = opendir(SYS_DIR "/parameters");
	ASSERT_TRUE(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), SYS_DIR "/parameters/%s", entry->d_name);
		read_text(path, value, sizeof(value));
		len += snprintf(saved_params + len, sizeof(saved_params) - len,
				"%s=%s ", entry->d_name, value);
		ASSERT_LT(len, sizeof(saved_params));
	}
	closedir(dir);
}

gid_t device_group(void)
{
	struct stat st;

	ASSERT_OK(stat(DEVICE, &st));
	return st.st_gid;
}

/* Goes on only where the module is loaded and can be loaded anew. */
void need_module(void)
{
	if (geteuid())
		SKIP("only root can load modules");
	if (access(module_file(), R_OK))
		SKIP("no module at %s", module_file());
	if (access(DEVICE, F_OK))
		SKIP("the module is not loaded");
	saved_group = device_group();
	save_params();
}

int module_load(const char *params)
{
	int fd = open(module_file(), O_RDONLY | O_CLOEXEC), ret, err;
	unsigned int waited;

	ASSERT_OK(fd);
	ret = syscall(SYS_finit_module, fd, params, 0);
	err = errno;
	close(fd);
	if (!ret) {
		/* devtmpfs has the node at once; others may take a moment. */
		for (waited = 0; access(DEVICE, F_OK); waited++) {
			ASSERT_LT(waited, PATIENCE_MS);
			usleep(1000);
		}
		ASSERT_OK(chown(DEVICE, 0, saved_group));
	}
	errno = err;
	return ret;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "timewheel", O_NONBLOCK);
}

void module_reload(const char *params)
{
	ASSERT_OK(module_unload());
	ASSERT_OK(module_load(params));
}

/* As it was before the test. */
void module_restore(void)
{
	module_unload();
	ASSERT_OK(module_load(saved_params));
}

long long module_refs(void)
{
	char text[64];

	read_text(SYS_DIR "/refcnt", text, sizeof(text));
	return strtoll(text, NULL, 10);
}

/* What the kernel says from now on. */
int kernel_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	ASSERT_OK(fd);
	ASSERT_OK(lseek(fd, 0, SEEK_END));
	return fd;
}

/* Did it say a line that begins with the prefix and has the word in it? */
int kernel_said(int log, const char *prefix, const char *word)
{
	char line[2048], *text;
	int found = 0;
	ssize_t len;

	while ((len = read(log, line, sizeof(line) - 1)) > 0 ||
	       (len < 0 && errno == EPIPE)) {
		if (len < 0)
			continue;
		line[len] = '\0';
		text = strchr(line, ';');
		if (text && !strncmp(text + 1, prefix, strlen(prefix)) &&
		    strstr(text + 1, word))
			found = 1;
	}
	return found;
}

/* Another user, for good, with one more group. */
void become(uid_t uid, gid_t gid)
{
	ASSERT_OK(setgroups(1, &gid));
	ASSERT_OK(setgid(uid));
	ASSERT_OK(setuid(uid));
}
