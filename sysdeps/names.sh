#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the names that a header of the kernel has for numbers as elements of a C array, [NUMBER] = "NAME".
#   names.sh 'COMPILER' HEADER PREFIX OUTPUT
# What is defined by another name, as aliases are, is left out. Of the macros with that prefix, it is not part of the name
# when it ends in an underscore.
set -eu

compiler=$1 header=$2 prefix=$3 output=$4
case $prefix in
*_) keep= ;;
*) keep=$prefix ;;
esac
echo "#include <$header>" |
	$compiler -E -dM -x c - |
	sed -n "s/^#define $prefix\([A-Za-z0-9_]*\) \([0-9][0-9]*\)\$/\2 $keep\1/p" |
	LC_ALL=C sort -u -k1n -k2 |
	awk '{ if (NR == 1 || $1 != last) printf "[%d] = \"%s\",\n", $1, $2; last = $1 }' >"$output.tmp"
test -s "$output.tmp" || {
	echo "$0: no such names in <$header>" >&2
	exit 1
}
mv "$output.tmp" "$output"
