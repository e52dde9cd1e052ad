#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the requests of ioctl(2) that the kernel's headers have names for, as initialisers of struct type_name.
#   ioctl_names.sh 'COMPILER' OUTPUT
# Most are made of the size of a structure, which may differ between the ABIs, so the compiler works out each of them for both,
# where it can. Where several have the same number, the header that is first below has its name. Headers that are not there, or
# need more than they include, are left out.
set -eu

compiler=$1 output=$2
headers='asm/ioctls.h linux/sockios.h linux/fs.h linux/fscrypt.h linux/fsverity.h linux/random.h linux/kd.h linux/vt.h linux/loop.h
linux/if_tun.h linux/tty.h linux/blkzoned.h linux/nsfs.h linux/perf_event.h linux/userfaultfd.h linux/seccomp.h linux/fuse.h
linux/hdreg.h linux/cdrom.h linux/rtc.h linux/watchdog.h linux/input.h linux/uinput.h linux/hidraw.h linux/usbdevice_fs.h
linux/i2c-dev.h linux/spi/spidev.h linux/gpio.h linux/dm-ioctl.h linux/btrfs.h linux/kvm.h linux/vfio.h linux/vhost.h linux/ppp-ioctl.h
linux/atmdev.h linux/wireless.h linux/mtio.h linux/nbd.h linux/raid/md_u.h linux/inotify.h linux/eventpoll.h linux/memfd.h
linux/autofs_fs.h linux/fiemap.h linux/dma-buf.h linux/udmabuf.h linux/sync_file.h linux/videodev2.h linux/media.h linux/nvme_ioctl.h
mtd/mtd-abi.h scsi/sg.h sound/asound.h drm/drm.h'
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

multiarch=$($compiler -print-multiarch 2>/dev/null || true)
includes=${multiarch:+-idirafter /usr/include/$multiarch}

# Macros that are made by _IO() and its like, and plain numbers of four digits by old conventions.
names_in()
{
	echo "#include <$1>" | $compiler -E -dM -x c - 2>/dev/null |
		sed -nE -e 's/^#define ([A-Za-z][A-Za-z0-9_]*)[ \t]+_IO(R|W|WR)? ?\(.*$/\1/p' \
			-e 's/^#define ((TC|TIO|FIO|SIOC|KD|GIO_|PIO_|VT_|LOOP_|CDROM|HDIO_)[A-Z0-9_]+)[ \t]+0x[0-9A-Fa-f]{4}$/\1/p' |
		LC_ALL=C sort -u
}

# "NUMBER NAME" of each, by the constants in the assembler's text. One name stands on a line, so those that need a structure which
# the header does not have are known by the compiler's complaints, and left out.
values_of()
{
	file=$directory/names.c
	{
		echo '#include <stddef.h>'
		echo '#include <linux/types.h>'
		echo '#include <linux/ioctl.h>'
		echo '#include <asm/termbits.h>'
		echo '#include <linux/fiemap.h>'
		echo "#include <$1>"
		echo 'void names(void);'
		echo 'void names(void) {'
		while read -r name; do
			echo "__asm__ volatile(\"# name $name %c0\" : : \"i\"((unsigned)($name)));"
		done
		echo '}'
	} >"$file"
	LC_ALL=C $compiler $2 $includes -w -S -o /dev/null "$file" 2>&1 |
		sed -n 's/^.*names\.c:\([0-9]*\):.*error.*/\1s\/.*\/\//p' | sort -u >"$directory/wrong"
	sed -i -f "$directory/wrong" "$file"
	$compiler $2 $includes -w -S -o - "$file" 2>/dev/null |
		sed -nE 's/^.*# name ([A-Za-z0-9_]+) \$?(-?[0-9]+)$/\2 \1/p'
}

for header in $headers; do
	names_in "$header" >"$directory/names"
	test -s "$directory/names" || continue
	for word in -m64 -m32; do
		values_of "$header" $word <"$directory/names" || true
	done
done | awk '{ number = sprintf("%.0f", $1 < 0 ? $1 + 4294967296 : $1) }
	$1 != 0 && !(number in seen) { seen[number] = 1; printf "{\"%s\", %s, UINT32_MAX},\n", $2, number }' >"$output.tmp"
test -s "$output.tmp" || {
	echo "$0: no names of requests in the kernel's headers" >&2
	exit 1
}
mv "$output.tmp" "$output"
