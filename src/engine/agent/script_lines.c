/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the agent tell the script line of each call that it records (-W).
 *
 * The code in the process runs the walk of the virtual machine's description by the same executor
 * as the tracer, from the innermost frame outward, up to the frame whose line is shown. It does not
 * know what a frame is called, or whether it belongs to a package; it has a table of the frames
 * that the tracer has named (scripts_abi.h). If it meets a frame that is not there, it makes no
 * record: the call stops at the breakpoint behind, as calls do that the agent cannot handle. The
 * tracer walks the stack itself, names the frames, puts them into the table, and sends the thread
 * through again. So each frame is named once, while its thread stands, and its later calls do not
 * stop. The record of a call has the index of its frame in the table. With -w the same table has
 * hashes of whole stacks: see stack_rules.c.
 *
 * Frames are known by a hash of 63 bits of what tells the line: two frames have the same one as
 * rarely as two of 2^63 numbers are equal. A set of the table that is full takes no further frames,
 * and calls from these go on stopping; the table has room for 32,768.
 *
 * Nothing is ever removed: records that refer to a frame may still be in a ring. The identity in a
 * frame tells code that was freed from other code at its address.
 */
#include "engine/agent/script_lines.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/plans.h"
#include "engine/agent/scripts_abi.h"
#include "engine/agent/stack_rules.h"
#include "tracee/space.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct script_lines {
	uint64_t place;		    /* of the struct agent_scripts in the tracee */
	struct agent_scripts shown; /* what is there */
	uint32_t stacks[SCRIPTS_FRAMES];
};

void script_lines_destroy(struct script_lines *lines)
{
	free(lines);
}

/* Visits the units of a space that make records and tell lines. */
typedef void lines_visit(struct space *space, struct agent_unit *unit, void *context);

static void each_unit(struct space *space, lines_visit *visit, void *context)
{
	const struct vec *units = space->agent ? &space->agent->units : NULL;

	for (size_t i = 0; units && i < units->count; i++) {
		struct agent_unit *unit = *(struct agent_unit **)vec_at(units, i);

		if (unit->lines)
			visit(space, unit, context);
	}
}

static void write_word(struct space *space, const struct script_lines *lines, size_t offset,
		       uint64_t word)
{
	space_write(space, lines->place + offset, &word, sizeof word);
}

static void set_pending(struct space *space, struct agent_unit *unit, bool is_pending)
{
	unit->lines->shown.pending = is_pending;
	write_word(space, unit->lines, offsetof(struct agent_scripts, pending), is_pending);
}

static void ask_unit(struct space *space, struct agent_unit *unit, void *context)
{
	(void)context;
	set_pending(space, unit, true);
}

void script_lines_ask(struct space *space)
{
	each_unit(space, ask_unit, NULL);
}

/* ------------------------------------------------------------------ machines */

struct machines {
	const struct line_machine *items;
	size_t count;
};

/* Copies a machine into the unit. Returns false if there is no room. */
static bool copy_machine(struct space *space, struct agent_unit *unit,
			 const struct line_machine *machine, struct scripts_machine *made)
{
	const size_t code = sizeof *machine->program +
			    machine->program->count * sizeof machine->program->instructions[0];
	const size_t values = machine->value_count * sizeof *machine->values;

	made->program = plans_take(unit->plans, unit->base, code);
	made->values = plans_take(unit->plans, unit->base, values);
	made->value_count = machine->value_count;
	return made->program && made->values &&
	       space_write(space, made->program, machine->program, code) == 0 &&
	       space_write(space, made->values, machine->values, values) == 0;
}

/* Machines are never taken out of the list, so those that are there already stay. */
static void set_unit(struct space *space, struct agent_unit *unit, void *context)
{
	const struct machines *machines = context;
	struct agent_scripts *shown = &unit->lines->shown;

	if (!shown->pending)
		return;
	while (shown->count < machines->count && shown->count < SCRIPTS_MACHINES) {
		struct scripts_machine *made = &shown->machines[shown->count];

		if (!copy_machine(space, unit, &machines->items[shown->count], made))
			break;
		space_write(space,
			    unit->lines->place + offsetof(struct agent_scripts, machines) +
				    shown->count * sizeof *made,
			    made, sizeof *made);
		shown->count++;
	}
	write_word(space, unit->lines, offsetof(struct agent_scripts, count), shown->count);
	set_pending(space, unit, false);
}

void script_lines_set(struct space *space, const struct line_machine *machines, size_t count)
{
	struct machines all = {machines, count};

	each_unit(space, set_unit, &all);
}

/* ------------------------------------------------------------------ frames */

struct learned {
	uint64_t entry;
	uint32_t stack;
	bool is_known; /* all units have it */
};

static bool learn_in_unit(struct space *space, struct script_lines *lines,
			  const struct learned *learned)
{
	const uint32_t set = scripts_set(learned->entry);

	for (uint32_t i = set; i < set + SCRIPTS_WAYS; i++) {
		uint64_t *frame = &lines->shown.frames[i];

		if ((*frame | 1) == (learned->entry | 1))
			return true;
		if (*frame)
			continue;
		*frame = learned->entry;
		lines->stacks[i] = learned->stack;
		write_word(space, lines, offsetof(struct agent_scripts, frames) + i * sizeof *frame,
			   *frame);
		return true;
	}
	return false;
}

static void learn_everywhere(struct space *space, struct agent_unit *unit, void *context)
{
	struct learned *learned = context;

	learned->is_known &= learn_in_unit(space, unit->lines, learned);
}

bool script_lines_learn(struct space *space, uint64_t hash, uint32_t stack)
{
	struct learned learned = {(hash & ~UINT64_C(1)) | (stack != 0), stack, true};

	each_unit(space, learn_everywhere, &learned);
	return learned.is_known;
}

bool script_lines_learn_stack(struct space *space, uint64_t hash, uint32_t stack)
{
	struct learned learned = {hash | 1, stack, true};

	each_unit(space, learn_everywhere, &learned);
	return learned.is_known;
}

uint32_t script_lines_stack(const struct agent_unit *unit, uint16_t line)
{
	return unit->lines && line && line <= SCRIPTS_FRAMES ? unit->lines->stacks[line - 1] : 0;
}

/* ------------------------------------------------------------------ units */

int script_lines_begin(const struct agent *agent, struct space *space, struct agent_unit *unit)
{
	struct script_lines *lines = xcalloc(1, sizeof *lines);
	int error = 0;

	/* The memory of a new unit is zero, so the table of frames is empty. */
	lines->place = plans_take(unit->plans, unit->base, sizeof lines->shown);
	lines->shown.pending = true;
	if (!lines->place)
		error = -ENOSPC;
	else if (agent->stacks)
		error = stack_rules_begin(space, unit, agent->native_frames, &lines->shown.stacks);
	if (!error)
		error = space_write(space, lines->place, &lines->shown,
				    offsetof(struct agent_scripts, frames));
	if (!error)
		error = space_write(space, unit->base + AGENT_PLANS + AGENT_SCRIPTS, &lines->place,
				    sizeof lines->place);
	if (error)
		script_lines_destroy(lines);
	else
		unit->lines = lines;
	return error;
}
