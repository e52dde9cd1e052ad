/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls through GOT slots, caught at the calling instruction.
 *
 * Code that is built without a PLT calls a library's function through its GOT slot. The tracer may
 * change only the calling instruction (target/indirect_calls.c says why), and a breakpoint there
 * stops at each call. An instruction that goes through the GOT slot itself is long enough for a
 * jump. One that jumps (a tail call) is handled like a PLT stub; the probe stub of one that calls
 * first pushes the return address (write_call_stub()). No code branches into the middle of such an
 * instruction, so no search for branches is needed.
 *
 * If a call returns to where another call begins, the trap engine may need a breakpoint there, for
 * the return of the first. So the second keeps its breakpoint.
 *
 * Compilers load a GOT slot into a register in front of a loop. A call by a register is too short
 * for a jump, so the jump covers the instructions in front of it, mostly moves of arguments: as
 * many as it needs, and none of the call, whose breakpoint stays for code that branches to the call
 * itself. No code may branch behind the first byte of these instructions, and they may not contain
 * a call, which would return there. Finding out takes a search through the module's code, so it is
 * done for frequent calls only (target/indirect_calls.c). The stub compares the register with the
 * GOT slot.
 */
#include "engine/agent/got_calls.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/entry_jumps.h"
#include "engine/agent/patch_candidates.h"
#include "engine/agent/unit.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/references.h"

enum { INSN_MAX = 15, FUNCTION_MAX = 1 << 17 };

/* The instruction, and the bytes in front of it, where another call may end. */
struct call_code {
	uint8_t bytes[ARCH_CALL_MAX + INSN_MAX];
	struct agent_function function;
};

static bool read_call(const struct space *space, uint64_t address, struct call_code *code)
{
	const size_t length = agent_read_code(space, address - ARCH_CALL_MAX, code->bytes,
					      sizeof code->bytes);

	code->function = (struct agent_function){
		.address = address,
		.bytes = code->bytes + ARCH_CALL_MAX,
		.length = length > ARCH_CALL_MAX ? length - ARCH_CALL_MAX : 0,
	};
	return code->function.length;
}

/* Returns true if a candidate or a probe has its breakpoint at `breakpoint`. */
static bool is_candidate(const struct agent_space *own, uint64_t breakpoint)
{
	size_t cursor = 0;
	void *value;

	for (size_t i = 0; own && i < own->candidates.count; i++)
		if (((const struct patch_candidate *)vec_at(&own->candidates, i))->breakpoint ==
		    breakpoint)
			return true;
	while (own && map_next(&own->probes, &cursor, NULL, &value))
		if (((const struct agent_probe *)value)->candidate.breakpoint == breakpoint)
			return true;
	return false;
}

/* Returns true if a landing pad is behind the first byte of a jump at `jump`. */
static bool has_pads(const struct agent *agent, const struct space *space, uint64_t jump)
{
	for (uint64_t k = 1; k < AGENT_JUMP; k++)
		if (agent->events->return_place(agent->events->context, space, jump + k) ==
		    RETURN_AT_PAD)
			return true;
	return false;
}

/*
 * Finds the instructions in front of a call of `length` bytes that have room for a jump, and sets
 * the candidate's address and length to them and the call. Returns NULL, or why there are none.
 */
static const char *find_front(const struct agent *agent, const struct space *space, size_t length,
			      struct patch_candidate *candidate)
{
	const uint64_t end = candidate->breakpoint + length;
	uint64_t start, size;

	if (!agent->around(space, candidate->breakpoint, &start, &size) ||
	    start > candidate->breakpoint || end - start > size || end - start > FUNCTION_MAX)
		return "the function that it is called in is not known";
	_cleanup_free_ uint8_t *bytes = xmalloc(end - start);
	const struct agent_function function = {
		.address = start, .bytes = bytes, .length = end - start};

	if (agent_read_code(space, start, bytes, end - start) != end - start)
		return "the code that calls it cannot be read";
	const size_t offset = space->arch->agent->straight_before(
		trap_decoder(agent->trap), &function, candidate->breakpoint - start);

	if (offset == SIZE_MAX)
		return "there is no room for a jump in front of the call";
	candidate->address = start + offset;
	candidate->length = end - candidate->address;
	return has_pads(agent, space, candidate->address)
		       ? "an exception may land in front of the call"
		       : NULL;
}

const char *agent_add_call_candidate(struct agent *agent, struct space *space,
				     const struct agent_call *call)
{
	const struct agent_arch *arch = space->arch->agent;
	struct patch_candidate candidate = {.address = call->address,
					    .breakpoint = call->address,
					    .site = call->site,
					    .hook = call->hook,
					    .got_slot = call->got_slot};
	struct call_code code;
	enum agent_way way = AGENT_OTHERWISE;
	const char *reason = NULL;
	size_t length = 0;

	if (arch && read_call(space, call->address, &code))
		way = arch->way_of(trap_decoder(agent->trap), &code.function, call->got_slot,
				   &length);
	if (way == AGENT_OTHERWISE || (way == AGENT_CALLS_BY_REGISTER && !call->is_worth_it))
		return "it is called by what a register or a variable holds";
	if (call->is_worth_it && is_candidate(space->agent, call->address))
		return NULL;
	candidate.calls = way != AGENT_JUMPS_THROUGH;
	candidate.is_plt_stub = way == AGENT_JUMPS_THROUGH;
	candidate.length = length;
	if (way == AGENT_CALLS_BY_REGISTER)
		reason = find_front(agent, space, length, &candidate);
	else if (length < AGENT_JUMP || space->arch->ends_with_call(code.bytes))
		reason = "another call returns to it";
	candidate.looked_for = candidate_is_closed(&candidate);
	return reason ? reason : agent_add_candidate(space, &candidate);
}

int candidate_plant(struct trap *trap, struct thread *thread,
		    const struct patch_candidate *candidate)
{
	return trap_plant(trap, thread, candidate->breakpoint,
			  candidate->hook ? NULL : candidate->site, candidate->hook);
}

/* The most bytes of the candidate's code that may run out of line. */
static uint64_t moved_by(const struct patch_candidate *candidate)
{
	return candidate->got_slot || candidate->length < AGENT_MOVED_MAX ? candidate->length
									  : AGENT_MOVED_MAX;
}

bool agent_moves(const struct space *space, uint64_t address)
{
	for (uint64_t back = 1; space->agent && back < AGENT_MOVED_MAX; back++) {
		const struct agent_probe *probe = map_get(&space->agent->probes, address - back);

		if (probe && back < moved_by(&probe->candidate))
			return true;
	}
	return false;
}

/* Their instructions would run out of line, so jumps there would be missed. */
static bool has_jumps(const struct agent_space *own, const struct patch_candidate *candidate)
{
	const uint64_t moved = moved_by(candidate);

	for (uint64_t k = !candidate_is_front(candidate); k < moved && k < candidate->length; k++)
		if (map_get(&own->probes, candidate->address + k))
			return true;
	return false;
}

static bool has_breakpoints(const struct space *space, const struct patch_candidate *candidate)
{
	const uint64_t covered = candidate->kept ? candidate->kept : AGENT_JUMP;

	for (uint64_t k = 1; k < covered || (k < AGENT_MOVED_MAX && k < candidate->length); k++)
		if (candidate->address + k != candidate->breakpoint &&
		    trap_hook_at(space, candidate->address + k))
			return true;
	for (uint64_t k = 0; candidate_is_front(candidate) && k < candidate->length; k++)
		if (candidate->address + k != candidate->breakpoint &&
		    trap_is_planted(space, candidate->address + k))
			return true;
	return false;
}

const char *candidate_is_obstructed(const struct space *space,
				    const struct patch_candidate *candidate)
{
	if (!trap_is_only(space, candidate->breakpoint, candidate->hook))
		return "its breakpoint has other purposes, too";
	/* A jump would replace what the program wants to run there. */
	if (trap_is_written_over(space, candidate->breakpoint))
		return "the program has written over its beginning";
	if (has_breakpoints(space, candidate))
		return "there is another breakpoint in its first instructions";
	if (has_jumps(space->agent, candidate) ||
	    (candidate_is_front(candidate) && agent_moves(space, candidate->address)))
		return "some of its first instructions are under another jump";
	return NULL;
}

uint64_t probe_entered(const struct agent_probe *probe)
{
	return unit_probe_stub(probe->unit, probe->number) +
	       (probe->candidate.calls ? AGENT_PROBE_CALLED : 0);
}

void probe_turn_back(const struct agent_probe *probe, struct regs *regs)
{
	regs->pc = probe->candidate.breakpoint;
	if (probe->candidate.calls)
		regs->r[REG_SP] += sizeof(uint64_t);
}

void agent_space_uses(const struct space *space, trap_use *use, void *context)
{
	const struct agent_space *own = space->agent;
	size_t cursor = 0;
	void *value;

	for (size_t i = 0; own && i < own->candidates.count; i++) {
		const struct patch_candidate *candidate = vec_at(&own->candidates, i);

		use(context, candidate->site, candidate->hook);
	}
	while (own && map_next(&own->probes, &cursor, NULL, &value)) {
		const struct agent_probe *probe = value;

		use(context, probe->site, probe->candidate.hook);
	}
}
