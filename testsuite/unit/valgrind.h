/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test program under valgrind is not what the kernel thinks it is: some tests cannot be made there. */
#ifndef TRACER_TESTSUITE_UNIT_VALGRIND_H
#define TRACER_TESTSUITE_UNIT_VALGRIND_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* By what valgrind preloads. Children that have been exec'd run without it. */
static inline bool under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "/vgpreload");
}

#endif
