# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The modules and the tools, built in the cache so that kernels do not collide
# and the checkout stays clean.

# A directory of the cache for this checkout.
build_dir()
{
	local id

	id=$(printf '%s' "$TW_TOP" | sha256sum | cut -c1-8)
	echo "$TW_CACHE/build/$(basename "$TW_TOP")-$id/$1"
}

module_sources()
{
	local path

	# What comes after the dot is the name in the copy, for rsync --relative.
	for path in Kbuild module include kunit tools/bench/kernel; do
		[ ! -e "$TW_TOP/$path" ] || echo "$TW_TOP/./$path"
	done
}

# modules_of KERNEL: build if need be, print the directory of the .ko files.
modules_of()
{
	local dir kernel

	kernel=$(kernel_dir "$1") || exit 1
	dir=$(build_dir "modules-$1")
	mkdir -p "$dir" || die "cannot write to the cache $TW_CACHE"
	with_lock "$(basename "$(dirname "$dir")")-modules-$1" \
		build_modules "$1" "$kernel" "$dir" || exit 1
	echo "$dir/out"
}

build_modules()
{
	local name=$1 kernel=$2 dir=$3 key flags=(W=1) sources=()

	[ -e "$TW_TOP/Kbuild" ] && [ -d "$TW_TOP/module" ] ||
		die "$TW_TOP has no Kbuild and no module/: nothing to build"
	mapfile -t sources < <(module_sources)
	key="$(hash_of "${sources[@]}") $kernel"
	[ "$(cat "$dir/out/key" 2>/dev/null)" != "$key" ] || return 0

	if [ "$(cat "$dir/kernel" 2>/dev/null)" != "$kernel" ]; then
		rm -rf "$dir/src"
	fi
	mkdir -p "$dir/src"
	echo "$kernel" >"$dir/kernel"
	rsync -a --relative --checksum --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod' \
		--exclude='*.mod.c' --exclude='.*.cmd' --exclude='*.a' \
		--exclude=modules.order --exclude=Module.symvers \
		"${sources[@]}" "$dir/src/" || die "cannot copy the sources to $dir"

	! is_uml "$name" || flags+=(ARCH=um)
	[ "$name" != 7.2-tree ] || flags+=(KBUILD_MODPOST_WARN=1)
	if ! is_stock "$name" && command -v gcc-12 >/dev/null; then
		flags+=(CC=gcc-12 HOSTCC=gcc-12)
	fi
	flags+=(TIMEWHEEL_BENCH=y)
	say "building the modules for $name"
	if ! make -s -C "$kernel/build" "M=$dir/src" "${flags[@]}" "-j$(jobs_of_build)" \
		modules >"$dir/log" 2>&1 </dev/null; then
		clean_log "$dir" >&2
		die "the modules do not build for $name"
	fi
	if clean_log "$dir" | grep -v '^$' >"$dir/findings"; then
		cat "$dir/findings" >&2
		# What warned is not built again unless it is made to.
		rm -rf "$dir/src"
		die "the build for $name warns, and a warning is an error here"
	fi

	rm -rf "$dir/out.tmp"
	mkdir -p "$dir/out.tmp"
	find "$dir/src" -name '*.ko' -exec cp -t "$dir/out.tmp" {} +
	[ -e "$dir/out.tmp/timewheel.ko" ] ||
		die "no timewheel.ko came out of the build for $name"
	echo "$key" >"$dir/out.tmp/key"
	rm -rf "$dir/out"
	mv -T "$dir/out.tmp" "$dir/out" || die "cannot rename $dir/out.tmp"
}

# What a build said, with the names of files as they are in the checkout, and
# without what kernels say of every external module.
clean_log()
{
	sed -e "s,$1/src/,,g" "$1/log" | grep -vE \
		-e '^make(\[[0-9]+\])?: (Entering|Leaving) directory' \
		-e 'Symbol info of vmlinux is missing' \
		-e 'Module.symvers is missing' \
		-e 'Modules may not have dependencies or modversions' \
		-e 'You may get many unresolved symbol errors' \
		-e 'You can set KBUILD_MODPOST_WARN=1' \
		-e 'modpost: "[^"]*" \[[^]]*\] undefined!' \
		-e 'the compiler differs from the one used to build' \
		-e '^ *The kernel was built by:' \
		-e '^ *You are using:' \
		-e 'modpost: suppressed [0-9]* unresolved symbol warnings' \
		-e 'Skipping BTF generation' || true
}

# tools_dir: build the userspace tools if need be, print where they are.
tools_dir()
{
	local dir

	dir=$(build_dir tools)
	mkdir -p "$dir"
	if [ -e "$TW_TOP/tools/Makefile" ]; then
		with_lock "$(basename "$(dirname "$dir")")-tools" build_tools "$dir" || exit 1
	fi
	echo "$dir/out"
}

build_tools()
{
	local dir=$1 key

	key=$(hash_of "$TW_TOP/tools" "$TW_TOP/include/uapi")
	[ "$(cat "$dir/key" 2>/dev/null)" != "$key" ] || return 0
	say "building the tools"
	run_logged "$dir/log" make -C "$TW_TOP/tools" "OUT=$dir/out" "-j$(jobs_of_build)" ||
		die "the tools do not build"
	echo "$key" >"$dir/key"
}

# selftests_dir: the same for the selftests.
selftests_dir()
{
	local dir out

	out=$(tools_dir) || exit 1
	dir=$(build_dir tools)
	with_lock "$(basename "$(dirname "$dir")")-tools" build_selftests "$dir" || exit 1
	echo "$out/selftests"
}

build_selftests()
{
	local dir=$1

	run_logged "$dir/log-selftests" make -C "$TW_TOP/tools" "OUT=$dir/out" \
		"-j$(jobs_of_build)" selftests || die "the selftests do not build"
}
