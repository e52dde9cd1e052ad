/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of the script that has made a call, found in the process.
 *
 * The frames of a script are found by the tracer's own code (unwind/script/executor.h), which runs
 * the descriptions of the machines that the process has loaded. A frame has no name here: the
 * tracer has written a table of the hashes of frames that it knows, each with a bit that says
 * whether its line is the one to be shown. A frame that is not in the table ends the search; then
 * the thread is sent to the tracer, which names the frame and adds it.
 */
#include "x86_64/agent_line.h"

#include "x86_64/agent_memory.h"
#include "x86_64/agent_stack.h"

enum { PAGE = 4096 };

/* The `visit` function of the walk. */
static bool look_at_frame(void *visitor, const struct raw_frame *frame)
{
	struct line_search *search = visitor;
	const uint64_t hash = script_frame_hash(frame) & ~UINT64_C(1);
	const uint32_t set = scripts_set(hash);

	for (uint32_t i = set; i < set + SCRIPTS_WAYS; i++) {
		const uint64_t known = __atomic_load_n(&search->scripts->frames[i],
						       __ATOMIC_RELAXED);

		if ((known & ~UINT64_C(1)) != hash)
			continue;
		if (known & 1)
			search->line = i + 1;
		return !(known & 1) && --search->left;
	}
	search->is_unknown = true;
	return false;
}

/*
 * Reads a whole word and cuts it, which is faster than a copy of fewer bytes. The word may reach
 * into the next page, which may be unreadable.
 */
static bool read_number(void *context, uint64_t address, unsigned size, uint64_t *number)
{
	const uint64_t mask = UINT64_MAX >> (64 - 8 * size);
	uint64_t word = 0;
	bool is_read;

	if (address % PAGE <= PAGE - sizeof word) {
		is_read = memo_read(context, address, mask, &word);
	} else {
		is_read = read_bytes(NULL, address, &word, size) == size;
		memo_spoil(context);
	}
	*number = word & mask;
	return is_read;
}

void agent_begin_walk(struct script_run *run, agent_visit *visit, void *visitor, struct memo *memo)
{
	run->read = read_number;
	run->context = memo;
	run->thread_pointer = read_thread();
	run->tid = 0;
	run->decoded = NULL;
	run->visit = visit;
	run->visitor = visitor;
	run->frames = NULL;
	run->capacity = 0;
	run->results = NULL;
	run->result_count = 0;
	run->steps_max = SCRIPTS_STEPS;
}

enum script_end agent_walk_scripts(struct script_run *run, const struct scripts_machine *machine)
{
	run->program = (const struct script_program *)machine->program;
	run->values = (const uint64_t *)machine->values;
	run->value_count = (unsigned)machine->value_count;
	return script_execute(run);
}

static void find_line(struct line_search *search)
{
	const struct agent_scripts *scripts = search->scripts;
	struct script_run run;

	agent_begin_walk(&run, look_at_frame, search, search->memo);
	for (uint64_t i = 0; i < scripts->count && i < SCRIPTS_MACHINES; i++) {
		/* As in script_stacks.c: others may have changed the list of threads. */
		for (unsigned tries = 0; tries < SCRIPTS_WALKS; tries++) {
			const enum script_end end = agent_walk_scripts(&run, &scripts->machines[i]);

			if (search->line || search->is_unknown)
				return;
			if (end != SCRIPT_UNREADABLE && run.frame_count)
				break;
		}
	}
}

/* On the stack behind the ring, as a run needs 2 KiB. */
void agent_find_line_there(struct line_search *search)
{
	const struct agent_scripts *scripts = search->scripts;
	struct memo_key key = {.thread = read_thread(), .generation = scripts->count << 1 | 1};

	if (scripts->stacks)
		agent_add_stack_key(search, &key);
	if (agent_memo_find(search->memos, &key, &search->line))
		return;
	search->memo = agent_memo_begin(search->memos);
	if (scripts->stacks)
		agent_find_stack(search);
	else
		find_line(search);
	if (!search->is_unknown)
		agent_memo_end(search->memos, &key, search->line);
}
