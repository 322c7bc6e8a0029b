/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits that contexts share: of each user, and of the module.
 */
#ifndef TIMEWHEEL_USER_H
#define TIMEWHEEL_USER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/**
 * struct account - what a user holds, in all his contexts
 * @node: place in the table of accounts
 * @uid: whose it is
 * @contexts: his open contexts; the account goes with the last one
 * @held: entries they hold
 * @wheels: own wheels
 * @rings: submission rings on the system wheel
 */
struct account {
	struct hlist_node node;
	kuid_t uid;
	unsigned int contexts;
	atomic_t held;
	atomic_t wheels;
	atomic_t rings;
};

struct account *account_get(kuid_t uid);
void account_put(struct account *account);
int account_charge(struct account *account, bool exempt, unsigned int nr);
void account_uncharge(struct account *account, unsigned int nr);
int account_take_wheel(struct account *account, bool exempt);
void account_give_wheel(struct account *account);
int account_take_ring(struct account *account, bool exempt);
void account_give_ring(struct account *account);

#endif /* TIMEWHEEL_USER_H */
