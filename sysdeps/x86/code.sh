#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles code that is put into tracees, and writes its bytes as elements of a C array.
#   code.sh small|fast COMPILER TOP ARCHITECTURE -m32|-m64 OUTPUT SOURCE...
# Nothing in it may refer to an address of its own, as it runs wherever it is put: there is no data
# (code.lds sees to that), and calls are relative. What is to be fast is larger, and may have constants.
set -eu

kind=$1 compiler=$2 top=$3 architecture=$4 width=$5 output=$6
shift 6
case $kind in
small) how="-Os -fno-pic -fno-pie" most=4096 constants=0 ;;
fast)
	# Places that jumps lead to are not aligned: what that adds is better used for code.
	how="-O2 -fno-align-jumps -fpie -fvisibility=hidden" most=32768 constants=4096
	# It has another idea of what is worth its bytes, and there is no room for that.
	case $($compiler --version) in *clang*) how="-Os -fpie -fvisibility=hidden" ;; esac
	# It has calls that the compiler does not know of.
	how="$how -mno-red-zone"
	;;
esac
flags="$width $how -std=gnu11 -ffreestanding -fno-stack-protector
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-jump-tables -fcf-protection=none
	-mgeneral-regs-only -Wall -Wextra -Werror"

objects=
for source; do
	object="$output.$(basename "$source").o"
	# shellcheck disable=SC2086
	$compiler $flags -I"$top/src" -I"$top/sysdeps" -I"$top/sysdeps/$architecture" -c "$top/$source" -o "$object"
	objects="$objects $object"
done
# shellcheck disable=SC2086
$compiler "$width" -nostdlib -static -Wl,--build-id=none -Wl,--defsym=CODE_MAX=$most \
	-Wl,--defsym=CONSTANTS_MAX=$constants \
	-Wl,-T,"$top/sysdeps/x86/code.lds" -Wl,-e,0 -Wl,--oformat=binary $objects -o "$output.bin"
od -An -v -tx1 "$output.bin" | sed 's/[0-9a-f][0-9a-f]/0x&,/g' >"$output.tmp"
mv "$output.tmp" "$output"
# shellcheck disable=SC2086
rm -f $objects "$output.bin"
