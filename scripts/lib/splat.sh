# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What a kernel says when something is wrong with it.

# Each is a line of a log; the second group is what looks alike and is not.
tw_splats=(
	'BUG:' 'kernel BUG at' 'WARNING:' 'Oops' 'general protection fault'
	'Call Trace:' 'Unable to handle kernel' 'unable to handle page fault'
	'Kernel panic' 'kernel panic' 'cut here'
	'possible circular locking' 'possible recursive locking'
	'inconsistent lock state' 'suspicious RCU usage'
	'possible irq lock inversion' 'bad unlock balance' 'lock held when returning'
	'KASAN:' 'KCSAN:' 'KFENCE:' 'UBSAN:' 'ODEBUG:'
	'blocked for more than' 'soft lockup' 'hard LOCKUP'
	'detected stall' 'detected stalls' 'self-detected stall' 'rcu.*stall'
	'kmemleak: [0-9]+ new suspected' 'refcount_t:'
	'sleeping function called from invalid context'
	'scheduling while atomic' 'leaked' 'list_(add|del) corruption'
	'slab .*: .*(corruption|poison|redzone)' 'Bad page state' 'double free'
	'Modules linked in:' 'segfault at .* in kernel' 'hung task'
	'Objects remaining in' 'stack-protector:'
)
tw_no_splats=(
	'Spectre V. : WARNING' 'ODEBUG: selftest passed'
	'WARNING: Unprivileged eBPF' 'Booting Linux'
)

# splats_in LOG: print the lines that are splats; true if there are any.
splats_in()
{
	local yes no

	yes=$(IFS='|'; echo "${tw_splats[*]}")
	no=$(IFS='|'; echo "${tw_no_splats[*]}")
	grep -aE "$yes" "$1" | grep -avE "$no"
}
