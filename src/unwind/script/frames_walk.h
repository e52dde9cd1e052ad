/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a frame description: see frames_walk.c. */
#ifndef TRACER_UNWIND_SCRIPT_FRAMES_WALK_H
#define TRACER_UNWIND_SCRIPT_FRAMES_WALK_H

#include "unwind/script/frames_names.h"

/* Parses from the word `walk` up to its `end`, and compiles it into the description's program. */
void frames_walk(struct frames_parser *parser);

#endif
