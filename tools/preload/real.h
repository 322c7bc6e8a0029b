/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the C library that stand behind ours.
 */
#ifndef REAL_H
#define REAL_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

void real_start(void);
ssize_t real_read(int fd, void *buf, size_t count);
ssize_t real_read_chk(int fd, void *buf, size_t count, size_t size);
ssize_t real_readv(int fd, const struct iovec *iov, int nr);
ssize_t real_sendmsg(int sock, const struct msghdr *msg, int flags);
int real_close(int fd);
int real_fcntl(int fd, int cmd, void *arg);

#endif /* REAL_H */
