#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes what report_page.c includes: the lines of the page of --report in front of its data, and those behind it.
#   page.sh DIRECTORY OUTPUT
# The directory has page.html, with @STYLE@, @SCRIPT@ and @DATA@ in lines of their own for page.css, the scripts and the
# data, and with @STYLE_HASH@ and @SCRIPT_HASH@ in its Content-Security-Policy: a browser runs no script and applies no
# style but those that have these hashes.
set -eu

directory=$1 output=$2
# In this order; base.js begins, main.js starts what all others define.
scripts='base.js data.js calls.js tables.js heat.js flame.js timeline.js main.js'

contents() {
	case $1 in
	style) cat "$directory/page.css" ;;
	script) for name in $scripts; do cat "$directory/$name"; done ;;
	esac
}

# The SHA-256 of what is between the tags, with the newline behind the first one, in base64.
hash_of() {
	{
		echo
		contents "$1"
	} | sha256sum | awk '
		function value(c) { return index("0123456789abcdef", c) - 1 }
		{
			digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
			for (i = 1; i <= 63; i += 3) {
				bits = value(substr($1, i, 1)) * 256 + value(substr($1, i + 1, 1)) * 16 + value(substr($1, i + 2, 1))
				printf "%s%s", substr(digits, int(bits / 64) + 1, 1), substr(digits, bits % 64 + 1, 1)
			}
			printf "%s=", substr(digits, value(substr($1, 64, 1)) * 4 + 1, 1)
		}'
}

quoted() {
	sh "$directory/../text_lines.sh"
}

style_hash=$(hash_of style)
script_hash=$(hash_of script)
{
	echo '/* Made by page.sh. */'
	echo 'static const char *const head[] = {'
	while IFS= read -r line; do
		case $line in
		@STYLE@) contents style | quoted ;;
		@SCRIPT@) contents script | quoted ;;
		@DATA@)
			echo '};'
			echo 'static const char *const tail[] = {'
			;;
		*) printf '%s\n' "$line" | sed "s|@STYLE_HASH@|$style_hash|; s|@SCRIPT_HASH@|$script_hash|" | quoted ;;
		esac
	done <"$directory/page.html"
	echo '};'
} >"$output.tmp"
mv "$output.tmp" "$output"
