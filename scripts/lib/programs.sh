# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Programs of Debian 12 that use timerfds, unpacked rather than installed, in one
# archive in the cache.

# The programs, what of their libraries they load, and the C library for these.
programs_packages=(
	libc6 libgcc-s1 zlib1g libzstd1 liblzma5 liblz4-1 libcrypt1 libssl3 libbsd0 libmd0
	linuxptp
	memcached libevent-2.1-7 libsasl2-2 libdb5.3
	pipewire-bin libpipewire-0.3-0 libpipewire-0.3-modules libspa-0.2-modules
	libcap2 libdbus-1-3 libgcrypt20 libgpg-error0 libsystemd0 libreadline8 libtinfo6
	libglib2.0-0 libpcre2-8-0
	stress-ng libapparmor1 libdrm2 libegl1 libgles2 libexpat1 libffi8 libgbm1 libglvnd0
	libipsec-mb1 libjpeg62-turbo libjudydebian1 libkmod2 libsctp1 libwayland-server0
	libxxhash0
)

# programs_archive: all of them in one archive, made if there are newer ones.
programs_archive()
{
	local key file

	need_debian
	apt_knows stress-ng || apt_update_once
	key=$(apt-cache show --no-all-versions "${programs_packages[@]}" | grep -E '^(Package|Version):' |
		sha256sum | cut -c1-16)
	file=$TW_CACHE/dropin/$key.tar
	if [ ! -e "$file" ]; then
		mkdir -p "$TW_CACHE/dropin" || die "cannot write to the cache $TW_CACHE"
		with_lock dropin make_programs "$file" || exit 1
	fi
	echo "$file"
}

make_programs()
{
	local file=$1 tmp=$TW_CACHE/dropin/tmp deb

	[ ! -e "$file" ] || return 0
	rm -rf "$tmp"
	mkdir -p "$tmp/root"
	apt_fetch "$tmp/debs" "${programs_packages[@]}" || die "cannot download the programs"
	for deb in "$tmp"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$tmp/root" --exclude=./usr/share/doc --exclude=./usr/share/man \
				--exclude=./usr/share/locale --exclude='*/gconv' ||
			die "cannot unpack $deb"
	done
	tar -c -C "$tmp/root" -f "$file.tmp" . || die "cannot write $file"
	rm -rf "$tmp"
	find "$TW_CACHE/dropin" -name '*.tar' -mtime +30 -delete
	mv "$file.tmp" "$file"
}
