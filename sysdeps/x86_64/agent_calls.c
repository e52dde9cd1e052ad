/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls through GOT slots: `call *slot(%rip)`, of code that is built with -fno-plt or by rustc.
 *
 * The call has six bytes, so a jump fits. It leads to a stub that pushes what the call would have
 * pushed, the address behind the call, and then goes on as a function's stub does; what is
 * displaced is a jump through the same slot. So the stack and all registers are as the call would
 * have left them, and unwinders see the true return address until the agent replaces it.
 *
 * The stub puts the return address there by a call of its own, and writes over what that has
 * pushed. Processors count calls and returns: after a return without a call they would expect each
 * return on the way out at a wrong place. Now only the return of this call is mispredicted.
 */
#include "image/relocate.h"
#include "x86_64/agent.h"

#include <errno.h>
#include <string.h>

enum { CALL = 0xe8, NOP = 0x90, NEVER_RUN = 0xf4, GROUP = 0xff, PUSH_NUMBER = 0x68 };
enum { TO_CALL = 2, TO_JUMP = 4 }; /* of GROUP */
enum { NEAR = 5, HALF = 4 };

static const uint8_t put_low[] = {0xc7, 0x04, 0x24};	    /* movl $number, (%rsp) */
static const uint8_t put_high[] = {0xc7, 0x44, 0x24, 0x04}; /* movl $number, 4(%rsp) */
enum { PUT_BYTES = sizeof put_low + sizeof put_high + 2 * HALF };

/* Whether it goes through a word at a fixed distance: "call *slot(%rip)". */
static bool is_through_word(const struct displaced *insn, uint64_t *word)
{
	const struct displaced_operand *operand = &insn->operand;

	*word = insn->address + insn->length + (uint64_t)operand->displacement;
	return operand->memory && operand->base == OPERAND_PC && operand->index == OPERAND_NONE &&
	       !operand->segment && operand->address_size == 8;
}

enum agent_way x86_64_way_of(struct decoder *decoder, const struct agent_function *code,
			     uint64_t slot, size_t *length)
{
	struct displaced insn;
	uint64_t word;

	if (x86_displace(decoder, &arch_x86_64, X86_MODE_64, code->bytes, code->length,
			 code->address, &insn) != 0 ||
	    insn.kind != DISPLACED_EMULATE ||
	    (insn.action != ACTION_CALL_OPERAND && insn.action != ACTION_JUMP_OPERAND) ||
	    !is_through_word(&insn, &word) || word != slot)
		return AGENT_OTHERWISE;
	*length = insn.length;
	return insn.action == ACTION_CALL_OPERAND ? AGENT_CALLS_THROUGH : AGENT_JUMPS_THROUGH;
}

static size_t put_branch(uint8_t opcode, uint8_t *out, uint64_t from, uint64_t to)
{
	const uint32_t distance = (uint32_t)(to - from - NEAR);

	out[0] = opcode;
	memcpy(out + 1, &distance, sizeof distance);
	return NEAR;
}

/* Over what a call has pushed. */
static void put_return_address(uint8_t *out, uint64_t address)
{
	memcpy(out, put_low, sizeof put_low);
	memcpy(out += sizeof put_low, &address, HALF);
	memcpy(out += HALF, put_high, sizeof put_high);
	memcpy(out + sizeof put_high, (const uint8_t *)&address + HALF, HALF);
}

/* A jump by the word at `slot`, to stand at `address`. */
static int put_jump_through(uint8_t *out, uint64_t address, uint64_t slot)
{
	enum { LENGTH = 6, MODRM = 0x05 };
	const int64_t distance = (int64_t)(slot - (address + LENGTH));
	const int32_t cut = (int32_t)distance;

	if (cut != distance)
		return -ERANGE;
	out[0] = GROUP;
	out[1] = MODRM | TO_JUMP << 3;
	memcpy(out + 2, &cut, sizeof cut);
	return 0;
}

int x86_64_write_call_stub(struct decoder *decoder, const struct agent_function *code,
			   uint64_t slot, uint64_t unit, uint32_t probe, enum agent_role role,
			   uint8_t out[AGENT_PROBE_STUB])
{
	const uint64_t stub = unit + AGENT_PROBE_STUBS + (uint64_t)probe * AGENT_PROBE_STUB;
	const uint64_t entry = unit + x86_64_entry_of(role);
	const size_t put = AGENT_PROBE_CALLED - PUT_BYTES;
	size_t length, at = AGENT_PROBE_CALLED;

	if (x86_64_way_of(decoder, code, slot, &length) != AGENT_CALLS_THROUGH ||
	    length < AGENT_JUMP)
		return -ENOTSUP;
	memset(out, NEVER_RUN, AGENT_PROBE_STUB);
	put_branch(CALL, out, stub, stub + put);
	out[AGENT_PROBE_BREAKPOINT] = NOP;
	x86_emit_jump_relative(stub + AGENT_PROBE_BREAKPOINT + 1, stub + AGENT_PROBE_DISPLACED,
			       out + AGENT_PROBE_BREAKPOINT + 1);
	int error = put_jump_through(out + AGENT_PROBE_DISPLACED, stub + AGENT_PROBE_DISPLACED,
				     slot);

	put_return_address(out + put, code->address + length);
	out[at] = PUSH_NUMBER;
	memcpy(out + at + 1, &probe, sizeof probe);
	at += NEAR;
	x86_emit_jump_relative(stub + at, entry, out + at);
	return error;
}
