/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "folded.h"

int f_elsewhere(const struct place *place)
{
	return 5;
}
