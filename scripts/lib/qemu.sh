# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The machine that QEMU makes.

# qemu_words KERNEL INITRD LOG: the common part of QEMU's command line.
qemu_words()
{
	qemu=(qemu-system-x86_64 -nodefaults -no-user-config -display none
		-no-reboot -nic none -cpu max -m "$run_mem" -smp "$run_cpus"
		-kernel "$1/image" -initrd "$2" -serial "file:$3")
	# These have an NVMe driver and ext4 built in.
	[ -z "$disk" ] ||
		qemu+=(-drive "format=raw,if=none,id=disk,file=$(doubled_commas "$disk")"
			-device "nvme,drive=disk,serial=timewheel")
	[ -z "$rtc" ] || qemu+=(-rtc "base=$rtc")
	cmdline="console=ttyS0 ignore_loglevel printk.devkmsg=on panic=-1 oops=panic"
	# An emulated machine on a busy one has clocks that drift apart for a moment: the
	# kernel would take its best one for broken, and change it in the middle of a test.
	cmdline+=" rdinit=/init net.ifnames=0 tsc=reliable"
}

# A name as a value in QEMU's lists of options.
doubled_commas()
{
	echo "${1//,/,,}"
}

# make_disk FILE: an empty file system.
make_disk()
{
	local log

	if ! log=$(PATH=$PATH:/usr/sbin:/sbin mke2fs -q -t ext4 "$1.tmp" 64M 2>&1); then
		rm -f "$1.tmp"
		die "cannot make a disk in $1: $log"
	fi
	mv "$1.tmp" "$1" || die "cannot rename $1.tmp"
}

# The file /dev/kvm says nothing: try, briefly, and remember the answer for
# this kernel of the host.
choose_accel()
{
	local answer

	accel_words=(-accel "tcg,thread=multi")
	if [ "$icount" = 1 ]; then
		accel_words=(-accel tcg -icount "shift=0,sleep=off")
		return 0
	fi
	[ "$accel" != tcg ] || return 0
	answer=$TW_CACHE/accel-$(uname -r)
	if [ ! -e "$answer" ]; then
		mkdir -p "$TW_CACHE"
		if try_kvm "$1"; then
			echo kvm >"$answer"
		else
			echo tcg >"$answer"
		fi
	fi
	if [ "$(cat "$answer")" = kvm ]; then
		accel_words=(-accel kvm)
	elif [ "$accel" = kvm ]; then
		die "this machine does not run a guest under KVM (remembered in $answer)"
	fi
}

try_kvm()
{
	local log=$run_dir/kvm initrd

	[ -w /dev/kvm ] || return 1
	say "trying KVM for up to 15 s"
	initrd=$(base_archive)
	qemu_words "$1" "$initrd" "$log"
	# In braces, so that the shell's own word on an abort goes there too.
	{
		timeout -k 1 15 "${qemu[@]}" -accel kvm \
			-append "$cmdline rdinit=/bin/poweroff" </dev/null || true
	} >/dev/null 2>&1
	grep -qa 'Run /bin/poweroff\|Freeing unused kernel' "$log" 2>/dev/null
}

run_qemu()
{
	qemu_words "$1" "$run_dir/initrd" "$run_dir/log"
	bounded "${qemu[@]}" "${accel_words[@]}" \
		-serial file:/proc/self/fd/3 -serial file:/proc/self/fd/4 \
		-append "$cmdline ${run_append[*]}"
}
