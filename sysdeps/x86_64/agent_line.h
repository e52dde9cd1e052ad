/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the line of the script that has made a call, in the process: see agent_line.c. */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_LINE_H
#define TRACER_SYSDEPS_X86_64_AGENT_LINE_H

#include "engine/agent/scripts_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* The search for the frame whose line is shown, among those of the thread's script. */
struct line_search {
	const struct agent_scripts *scripts;
	uint64_t line;	 /* of its struct ring_record */
	uint32_t left;	 /* how many more frames are looked at */
	bool is_unknown; /* a frame was met that the tracer has not named yet */
};

/* Calls agent_find_line_there() on the stack that ends at `stack` (agent_entry.S). */
void agent_find_line(struct line_search *search, void *stack);

/* Walks the frames of all machines, until the line is found or nothing is known of a frame. */
void agent_find_line_there(struct line_search *search);

#endif
