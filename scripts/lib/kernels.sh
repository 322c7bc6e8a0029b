# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Kernels by name. Each ends up in a directory of the cache that holds
#   image    what to boot (a bzImage, or the UML program); not for 7.2-tree
#   build    a link to what 'make -C' builds external modules against
#   release  what 'uname -r' will say
# and is complete when it exists: it is made aside and renamed.

TW_MACHINES='6.1 6.12 6.12-rt 7.2 debug kcsan'
TW_KERNELS="$TW_MACHINES uml uml-tt 7.2-tree"

is_kernel()
{
	case " $TW_KERNELS " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# Whether a kernel is a User Mode Linux program.
is_uml()
{
	[ "$1" = uml ] || [ "$1" = uml-tt ]
}

# Whether it is one of Debian's, downloaded rather than built.
is_stock()
{
	case $1 in
	6.1 | 6.12 | 6.12-rt) return 0 ;;
	esac
	return 1
}

# Whether QEMU can boot it.
is_machine()
{
	case " $TW_MACHINES " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# kernel_dir NAME: prepare the kernel if need be, print its directory.
kernel_dir()
{
	local name=$1

	is_kernel "$name" ||
		usage_error "no kernel is called '$name': there are $TW_KERNELS"
	mkdir -p "$TW_CACHE/kernels" "$TW_CACHE/logs" ||
		die "cannot write to the cache $TW_CACHE: set TIMEWHEEL_CACHE"
	# What was resolved today is good for today: no package list is read.
	if ! current_link "$name"; then
		with_lock "kernel-$name" prepare_kernel "$name" || exit 1
	fi
	readlink -f "$(kernel_link "$name")"
}

# The link that stands for the newest version. Checkouts with configurations of
# their own have links of their own: they may work at the same time.
kernel_link()
{
	if is_stock "$1"; then
		echo "$TW_CACHE/kernels/$1"
	else
		echo "$TW_CACHE/kernels/$1-$(config_key "$1")"
	fi
}

current_link()
{
	local link

	link=$(kernel_link "$1")
	[ -e "$link/release" ] && [ -n "$(find "$link/checked" -mtime -7 2>/dev/null)" ]
}

prepare_kernel()
{
	! current_link "$1" || return 0
	if is_stock "$1"; then
		prepare_stock "$1"
	else
		prepare_built "$1"
	fi
}

# finish_kernel NAME TMP FINAL: put a complete kernel in its place.
finish_kernel()
{
	if [ ! -d "$3" ]; then
		mv -T "$2" "$3" || die "cannot rename $2 to $3"
	fi
	touch "$3/checked"
	ln -sfn "$(basename "$3")" "$(kernel_link "$1")"
}

# --- stock: Debian's image and headers, unpacked rather than installed -----

stock_meta()
{
	case $1 in
	6.1) echo linux-image-cloud-amd64 ;;
	*-rt) echo "linux-image-$1-amd64" ;;
	*) echo "linux-image-$1-cloud-amd64" ;;
	esac
}

prepare_stock()
{
	local name=$1 linux=${1%-rt} meta image release version final tmp need

	need_debian
	meta=$(stock_meta "$name")
	apt_knows "$meta" || apt_update_once
	image=$(apt_resolve "$meta" "^linux-image-${linux//./\\.}\\.") ||
		die "the apt sources of this machine offer no $meta for Linux $linux: Debian 12 with its security archive does"
	release=${image#linux-image-}
	version=$(apt_version "$image")
	final=$TW_CACHE/kernels/$release-$version

	if [ ! -d "$final" ]; then
		tmp=$final.tmp
		rm -rf "$tmp"
		mkdir -p "$tmp/root" || die "cannot write to $tmp"
		need=$(stock_packages "$release") ||
			die "cannot find the packages of linux-headers-$release"
		# shellcheck disable=SC2086 # one word for each package
		if ! apt_fetch "$tmp/debs" $need; then
			[ -z "${tw_again:-}" ] || die "cannot download $name"
			tw_again=1
			prepare_stock "$name"
			return
		fi
		for deb in "$tmp"/debs/*.deb; do
			dpkg-deb --fsys-tarfile "$deb" |
				tar -x -C "$tmp/root" --exclude='./lib/modules/*' \
					--exclude=./usr/share ||
				die "cannot unpack $deb"
		done
		rm -rf "$tmp/debs"
		relocate_headers "$tmp/root" "$final/root"
		mv "$tmp/root/boot/vmlinuz-$release" "$tmp/image" ||
			die "$image has no image in it"
		rm -rf "$tmp/root/boot" "$tmp/root/lib"
		ln -s "root/usr/src/linux-headers-$release" "$tmp/build"
		echo "$release" >"$tmp/release"
	fi
	finish_kernel "$name" "$final.tmp" "$final"
}

# The image, the headers, and what of the kernel's own they depend on.
stock_packages()
{
	local headers=linux-headers-$1

	echo "linux-image-$1"
	echo "$headers"
	apt-cache depends --no-recommends --no-suggests "$headers" |
		sed -n 's/^ *Depends: //p' |
		grep -E '^linux-(headers-.*-common|kbuild-)'
}

# The packages name absolute paths under /usr/src; their links are relative.
relocate_headers()
{
	local makefile

	for makefile in "$1"/usr/src/linux-headers-*/Makefile; do
		sed -i "s,^include /usr/src/,include $2/usr/src/," "$makefile"
	done
}

# --- built here from Debian's source packages ------------------------------

source_of()
{
	case $1 in
	debug | kcsan) echo 6.12 ;;
	*) echo 7.2 ;;
	esac
}

config_files()
{
	local dir=$TW_SCRIPTS/configs

	echo "$dir/guest.config"
	echo "$dir/${1%-tree}.config"
}

config_key()
{
	# shellcheck disable=SC2046 # no blanks in them
	cat -- $(config_files "$1") | grep -E '^(# )?CONFIG_' | sha256sum | cut -c1-12
}

# source_dir 6.12|7.2: fetch and unpack a source tree, print its directory.
source_dir()
{
	mkdir -p "$TW_CACHE/src" "$TW_CACHE/logs"
	if [ -z "$(find "$TW_CACHE/src/linux-$1/checked" -mtime -7 2>/dev/null)" ]; then
		with_lock "source-$1" prepare_source "$1" || exit 1
	fi
	readlink -f "$TW_CACHE/src/linux-$1"
}

prepare_source()
{
	local v=$1 dir=$TW_CACHE/src deb tree tmp

	[ -z "$(find "$dir/linux-$v/checked" -mtime -7 2>/dev/null)" ] || return 0
	need_debian
	tmp=$dir/tmp-$v
	deb=$(find "$dir" -maxdepth 1 -name "linux-source-${v}_*.deb" | sort -V | tail -n 1)
	if [ -z "$deb" ]; then
		rm -rf "$tmp"
		if apt_knows "linux-source-$v"; then
			apt_fetch "$tmp" "linux-source-$v" || die "cannot download linux-source-$v"
		else
			newer_apt_fetch "$tmp" "linux-source-$v" || exit 1
		fi
		deb=$(find "$tmp" -name '*.deb')
		mv "$deb" "$dir/" || die "cannot write to $dir"
		deb=$dir/$(basename "$deb")
	fi
	tree=$dir/$(basename "$deb" _all.deb)
	tree=${tree//:/.}
	if [ ! -d "$tree" ]; then
		say "unpacking $(basename "$deb")"
		rm -rf "$tmp"
		mkdir -p "$tmp"
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$tmp" "./usr/src/linux-source-$v.tar.xz" ||
			die "cannot unpack $deb: remove it and try again"
		tar -x -C "$tmp" --strip-components=1 \
			-f "$tmp/usr/src/linux-source-$v.tar.xz" ||
			die "cannot unpack the source tree in $tmp"
		rm -rf "$tmp/usr/src"
		mv -T "$tmp" "$tree" || die "cannot rename $tmp"
	fi
	touch "$tree/checked"
	ln -sfn "$(basename "$tree")" "$dir/linux-$v"
}

prepare_built()
{
	local name=$1 src key final

	src=$(source_dir "$(source_of "$name")") || exit 1
	key=$(config_key "$name")
	final=$TW_CACHE/kernels/$name-${src##*_}-$key
	if [ ! -d "$final" ]; then
		build_kernel "$name" "$src" "$final.tmp" || exit 1
	fi
	finish_kernel "$name" "$final.tmp" "$final"
}

build_kernel()
{
	local name=$1 src=$2 out=$3 log=$TW_CACHE/logs/kernel-$1.log
	local make=(make -s -C "$src" "O=$out/build" "-j$(jobs_of_build)") start=$SECONDS
	local cc=gcc base=alldefconfig

	! command -v gcc-12 >/dev/null || cc=gcc-12
	make+=("CC=$cc" "HOSTCC=$cc" KBUILD_BUILD_USER=timewheel KBUILD_BUILD_HOST=timewheel)
	if is_uml "$name"; then
		make+=(ARCH=um)
	else
		make+=(ARCH=x86_64)
		base=allnoconfig
	fi

	say "building the kernel $name from $(basename "$src") (minutes; its output is in $log)"
	rm -rf "$out"
	mkdir -p "$out/build" || die "cannot write to $out"
	# shellcheck disable=SC2046 # no blanks in them
	cat $(config_files "$name") >"$out/fragment"
	KCONFIG_ALLCONFIG=$out/fragment run_logged "$log" "${make[@]}" "$base" ||
		die "cannot configure the kernel $name"
	check_config "$out/fragment" "$out/build/.config" ||
		die "the source does not take the configuration of $name as it is"

	if [ "$name" = 7.2-tree ]; then
		run_logged "$log" "${make[@]}" modules_prepare || die "cannot prepare $name"
		: >"$out/build/Module.symvers"
	elif is_uml "$name"; then
		with_progress "$name" run_logged "$log" "${make[@]}" linux modules ||
			die "cannot build $name"
		cp "$out/build/linux" "$out/image" || die "no UML program came out"
		strip --strip-debug "$out/image"
	else
		with_progress "$name" run_logged "$log" "${make[@]}" bzImage modules ||
			die "cannot build $name"
		cp "$out/build/arch/x86/boot/bzImage" "$out/image" || die "no bzImage came out"
	fi
	cp "$out/build/include/config/kernel.release" "$out/release" ||
		die "the kernel $name has no release"
	slim_build "$out/build"
	# It names its own place, which is about to change.
	sed -i "s,$out/build,${out%.tmp}/build,g" "$out/build/Makefile"
	say "the kernel $name is ready after $((SECONDS - start)) s"
}

# with_progress NAME COMMAND...: a sign of life each half minute.
with_progress()
{
	local name=$1 start=$SECONDS status=0 ticker
	shift

	(
		while sleep 1; do
			[ $(((SECONDS - start) % 30)) = 0 ] || continue
			say "still building $name, $((SECONDS - start)) s"
		done
	) </dev/null >/dev/null &
	ticker=$!
	"$@" || status=$?
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	return "$status"
}

# Every line of the fragment that the tree knows must have been taken.
check_config()
{
	local line key last bad=0

	while IFS= read -r line; do
		case $line in
		CONFIG_*=*)
			key=${line%%=*}
			grep -qxF "$line" "$2" && continue
			;;
		'# CONFIG_'*' is not set')
			key=${line#\# }
			key=${key%% *}
			grep -q "^$key=" "$2" || continue
			;;
		*) continue ;;
		esac
		# A later line of the fragment may have the last word.
		last=$(grep -E "^(# )?${key}[= ]" "$1" | tail -n 1)
		[ "$last" = "$line" ] || continue
		say "not taken: $line"
		bad=1
	done <<<"$(cat "$1")"
	return "$bad"
}

# Objects are of no use to external modules, and half of the disk.
slim_build()
{
	find "$1" \( -path "$1/scripts" -o -path "$1/tools" \) -prune -o \
		-type f \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' \) -print0 |
		xargs -0r rm -f
	rm -f "$1"/vmlinux.unstripped "$1"/.tmp_vmlinux*
}
