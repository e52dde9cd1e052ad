/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the C library leaves to the vDSO, by an IFUNC. */
#include <time.h>

int main(void)
{
	for (int i = 0; i < 3; i++)
		if (time(NULL) < 0)
			return 1;
	return 0;
}
