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

# without_foreign_races LOG: the log without the first lines of those reports of
# data races in which neither access is ours. The kernel races with itself in
# many places, and knows. An access is ours if its innermost function belongs to
# one of the modules, or is called by one that does: a helper in lib/ that the
# compiler did not inline. Not if it is one of hrtimer's, which anybody may call at any
# time: they look at the base of a timer without its lock, and once more with it. Nor
# if the other access switches a trace event on or off: the kernel's macros, which make
# our trace points, look at that without a lock.
without_foreign_races()
{
	awk '
		/BUG: KCSAN: / { report = NR; depth = 99 }
		report && / to 0x[0-9a-f]+ of [0-9]+ bytes by / { depth = 0 }
		report && /\+0x[0-9a-f]+\/0x[0-9a-f]+/ && ++depth <= 2 {
			if (/ __ftrace_event_enable_disable\+/)
				tracing[report] = 1
			else if (/\[timewheel/)
				ours[report] = 1
			else if (/ (lock_)?hrtimer_[a-z_]+\+/)
				depth = 99
		}
		/==========/ && report && NR > report { report = 0 }
		{ line[NR] = $0; race[NR] = /BUG: KCSAN: / }
		END {
			# Cut off: nobody knows.
			if (report) {
				ours[report] = 1
				tracing[report] = 0
			}
			for (i = 1; i <= NR; i++)
				if (!race[i] || (ours[i] && !tracing[i]))
					print line[i]
		}' "$1"
}

# splats_in LOG: print the lines that are splats; true if there are any.
splats_in()
{
	local yes no

	yes=$(IFS='|'; echo "${tw_splats[*]}")
	no=$(IFS='|'; echo "${tw_no_splats[*]}")
	without_foreign_races "$1" | grep -aE "$yes" | grep -avE "$no"
}
