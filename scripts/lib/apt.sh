# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Debian packages: what the machine's own sources offer, and, in a private
# state that leaves those alone, the sources of newer kernels.

tw_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

need_debian()
{
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
		die "this needs apt-get and dpkg-deb: run it on Debian 12"
	[ "$(uname -m)" = x86_64 ] ||
		die "this needs an x86_64 machine: the kernels and guests are x86"
}

apt_update_once()
{
	[ -z "${tw_apt_updated:-}" ] || return 0
	[ "$(id -u)" = 0 ] ||
		die "the package lists are missing or old: run 'apt-get update' as root, then again"
	say "apt-get update"
	mkdir -p "$TW_CACHE/logs"
	run_logged "$TW_CACHE/logs/apt-update.log" \
		apt-get -q -o DPkg::Lock::Timeout=300 update
	tw_apt_updated=1
}

# apt_knows PACKAGE: whether the machine's lists have a version to download.
apt_knows()
{
	apt-cache show --no-all-versions "$1" 2>/dev/null |
		grep '^Filename:' >/dev/null
}

# apt_resolve META REGEX: the package that META depends on, by name.
apt_resolve()
{
	apt-cache depends --no-recommends --no-suggests "$1" 2>/dev/null |
		sed -n 's/^ *Depends: //p' | grep -E "$2" | sed -n 1p
}

# apt_version PACKAGE: the version that would be downloaded.
apt_version()
{
	apt-cache show --no-all-versions "$1" | sed -n 's/^Version: //p' | sed -n 1p
}

# apt_fetch DIRECTORY PACKAGE...: download from the machine's own sources. Lists
# that are old name files that are gone: read them again, and try once more;
# that fails too if what is wanted now goes by another name.
apt_fetch()
{
	local dir=$1
	shift

	mkdir -p "$dir" "$TW_CACHE/logs"
	say "downloading $*"
	if ! (cd "$dir" && run_logged "$TW_CACHE/logs/download.log" \
		apt-get -q -o APT::Sandbox::User=root download "$@"); then
		apt_update_once
		(cd "$dir" && run_logged "$TW_CACHE/logs/download.log" \
			apt-get -q -o APT::Sandbox::User=root download "$@")
	fi
}

# The machine's Debian mirrors, from one-line and deb822 sources alike.
# Those that carry Debian itself come first, archives of security after.
apt_mirrors()
{
	local file

	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -r "$file" ] || continue
		sed -n 's/^ *deb  *\(\[[^]]*\]  *\)\{0,1\}\([a-z+]*:[^ ]*\) .*/\2/p' "$file"
	done
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -r "$file" ] || continue
		awk 'tolower($1) == "uris:" {
			for (i = 2; i <= NF; i++) print $i; more = 1; next }
		     /^[ \t]/ && more { for (i = 1; i <= NF; i++) print $i; next }
		     { more = 0 }' "$file"
	done
}

# Those to ask for another suite, the likeliest first.
apt_main_mirrors()
{
	local all

	all=$(apt_mirrors | sed 's,/*$,,' | grep -v -e '^cdrom:' -e security |
		awk '!seen[$0]++') || return 0
	grep -E '/debian$' <<<"$all" || true
	grep -vE '/debian$' <<<"$all" || true
}

# newer_apt COMMAND...: apt with a state of its own that knows two suites.
newer_apt()
{
	local tool=$1 state=$TW_CACHE/apt
	shift

	"$tool" -q -o Dir::Etc::sourcelist="$state/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o Dir::State::Lists="$state/lists" \
		-o Dir::State::status="$state/status" \
		-o Dir::Cache="$state/cache" \
		-o APT::Architecture=amd64 \
		-o APT::Sandbox::User=root \
		-o Acquire::Languages=none \
		-o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false \
		"$@"
}

# newer_apt_update SUITE: read the lists of SUITE from the first mirror that
# has it; the answer is good for a week.
newer_apt_update()
{
	local suite=$1 state=$TW_CACHE/apt mirror mirrors

	[ -r "$tw_keyring" ] ||
		die "no $tw_keyring: install debian-archive-keyring"
	mirrors=$(apt_main_mirrors)
	[ -n "$mirrors" ] ||
		die "the apt sources of this machine name no Debian mirror"
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	: >"$state/status"
	while read -r mirror; do
		echo "deb [signed-by=$tw_keyring] $mirror $suite main" \
			>"$state/sources.list"
		say "reading the package list of $suite"
		if newer_apt apt-get update >"$TW_CACHE/logs/apt-$suite.log" 2>&1 &&
			! grep -q '^E:\|^Err:' "$TW_CACHE/logs/apt-$suite.log"; then
			return 0
		fi
	done <<<"$mirrors"
	return 1
}

# newer_apt_fetch DIRECTORY PACKAGE: from trixie-backports, else from sid.
newer_apt_fetch()
{
	local dir=$1 package=$2 suite

	mkdir -p "$dir" "$TW_CACHE/logs"
	for suite in trixie-backports sid; do
		newer_apt_update "$suite" || continue
		newer_apt apt-cache show "$package" >/dev/null 2>&1 || continue
		say "downloading $package from $suite"
		if (cd "$dir" && run_logged "$TW_CACHE/logs/download-$package.log" \
			newer_apt apt-get download "$package"); then
			return 0
		fi
	done
	die "no mirror of this machine has $package: its output is in $TW_CACHE/logs"
}
