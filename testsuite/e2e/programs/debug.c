/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls functions that no .conf file knows. */
#include "debug.h"

int main(void)
{
	struct pt p = {3, 4.5, "zed"};
	struct pair pair = {1, 2};
	struct list tail = {2, NULL}, list = {1, &tail};
	struct mixed mixed = {"tag", {10, 20, 30}, {4, 5}, 1, 2, BLUE, NULL};
	int number = 7, result = 0;

	use_pt(&p, 0);
	d_numbers(-1, 200, -3, 60000, -5, 4000000000, -7, 8, -9, 10, 1.5, -2.25, 3.5);
	d_char('a', 1);
	d_next(RED, FIRST | THIRD, LOW);
	d_text("text", "other", (const unsigned char *)"bytes", NULL);
	d_point(&p, &number, &result);
	d_pair(pair);
	d_list(&list);
	d_mixed(&mixed);
	d_format(3, "%d %s", 5, "five");
	d_many(2, 3, 4);
	d_nothing();
	d_quarter(2.5, 10, 1);
	return 0;
}
