# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What every script here starts with: the places, the words, the locks.

TW_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TW_SCRIPTS=$TW_TOP/scripts
TW_CACHE=${TIMEWHEEL_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/timewheel}
TW_ME=$(basename "$0")
export TW_TOP TW_SCRIPTS TW_CACHE
export LC_ALL=C
umask 022

say()
{
	printf '%s: %s\n' "$TW_ME" "$*" >&2
}

die()
{
	say "$*"
	exit 1
}

# A wrong command line: one sentence, where to read on, status 2.
usage_error()
{
	say "$*"
	say "try 'scripts/$TW_ME --help'"
	exit 2
}

# Print the block between the '#: ' markers at the head of a script.
show_help()
{
	sed -n 's/^#: \{0,1\}//p' "$1"
}

need_number()
{
	case $2 in
	'' | *[!0-9]*) usage_error "$1 wants a number, not '$2'" ;;
	esac
}

# The number of jobs of one build; two builds may run at once.
jobs_of_build()
{
	echo "${TIMEWHEEL_JOBS:-$(nproc)}"
}

# with_lock NAME COMMAND...: run COMMAND while no other run holds NAME. The
# shell does not stop at the first error inside: COMMAND says '|| die' itself.
with_lock()
{
	local name=$1 fd status=0 start=$SECONDS
	shift

	mkdir -p "$TW_CACHE/locks"
	exec {fd}>"$TW_CACHE/locks/$name"
	if ! flock -n "$fd"; then
		say "waiting for another run that works on $name"
		while ! flock -w 60 "$fd"; do
			say "still waiting for $name, $((SECONDS - start)) s"
		done
	fi
	# The lock must not live on in something that COMMAND leaves behind.
	(exec {fd}>&-; "$@") || status=$?
	exec {fd}>&-
	return "$status"
}

# run_logged LOG COMMAND...: quiet while it works; on failure show the end.
run_logged()
{
	local log=$1
	shift

	if ! "$@" >"$log" 2>&1 </dev/null; then
		say "failed: $*"
		tail -n 40 "$log" >&2
		say "the whole output is in $log"
		return 1
	fi
}

# hash_of FILE-OR-DIRECTORY...: one short hash over names, modes and contents.
hash_of()
{
	local path list=()

	for path; do
		[ ! -e "$path" ] || list+=("$path")
	done
	[ ${#list[@]} -gt 0 ] || list=(/dev/null)
	{
		find "${list[@]}" \( -name .git -o -name build \) -prune -o \
			-type f -printf '%m %p\n' | sort
		find "${list[@]}" \( -name .git -o -name build \) -prune -o \
			-type f -print0 | sort -z | xargs -0r sha256sum
	} | sha256sum | cut -c1-16
}
