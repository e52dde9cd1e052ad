/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "objects.h"

static struct point points[] = {{3, 4.5, "zed"}, {-1, 0.1, NULL}, {2, 1e100, "last"}};

static void pointed_to(void)
{
	struct list list[5] = {{9, list + 1, NULL},	     {8, list + 2, list},     {7, list + 3, list + 1},
			       {6, list + 4, list + 2}, {5, NULL, list + 3}};
	struct list self = {1, &self, NULL};
	struct outer outer = {{"abcdef", {1, -2}, {"one", "two"}}, -5000000000LL, 1.5L, 'z'};
	static struct large large = {"start", "never seen"};
	struct counted counted = {3, (int[]){5, 6, 7}, "abcdef"};
	static const struct {
		unsigned char count;
		short items[3];
	} row = {3, {-1, 2, 3}};
	int number = 42, *one = &number, **two = &one;
	const char *text = "text";
	double half = 0.5;
	char c = 'q';

	o_point(&points[0]);
	o_point(NULL);
	o_named_point(&points[0], 5);
	o_list(list);
	o_list(&self);
	o_points(points, 3);
	o_points(points, 0);
	o_outer(&outer);
	o_large(&large);
	o_counted(&counted);
	o_row((const struct row *)(const void *)&row);
	o_pointers(&two, &text, &half, &c);
}

static void arrays(void)
{
	static const int six[] = {1, 2, 3, 4, 5, 6};
	static const unsigned char bytes[] = {1, 2, 0xff};
	char *strings[] = {"one", "two", NULL};

	o_array(six, 6);
	o_array(six, 4);
	o_array(six, 1);
	o_array(six, 0);
	o_array(six, -1);
	o_bytes(bytes, 3);
	o_strings(strings);
	o_wide(L"wide", L"\u017c\U0001f600xyz", 2);
}

static void returned(void)
{
	struct point point = {0};
	int numbers[6] = {0};
	const char *text = NULL;

	o_fill(&point, numbers, 3, &text);
	o_result(numbers);
	o_found(&points[0]);
	o_found(NULL);
}

static void lenses(void)
{
	static const unsigned char bits[5] = {1, 0x80, 0, 0, 3};
	double number = 1.5;

	o_enum(1, 2, 5);
	o_enum(77, -1, 8);
	o_bits(0x102, 0xfe, bits);
	o_bits(0, 0xff, NULL);
	o_bool(0, 1, 300);
	o_hidden(1, 2, "three", 4);
	o_hex(1.5, -0.25F, &number);
	o_names("/etc", 3);
	o_fixed(-1, 65535, 7, -7, -5000000000LL);
	o_fault((const struct point *)8, (const int *)16, (char *[]){(char *)24, NULL});
}

static void by_value(void)
{
	int later = 3;

	o_pair((struct pair){1, -2}, 10);
	o_mixed((struct mixed){1.5, 2}, 10, 0.25);
	o_floats((struct floats){1.5F, 2.5F, 3.5F}, 0.5F);
	o_half((struct half){1, 0.5F, 2.5}, 10);
	o_longs(1, 2, 3, 4, 5, (struct longs){6, 7}, 8);
	o_big(1, (struct big){2, 3, 4, "big"}, 5);
	o_three((struct bytes){"ab"}, 'x');
	o_longest(1, (struct longest){0.5L}, 2);
	o_named((struct named){"one", 1.5}, (struct named){"two", 2.5});
	o_complex_float(__builtin_complex(1.5F, -2.5F), 2);
	o_complex(1, __builtin_complex(0.5, 2.0), 3);
	o_complex_long(__builtin_complex(1.5L, 4.0L), 2);
	o_later(&later, (struct named){"n", 9.5}, (struct mixed){1.5, 2}, (struct pair){6, 7});
}

int main(void)
{
	pointed_to();
	arrays();
	returned();
	lenses();
	by_value();
	return 0;
}
