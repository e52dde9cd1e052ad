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
 */
#include "engine/agent/private.h"

enum { INSN_MAX = 15 };

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

const char *agent_wish_call(struct agent *agent, struct space *space, const struct agent_call *call)
{
	const struct agent_arch *arch = space->arch->agent;
	struct agent_wish wish = {.address = call->address,
				  .site = call->site,
				  .hook = call->hook,
				  .slot = call->slot,
				  .looked_for = true};
	struct call_code code;
	size_t length = 0;

	if (arch && read_call(space, call->address, &code)) {
		const enum agent_way way = arch->way_of(trap_decoder(agent->trap), &code.function,
							call->slot, &length);

		if (way == AGENT_OTHERWISE || length < AGENT_JUMP)
			return "it is called by what a register or a variable holds";
		if (space->arch->ends_with_call(code.bytes))
			return "another call returns to it";
		wish.calls = way == AGENT_CALLS_THROUGH;
		wish.is_plt_stub = way == AGENT_JUMPS_THROUGH;
		wish.length = length;
	}
	return agent_wish(space, &wish);
}

int wish_plant(struct trap *trap, struct thread *thread, const struct agent_wish *wish)
{
	return trap_plant(trap, thread, wish->address, wish->hook ? NULL : wish->site, wish->hook);
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

bool wish_overlaps(const struct agent_space *own, const struct agent_wish *wish)
{
	const uint64_t moved = moved_by(wish);

	for (uint64_t k = 1; k < moved && k < wish->length; k++)
		if (map_get(&own->probes, wish->address + k))
			return true;
	return false;
}

uint64_t probe_entered(const struct agent_probe *probe)
{
	return unit_probe_stub(probe->unit, probe->number) +
	       (probe->wish.calls ? AGENT_PROBE_CALLED : 0);
}

void probe_turn_back(const struct agent_probe *probe, struct regs *regs)
{
	regs->pc = probe->address;
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
