/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent's code in a tracee needs to tell the script line of a call (-W), or its stack
 * (-w), in the plans of each unit; its address is the word AGENT_SCRIPTS. See script_lines.c.
 */
#ifndef TRACER_ENGINE_AGENT_SCRIPTS_ABI_H
#define TRACER_ENGINE_AGENT_SCRIPTS_ABI_H

#include "engine/agent/agent_abi.h"
#include "unwind/script/frame_hash.h"

enum { SCRIPTS_MACHINES = 4, SCRIPTS_SETS = 4096, SCRIPTS_WAYS = 8 };
enum {
	SCRIPTS_FRAMES = SCRIPTS_SETS * SCRIPTS_WAYS,
	SCRIPTS_STEPS = 20000,
	SCRIPTS_DEPTH = 1024,
	SCRIPTS_WALKS = 3
};

/* A virtual machine; the addresses are those of the tracee. */
struct scripts_machine {
	uint64_t program; /* struct script_program: the walk */
	uint64_t values;  /* uint64_t[value_count] */
	uint64_t value_count;
};

struct agent_scripts {
	/* Not 0: modules were loaded that may be machines. Calls go to the tracer, which looks. */
	uint64_t pending;
	/* Address of the struct agent_stacks: whole stacks are told; 0: lines are. */
	uint64_t stacks;
	uint64_t count; /* of `machines` that are used */
	struct scripts_machine machines[SCRIPTS_MACHINES];
	/*
	 * Frames that the tracer has named, in sets by the upper bits of their hash. The lowest bit
	 * is 1 if the frame's line is shown, 0 if it is passed by: it is one of a package. 0: free.
	 * Where whole stacks are told, these are the hashes of stacks, and the lowest bit is 1.
	 */
	uint64_t frames[SCRIPTS_FRAMES];
};

/* The first word of the set of a hash. */
static inline uint32_t scripts_set(uint64_t hash)
{
	return (uint32_t)(hash >> 52) * SCRIPTS_WAYS;
}

#endif
