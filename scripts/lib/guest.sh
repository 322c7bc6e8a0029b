# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the two runners share: options, the guest's image, the verdict.

TW_SPLAT=99
TW_NO_END=98
TW_REFUSED=97

run_kernel=6.12
run_cpus=2
run_mem=1024
run_timeout=600
run_load=1
run_bare=0
run_verbose=0
run_disk=0
run_log=
run_params=()
run_copies=()
run_env=()
run_append=()
run_command=()

# Take one common option from the command line "$@"; sets 'taken' to the
# number of words, 0 if it is none of ours.
take_common_option()
{
	taken=2
	case $1 in
	--cpus | --mem | --timeout | --log | --param | --copy | --env | --append)
		[ $# -ge 2 ] && [ "$2" != -- ] || usage_error "$1 wants a value"
		;;
	esac
	case $1 in
	--cpus)
		need_number "$1" "$2"
		[ "$2" -gt 0 ] || usage_error "--cpus wants at least 1"
		run_cpus=$2
		;;
	--mem)
		need_number "$1" "$2"
		[ "$2" -ge 64 ] || usage_error "--mem wants at least 64 (MiB)"
		run_mem=$2
		;;
	--timeout)
		need_number "$1" "$2"
		run_timeout=$2
		;;
	--log) run_log=$2 ;;
	--param)
		case $2 in
		[a-zA-Z_]*=*) run_params+=("$2") ;;
		*) usage_error "--param wants NAME=VALUE, not '$2'" ;;
		esac
		;;
	--copy)
		[ -e "$2" ] || usage_error "--copy wants a file, and there is no '$2'"
		run_copies+=("$2")
		;;
	--env)
		case $2 in
		[a-zA-Z_]*=*) run_env+=("$2") ;;
		*) usage_error "--env wants NAME=VALUE, not '$2'" ;;
		esac
		;;
	--append) run_append+=("$2") ;;
	--no-load) run_load=0 taken=1 ;;
	--bare) run_load=0 run_bare=1 taken=1 ;;
	--verbose) run_verbose=1 taken=1 ;;
	*) taken=0 ;;
	esac
}

need_command()
{
	[ ${#run_command[@]} -gt 0 ] ||
		usage_error "no command to run: put it after --"
}

# Words as a POSIX shell reads them back, whatever is in them.
quote_words()
{
	local word quote="'\\''"

	for word; do
		printf "'%s' " "${word//\'/$quote}"
	done
}

# make_archive DIRECTORY FILE: a newc archive, owned by root throughout.
make_archive()
{
	(cd "$1" && find . -mindepth 1 -print0 | sort -z |
		cpio --quiet --null -o -H newc -R 0:0) >"$2"
}

# The part of the guest that is the same for each run, from the cache.
base_archive()
{
	local key file

	key=$(hash_of "$TW_SCRIPTS/guest" "$TW_SCRIPTS/lib/guest.sh" /bin/busybox)
	file=$TW_CACHE/guest/base-$key.cpio
	if [ ! -e "$file" ]; then
		with_lock guest make_base "$file" || exit 1
	fi
	echo "$file"
}

make_base()
{
	local file=$1 root=$TW_CACHE/guest/root name

	[ ! -e "$file" ] || return 0
	/bin/busybox --list 2>/dev/null | grep -x insmod >/dev/null ||
		die "no busybox-static: run scripts/deps"
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,disk,etc/timewheel,lib/timewheel,lib64,proc,run,sys,tmp,usr,var} \
		"$root"/{root,home/user,home/member} || die "cannot write to $root"
	ln -s bin "$root/sbin"
	ln -s ../bin "$root/usr/bin"
	ln -s ../bin "$root/usr/sbin"
	ln -s ../lib "$root/usr/lib"
	cp /bin/busybox "$root/bin/busybox"
	for name in $(/bin/busybox --list); do
		case $name in
		busybox | dpkg | dpkg-deb | rpm | init | linuxrc) ;;
		*) ln -s busybox "$root/bin/$name" ;;
		esac
	done
	cp "$TW_SCRIPTS/guest/init" "$root/init"
	cp "$TW_SCRIPTS/guest/leaks" "$TW_SCRIPTS/guest/settled" "$root/bin"
	chmod 755 "$root/init" "$root/bin/leaks" "$root/bin/settled"
	chmod 1777 "$root/tmp"
	cat >"$root/etc/passwd" <<-'END'
		root:x:0:0:root:/root:/bin/sh
		user:x:1000:1000:an ordinary user:/home/user:/bin/sh
		member:x:1001:1001:a user in the group timewheel:/home/member:/bin/sh
		nobody:x:65534:65534:nobody:/:/bin/sh
	END
	cat >"$root/etc/group" <<-'END'
		root:x:0:
		timewheel:x:990:member
		user:x:1000:
		member:x:1001:
		nogroup:x:65534:
	END
	echo '127.0.0.1 localhost timewheel' >"$root/etc/hosts"
	make_archive "$root" "$file.tmp" || die "cannot make $file"
	find "$TW_CACHE/guest" -name 'base-*.cpio' -mtime +7 -delete
	mv "$file.tmp" "$file"
}

# copy_libraries FILE ROOT: the shared libraries that a program loads.
copy_libraries()
{
	local lib to libraries missing

	head -c 4 "$1" 2>/dev/null | grep -a ELF >/dev/null || return 0
	libraries=$(ldd "$1" 2>/dev/null || true)
	missing=$(sed -n 's/^\t\(.*\) => not found$/\1/p' <<<"$libraries")
	[ -z "$missing" ] ||
		say "$(basename "$1") needs ${missing//$'\n'/, }, not found here: run ldconfig, set LD_LIBRARY_PATH, or link with -static"
	{ grep -oE '/[^ :]+' <<<"$libraries" || true; } | sort -u |
		while IFS= read -r lib; do
			# The guest has no cache of libraries: only these are looked into.
			case $lib in
			/lib/* | /lib64/* | /usr/lib/*) to=$2$lib ;;
			*) to=$2/lib/$(basename "$lib") ;;
			esac
			mkdir -p "$(dirname "$to")"
			[ -e "$to" ] || [ ! -f "$lib" ] || cp -L "$lib" "$to"
		done
}

# make_guest RUN OUT ERR: RUN/initrd, for the ports OUT and ERR of the guest.
make_guest()
{
	local run=$1 root=$1/root base modules='' tools='' file name

	base=$(base_archive) || exit 1
	if [ "$run_bare" = 0 ]; then
		modules=$(modules_of "$run_kernel") || exit 1
		tools=$(tools_dir) || exit 1
	fi

	mkdir -p "$root/etc/timewheel" "$root/lib/timewheel" "$root/bin"
	# The base has this directory as a link: entries go through it.
	[ -z "$modules" ] || cp "$modules"/*.ko "$root/lib/timewheel/"
	[ ! -x "$tools/timewheel" ] || cp "$tools/timewheel" "$root/bin/"
	[ ! -e "$tools/preload/timewheel-preload.so" ] ||
		cp "$tools/preload/timewheel-preload.so" "$root/lib/timewheel/"
	{
		echo "nonce=$run_nonce"
		echo "out=/dev/$2 err=/dev/$3"
		echo "load=$run_load disk=$run_disk"
		echo "params=$(quote_words "$(quote_words "${run_params[@]}")")"
	} >"$root/etc/timewheel/config"
	{
		for name in "${run_env[@]}"; do
			echo "export ${name%%=*}=$(quote_words "${name#*=}")"
		done
		quote_words "${run_command[@]}"
		echo
	} >"$root/etc/timewheel/command"
	for file in "${run_copies[@]}"; do
		name=$(basename "$(realpath -s "$file")")
		# Not into a directory of that name, but over it.
		if [ -d "$file" ]; then
			mkdir -p "$root/$name"
			cp -RL --preserve=mode "$file/." "$root/$name/"
		else
			cp -L --preserve=mode "$file" "$root/$name"
		fi
		find "$root/$name" -type f -print0 |
			while IFS= read -r -d '' name; do
				copy_libraries "$name" "$root"
			done
	done
	# /usr/lib and the like are links in the base, which a directory of the
	# same name in a later archive would meet.
	if [ -d "$root/usr/lib" ]; then
		cp -R "$root/usr/lib/." "$root/lib/"
		rm -rf "${root:?}/usr"
	fi
	make_archive "$root" "$run/own.cpio" || die "cannot write to $run"
	cat "$base" "$run/own.cpio" >"$run/initrd"
	rm -rf "$root" "$run/own.cpio"
}

start_run()
{
	mkdir -p "$TW_CACHE/logs" || die "cannot write to the cache $TW_CACHE"
	run_dir=$(mktemp -d "${TMPDIR:-/tmp}/timewheel-XXXXXX")
	run_nonce=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
	run_pid=
	trap 'end_run' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	: >"$run_dir/log"
}

end_run()
{
	if [ -n "$run_pid" ] && kill -0 "$run_pid" 2>/dev/null; then
		# timeout passes it on, and kills what does not listen.
		kill "$run_pid" 2>/dev/null || true
		wait "$run_pid" 2>/dev/null || true
	fi
	rm -rf "$run_dir"
}

# bounded COMMAND...: run the machine, with the log shown along if asked for.
# The descriptors 3 and 4 of COMMAND are what comes out of the guest.
bounded()
{
	local follow='' out err out_pid err_pid

	exec {out}> >(exec cat)
	out_pid=$!
	exec {err}> >(exec cat >&2)
	err_pid=$!
	timeout -k 5 "$run_timeout" "$@" 3>&"$out" 4>&"$err" \
		{out}>&- {err}>&- </dev/null >"$run_dir/machine" 2>&1 &
	run_pid=$!
	if [ "$run_verbose" = 1 ]; then
		tail -n +1 -f -s 0.2 --pid="$run_pid" "$run_dir/log" >&2 {out}>&- {err}>&- &
		follow=$!
	fi
	run_status=0
	wait "$run_pid" || run_status=$?
	run_pid=
	exec {out}>&- {err}>&-
	wait "$out_pid" "$err_pid" 2>/dev/null || true
	[ -z "$follow" ] || wait "$follow" 2>/dev/null || true
}

guest_began()
{
	grep -qa "timewheel-guest $run_nonce begin" "$run_dir/log"
}

run_timed_out()
{
	[ "$run_status" = 124 ] || [ "$run_status" = 137 ]
}

guest_said()
{
	tr -d '\r' <"$run_dir/log" |
		sed -n "s/.*timewheel-guest $run_nonce $1 *//p" | tail -n 1
}

# The log from the moment the guest's own script began, or its end.
show_log()
{
	[ "$run_verbose" = 0 ] || return 0
	say "the kernel log:"
	if guest_began; then
		sed "1,/timewheel-guest $run_nonce begin/d" "$run_dir/log"
	else
		# It did not come that far: where it stopped.
		tail -n 30 "$run_dir/log"
	fi | tr -d '\r' | grep -av "timewheel-guest $run_nonce" | tail -n 150 >&2 || true
	say "all of it is in $kept_log"
}

# Judge the run by its log, and exit as the command did, or with a status of
# our own.
verdict()
{
	local status refused reason

	kept_log=${run_log:-$TW_CACHE/logs/$TW_ME-$run_kernel.log}
	cp "$run_dir/log" "$run_dir/copy"
	mv "$run_dir/copy" "$kept_log" || say "cannot write $kept_log"

	status=$(guest_said end)
	refused=$(guest_said refused)
	if splats_in "$run_dir/log" >"$run_dir/splats"; then
		show_log
		say "the kernel complained:"
		sed 's/\r$//; s/^/  /' "$run_dir/splats" >&2
		exit "$TW_SPLAT"
	fi
	if [ -z "$status" ]; then
		show_log
		cat "$run_dir/machine" >&2
		if run_timed_out; then
			say "the guest did not end within $run_timeout s"
		else
			say "the guest did not reach its end (the machine ended with $run_status)"
		fi
		exit "$TW_NO_END"
	fi
	if [ -n "$refused" ]; then
		show_log
		# The module's own sentence, rather than insmod's errno.
		reason=$(tr -d '\r' <"$run_dir/log" |
			sed -n "/timewheel-guest $run_nonce begin/,/timewheel-guest $run_nonce refused/p" |
			sed -n 's/^\[[^]]*\] *\(timewheel: .*\)/\1/p' |
			grep -av -e 'taints kernel' -e 'tainting kernel' | tail -n 1) || true
		say "the module does not load: ${reason:-$refused}"
		exit "$TW_REFUSED"
	fi
	# It has said itself what was wrong.
	[ "$status" = 0 ] || say "the command ended with $status; the kernel log is in $kept_log"
	exit "$status"
}
