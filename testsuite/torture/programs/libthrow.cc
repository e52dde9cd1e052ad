// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow.h"

void flow_throw(int number)
{
	throw number;
}
