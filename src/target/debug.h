/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What -D shows: lines on standard error about what the tracer does, by domain: see debug.c. */
#ifndef TRACER_TARGET_DEBUG_H
#define TRACER_TARGET_DEBUG_H

#include "target/target_state.h"

/* Returns true if -D asks for the domain. -v asks for DEBUG_FUNCTIONS, too. */
bool debug_wanted(const struct target *target, unsigned domain);
/* `domain`: one of enum session_debug. Bytes other than printable ASCII come out escaped. */
void debug_say(const struct target *target, unsigned domain, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void debug_stop(const struct target *target, const struct stop *stop);
void debug_record(const struct target *target, const struct record *record);

#endif
