/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "folded.h"

int main(void)
{
	struct place place = {1, 2};

	f_text("text", 1);
	f_number(1.5);
	f_color(GREEN);
	f_level(HIGH);
	f_alias("alias", 2);
	f_elsewhere(&place);
	return 0;
}
