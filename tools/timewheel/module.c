// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sysfs says of the loaded module.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

/**
 * module_loaded() - is the module there?
 */
bool module_loaded(void)
{
	return !access(MODULE_DIR, F_OK);
}

/**
 * module_text() - read a file of the module's directory
 * @file: its path below that directory
 * @buf: where to
 * @size: its size
 *
 * Return: 0 or -errno; the text has no newline at its end.
 */
int module_text(const char *file, char *buf, size_t size)
{
	char path[256];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), MODULE_DIR "/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, buf, size - 1);
	if (len < 0)
		len = -errno;
	close(fd);
	if (len < 0)
		return len;
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

/**
 * module_parameter() - read a parameter that is a number
 * @name: which
 * @value: out: its value
 *
 * Return: 0 or -errno.
 */
int module_parameter(const char *name, uint64_t *value)
{
	char file[128], text[64], *end;
	int err;

	snprintf(file, sizeof(file), "parameters/%s", name);
	err = module_text(file, text, sizeof(text));
	if (err)
		return err;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno || end == text || *end ? -EINVAL : 0;
}
