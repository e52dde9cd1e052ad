/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function that is called in a way of its own, as its caller knows, too. */
#include "otherway.h"

OTHER int w_other(int first, const char *text, int number)
{
	__asm__ volatile("");
	return first + text[0] + number;
}
