# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the tests in shell have in common: each sources this, and ends with finish.
# TAP comes out, and with a verdict that is not ok what the command printed last.

number=0
failed=0
scratch=$(mktemp -d)
out=$scratch/out err=$scratch/err
trap 'rm -rf "$scratch"' EXIT
: >"$out"
: >"$err"

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 4
}

need_device()
{
	[ -e /dev/timewheel ] || skip_all "no /dev/timewheel: the module is not loaded"
}

# verdict STATUS NAME
verdict()
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number $2"
	else
		echo "not ok $number $2"
		sed 's/^/# stdout: /' "$out"
		sed 's/^/# stderr: /' "$err"
		failed=1
	fi
}

# expect_of NAME STATUS PATTERN COMMAND...: exit status and output of a command.
expect_of()
{
	name=$1 want=$2 pattern=$3
	shift 3
	"$@" >"$out" 2>"$err" </dev/null
	status=$?
	[ "$status" = "$want" ] && cat "$out" "$err" | grep -q -e "$pattern"
	verdict $? "$name gives $want and says '$pattern'"
}

finish()
{
	echo "1..$number"
	exit "$failed"
}
