/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "folded.h"

int f_text(const char *text, int number)
{
	return 5;
}

int f_number(double number)
{
	return 5;
}

int f_color(enum color color)
{
	return color + 6;
}

int f_level(enum level level)
{
	return level + 6;
}

int f_own(const char *text, int number)
{
	return text[0] + number;
}

int f_alias(const char *text, int number) __attribute__((alias("f_own")));
