/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls through GOT slots, caught where they are made.
 *
 * Code that is built without a PLT calls a library's function through its GOT slot. Nothing may be
 * changed there but the calling instruction (session/pointers.c says why), and a breakpoint is a
 * stop for each call. An instruction that goes through the slot itself is long enough for a jump.
 * One that jumps (a tail call) is what a PLT stub is; the stub of one that calls puts the return
 * address on the stack first (write_call_stub()). Nobody branches into the middle of such an
 * instruction, so code need not be looked through for that.
 *
 * If a call returns to where another one begins, the trap engine may have to put a breakpoint
 * there, for the return of the first. So the second keeps its own.
 *
 * Compilers load a slot into a register in front of a loop. A call by a register is too short for
 * a jump, so the jump covers what stands in front of it, mostly moves of arguments: as many of them
 * as are needed, and none of the call, whose breakpoint stays for whoever branches to the call
 * itself. No code may branch into these instructions behind the first byte, and no call may be
 * among them, as it would return there. That takes a look through the module's code, so it is done
 * for what is called often (session/pointers.c). The stub compares the register with what the slot
 * holds.
 */
#include "engine/agent/private.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

enum { INSN_MAX = 15, FUNCTION_MAX = 1 << 17 };

/* Bytes in front of the instruction, for what ends there; and its own. */
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

/* Whether it has been wished, or is caught. */
static bool is_wished(const struct agent_space *own, uint64_t breakpoint)
{
	size_t cursor = 0;
	void *value;

	for (size_t i = 0; own && i < own->wishes.count; i++)
		if (((const struct agent_wish *)vec_at(&own->wishes, i))->breakpoint == breakpoint)
			return true;
	while (own && map_next(&own->probes, &cursor, NULL, &value))
		if (((const struct agent_probe *)value)->wish.breakpoint == breakpoint)
			return true;
	return false;
}

/* Whether an exception may land behind the first byte of a jump there. */
static bool has_pads(const struct agent *agent, const struct space *space, uint64_t jump)
{
	for (uint64_t k = 1; k < AGENT_JUMP; k++)
		if (agent->events->return_place(agent->events->context, space, jump + k) ==
		    RETURN_AT_PAD)
			return true;
	return false;
}

/*
 * Finds the instructions in front of a call that have room for a jump: the wish's, up to the end of
 * the call, which has `length` bytes. NULL, or why there are none.
 */
static const char *find_front(const struct agent *agent, const struct space *space, size_t length,
			      struct agent_wish *wish)
{
	const uint64_t end = wish->breakpoint + length;
	uint64_t start, size;

	if (!agent->around(space, wish->breakpoint, &start, &size) || start > wish->breakpoint ||
	    end - start > size || end - start > FUNCTION_MAX)
		return "the function that it is called in is not known";
	_cleanup_free_ uint8_t *bytes = xmalloc(end - start);
	const struct agent_function function = {
		.address = start, .bytes = bytes, .length = end - start};

	if (agent_read_code(space, start, bytes, end - start) != end - start)
		return "the code that calls it cannot be read";
	const size_t offset = space->arch->agent->straight_before(
		trap_decoder(agent->trap), &function, wish->breakpoint - start);

	if (offset == SIZE_MAX)
		return "there is no room for a jump in front of the call";
	wish->address = start + offset;
	wish->length = end - wish->address;
	return has_pads(agent, space, wish->address) ? "an exception may land in front of the call"
						     : NULL;
}

const char *agent_wish_call(struct agent *agent, struct space *space, const struct agent_call *call)
{
	const struct agent_arch *arch = space->arch->agent;
	struct agent_wish wish = {.address = call->address,
				  .breakpoint = call->address,
				  .site = call->site,
				  .hook = call->hook,
				  .slot = call->slot};
	struct call_code code;
	enum agent_way way = AGENT_OTHERWISE;
	const char *reason = NULL;
	size_t length = 0;

	if (arch && read_call(space, call->address, &code))
		way = arch->way_of(trap_decoder(agent->trap), &code.function, call->slot, &length);
	if (way == AGENT_OTHERWISE || (way == AGENT_CALLS_BY_REGISTER && !call->is_worth_it))
		return "it is called by what a register or a variable holds";
	if (call->is_worth_it && is_wished(space->agent, call->address))
		return NULL;
	wish.calls = way != AGENT_JUMPS_THROUGH;
	wish.is_plt_stub = way == AGENT_JUMPS_THROUGH;
	wish.length = length;
	if (way == AGENT_CALLS_BY_REGISTER)
		reason = find_front(agent, space, length, &wish);
	else if (length < AGENT_JUMP || space->arch->ends_with_call(code.bytes))
		reason = "another call returns to it";
	wish.looked_for = wish_is_closed(&wish);
	return reason ? reason : agent_wish(space, &wish);
}

int wish_plant(struct trap *trap, struct thread *thread, const struct agent_wish *wish)
{
	return trap_plant(trap, thread, wish->breakpoint, wish->hook ? NULL : wish->site,
			  wish->hook);
}

/* How many bytes of its code may be run elsewhere. */
static uint64_t moved_by(const struct agent_wish *wish)
{
	return wish->slot || wish->length < AGENT_MOVED_MAX ? wish->length : AGENT_MOVED_MAX;
}

bool agent_moves(const struct space *space, uint64_t address)
{
	for (uint64_t back = 1; space->agent && back < AGENT_MOVED_MAX; back++) {
		const struct agent_probe *probe = map_get(&space->agent->probes, address - back);

		if (probe && back < moved_by(&probe->wish))
			return true;
	}
	return false;
}

/* As its instructions would be run elsewhere, and what stands there not be met. */
static bool has_jumps(const struct agent_space *own, const struct agent_wish *wish)
{
	const uint64_t moved = moved_by(wish);

	for (uint64_t k = !wish_is_front(wish); k < moved && k < wish->length; k++)
		if (map_get(&own->probes, wish->address + k))
			return true;
	return false;
}

static bool has_breakpoints(const struct space *space, const struct agent_wish *wish)
{
	const uint64_t covered = wish->kept ? wish->kept : AGENT_JUMP;

	for (uint64_t k = 1; k < covered || (k < AGENT_MOVED_MAX && k < wish->length); k++)
		if (wish->address + k != wish->breakpoint && trap_hook_at(space, wish->address + k))
			return true;
	for (uint64_t k = 0; wish_is_front(wish) && k < wish->length; k++)
		if (wish->address + k != wish->breakpoint &&
		    trap_is_planted(space, wish->address + k))
			return true;
	return false;
}

const char *wish_is_obstructed(const struct space *space, const struct agent_wish *wish)
{
	if (!trap_is_only(space, wish->breakpoint, wish->hook))
		return "its breakpoint has other purposes, too";
	/* A jump there would be in the place of what the program wants to run. */
	if (trap_is_written_over(space, wish->breakpoint))
		return "the program has written over its beginning";
	if (has_breakpoints(space, wish))
		return "there is another breakpoint in its first instructions";
	if (has_jumps(space->agent, wish) ||
	    (wish_is_front(wish) && agent_moves(space, wish->address)))
		return "some of its first instructions are under another jump";
	return NULL;
}

uint64_t probe_entered(const struct agent_probe *probe)
{
	return unit_probe_stub(probe->unit, probe->number) +
	       (probe->wish.calls ? AGENT_PROBE_CALLED : 0);
}

void probe_turn_back(const struct agent_probe *probe, struct regs *regs)
{
	regs->pc = probe->wish.breakpoint;
	if (probe->wish.calls)
		regs->r[REG_SP] += sizeof(uint64_t);
}

void agent_space_uses(const struct space *space, trap_use *use, void *context)
{
	const struct agent_space *own = space->agent;
	size_t cursor = 0;
	void *value;

	for (size_t i = 0; own && i < own->wishes.count; i++) {
		const struct agent_wish *wish = vec_at(&own->wishes, i);

		use(context, wish->site, wish->hook);
	}
	while (own && map_next(&own->probes, &cursor, NULL, &value)) {
		const struct agent_probe *probe = value;

		use(context, probe->site, probe->wish.hook);
	}
}
