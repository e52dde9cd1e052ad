#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles rescue.c for one architecture and writes its bytes as elements of a C array.
#   rescue.sh COMPILER TOP ARCHITECTURE -m32|-m64 OUTPUT
# Nothing in it may refer to an address of its own, as it runs wherever it is put: there is no data
# (rescue.lds sees to that), and calls are relative.
set -eu

compiler=$1 top=$2 architecture=$3 width=$4 output=$5
flags="$width -std=gnu11 -Os -ffreestanding -fno-pic -fno-pie -fno-stack-protector
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-jump-tables -fcf-protection=none
	-mgeneral-regs-only -Wall -Wextra -Werror"

# shellcheck disable=SC2086
$compiler $flags -I"$top/src" -I"$top/sysdeps/$architecture" -c "$top/sysdeps/x86/rescue.c" \
	-o "$output.o"
$compiler "$width" -nostdlib -static -Wl,--build-id=none -Wl,-T,"$top/sysdeps/x86/rescue.lds" \
	-Wl,-e,0 -Wl,--oformat=binary "$output.o" -o "$output.bin"
od -An -v -tx1 "$output.bin" | sed 's/[0-9a-f][0-9a-f]/0x&,/g' >"$output.tmp"
mv "$output.tmp" "$output"
rm -f "$output.o" "$output.bin"
