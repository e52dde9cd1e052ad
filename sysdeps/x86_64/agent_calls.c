/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls through GOT slots: `call *slot(%rip)`, in code that is built with -fno-plt or by rustc.
 *
 * The call has six bytes, enough for a jump. The jump leads to a stub that pushes what the call
 * would have pushed, the address behind the call, and continues like a function's stub; the
 * displaced instruction is a jump through the same GOT slot. So the stack and all registers are as
 * the call would leave them, and unwinders see the true return address until the agent replaces it.
 *
 * The stub makes a call of its own, and writes the return address over what that has pushed.
 * Processors match calls with returns: without a call, every return on the way out would be
 * mispredicted. With it, only the return of this call is.
 *
 * `call *%reg` is too short for a jump. Its stub begins with the instructions in front of it, which
 * have room for the jump. Then the return address is pushed, and the register compared with the GOT
 * slot; if they differ, the thread jumps by the register at once. The comparison changes flags,
 * which pass nothing to a function (psABI, 3.2.1).
 */
#include "code/relocate.h"
#include "x86_64/agent.h"

#include <errno.h>
#include <string.h>

enum { CALL = 0xe8, NOP = 0x90, NEVER_RUN = 0xf4, GROUP = 0xff, PUSH_NUMBER = 0x68 };
enum { TO_CALL = 2, TO_JUMP = 4 }; /* of GROUP */
enum { NEAR = 5, HALF = 4 };
/* Room in a stub for the instructions in front of a call, in bytes. */
enum {
	FRONT_MAX = AGENT_PROBE_CALLED - AGENT_PROBE_FRONT - (NEAR + 1) - (3 + HALF) - (3 + HALF) -
		    2
};

static const uint8_t put_low[] = {0xc7, 0x04, 0x24};	    /* movl $number, (%rsp) */
static const uint8_t put_high[] = {0xc7, 0x44, 0x24, 0x04}; /* movl $number, 4(%rsp) */
enum { PUT_BYTES = sizeof put_low + sizeof put_high + 2 * HALF };

/* Returns true if the operand is a word at a fixed address: "call *slot(%rip)". */
static bool is_through_word(const struct displaced *insn, uint64_t *word)
{
	const struct displaced_operand *operand = &insn->operand;

	*word = insn->address + insn->length + (uint64_t)operand->displacement;
	return operand->memory && operand->base == OPERAND_PC && operand->index == OPERAND_NONE &&
	       !operand->segment && operand->address_size == 8;
}

/* Returns true if the operand is a register that the stub does not change; sets *reg. */
static bool is_by_register(const struct displaced *insn, int *reg)
{
	enum { SP = 4 };
	const struct displaced_operand *operand = &insn->operand;

	*reg = operand->base;
	return !operand->memory && !operand->segment && operand->base >= 0 && operand->base != SP;
}

static bool displace(struct decoder *decoder, const struct agent_function *code, size_t at,
		     struct displaced *insn)
{
	return x86_displace(decoder, &arch_x86_64, X86_MODE_64, code->bytes + at, code->length - at,
			    code->address + at, insn) == 0 &&
	       insn->length && insn->length <= code->length - at;
}

enum agent_way x86_64_way_of(struct decoder *decoder, const struct agent_function *code,
			     uint64_t slot, size_t *length)
{
	struct displaced insn;
	uint64_t word;
	int reg;

	if (!displace(decoder, code, 0, &insn) || insn.kind != DISPLACED_EMULATE ||
	    (insn.action != ACTION_CALL_OPERAND && insn.action != ACTION_JUMP_OPERAND))
		return AGENT_OTHERWISE;
	*length = insn.length;
	if (is_through_word(&insn, &word) && word == slot)
		return insn.action == ACTION_CALL_OPERAND ? AGENT_CALLS_THROUGH
							  : AGENT_JUMPS_THROUGH;
	return insn.action == ACTION_CALL_OPERAND && is_by_register(&insn, &reg)
		       ? AGENT_CALLS_BY_REGISTER
		       : AGENT_OTHERWISE;
}

/* ------------------------------------------------------------------ code in front of a call */

/* Returns true if the instruction can be run out of line, and continues behind itself. */
static bool is_plain(const struct agent_function *function, size_t at, const struct displaced *insn)
{
	struct x86_scan scan;

	return insn->kind == DISPLACED_COPY &&
	       x86_scan(function->bytes + at, function->length - at, X86_MODE_64, &scan) == 0 &&
	       x86_64_plain(&scan, false) != PLAIN_NOT;
}

static bool is_call(const struct displaced *insn)
{
	return insn->kind == DISPLACED_EMULATE &&
	       (insn->action == ACTION_CALL || insn->action == ACTION_CALL_OPERAND);
}

/*
 * The instructions that were decoded last, as long as all are plain. The first of them must not be
 * right behind a call: the return of that call may need a breakpoint there.
 */
struct straight {
	size_t starts[FRONT_MAX];
	size_t count;
	bool is_behind_call;
};

static void note_insn(struct straight *straight, size_t at, bool plain, bool calls)
{
	if (!plain) {
		straight->is_behind_call = calls;
		straight->count = 0;
		return;
	}
	if (straight->count == FRONT_MAX) {
		straight->is_behind_call = false;
		memmove(straight->starts, straight->starts + 1,
			--straight->count * sizeof *straight->starts);
	}
	straight->starts[straight->count++] = at;
}

size_t x86_64_straight_before(struct decoder *decoder, const struct agent_function *function,
			      size_t offset)
{
	struct straight straight = {.count = 0};
	struct displaced insn;
	size_t at = 0;

	for (; at < offset; at += insn.length) {
		if (!displace(decoder, function, at, &insn))
			return SIZE_MAX;
		note_insn(&straight, at, is_plain(function, at, &insn), is_call(&insn));
	}
	if (at != offset)
		return SIZE_MAX;
	for (size_t i = straight.count; i-- > 0;) {
		const size_t room = offset - straight.starts[i];

		if (room > FRONT_MAX || (room >= AGENT_JUMP && !i && straight.is_behind_call))
			break;
		if (room >= AGENT_JUMP)
			return straight.starts[i];
	}
	return SIZE_MAX;
}

/* ------------------------------------------------------------------ stubs */

static size_t put_branch(uint8_t opcode, uint8_t *out, uint64_t from, uint64_t to)
{
	const uint32_t distance = (uint32_t)(to - from - NEAR);

	out[0] = opcode;
	memcpy(out + 1, &distance, sizeof distance);
	return NEAR;
}

/* Writes over what a call has pushed: all of it (`whole`), or the lower half. */
static void put_return_address(uint8_t *out, uint64_t address, bool whole)
{
	memcpy(out, put_low, sizeof put_low);
	memcpy(out += sizeof put_low, &address, HALF);
	if (!whole)
		return;
	memcpy(out += HALF, put_high, sizeof put_high);
	memcpy(out + sizeof put_high, (const uint8_t *)&address + HALF, HALF);
}

/* Writes an instruction whose operand is the word at `slot`: its opcode and `reg`, at `address`. */
static int put_with_slot(uint8_t *out, uint64_t address, uint8_t opcode, int reg, uint64_t slot)
{
	enum { LENGTH = 6, MODRM = 0x05 };
	const int64_t distance = (int64_t)(slot - (address + LENGTH));
	const int32_t cut = (int32_t)distance;

	out[0] = opcode;
	out[1] = (uint8_t)(MODRM | (reg & 7) << 3);
	memcpy(out + 2, &cut, sizeof cut);
	return cut == distance ? 0 : -ERANGE;
}

/* The common part of all stubs of calls; what precedes it has to end at AGENT_PROBE_CALLED. */
static void put_common(uint8_t *out, uint64_t stub, uint32_t probe, uint64_t entry)
{
	size_t at = AGENT_PROBE_CALLED;

	memset(out, NEVER_RUN, AGENT_PROBE_STUB);
	out[AGENT_PROBE_BREAKPOINT] = NOP;
	x86_emit_jump_relative(stub + AGENT_PROBE_BREAKPOINT + 1, stub + AGENT_PROBE_DISPLACED,
			       out + AGENT_PROBE_BREAKPOINT + 1);
	out[at] = PUSH_NUMBER;
	memcpy(out + at + 1, &probe, sizeof probe);
	at += NEAR;
	x86_emit_jump_relative(stub + at, entry, out + at);
}

static int put_call_through(uint8_t *out, uint64_t stub, uint64_t slot, uint64_t behind)
{
	const size_t put = AGENT_PROBE_CALLED - PUT_BYTES;

	put_branch(CALL, out, stub, stub + put);
	put_return_address(out + put, behind, true);
	return put_with_slot(out + AGENT_PROBE_DISPLACED, stub + AGENT_PROBE_DISPLACED, GROUP,
			     TO_JUMP, slot);
}

/* Copies the instructions in front of a call, and adjusts pc-relative operands. */
static int put_front(struct decoder *decoder, const struct agent_function *code, size_t length,
		     uint8_t *out, uint64_t address)
{
	struct displaced insn;
	size_t at = 0;

	for (; at < length; at += insn.length) {
		if (!displace(decoder, code, at, &insn) || !is_plain(code, at, &insn))
			return -ENOTSUP;
		memcpy(out + at, code->bytes + at, insn.length);
		if (insn.rip_offset < 0)
			continue;
		int32_t distance;

		memcpy(&distance, out + at + insn.rip_offset, sizeof distance);
		const int64_t moved = distance + (int64_t)(code->address - address);
		const int32_t cut = (int32_t)moved;

		memcpy(out + at + insn.rip_offset, &cut, sizeof cut);
		if (cut != moved)
			return -ERANGE;
	}
	return at == length ? 0 : -ENOTSUP;
}

/* jmp *%reg */
static void put_jump_by(uint8_t *out, int reg)
{
	enum { REX_B = 0x41, MODRM = 0xc0 };

	if (reg > 7)
		*out++ = REX_B;
	out[0] = GROUP;
	out[1] = (uint8_t)(MODRM | TO_JUMP << 3 | (reg & 7));
}

/*
 * Writes the instructions in front of the call; a call over one byte, whose pushed word is made the
 * return address; the comparison. The code at AGENT_PROBE_CALLED follows; the displaced jump is
 * what a failed comparison leads to.
 */
static int put_call_by(struct decoder *decoder, const struct agent_function *code, size_t front,
		       int reg, uint64_t slot, uint8_t *out, uint64_t stub)
{
	enum { JMP_SHORT = 0xeb, JNE_SHORT = 0x75, SHORT = 2, REX_W = 0x48, REX_R = 4, CMP = 0x3b };
	const uint64_t behind = code->address + code->length;
	size_t at = AGENT_PROBE_FRONT;

	if (front > FRONT_MAX || (behind ^ stub) >> 32)
		return -ENOTSUP;
	out[0] = JMP_SHORT;
	out[1] = AGENT_PROBE_FRONT - SHORT;
	put_jump_by(out + AGENT_PROBE_DISPLACED, reg);
	int error = put_front(decoder, code, front, out + at, stub + at);

	at += front;
	at += put_branch(CALL, out + at, stub + at, stub + at + NEAR + 1) + 1;
	put_return_address(out + at, behind, false);
	at += sizeof put_low + HALF;
	out[at] = (uint8_t)(REX_W | (reg > 7 ? REX_R : 0));
	if (!error)
		error = put_with_slot(out + at + 1, stub + at + 1, CMP, reg, slot);
	at += 1 + 1 + 1 + HALF;
	out[at] = JNE_SHORT;
	out[at + 1] = (uint8_t)(AGENT_PROBE_DISPLACED - (at + SHORT));
	at += SHORT;
	memset(out + at, NOP, AGENT_PROBE_CALLED - at);
	return error;
}

int x86_64_write_call_stub(struct decoder *decoder, const struct agent_function *code,
			   uint64_t slot, uint64_t unit, uint32_t probe, enum agent_role role,
			   uint8_t out[AGENT_PROBE_STUB])
{
	const uint64_t stub = unit + AGENT_PROBE_STUBS + (uint64_t)probe * AGENT_PROBE_STUB;
	struct displaced insn;
	uint64_t word;
	size_t at = 0;
	int reg;

	/* The last instruction is the call. */
	while (displace(decoder, code, at, &insn) && at + insn.length < code->length)
		at += insn.length;
	if (at + insn.length != code->length || !is_call(&insn) ||
	    insn.action != ACTION_CALL_OPERAND)
		return -ENOTSUP;
	put_common(out, stub, probe, unit + x86_64_entry_of(role));
	if (at >= AGENT_JUMP && is_by_register(&insn, &reg))
		return put_call_by(decoder, code, at, reg, slot, out, stub);
	return !at && code->length >= AGENT_JUMP && is_through_word(&insn, &word) && word == slot
		       ? put_call_through(out, stub, slot, code->address + code->length)
		       : -ENOTSUP;
}
