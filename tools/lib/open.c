// SPDX-License-Identifier: MIT
/*
 * A handle is opened, adopted, closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib.h"

#define DEVICE		"/dev/timewheel"
#define RING_ENTRIES	4096

#define OPEN_FLAGS	(TIMEWHEEL_OPEN_RINGS | TIMEWHEEL_OPEN_LEASES | \
			 TIMEWHEEL_OPEN_OWN_WHEEL | TIMEWHEEL_OPEN_INHERIT)

#define RING_FEATURES	(TIMEWHEEL_FEATURE_RINGS | TIMEWHEEL_FEATURE_OWN_IDS)

/* What it returns, or a negative errno.  A signal does not end it. */
int lib_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

/* What the kernel does not see, or takes for something else. */
static int check(const struct timewheel_options *o)
{
	bool rings = o->flags & TIMEWHEEL_OPEN_RINGS;
	unsigned int i;

	if (o->flags & ~OPEN_FLAGS)
		return -EINVAL;
	for (i = 0; i < sizeof(o->reserved) / sizeof(o->reserved[0]); i++)
		if (o->reserved[i])
			return -EINVAL;
	if (rings && !o->capacity)
		return -EINVAL;
	if (!rings && (o->sq_entries || o->cq_entries ||
		       o->flags & TIMEWHEEL_OPEN_LEASES))
		return -EINVAL;
	return 0;
}

static uint64_t features(const struct timewheel_options *o)
{
	return (o->flags & TIMEWHEEL_OPEN_RINGS ? RING_FEATURES : 0) |
	       (o->flags & TIMEWHEEL_OPEN_LEASES ? TIMEWHEEL_FEATURE_LEASES : 0);
}

/* Whether the module speaks as this does: one that does not know INFO does not. */
static int look(struct timewheel *tw, uint64_t need)
{
	struct timewheel_info info;
	int ret = timewheel_info(tw, &info);

	if (ret == -EINVAL || ret == -E2BIG)
		return -EPROTONOSUPPORT;
	if (ret)
		return ret;
	if (info.abi_version != TIMEWHEEL_ABI_VERSION)
		return -EPROTONOSUPPORT;
	if (need & ~info.features)
		return -EOPNOTSUPP;
	tw->clockid = info.clockid;
	return 0;
}

static int set_up(struct timewheel *tw, const struct timewheel_options *o)
{
	struct timewheel_setup setup = {
		.size = sizeof(setup),
		.flags = o->flags & TIMEWHEEL_OPEN_OWN_WHEEL ?
				 TIMEWHEEL_SETUP_OWN_WHEEL : 0,
		.tick_ns = o->tick_ns,
		.slots = o->slots,
		.levels = o->levels,
		.max_pending = o->capacity,
		.clockid = o->clockid,
		.eventfd = o->eventfd,
	};
	int ret;

	if (o->flags & TIMEWHEEL_OPEN_RINGS) {
		setup.sq_entries = o->sq_entries ? o->sq_entries : RING_ENTRIES;
		setup.cq_entries = o->cq_entries ? o->cq_entries : RING_ENTRIES;
		setup.own_ids = o->capacity;
	}
	ret = lib_ioctl(tw->fd, TIMEWHEEL_IOC_SETUP, &setup);
	/* Now it has its wheel, and that its clock. */
	if (!ret)
		ret = look(tw, features(o));
	if (ret || !setup.own_ids)
		return ret;
	ret = ring_map(&tw->ring, tw->fd, &setup, o->flags & TIMEWHEEL_OPEN_LEASES);
	if (!ret)
		ret = ids_create(&tw->ids, setup.own_ids);
	tw->ids.leases = tw->ring.leases;
	return ret;
}

static struct timewheel *create(const struct transport *transport, int fd)
{
	struct timewheel *tw = calloc(1, sizeof(*tw));

	if (!tw)
		return NULL;
	tw->transport = transport;
	tw->fd = fd;
	calls_init(&tw->calls);
	return tw;
}

static void destroy(struct timewheel *tw)
{
	ring_unmap(&tw->ring);
	ids_destroy(&tw->ids);
	calls_destroy(&tw->calls);
	free(tw);
}

int timewheel_open(struct timewheel **tw, const struct timewheel_options *options)
{
	static const struct timewheel_options none;
	const struct timewheel_options *o = options ? options : &none;
	struct timewheel *new;
	int fd, ret;

	ret = check(o);
	if (ret)
		return ret;
	fd = open(DEVICE, O_RDWR | O_NONBLOCK |
			  (o->flags & TIMEWHEEL_OPEN_INHERIT ? 0 : O_CLOEXEC));
	if (fd < 0)
		return -errno;
	new = create(o->flags & TIMEWHEEL_OPEN_RINGS ? &rings_transport :
						       &calls_transport, fd);
	ret = new ? look(new, features(o)) : -ENOMEM;
	if (!ret)
		ret = set_up(new, o);
	if (ret) {
		close(fd);
		if (new)
			destroy(new);
		return ret;
	}
	*tw = new;
	return 0;
}

int timewheel_adopt(struct timewheel **tw, int fd)
{
	int ret, flags = fcntl(fd, F_GETFL);
	struct timewheel *new;

	if (flags < 0)
		return -errno;
	new = create(&calls_transport, fd);
	if (!new)
		return -ENOMEM;
	/* Nobody knows what is in there. */
	new->calls.periodic = true;
	ret = look(new, 0);
	if (!ret && fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		ret = -errno;
	if (ret) {
		destroy(new);
		return ret;
	}
	*tw = new;
	return 0;
}

void timewheel_close(struct timewheel *tw)
{
	if (!tw)
		return;
	/* What is mapped keeps the context open. */
	close(tw->fd);
	destroy(tw);
}

int timewheel_fd(const struct timewheel *tw)
{
	return tw->fd;
}
