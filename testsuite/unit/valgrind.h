/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Under valgrind a program has not the registers and memory that the kernel sees, so some tests are
 * skipped there.
 */
#ifndef TRACER_TESTSUITE_UNIT_VALGRIND_H
#define TRACER_TESTSUITE_UNIT_VALGRIND_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Recognises valgrind by what it preloads. Children that have been exec'd run without it. */
static inline bool under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "/vgpreload");
}

#endif
