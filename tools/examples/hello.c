// SPDX-License-Identifier: MIT
/*
 * Arms a timeout of one second and waits for it.
 *
 *	cc hello.c -o hello $(pkg-config --cflags --libs libtimewheel)
 */
#include <stdio.h>
#include <string.h>
#include <timewheel.h>

static void expired(struct timewheel *tw, const struct timewheel_event *event, void *data)
{
	unsigned long long late = timewheel_now(tw) - event->deadline_ns;
	int *fired = data;

	printf("timeout %llu fired, %llu us late\n",
	       (unsigned long long)event->user_data, late / 1000);
	++*fired;
}

int main(void)
{
	struct timewheel *tw;
	int err, fired = 0;
	uint64_t id;

	err = timewheel_open(&tw, NULL);
	if (err) {
		fprintf(stderr, "hello: cannot open /dev/timewheel: %s\n", strerror(-err));
		return 1;
	}
	err = timewheel_arm(tw, 1000000000, 42, &id);
	/* timewheel_fd() can be polled instead, together with sockets. */
	while (err >= 0 && !fired) {
		err = timewheel_wait(tw, -1);
		if (err > 0)
			err = timewheel_drain(tw, 0, expired, &fired);
	}
	if (err < 0)
		fprintf(stderr, "hello: %s\n", strerror(-err));
	timewheel_close(tw);
	return err < 0;
}
