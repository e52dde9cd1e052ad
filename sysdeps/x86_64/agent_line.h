/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the line of the script that has made a call, in the process: see agent_line.c. */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_LINE_H
#define TRACER_SYSDEPS_X86_64_AGENT_LINE_H

#include "engine/agent/scripts_abi.h"
#include "unwind/script/executor.h"
#include "x86_64/agent_memo.h"
#include "x86_64/agent_process.h"

#include <stdbool.h>
#include <stdint.h>

/* The search for the frame whose line is shown, or for the whole stack. */
struct line_search {
	const struct agent_scripts *scripts;
	const struct frame *frame; /* the state at the entry of the function */
	struct memos *memos;	   /* of the thread */
	struct memo *memo;	   /* of the walk */
	uint64_t line;		   /* of its struct ring_record */
	uint32_t left;		   /* how many more frames of a script are looked at */
	bool is_unknown;	   /* something was met that the tracer has to see first */
};
static_assert(sizeof(struct line_search) % 16 == 0, "a stack may begin below it");

/* Calls agent_find_line_there() on the stack that ends at `stack` (agent_services.S). */
void agent_find_line(struct line_search *search, void *stack);

/*
 * Finds the line by a memo; or walks the frames of all machines, until the line is found or nothing
 * is known of a frame; or does agent_find_stack(), where whole stacks are told.
 */
void agent_find_line_there(struct line_search *search);

typedef bool agent_visit(void *visitor, const struct raw_frame *frame);
/* Prepares a walk for agent_walk_scripts(). */
void agent_begin_walk(struct script_run *run, agent_visit *visit, void *visitor, struct memo *memo);
/* Visits the frames of the thread that the machine has. */
enum script_end agent_walk_scripts(struct script_run *run, const struct scripts_machine *machine);

#endif
