/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "otherway.h"

int main(int count, char **arguments)
{
	return w_other(count, arguments[0], count + 7) ? EXIT_SUCCESS : EXIT_FAILURE;
}
