// SPDX-License-Identifier: MIT
/*
 * What only asks.  With rings, what was asked for before is to be done first, or the
 * answer would be of some time ago.
 */
#include "lib.h"

int timewheel_info(struct timewheel *tw, struct timewheel_info *info)
{
	*info = (struct timewheel_info){ .size = sizeof(*info) };
	return lib_ioctl(tw->fd, TIMEWHEEL_IOC_INFO, info);
}

int timewheel_query(struct timewheel *tw, struct timewheel_query *query)
{
	int ret = tw->transport->settle(tw);

	return ret ? ret : tw->transport->query(tw, query);
}

int timewheel_list(struct timewheel *tw, struct timewheel_list *list)
{
	int ret = tw->transport->settle(tw);

	return ret ? ret : lib_ioctl(tw->fd, TIMEWHEEL_IOC_LIST, list);
}

int timewheel_stats(struct timewheel *tw, struct timewheel_stats *stats)
{
	int ret = tw->transport->settle(tw);

	if (ret)
		return ret;
	*stats = (struct timewheel_stats){ .size = sizeof(*stats) };
	return lib_ioctl(tw->fd, TIMEWHEEL_IOC_STATS, stats);
}
