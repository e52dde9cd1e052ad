#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the lines of a text as elements of a C array of strings.
#   text_lines.sh                 from standard input to standard output
#   text_lines.sh INPUT OUTPUT    without the comment that the text begins with, and with spaces for tabs
set -eu

quoted() {
	sed 's/[\\"]/\\&/g; s/.*/"&",/'
}

if [ $# -eq 0 ]; then
	quoted
	exit
fi
sed -e '1,/^ *\*\/$/{/^\/\*/,/\*\/$/d;}' -e 's/	/ /g' "$1" | quoted >"$2.tmp"
test -s "$2.tmp"
mv "$2.tmp" "$2"
