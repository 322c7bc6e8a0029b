// SPDX-License-Identifier: MIT
/* Arms a timeout of one second and waits for it with epoll. */
#include <fcntl.h>
#include <linux/timewheel.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(void)
{
	struct timewheel_op op = { .opcode = TIMEWHEEL_OP_ARM, .user_data = 42,
				   .expires_ns = 1000000000, .eventfd = -1 };
	struct epoll_event ready = { .events = EPOLLIN };
	struct timewheel_event ev;
	int ep = epoll_create1(0), fd = open("/dev/timewheel", O_RDWR | O_CLOEXEC);

	if (fd < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ready) ||
	    ioctl(fd, TIMEWHEEL_IOC_ARM, &op) ||
	    epoll_wait(ep, &ready, 1, -1) != 1 ||
	    read(fd, &ev, sizeof(ev)) != sizeof(ev)) {
		perror("timewheel");
		return 1;
	}
	printf("timeout %llu fired\n", (unsigned long long)ev.user_data);
	return 0;
}
