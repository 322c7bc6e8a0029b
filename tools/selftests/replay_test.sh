#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timewheel replay and timewheel trace, as they are typed: traces that are wrong, and
# short ones on each backend, against arithmetic.

. "$(dirname "$0")/shell.sh"

command -v timewheel >/dev/null || skip_all "the timewheel command is not installed"
need_device

trace=$scratch/trace
backends='timewheel-batch timewheel-ring timewheel-lease timerfd-epoll user-heap'

# expect STATUS PATTERN ARGUMENT...: exit status and output of timewheel.
expect()
{
	want=$1 pattern=$2
	shift 2
	expect_of "timewheel $*" "$want" "$pattern" timewheel "$@"
}

# refused PATTERN TEXT: what printf makes of it is no trace.
refused()
{
	# shellcheck disable=SC2059 # it is a format
	printf "$2" >"$trace"
	expect_of "a trace with '$2'" 1 "$1" timewheel replay --backend user-heap "$trace"
}

# field NAME: a number in the JSON that came last, the last of that name.
field()
{
	tr -d ' ' <"$out" | tr ',{}' '\n' | sed -n "s/^\"$1\"://p" | tail -n 1
}

# rule NAME: the same of what follows from the trace.
rule()
{
	sed -n "s/.*\"rule\": {[^}]*\"$1\": \([0-9]*\).*/\1/p" "$out"
}

# played BACKEND FILE ARGUMENT...: all is as the trace says.  What the machine decided
# is told, and taken into account.
played()
{
	backend=$1 file=$2
	shift 2
	timewheel replay --json --backend "$backend" "$@" "$file" >"$out" 2>"$err"
	verdict $? "$backend plays $(basename "$file") $*"
	[ "$(field early) $(field missing) $(field twice)" = '0 0 0' ]
	verdict $? "$backend: none early, missing or twice"
	[ $(($(rule armed) + $(field rearmed))) = "$(field armed)" ] &&
		[ $(($(rule expired) + $(field late_expired) - $(field unarmed))) = \
			"$(field expired)" ] &&
		[ $(($(field cancelled) + $(field expired))) = "$(field armed)" ]
	verdict $? "$backend: as many armed, cancelled and expired as by the trace"
	grep -q '"agree": true' "$out"
	verdict $? "$backend: and it says so"
}

# follows ARMED REFRESHED CANCELLED EXPIRED: what the command made of the trace.
follows()
{
	[ "$(rule armed) $(rule refreshed) $(rule cancelled) $(rule expired)" = "$*" ]
	verdict $? "by the trace: $* armed, refreshed, cancelled, expired"
}

echo "TAP version 13"

expect 0 'timerfd-epoll' replay --help
expect 2 'which trace' replay
expect 2 'one trace is enough' replay a b
expect 2 "no backend 'frob'" replay --backend frob a
expect 2 "'0' is no speed" replay --speed 0 a
expect 2 "'1x' is no speed" replay --speed 1x a
expect 2 "'x' is no duration" replay --idle x a
expect 2 "'0' is no number of connections" replay --capacity 0 a
expect 1 'cannot read the trace /nothing: No such file' replay /nothing
expect 1 '/etc: it cannot be read from here on: Is a directory' replay --backend user-heap /etc
expect 2 'no argument' trace 1
expect 2 "'x' is no seed" trace --seed x
expect 2 "'0s' is not from" trace --duration 0s

refused 'no event in it' ''
refused 'line 1: it has no newline' '0 1 open'
refused 'line 1: its byte 1 is 0x00' '\000\001\n'
refused "line 1: the time '99999999999' is too large" '99999999999 1 open\n'
refused 'line 2: the time goes back, from 1.000000000 to 0.5' '1 1 open\n0.5 1 close\n'
refused "line 1: there is no event 'frob'" '0 1 frob\n'
refused "line 2: connection 2 is not open" '0 1 open\n0 2 close\n'
refused "line 2: connection 1 is open already" '0 1 open\n0 1 open\n'
{ echo '0 1 open'; dd if=/dev/zero bs=1024 count=1024 2>/dev/null | tr '\0' x; } >"$trace"
expect 1 'line 2: it is longer than 255 bytes' replay --backend user-heap "$trace"
# All of it is read before anything is played.
printf '0 1 open\n86400 1 frob\n' >"$trace"
expect 1 "line 2: there is no event" replay "$trace"

# 1 and 3 are closed in time; 2 expires, is armed anew and expires again; so does 4.
cat >"$scratch/small" <<END
100.0  1 open
100.1  2 open
100.3  1 request
100.4  3 open
100.5  3 close     # at once
100.8  1 request
101.2  1 close
101.5  2 request   # after 1.4 seconds
103.5  4 open
END
for backend in $backends; do
	played "$backend" "$scratch/small" --idle 800ms
	follows 5 2 2 3
done
if [ "$(field late)" = 0 ]; then
	[ "$(field refreshed)" = 2 ]
	verdict $? 'as many refreshed as by the trace'
fi

# A trace with a heavy tail, and what follows from it counted once more, another way.
timewheel trace --connections 30 --duration 3s --silence 250ms --seed 7 >"$scratch/tail" 2>"$err"
verdict $? 'trace writes a trace'
count=$(awk -v idle=800000000 '
	/^#/ { next }
	{
		split($1, t, ".")
		ns = t[1] * 1000000000 + t[2]
		silent = $3 != "open" && ns - last[$2] > idle
		expired += silent
		if ($3 == "open" || ($3 == "request" && silent)) armed++
		else if ($3 == "request") refreshed++
		else if (!silent) cancelled++
		last[$2] = ns
		if ($3 == "close") delete last[$2]
	}
	END {
		for (c in last) expired++
		print armed, refreshed, cancelled, expired
	}' "$scratch/tail")
for backend in $backends; do
	played "$backend" "$scratch/tail" --idle 800ms
	# shellcheck disable=SC2086 # four numbers
	follows $count
done

# The same on all machines, and another for another seed.
[ "$(timewheel trace --connections 20 --duration 3s | md5sum | cut -d ' ' -f 1)" = \
	d4cbe29b4614e8dd8ab1725a6b15bcb6 ]
verdict $? 'trace writes the same bytes on every machine'
timewheel trace --connections 30 --duration 3s --silence 250ms --seed 8 | cmp -s - "$scratch/tail"
verdict $((! $?)) 'and others for another seed'
[ "$(timewheel trace --connections 500 --duration 1s | grep -c open)" = 500 ]
verdict $? 'as many connections as were asked for'

# From a pipe, faster; and with all of them.
timewheel trace --connections 20 --duration 20s >"$trace"
expect_of 'a pipe' 2 'can be read only once' sh -c "cat $trace | timewheel replay -"
expect_of 'a pipe with one backend' 0 'All else is as the trace says' \
	sh -c "cat $trace | timewheel replay --backend timewheel-ring --speed 20 -"
expect_of 'more than the capacity' 1 'Say how many there are with --capacity' \
	sh -c "cat $trace | timewheel replay --backend timewheel-ring --speed 20 --capacity 2 -"
expect_of 'standard input' 0 'user-heap' sh -c "timewheel replay --speed 50 - <$trace"
expect 0 'system calls' replay --count-calls --speed 50 "$trace"

# It holds what is open, not the file.
yes '0 1 open
0 1 close' | head -n 600000 >"$trace"
expect_of 'a large file in little memory' 0 '600000 events' \
	sh -c "ulimit -v 8192; timewheel replay --speed 1000000 --backend user-heap $trace"

finish
