/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What --verbose tells, once for each reason and process.
 */
#ifndef SAY_H
#define SAY_H

enum said {
	SAID_NO_CONTEXT,
	SAID_SERVED,
	SAID_REALTIME,
	SAID_BOOTTIME,
	SAID_ALARM,
	SAID_NO_ROOM,
	SAID_FINE,
	SAID_FINE_LATE,
	SAID_FULL,
	SAID_LOST,
	SAID_BOOKS,
	NR_SAID,
};

#define __printf(format, first) \
	__attribute__((__format__ \
	(printf, format, first)))

void say_start(void);
__printf(2, 3) void say(enum said what, const char *format, ...);

#endif /* SAY_H */
