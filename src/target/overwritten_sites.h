/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose breakpoints or entry jumps the program has written over: see
 * overwritten_sites.c.
 */
#ifndef TRACER_TARGET_OVERWRITTEN_SITES_H
#define TRACER_TARGET_OVERWRITTEN_SITES_H

#include "target/modules.h"

/*
 * Lists functions whose breakpoints the program has overwritten, at most once a second by `now`
 * (clock_now()); 0: at once.
 */
void modules_check(struct target *target, struct space *space, uint64_t now);

#endif
