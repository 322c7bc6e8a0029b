#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timewheel run, as it is typed: what it refuses, what it says, what it passes on.

. "$(dirname "$0")/shell.sh"

dir=$scratch
# Others run what is in it.
chmod 755 "$dir"
library=/lib/timewheel/timewheel-preload.so
command -v timewheel >/dev/null && [ -e "$library" ] ||
	skip_all "the timewheel command or its library is not installed"
need_device

# expect STATUS PATTERN COMMAND...: exit status and output of a command.
expect()
{
	want=$1 pattern=$2
	shift 2
	expect_of "'$*'" "$want" "$pattern" "$@"
}

# A program that is linked dynamically: it makes timers, and says nothing more.
program=./timerfd_say

echo "TAP version 13"

expect 0 'usage: timewheel run' timewheel run --help
expect 2 "no option '--frob'" timewheel run --frob -- true
expect 2 'which program' timewheel run
expect 2 'which program' timewheel run --
expect 2 "before it" timewheel run true -- true

# What it can't be of use for.
expect 1 'is linked statically' timewheel run -- /bin/busybox
expect 1 'is linked statically' timewheel run -- true
expect 127 'cannot run nothing-of-this-name: No such file' timewheel run -- nothing-of-this-name
expect 127 'No such file' timewheel run -- /nothing
expect 126 'Permission denied' timewheel run -- /etc/passwd
expect 126 'Permission denied' timewheel run -- /etc
printf '#!/bin/busybox sh\necho hello\n' >"$dir/script"
chmod 755 "$dir/script"
expect 1 'busybox is linked statically' timewheel run -- "$dir/script"
if [ -x ./layout_32 ] && [ "$(head -c 5 ./layout_32 | tail -c 1 | xxd -p)" = 01 ]; then
	expect 1 'is a program of 32 bit' timewheel run -- ./layout_32
fi

# Where the library is.
expect 1 'cannot read /nothing, which TIMEWHEEL_PRELOAD names' \
	env TIMEWHEEL_PRELOAD=/nothing timewheel run -- "$program"
cp "$library" "$dir/a b.so"
expect 1 'a blank or a colon' env "TIMEWHEEL_PRELOAD=$dir/a b.so" timewheel run -- "$program"
cp "$library" "$dir/other.so"
expect 0 "$dir/other.so" env "TIMEWHEEL_PRELOAD=$dir/other.so" \
	timewheel run -- "$program" preload
mkdir -p "$dir/bin"
cp "$(command -v timewheel)" "$dir/bin/"
expect 1 'there is no .*/lib/timewheel/timewheel-preload.so' "$dir/bin/timewheel" run -- "$program"
mkdir -p "$dir/lib/timewheel"
cp "$library" "$dir/lib/timewheel/"
expect 0 '/lib/timewheel/timewheel-preload.so$' "$dir/bin/timewheel" run -- "$program" preload
expect 0 "timewheel-preload.so:$dir/other.so" env "LD_PRELOAD=$dir/other.so" \
	timewheel run -- "$program" preload

# What it says, and that it says nothing else.
expect 7 preload timewheel run -- "$program" preload exit 7
expect 0 'timers are kept by the wheel, whose tick is [0-9]* ns' \
	timewheel run --verbose -- "$program" monotonic monotonic
[ "$(grep -c 'kept by the wheel' "$err")" = 1 ]
verdict $? 'it says so once'
expect 0 'timerfd_say\[[0-9]*\]: left to the kernel: CLOCK_REALTIME' \
	timewheel run --verbose -- "$program" realtime realtime
[ "$(wc -l <"$err")" = 1 ]
verdict $? 'and nothing else'
expect 0 'left to the kernel: CLOCK_BOOTTIME' timewheel run --verbose -- "$program" boottime
expect 0 'left to the kernel: a clock that wakes' timewheel run --verbose -- "$program" alarm
expect 0 'left to the kernel: a period of 1000 ns is less than a tick' \
	timewheel run --verbose -- "$program" fine
expect 0 'comes up to a tick late' timewheel run --verbose -- "$program" fine-late
expect 0 'timeouts: 2 armed, 1 moved, 1 expired, 1 cancelled, 0 pending' \
	timewheel run --verbose -- "$program" books
expect 0 '^notimer$' timewheel run --verbose -- "$program" other-stderr
grep -q timewheel "$out"
verdict $((! $?)) 'it does not write into a file that the program has for standard error'
timewheel run -- "$program" monotonic realtime fine books >"$out" 2>"$err" &&
	[ ! -s "$out" ] && [ ! -s "$err" ]
verdict $? 'without --verbose it says nothing'

# Rights and limits; this needs the module anew.
ko=${TIMEWHEEL_KO:-/lib/timewheel/timewheel.ko}
if [ "$(id -u)" = 0 ] && [ -e "$ko" ] && grep -q '^user:' /etc/passwd; then
	group=$(stat -c %g /dev/timewheel)

	cp "$program" "$dir/setuid"
	chmod 4755 "$dir/setuid"
	expect 1 'runs with the rights of another user' \
		su member -s /bin/sh -c "timewheel run -- $dir/setuid"
	expect 1 'usermod -aG timewheel' su user -s /bin/sh -c "timewheel run -- $program"
	rmmod timewheel
	expect 1 'modprobe timewheel' timewheel run -- "$program"

	# Without the module what runs already, or comes after, is as ever.
	expect 0 'left to the kernel: cannot open /dev/timewheel: No such file' \
		env TIMEWHEEL_VERBOSE=1 "LD_PRELOAD=$library" "$program" monotonic
	insmod "$ko" max_user_timeouts=3
	chgrp "$group" /dev/timewheel
	chmod 660 /dev/timewheel
	expect 0 'the wheel takes no more timeouts: Disk quota exceeded' \
		su member -s /bin/sh -c "timewheel run --verbose -- $program many"
	expect 0 '^# Totals: .* fail:0 ' su member -s /bin/sh -c "timewheel run -- ./timerfd"
	rmmod timewheel
	insmod "$ko"
	chgrp "$group" /dev/timewheel
	chmod 660 /dev/timewheel
fi

finish
