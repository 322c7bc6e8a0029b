// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Leases that end unless they are renewed: the use of timewheel in kernel code.
 *
 * Loading the module takes a few leases, renews one of them and gives one back;
 * the log tells how the others end.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/time64.h>
#include <linux/timewheel.h>

#define LEASE_NS	(2ULL * NSEC_PER_SEC)

struct lease {
	struct timewheel_timeout timeout;
	int holder;
	bool held;
};

static struct timewheel *wheel;
static struct lease leases[4];

/* On the wheel's worker: short, and without sleeping. */
static void lease_expired(struct timewheel_timeout *t)
{
	struct lease *lease = container_of(t, struct lease, timeout);

	WRITE_ONCE(lease->held, false);
	pr_info("the lease of holder %d has ended\n", lease->holder);
}

static const struct timewheel_ops lease_ops = {
	.expired = lease_expired,
};

static int lease_take(struct lease *lease, int holder)
{
	int ret;

	lease->holder = holder;
	WRITE_ONCE(lease->held, true);
	ret = timewheel_add(wheel, &lease->timeout, LEASE_NS);
	if (ret)
		WRITE_ONCE(lease->held, false);
	return ret;
}

/* False if it has ended meanwhile. */
static bool lease_renew(struct lease *lease)
{
	return !timewheel_rearm(&lease->timeout, timewheel_now(wheel) + LEASE_NS);
}

/* When this returns, lease_expired() is not running and will not run. */
static void lease_give_back(struct lease *lease)
{
	timewheel_cancel_sync(&lease->timeout);
	WRITE_ONCE(lease->held, false);
}

static void leases_give_back(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(leases); i++)
		lease_give_back(&leases[i]);
}

static int __init lease_init(void)
{
	const struct timewheel_params params = {
		.name = "lease",
		.tick_ns = 10 * NSEC_PER_MSEC,
	};
	unsigned int i;
	int ret;

	wheel = timewheel_create(&params);
	if (IS_ERR(wheel))
		return PTR_ERR(wheel);

	for (i = 0; i < ARRAY_SIZE(leases); i++)
		timewheel_timeout_init(&leases[i].timeout, &lease_ops);
	for (i = 0; i < ARRAY_SIZE(leases); i++) {
		ret = lease_take(&leases[i], i);
		if (ret)
			goto undo;
	}
	lease_renew(&leases[0]);
	lease_give_back(&leases[1]);
	return 0;

undo:
	leases_give_back();
	timewheel_stop(wheel, NULL);
	timewheel_destroy(wheel);
	return ret;
}
module_init(lease_init);

static void __exit lease_exit(void)
{
	leases_give_back();
	timewheel_stop(wheel, NULL);
	timewheel_destroy(wheel);
}
module_exit(lease_exit);

MODULE_DESCRIPTION("Leases by timewheel, an example");
MODULE_LICENSE("Dual MIT/GPL");
