#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What scripts/reboot runs in the guest, once for each time it starts:
#
#   reboot.sh save      arm timeouts and save them to the disk, and wait for the
#                       power to be cut
#   reboot.sh early     an hour before the one of a day is due: a program gets them
#   reboot.sh late      a minute after it was due: they are printed
#
# Cookies: 1 due after a day; 2 in 48 h; 3 and 4 while the machine is off; 5 every
# 7 h; 6 every second; 7 never before the third start, 100 s after cookie 1.

cd /reboot || exit 1
saved=/disk/saved
hour=3600000000000
number=0
failed=0
out=/tmp/out err=/tmp/err

# verdict STATUS NAME
verdict()
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number $2"
	else
		echo "not ok $number $2"
		sed 's/^/# /' "$out" "$err"
		failed=1
	fi
}

finish()
{
	echo "1..$number"
	[ "$failed" = 0 ]
}

# same NAME EXPECTED SEEN: numbers, or nothing where something should be.
same()
{
	[ -n "$3" ] && [ "$2" = "$3" ]
	status=$?
	[ "$status" = 0 ] || echo "# $1: expected '$2', seen '$3'"
	verdict "$status" "$1"
}

# wall_ns TIME: nanoseconds since 1970.
wall_ns()
{
	seconds=$(date -u -D %Y-%m-%dT%H:%M:%S -d "${1%.*}" +%s)
	fraction=${1#*.}
	echo $((seconds * 1000000000 + 1${fraction%Z} - 1000000000))
}

# saved_ns COOKIE: when it is due by the file.
saved_ns()
{
	wall_ns "$(sed -n "s/^due \([^ ]*\) cookie $1 .*/\1/p" "$saved")"
}

# field FILE WORD COOKIE N: of the line 'WORD COOKIE ...' of a program, word N.
field()
{
	awk -v word="$2" -v cookie="$3" -v n="$4" \
		'$1 == word && $2 == cookie { print $n }' "$1"
}

# What the books say was ever armed on the system wheel.
armed()
{
	sed -n 's/^armed //p' /sys/kernel/debug/timewheel/1-system/books
}

bad_files()
{
	before=$(armed)
	size=$(wc -c <"$saved")

	head -c $((size - 1)) "$saved" >/disk/bad
	timewheel restore /disk/bad >"$out" 2>"$err"
	[ $? = 1 ] && grep -q "at byte $((size - 1)), .*middle of a line" "$err"
	verdict $? "a truncated file is refused, with the offset"

	sed 's/cookie 2/cookie 8/' "$saved" >/disk/bad
	timewheel restore /disk/bad -- ./holder heir 0 >"$out" 2>"$err"
	[ $? = 1 ] && grep -q "at byte $(sed '/cookie 8/,$d' /disk/bad | wc -c), the line" "$err"
	verdict $? "an altered file is refused, with the offset of the line"
	rm /disk/bad
	same "and nothing is armed" "$before" "$(armed)"
}

step_save()
{
	./holder arm 1:86400000 2:172800000 3:1800000 4:1200000 5:25200000:25200000 \
		6:3600000:1000 7:86500000 >"$out" 2>"$err" &
	pid=$!
	until grep -q ready "$out" || ! kill -0 "$pid" 2>/dev/null; do
		sleep 0.1
	done
	timewheel save --pid "$pid" "$saved" >"$out" 2>"$err" &&
		grep -q "^7 timeouts saved to $saved" "$out"
	verdict $? "seven timeouts are saved to the disk"
	kill "$pid"
	same "the file is its owner's" "-rw-------" "$(stat -c %A "$saved")"
	cat "$saved"
	finish
	# From here on nothing reaches the disk by kindness.
	echo "cut the power"
	exec tail -f /dev/null
}

step_early()
{
	bad_files
	# 3 and 4 while it was off; 5 and 6 once each.
	timewheel restore "$saved" -- ./holder heir 4 >"$out" 2>"$err" &&
		grep -q '7 timeouts restored, 4 overdue' "$err"
	verdict $? "four of seven are overdue"
	same "they come in the order in which they were due" "4 3 5 6 " \
		"$(awk '$1 == "event" { print $2 }' "$out" | tr '\n' ' ')"
	for cookie in 3 4 5; do
		same "$cookie was due before this start: its deadline is 0" 0 \
			"$(field "$out" event $cookie 3)"
	done
	same "one-shots are gone with their events, periodic ones are not" \
		"4 9;3 9;5 1;6 1;" "$(awk '$1 == "event" { printf "%s %s;", $2, $5 }' "$out")"
	for cookie in 3 4 5; do
		same "the event of $cookie counts one" 1 "$(field "$out" event $cookie 4)"
	done

	# The same for all: how far the wall clock is ahead of the wheel's.
	ahead=$(($(saved_ns 2) - $(field "$out" pending 2 3)))
	uptime=$(cut -d ' ' -f 1 /proc/uptime)
	off=$(($(date +%s) - ahead / 1000000000 - ${uptime%.*}))
	echo "# the clocks differ by $ahead ns, which is off by $off s"
	[ "$off" -ge -2 ] && [ "$off" -le 2 ]
	verdict $? "48 h are what the wall clock says they are"
	for cookie in 1 7; do
		same "$cookie keeps its time of day" "$(($(saved_ns $cookie) - ahead))" \
			"$(field "$out" pending $cookie 3)"
	done
	# 7, 14 and 21 h have passed, 28 h have not.
	same "5 keeps its phase" "$(($(saved_ns 5) + 21 * hour - ahead))" \
		"$(field "$out" pending 5 3)"
	phase=$((($(field "$out" event 6 3) + ahead - $(saved_ns 6)) % 1000000000))
	same "6 fires for an instant of its own" 0 "$phase"
	phase=$((($(field "$out" pending 6 3) + ahead - $(saved_ns 6)) % 1000000000))
	same "6 keeps its phase" 0 "$phase"
	same "what is pending is there once" "1 2 5 6 7 " \
		"$(awk '$1 == "pending" { print $2 }' "$out" | sort -n | tr '\n' ' ')"
}

# value COOKIE NAME: of the first line that restore --json printed for it.
value()
{
	sed -n "s/^{\"cookie\": $1, .*\"$2\": \([0-9a-z-]*\).*/\1/p" "$out" | head -n 1
}

step_late()
{
	timewheel restore --json "$saved" >"$out" 2>"$err" &
	pid=$!
	# Until 7, and 6 once more, have come; it may take as long as it takes.
	until [ -n "$(value 7 late_ns)" ] && [ "$(grep -c '"cookie": 6' "$out")" -ge 2 ] ||
		! kill -0 "$pid" 2>/dev/null; do
		sleep 1
	done
	kill -INT "$pid"
	wait "$pid"
	same "restore goes on until it is interrupted" 130 $?
	grep -q '7 timeouts restored, [56] overdue' "$err"
	verdict $? "the one of a day is overdue"

	same "all but that of 48 h come, in order" "4 3 5 1 6 7 " \
		"$(sed -n 's/^{"cookie": \([0-9]*\),.*/\1/p' "$out" |
			awk '!seen[$1]++ && $1 != 7 { print } $1 == 7 { last = 7 } END { print last }' |
			tr '\n' ' ')"
	for cookie in 1 3 4 7; do
		same "$cookie is printed with its time of day" "$(saved_ns $cookie)" \
			"$(value $cookie deadline_ns)"
	done
	# The machine started a minute after it; at most an hour has passed since.
	late=$(value 1 late_ns)
	[ "${late:-0}" -ge 60000000000 ] && [ "$late" -lt $hour ]
	verdict $? "the one of a day is a minute and more late"
	late=$(value 7 late_ns)
	[ "${late:--1}" -ge 0 ]
	verdict $? "the one that was nearly due is not early"
	same "5 is printed for its last instant" "$(($(saved_ns 5) + 14 * hour))" \
		"$(value 5 deadline_ns)"
	same "5 missed two" 2 "$(value 5 missed)"
	phase=$((($(value 6 deadline_ns) - $(saved_ns 6)) % 1000000000))
	same "6 keeps its phase" 0 "$phase"
	missed=$((($(value 6 deadline_ns) - $(saved_ns 6)) / 1000000000))
	# And those between the restoring and the firing.
	[ "$(value 6 missed)" -ge "$missed" ] && [ "$(value 6 missed)" -le $((missed + 60)) ]
	verdict $? "6 tells that it missed $missed"
}

case $1 in
save | early | late) "step_$1" ;;
*) exit 2 ;;
esac
finish
