// SPDX-License-Identifier: GPL-2.0-or-later
// Calls each function of liboverloads.cc once, get() twice.
#include "overloads.h"

int main()
{
	int sum = lone(1) + rust_legacy(1) + rust_v0(1) + of_d(1);
	{
		ns::Klass whole(1), real(2.5);

		sum += whole.get(1) + real.get(2) + whole.get("a") + real.only(1) + (whole + 3);
	}
	return sum + ns::twice(1) + (int)ns::twice(1.5) == 14 + 2 + 4 + 98 + 1 + 7 + 2 + 3 ? 0 : 1;
}
