/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoints that the program has written over: it patches itself, generates code where a library
 * was, or another debugger was at work: see overwritten.c.
 */
#ifndef TRACER_ENGINE_TRAP_OVERWRITTEN_H
#define TRACER_ENGINE_TRAP_OVERWRITTEN_H

#include "engine/trap/trap.h"

/*
 * Calls `overwritten` once for each probe or hook of a space that the program has written over
 * since. `site` is NULL for a hook. `taken_out`: the original byte is there again. Costs one
 * system call per 64 breakpoints.
 */
typedef void trap_overwritten(void *context, const struct probe_site *site, struct hook *hook,
			      bool taken_out);
void trap_check(struct space *space, trap_overwritten *overwritten, void *context);

#endif
