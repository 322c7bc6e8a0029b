#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each example does what it says, and its counts add up.

. "$(dirname "$0")/shell.sh"

here=$(cd "$(dirname "$0")" && pwd)
need_device

# run EXAMPLE ARGUMENT...: it is to end with 0.
run()
{
	example=$1
	shift
	"$here/example-programs/$example" "$@" >"$out" 2>&1 </dev/null
	verdict $? "$example $* ends well"
}

# says PATTERN: some line is so from its first to its last character.
says()
{
	grep -qx -e "$1" "$out"
	verdict $? "it says '$1'"
}

echo "TAP version 13"

run hello
says 'timeout 42 fired, [0-9]* us late'

run threads 3 500
says '3 threads armed 1500 timeouts: [0-9]* cancelled, [0-9]* fired, 0 early'
[ $(($(sed -n 's/.*: \([0-9]*\) cancelled, \([0-9]*\) fired.*/\1 + \2/p' "$out"))) = 1500 ]
verdict $? 'each was cancelled or fired'

# A machine that stalls for longer than they may be silent says so.
run leases 20000 3000 4
says '20000 connections, closed after 3000 ms of silence'
says '20000 expired, 0 twice, 0 early'
grep -qx '[0-9]* refreshed, 0 expired' "$out" || grep -q 'did not get around' "$out"
verdict $? 'while they are refreshed none expires'
grep -qx '[1-9][0-9]*0000 refreshed, .*' "$out"
verdict $? 'all are refreshed, several times'

run ring 9000
says '9000 armed, with [0-9]* system calls'
says '6000 fired, 3000 cancelled, 0 early, 0 failed; [0-9]* system calls in all'
calls=$(sed -n 's/.* failed; \([0-9]*\) .*/\1/p' "$out")
[ "${calls:-9000}" -lt 4500 ]
verdict $? "that took fewer calls than there were timeouts ($calls)"

# Two connections that fall silent, and one that closes after its echo.
mkfifo "$scratch/silence"
exec 3<>"$scratch/silence"
for keeper in '' --timerfd; do
	# shellcheck disable=SC2086 # none is none
	"$here/example-programs/server" $keeper 7007 500 3 >"$out" 2>&1 &
	server=$!
	until grep -q '^127.0.0.1 port 7007' "$out" || ! kill -0 "$server" 2>/dev/null; do
		sleep 0.1
	done
	nc 127.0.0.1 7007 <&3 &
	nc 127.0.0.1 7007 <&3 &
	[ "$(echo hello | nc 127.0.0.1 7007)" = hello ]
	verdict $? "the server $keeper echoes"
	wait "$server"
	verdict $? "server $keeper ends well"
	says '3 connections: 2 closed for silence, 1 by the peer, 0 refused'
	says '3 armed, 1 moved, 1 cancelled, 2 fired, 0 early'
done

for example in hello threads leases ring server; do
	[ "$example" = hello ] || {
		"$here/example-programs/$example" x x x x x >"$out" 2>&1
		[ $? = 2 ] && grep -q "^usage: $example" "$out"
		verdict $? "$example says how it is used"
	}
done

finish
