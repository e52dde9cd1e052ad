/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clauses about frames: `file`, `function`, `line`, `inside`. See frames_clauses.c. */
#ifndef TRACER_UNWIND_SCRIPT_FRAMES_CLAUSES_H
#define TRACER_UNWIND_SCRIPT_FRAMES_CLAUSES_H

#include "unwind/script/frames_names.h"

/* Parses a clause if the token begins one; returns false if not. */
bool frames_clause(struct frames_parser *parser);

#endif
