#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the lines of a text as elements of a C array of strings, without the comment that it begins with.
#   text_lines.sh INPUT OUTPUT
set -eu

sed -e '1,/^ *\*\/$/{/^\/\*/,/\*\/$/d;}' -e 's/[\\"]/\\&/g' -e 's/	/ /g' -e 's/^.*$/"&\\n",/' "$1" >"$2.tmp"
test -s "$2.tmp"
mv "$2.tmp" "$2"
