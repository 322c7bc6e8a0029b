// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits that contexts share: of each user, and of the module.
 *
 * The kernel's own per-user counters are not open to modules, so this keeps a
 * table of its own.  It is looked into at open and release only: a context
 * knows its account.
 *
 * Entries are charged one by one.  A context that took them by the dozen would
 * keep from others of its user what it does not use, and the limit would no
 * longer be exact.
 */

#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "params.h"
#include "user.h"

static DEFINE_HASHTABLE(accounts, 6);
static DEFINE_SPINLOCK(accounts_lock);

/* Entries held in all contexts; a counter that every CPU writes. */
static atomic_t module_held ____cacheline_aligned_in_smp = ATOMIC_INIT(0);

static struct account *account_find(kuid_t uid)
{
	struct account *account;

	lockdep_assert_held(&accounts_lock);

	hash_for_each_possible(accounts, account, node, __kuid_val(uid))
		if (uid_eq(account->uid, uid))
			return account;
	return NULL;
}

/* One more context of @uid; NULL when there is no memory. */
struct account *account_get(kuid_t uid)
{
	struct account *account, *new;

	new = kzalloc_obj(*new, GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->uid = uid;

	spin_lock(&accounts_lock);
	account = account_find(uid);
	if (!account) {
		account = new;
		new = NULL;
		hash_add(accounts, &account->node, __kuid_val(uid));
	}
	account->contexts++;
	spin_unlock(&accounts_lock);

	kfree(new);
	return account;
}

void account_put(struct account *account)
{
	spin_lock(&accounts_lock);
	if (--account->contexts)
		account = NULL;
	else
		hash_del(&account->node);
	spin_unlock(&accounts_lock);

	if (account)
		WARN_ON(atomic_read(&account->held) ||
			atomic_read(&account->wheels) ||
			atomic_read(&account->rings));
	kfree(account);
}

/*
 * Compares before it adds: one that added first and took back what was too much
 * would make another, who had room, fail.  More than the limit may be there
 * already, of a user who is exempt.
 */
static bool held_add(atomic_t *held, unsigned int nr, unsigned int limit)
{
	int old = atomic_read(held);

	do {
		if (nr > limit || (unsigned int)old > limit - nr)
			return false;
	} while (!atomic_try_cmpxchg(held, &old, old + nr));
	return true;
}

/* So many entries more: -EDQUOT over the user's limit, -ENOSPC over the module's. */
int account_charge(struct account *account, bool exempt, unsigned int nr)
{
	unsigned int limit = exempt ? UINT_MAX : param_max_user_timeouts;

	/* Whoever is over a limit may still ask for nothing. */
	if (!nr)
		return 0;
	if (!held_add(&account->held, nr, limit))
		return -EDQUOT;
	if (!held_add(&module_held, nr, param_max_timeouts)) {
		atomic_sub(nr, &account->held);
		return -ENOSPC;
	}
	return 0;
}

/*
 * One more of what costs by being there: a wheel is a thread, and a ring is looked
 * at in every pass of its wheel.  -EDQUOT over the user's limit.
 */
static int account_take(atomic_t *held, bool exempt, unsigned int limit)
{
	return held_add(held, 1, exempt ? UINT_MAX : limit) ? 0 : -EDQUOT;
}

int account_take_wheel(struct account *account, bool exempt)
{
	return account_take(&account->wheels, exempt, param_max_user_wheels);
}

void account_give_wheel(struct account *account)
{
	atomic_dec(&account->wheels);
}

/* On an own wheel a ring is in nobody's way, and is not counted. */
int account_take_ring(struct account *account, bool exempt)
{
	return account_take(&account->rings, exempt, param_max_user_rings);
}

void account_give_ring(struct account *account)
{
	atomic_dec(&account->rings);
}

void account_uncharge(struct account *account, unsigned int nr)
{
	atomic_sub(nr, &account->held);
	atomic_sub(nr, &module_held);
}
