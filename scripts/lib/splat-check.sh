# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What counts as a splat and what does not, tried on logs made up for it.

. "$TW_TOP/scripts/lib/splat.sh"

# race FRAME,FRAME... FRAME,FRAME...: KCSAN's report of two accesses, each with the
# functions it comes from, the innermost first; FUNCTION:MODULE for one of a module.
race()
{
	local access functions=() name module

	echo '[    1.000000] =================================================='
	echo '[    1.000001] BUG: KCSAN: data-race in some / other'
	for access in "$1" "$2"; do
		echo '[    1.000002] read to 0xffff888000a57df8 of 8 bytes by task 92 on cpu 1:'
		IFS=, read -r -a functions <<<"$access"
		for name in "${functions[@]}"; do
			module=
			[ "${name#*:}" = "$name" ] || module=" [${name#*:}]"
			echo "[    1.000003]  ${name%:*}+0x2d/0x50$module"
		done
	done
	echo '[    1.000004] =================================================='
}

# expect yes|no WHAT <LOG
expect()
{
	local want=$1 what=$2 log found=no

	log=$(mktemp)
	cat >"$log"
	! splats_in "$log" >/dev/null || found=yes
	rm -f "$log"
	[ "$found" = "$want" ] || { echo "$what: a splat: $found, and should be $want"; return 1; }
}

ours=worker_pass:timewheel
theirs=tick_nohz_handler,update_process_times

splats_told_apart()
{
	expect no 'a boot' <<<'[    0.000000] Booting Linux on physical CPU 0x0' &&
		expect yes 'KASAN' <<<'[    1.0] BUG: KASAN: slab-use-after-free in core_file' &&
		expect yes 'a warning' <<<'[    1.0] WARNING: CPU: 0 PID: 1 at module/core.c:10' &&
		expect yes 'a race of ours' < <(race "$ours,kthread" "$theirs") &&
		expect yes 'a race of ours, the second access' < <(race "$theirs" "$ours,kthread") &&
		expect yes 'a race in a helper that ours calls' \
			< <(race "__list_add,$ours" "$theirs") &&
		expect no "a race of the kernel's" < <(race "$theirs" "$theirs") &&
		expect no "a race of the kernel's, below ours" \
			< <(race "hrtimer_wakeup,__hrtimer_run_queues,$ours" "$theirs") &&
		expect no "hrtimer's own, called by ours" \
			< <(race "hrtimer_start_range_ns,$ours" "lock_hrtimer_base,$theirs") &&
		expect yes "hrtimer's, with an access of ours" \
			< <(race "hrtimer_start_range_ns,$ours" "$ours,kthread") &&
		expect no 'a trace event of ours being switched on' \
			< <(race "__ftrace_event_enable_disable,vfs_write" \
				"trace_event_raw_event_timewheel_pass:timewheel,$ours") &&
		expect yes 'two trace events of ours' \
			< <(race "trace_event_raw_event_timewheel_pass:timewheel,$ours" "$ours") &&
		expect yes 'a report cut off' < <(race "$theirs" "$theirs" | head -n 4) &&
		expect yes "a splat after a race of the kernel's" \
			< <(race "$theirs" "$theirs"; echo '[    2.0] Oops: 0002 [#1]')
}
