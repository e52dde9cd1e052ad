/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that is changed when it is loaded: the first instruction of textrel_get() has the address of a variable. */
#include <stdlib.h>

int textrel_value = 42;

int textrel_get(void)
{
	return textrel_value;
}

int textrel_call(const char *text)
{
	return (int)strtol(text, NULL, 10) + textrel_get();
}
