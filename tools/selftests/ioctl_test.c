// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules that hold for all ioctls: commands, sizes, what is not there.
 */
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "support.h"

#define PAGE 4096

TEST(unknown_commands)
{
	char buf[512] = { };
	int fd = tw_open();

	EXPECT_ERR(ENOTTY, ioctl(fd, _IO(TIMEWHEEL_IOC_MAGIC, 10), buf));
	EXPECT_ERR(ENOTTY, ioctl(fd, _IO(TIMEWHEEL_IOC_MAGIC, 255), buf));
	EXPECT_ERR(ENOTTY, ioctl(fd, _IO('T', 8), buf));
	EXPECT_ERR(ENOTTY, ioctl(fd, 0, buf));
	EXPECT_ERR(ENOTTY, ioctl(fd, 0xffffffffU, buf));
	/* The number of STOP, but in another direction. */
	EXPECT_ERR(ENOTTY, ioctl(fd, _IOW(TIMEWHEEL_IOC_MAGIC, 8, int), buf));
	EXPECT_ERR(ENOTTY, ioctl(fd, _IOR(TIMEWHEEL_IOC_MAGIC, 3, struct timewheel_op), buf));
	/* An op of another size is none. */
	EXPECT_ERR(ENOTTY, ioctl(fd, _IOWR(TIMEWHEEL_IOC_MAGIC, 3, char[32]), buf));
}

/* A structure at the end of a page, so that what is behind it faults. */
static void *at_the_end(size_t size)
{
	char *area = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE((uintptr_t)MAP_FAILED, (uintptr_t)area);
	munmap(area + PAGE, PAGE);
	return area + PAGE - size;
}

/* A caller of an older version: its structure is shorter. */
TEST(shorter_structures)
{
	struct timewheel_info *info = at_the_end(offsetof(struct timewheel_info, slots));
	struct timewheel_setup *s = at_the_end(offsetof(struct timewheel_setup, tick_ns));
	struct timewheel_stats *st = at_the_end(offsetof(struct timewheel_stats, fired));
	int fd = tw_open();

	info->size = offsetof(struct timewheel_info, slots);
	EXPECT_EQ(0, ioctl(fd, TIMEWHEEL_IOC_INFO, info));
	EXPECT_EQ(offsetof(struct timewheel_info, slots), info->size);
	EXPECT_EQ(TIMEWHEEL_ABI_VERSION, info->abi_version);
	EXPECT_EQ(info_of(fd).tick_ns, info->tick_ns);

	arm(fd, HOUR, 1);
	st->size = offsetof(struct timewheel_stats, fired);
	EXPECT_EQ(0, ioctl(fd, TIMEWHEEL_IOC_STATS, st));
	EXPECT_EQ(offsetof(struct timewheel_stats, fired), st->size);
	EXPECT_EQ(1, st->armed);
	close(fd);

	fd = tw_open();
	s->size = offsetof(struct timewheel_setup, tick_ns);
	EXPECT_EQ(0, ioctl(fd, TIMEWHEEL_IOC_SETUP, s));
}

/* A caller of a newer version: what this one does not know must be zero. */
TEST(longer_structures)
{
	union {
		struct timewheel_info info;
		struct timewheel_setup setup;
		struct timewheel_stats stats;
		uint32_t size;
		unsigned char bytes[1024];
	} u;
	int fd = tw_open();

	memset(&u, 0, sizeof(u));
	u.size = sizeof(u.info) + 64;
	EXPECT_EQ(0, ioctl(fd, TIMEWHEEL_IOC_INFO, &u));
	EXPECT_EQ(sizeof(u.info), u.info.size);
	EXPECT_EQ(TIMEWHEEL_ABI_VERSION, u.info.abi_version);
	u.size = sizeof(u.info) + 64;
	u.bytes[sizeof(u.info) + 63] = 1;
	EXPECT_ERR(E2BIG, ioctl(fd, TIMEWHEEL_IOC_INFO, &u));

	memset(&u, 0, sizeof(u));
	u.size = sizeof(u.stats) + 8;
	EXPECT_EQ(0, ioctl(fd, TIMEWHEEL_IOC_STATS, &u));
	EXPECT_EQ(sizeof(u.stats), u.stats.size);
	u.size = sizeof(u.stats) + 8;
	u.bytes[sizeof(u.stats)] = 1;
	EXPECT_ERR(E2BIG, ioctl(fd, TIMEWHEEL_IOC_STATS, &u));

	memset(&u, 0, sizeof(u));
	u.size = sizeof(u.setup) + 8;
	u.bytes[sizeof(u.setup) + 7] = 0x80;
	EXPECT_ERR(E2BIG, ioctl(fd, TIMEWHEEL_IOC_SETUP, &u));
	u.bytes[sizeof(u.setup) + 7] = 0;
	EXPECT_EQ(0, ioctl(fd, TIMEWHEEL_IOC_SETUP, &u));
}

TEST(sizes_that_make_no_sense)
{
	static const unsigned long commands[] = {
		TIMEWHEEL_IOC_INFO, TIMEWHEEL_IOC_SETUP, TIMEWHEEL_IOC_STATS,
	};
	uint32_t buf[256] = { };
	unsigned int i;
	int fd = tw_open();

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		buf[0] = 0;
		EXPECT_ERR(EINVAL, ioctl(fd, commands[i], buf));
		buf[0] = 4;
		EXPECT_ERR(EINVAL, ioctl(fd, commands[i], buf));
		buf[0] = UINT32_MAX;
		EXPECT_ERR(E2BIG, ioctl(fd, commands[i], buf));
		EXPECT_ERR(EFAULT, ioctl(fd, commands[i], NULL));
	}
	/* Longer than what is there. */
	buf[0] = 0;
	{
		struct timewheel_info *info = at_the_end(sizeof(*info));

		info->size = sizeof(*info) + 8;
		EXPECT_ERR(EFAULT, ioctl(fd, TIMEWHEEL_IOC_INFO, info));
	}
}

/* Nonsense of every kind leaves the context as it was. */
TEST(random_ops)
{
	uint64_t seed = now_ns(CLOCK_MONOTONIC), *words;
	struct timewheel_op op;
	int fd = tw_open(), i;
	unsigned int w;

	test_say("seed %llu", (unsigned long long)seed);
	words = (uint64_t *)&op;
	for (i = 0; i < 20000; i++) {
		for (w = 0; w < sizeof(op) / 8; w++)
			words[w] = random_next(&seed) & random_next(&seed) &
				random_next(&seed);
		op.opcode = random_next(&seed) % 5;
		/* Never one that would be malformed only. */
		if (random_next(&seed) % 2) {
			op.pad = 0;
			op.pad2 = 0;
			op.reserved = 0;
			op.flags = random_next(&seed) % 2;
			op.interval_ns = 0;
			op.slack_ns = 0;
			op.eventfd = -1;
		}
		switch (random_next(&seed) % 4) {
		case 0:
			ioctl(fd, TIMEWHEEL_IOC_ARM, &op);
			break;
		case 1:
			ioctl(fd, TIMEWHEEL_IOC_CANCEL, &op);
			break;
		case 2:
			ioctl(fd, TIMEWHEEL_IOC_REARM, &op);
			break;
		default:
			EXPECT_EQ(1, submit(fd, &op, 1));
		}
	}
	expect_balance(fd);
	EXPECT_LT(0, stats_of(fd).armed);
	EXPECT_LT(0, stats_of(fd).rejected);
}
