/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls functions of the C library that have another name each: rindex, index, bcmp. */
#include <string.h>

int main(int argc, char **argv)
{
	volatile long sum = 0;

	sum += strrchr("/a/b", '/') != NULL;
	sum += strchr("c.d", '.') != NULL;
	sum += memcmp("efg", "eff", 3) != 0;
	return sum != 3;
}
