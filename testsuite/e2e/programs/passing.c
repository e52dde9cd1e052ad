// SPDX-License-Identifier: GPL-2.0-or-later
// Passes objects to libpassing.
#include "passing.h"

#include <string.h>

static struct many letters(void)
{
	struct many many = {.last = 9};

	memcpy(&many, "abcdefghijklmnopqrstuvwxyz", 26);
	return many;
}

int main(void)
{
	struct bits bits = {5, -3, 1, 200, 0xabcdef0123, -100};
	struct deep deep;
	struct deep_float deep_float;
	struct packed packed = {'a', 1, 'c', 2, 'e'};
	struct rows rows = {{{1, 2, 3}, {4, 5, 6}}, {"ab", "cd"}, {7}, {8}, {9}};
	struct many many = letters();
	struct open open = {3};
	const int pair[] = {0x55, 0x66};
	const float floats[] = {1, 2};

	memcpy(&deep, pair, sizeof deep);
	memcpy(&deep_float, floats, sizeof deep_float);
	v_number((union number){5}, 2);
	v_fraction((union fraction){1.5}, 2, 3);
	v_both((union both){.l = 4}, 2.5, 3);
	v_bits(bits, 2);
	v_deep(1, deep, 2);
	v_deep_float(1, deep_float, 2);
	v_many(1, many, 2);
	v_packed(1, packed, 2);
	v_empty(1, (struct empty){}, 2);
	v_complex_float(1.5F + 2 * __extension__ 1.0iF, 1);
	v_complex(1, 1.5 + 2 * __extension__ 1.0i, 2);
	v_complex_long(1.5L + 2 * __extension__ 1.0iL, 1);
	v_longs((union longs){1.5L}, 2);
	v_overlaid((union overlaid){2.5L}, 2);
	v_rows(&rows, 1);
	v_many_at(&many);
	v_open(&open);
	v_packed_at(&packed);
	v_bits_at(&bits);
	v_deep_at(&deep);
#ifdef __SIZEOF_INT128__
	v_wide_at(&(struct wide){.b = 5});
	v_huge((__int128)1 << 64 | 2, 3);
	v_huge_last(1, 2, 3, 4, 5, (__int128)6 << 64 | 7, 8, 9, -1);
#endif
	return 0;
}
