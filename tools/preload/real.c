// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of the C library that stand behind ours.
 *
 * Those are here at which a thread may be cancelled, or that do more than the
 * system call; for the rest syscall() is as good.  Another library's constructor
 * may come before ours, and dlsym() may allocate, with an allocator that reads a
 * file: until they are known, these too are the system call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "real.h"

static struct {
	ssize_t (*read)(int fd, void *buf, size_t count);
	ssize_t (*read_chk)(int fd, void *buf, size_t count, size_t size);
	ssize_t (*readv)(int fd, const struct iovec *iov, int nr);
	ssize_t (*sendmsg)(int sock, const struct msghdr *msg, int flags);
	int (*close)(int fd);
	int (*fcntl)(int fd, int cmd, ...);
} real;

void real_start(void)
{
	real.read = dlsym(RTLD_NEXT, "read");
	real.read_chk = dlsym(RTLD_NEXT, "__read_chk");
	real.readv = dlsym(RTLD_NEXT, "readv");
	real.sendmsg = dlsym(RTLD_NEXT, "sendmsg");
	real.close = dlsym(RTLD_NEXT, "close");
	real.fcntl = dlsym(RTLD_NEXT, "fcntl64");
}

ssize_t real_read(int fd, void *buf, size_t count)
{
	return real.read ? real.read(fd, buf, count) : syscall(SYS_read, fd, buf, count);
}

/* Does not return if @count is more than @size. */
ssize_t real_read_chk(int fd, void *buf, size_t count, size_t size)
{
	return real.read_chk ? real.read_chk(fd, buf, count, size) :
			       syscall(SYS_read, fd, buf, count);
}

ssize_t real_readv(int fd, const struct iovec *iov, int nr)
{
	return real.readv ? real.readv(fd, iov, nr) : syscall(SYS_readv, fd, iov, nr);
}

ssize_t real_sendmsg(int sock, const struct msghdr *msg, int flags)
{
	return real.sendmsg ? real.sendmsg(sock, msg, flags) :
			      syscall(SYS_sendmsg, sock, msg, flags);
}

int real_close(int fd)
{
	return real.close ? real.close(fd) : syscall(SYS_close, fd);
}

int real_fcntl(int fd, int cmd, void *arg)
{
	return real.fcntl ? real.fcntl(fd, cmd, arg) : syscall(SYS_fcntl, fd, cmd, arg);
}
