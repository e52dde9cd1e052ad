#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles one source of code that is put into tracees, and writes its bytes as elements of a C array.
#   code.sh COMPILER TOP ARCHITECTURE -m32|-m64 SOURCE OUTPUT
# Nothing in it may refer to an address of its own, as it runs wherever it is put: there is no data
# (code.lds sees to that), and calls are relative.
set -eu

compiler=$1 top=$2 architecture=$3 width=$4 source=$5 output=$6
flags="$width -std=gnu11 -Os -ffreestanding -fno-pic -fno-pie -fno-stack-protector
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-jump-tables -fcf-protection=none
	-mgeneral-regs-only -Wall -Wextra -Werror"

# shellcheck disable=SC2086
$compiler $flags -I"$top/src" -I"$top/sysdeps/$architecture" -c "$top/$source" -o "$output.o"
$compiler "$width" -nostdlib -static -Wl,--build-id=none -Wl,-T,"$top/sysdeps/x86/code.lds" \
	-Wl,-e,0 -Wl,--oformat=binary "$output.o" -o "$output.bin"
od -An -v -tx1 "$output.bin" | sed 's/[0-9a-f][0-9a-f]/0x&,/g' >"$output.tmp"
mv "$output.tmp" "$output"
rm -f "$output.o" "$output.bin"
