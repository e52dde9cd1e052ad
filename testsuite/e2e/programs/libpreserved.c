/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that leave more registers alone than the psABI asks for. */
#include "preserved.h"

static int total;

/* clang 14 has it preserve its result, too: it has none. */
__attribute__((preserve_most)) void preserved_most(int number)
{
	total = total * 3 + number;
}

int preserved_total(void)
{
	return total;
}

__attribute__((ms_abi)) int preserved_by_windows(int number)
{
	return number + 2;
}
