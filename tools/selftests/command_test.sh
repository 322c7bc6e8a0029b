#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The timewheel command, as it is typed: output, errors, exit status.

. "$(dirname "$0")/shell.sh"

command -v timewheel >/dev/null || skip_all "the timewheel command is not installed"
need_device

# expect STATUS PATTERN ARGUMENT...: exit status and output of timewheel.
expect()
{
	want=$1 pattern=$2
	shift 2
	expect_of "timewheel $*" "$want" "$pattern" timewheel "$@"
}

echo "TAP version 13"

expect 0 'usage: timewheel COMMAND' --help
expect 0 'usage: timewheel COMMAND' help
expect 0 'usage: timewheel sleep' help sleep
expect 0 '^timewheel [0-9]' --version
expect 2 'which command'
expect 2 "no command 'frob'" frob
expect 2 "no option '--frob'" --frob
for command in info sleep stat save restore run demo replay trace; do
	expect 0 "usage: timewheel $command" "$command" --help
	expect 2 "no option '--frob'" "$command" --frob
done

expect 0 'slots of' info
expect 0 '"tick_ns": [0-9]' info --json
expect 2 'no argument' info 1

expect 0 '^10ms fired .* late$' sleep 10ms
expect 0 '^0 fired' sleep 0
expect 0 '"late_ns": [0-9]' sleep --json 1ms
expect 2 'how long' sleep
expect 2 "'2x' is no duration; write 250ms, 2s" sleep 2x
expect 2 "nothing here can be negative" sleep 1ms -1
expect 2 '584 years' sleep 300000d

timewheel sleep 300ms 100ms 200ms >"$out" 2>"$err"
[ "$(cut -d ' ' -f 1 "$out" | tr '\n' ' ')" = "100ms 200ms 300ms " ]
verdict $? 'sleep prints each as it fires'

timewheel sleep 1h 2h >/dev/null 2>"$scratch/sleep" &
pid=$!
n=0
until timewheel stat --json 2>/dev/null | grep -q "\"pid\": $pid"; do
	n=$((n + 1))
	[ "$n" -lt 100 ] || break
	sleep 0.1
done
timewheel stat --pid "$pid" >"$out" 2>"$err"
grep -q 'pending *2$' "$out"
verdict $? 'stat --pid shows what is pending'
timewheel stat >"$out" 2>"$err"
grep -q "^ *$pid .* timewheel *2 " "$out"
verdict $? 'stat shows all contexts'
grep -q '^  tick_us *[0-9]' "$out"
verdict $? 'stat shows the parameters'
kill -INT "$pid"
wait "$pid"
status=$?
mv "$scratch/sleep" "$err"
[ "$status" = 130 ] && grep -q 'interrupted, 2 cancelled' "$err"
verdict $? 'an interrupted sleep cancels, and ends with 130'
expect 2 "'x' is no process id" stat --pid x
expect 1 'no process 999999999' stat --pid 999999999
expect 0 '"parameters": {' stat --json

# The errors name the cause and the cure; this needs the module anew.
ko=${TIMEWHEEL_KO:-/lib/timewheel/timewheel.ko}
if [ "$(id -u)" = 0 ] && [ -e "$ko" ] && grep -q '^user:' /etc/passwd; then
	group=$(stat -c %g /dev/timewheel)

	rmmod timewheel
	expect 1 'modprobe timewheel' info
	expect 1 'modprobe timewheel' sleep 1
	expect 1 'modprobe timewheel' stat
	expect 1 'modprobe timewheel' demo

	# as_user STATUS PATTERN PARAMETERS USER COMMAND
	as_user()
	{
		insmod "$ko" ${3:+"$3"}
		chgrp "$group" /dev/timewheel
		su "$4" -s /bin/sh -c "timewheel $5" >"$out" 2>"$err" </dev/null
		status=$?
		[ "$status" = "$1" ] && grep -q -e "$2" "$err"
		verdict $? "timewheel $5 of $4 with '$3' gives $1 and says '$2'"
		rmmod timewheel
	}
	as_user 1 'usermod -aG timewheel' '' user info
	as_user 1 'max_user_timeouts of the module, now 2' max_user_timeouts=2 \
		member 'sleep 1h 1h 1h'
	as_user 1 'max_timeouts of the module, now 2' max_timeouts=2 \
		member 'sleep 1h 1h 1h'
	insmod "$ko"
	chgrp "$group" /dev/timewheel
fi

expect 2 'no number of connections' demo x
expect 2 'no number of connections' demo 0
expect 2 '100ms to 1h' demo --idle 1ms
expect 0 '"agree": true' demo --json --idle 1s 40

finish
