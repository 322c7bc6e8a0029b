/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passing a descriptor to another process over a Unix socket.
 */
#ifndef FDPASS_H
#define FDPASS_H

#include <stdbool.h>

void send_fd(int sock, int fd);
int receive_fd(int sock);
bool try_send_fd(int sock, int fd);
int try_receive_fd(int sock);

#endif /* FDPASS_H */
