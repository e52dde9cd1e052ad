/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gates: hooks whose condition is tested in the process.
 *
 * A gate is installed like a probe (install.c): the function begins with a jump to a stub, which
 * runs the displaced instructions. The stub of a gate tests the condition and, if it holds, runs
 * into the hook's breakpoint. A gate replaces no return address and writes nothing, so a thread may
 * unwind, jump away or end in it.
 */
#include "engine/agent/gates.h"

#include "engine/agent/agent_state.h"
#include "engine/agent/kept.h"
#include "engine/agent/unit.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/pending.h"

#include <string.h>

/* An address in the middle of no memory; hardly ever a word on a stack. */
static const uint64_t NO_STUBS = UINT64_C(0xb5d1000000000000);

/*
 * The candidate for a gate of `hook` (NULL: of any) at `address`, where there is still a
 * breakpoint.
 */
static struct patch_candidate *candidate_at(const struct space *space, uint64_t address,
					    const struct hook *hook)
{
	struct agent_space *own = space->agent;

	/* Called for each function that is planted, and there may be many candidates. */
	if (!own || !trap_is_planted(space, address))
		return NULL;
	for (size_t i = 0; i < own->candidates.count; i++) {
		struct patch_candidate *candidate = vec_at(&own->candidates, i);

		if (candidate->address == address && candidate_is_gate(candidate) &&
		    (!hook || candidate->hook == hook))
			return candidate;
	}
	return NULL;
}

bool agent_has_gate(const struct space *space, uint64_t address, const struct hook *hook)
{
	const struct agent_space *own = space->agent;
	const struct agent_probe *probe = own ? map_get(&own->probes, address) : NULL;

	if (probe && candidate_is_gate(&probe->candidate))
		return probe->candidate.hook == hook;
	return candidate_at(space, address, hook);
}

bool agent_take_gate_out(struct thread *thread, uint64_t address)
{
	struct agent_space *own = thread->process->space->agent;
	struct agent_probe *probe = own ? map_get(&own->probes, address) : NULL;
	struct patch_candidate *candidate = candidate_at(thread->process->space, address, NULL);

	if (candidate)
		vec_remove(&own->candidates,
			   (size_t)(candidate - (struct patch_candidate *)own->candidates.items));
	if (!probe || !candidate_is_gate(&probe->candidate))
		return candidate != NULL;
	probe_give_up(thread, probe, NULL);
	map_remove(&own->probes, address);
	return true;
}

static void write_stubs(const struct agent_unit *unit, const struct vec *units)
{
	uint64_t stubs[AGENT_GATE_UNITS];

	for (size_t i = 0; i < AGENT_GATE_UNITS; i++) {
		const struct agent_unit *other = i < units->count
							 ? *(struct agent_unit **)vec_at(units, i)
							 : NULL;

		stubs[i] = other ? other->base + AGENT_RETURN_STUBS : NO_STUBS;
	}
	memcpy(unit->shared + (AGENT_GATE_STUBS - AGENT_SHARED), stubs, sizeof stubs);
}

void gates_unit_made(struct space *space)
{
	const struct vec *units = &space->agent->units;

	pending_forget_words(space);
	for (size_t i = 0; i < units->count; i++) {
		const struct agent_unit *unit = *(struct agent_unit **)vec_at(units, i);
		uint32_t *word =
			(uint32_t *)(void *)(unit->shared + (AGENT_PENDING - AGENT_SHARED));

		write_stubs(unit, units);
		/* If there are too many units for a test, each call stops. */
		*word = 1;
		if (units->count <= AGENT_GATE_UNITS)
			pending_add_word(space, word);
	}
}

static struct agent_probe *gate_at(const struct agent_unit *unit, uint64_t pc)
{
	const uint64_t number = (pc - unit_probe_stub(unit, 0)) / AGENT_PROBE_STUB;
	struct agent_probe *probe = number < unit->probes_used ? unit->probes[number] : NULL;

	return probe && candidate_is_gate(&probe->candidate) ? probe : NULL;
}

struct agent_probe *gates_place(const struct space *space, const struct regs *regs, uint64_t *sp)
{
	const struct agent_unit *unit = agent_unit_at(space->agent, regs->pc);
	uint64_t top = 0;

	*sp = regs->r[REG_SP];
	if (!unit)
		return NULL;
	if (regs->pc - unit->base - AGENT_JUMP_TEST < AGENT_JUMP_TEST_BYTES) {
		memory_read_word(&space->memory, regs->r[REG_SP], sizeof top, &top);
		return gate_at(unit, space->arch->agent->gate_stub_of(unit->base, regs, top, sp));
	}
	if ((regs->pc - unit_probe_stub(unit, 0)) % AGENT_PROBE_STUB >= AGENT_PROBE_BREAKPOINT)
		return NULL;
	return regs->pc >= unit_probe_stub(unit, 0) ? gate_at(unit, regs->pc) : NULL;
}
