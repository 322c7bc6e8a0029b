// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passing a descriptor to another process over a Unix socket.
 */
#include <sys/socket.h>

#include "fdpass.h"
#include "harness.h"

/* The one byte that carries it, and room for it. */
union fd_room {
	char buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static struct msghdr fd_message(union fd_room *room, struct iovec *iov)
{
	return (struct msghdr){
		.msg_iov = iov,
		.msg_iovlen = 1,
		.msg_control = room->buf,
		.msg_controllen = sizeof(room->buf),
	};
}

static ssize_t fd_send(int sock, int fd, int flags)
{
	union fd_room room = { };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = fd_message(&room, &iov);
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &msg, flags);
}

static int fd_receive(int sock, int flags)
{
	union fd_room room = { };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = fd_message(&room, &iov);
	int fd;

	if (recvmsg(sock, &msg, flags) != 1 || !CMSG_FIRSTHDR(&msg))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

void send_fd(int sock, int fd)
{
	ASSERT_EQ(1, fd_send(sock, fd, 0));
}

int receive_fd(int sock)
{
	int fd = fd_receive(sock, 0);

	ASSERT_OK(fd);
	return fd;
}

/* If there is room just now. */
bool try_send_fd(int sock, int fd)
{
	return fd_send(sock, fd, MSG_DONTWAIT) == 1;
}

/* If one is there just now, else -1. */
int try_receive_fd(int sock)
{
	return fd_receive(sock, MSG_DONTWAIT);
}
