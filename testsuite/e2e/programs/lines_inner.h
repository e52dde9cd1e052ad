/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code in a header, for lines.c. */
__attribute__((noinline, unused)) static long in_header(long number)
{
	const long result = in_parser(number);

	return result +
	       1;
}
