/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes an accessor function from its first instruction to its return, and keeps a symbolic value
 * per register: the argument, an address, or a location on the stack, with the loads and offsets
 * applied since. Compilers build such functions from a few kinds of moves (arch->insn_move). Any
 * other instruction ends the search without a result, so the result is never a guess.
 *
 * Only one path is followed: a branch must depend on whether the argument is NULL, and the side
 * where it is not NULL is taken. i386 code calls a function of two instructions to learn its own
 * address, from which it computes its GOT. The search follows that call and no other.
 */
#include "code/accessor.h"

#include "code/relocate.h"

#include <errno.h>

enum { INSNS_MAX = 24, INSN_BYTES = 16, CONDITION_EQUAL = 4, CONDITION_NOT_EQUAL = 5 };

enum origin { UNKNOWN, ARGUMENT, ADDRESS, STACK };

struct value {
	enum origin origin;
	unsigned loads;
	uint64_t offset[ACCESSOR_LOADS_MAX + 1];
};

struct walk {
	const struct arch *arch;
	struct decoder *decoder;
	const struct memory_source *memory;
	uint64_t at; /* of the next instruction */
	struct value registers[REG_COUNT];
	bool tells_null; /* the flags say whether the argument is NULL */
};

static bool is_argument(const struct value *value)
{
	return value->origin == ARGUMENT && !value->loads && !value->offset[0];
}

static struct value with_offset(const struct walk *walk, struct value value, uint64_t offset)
{
	value.offset[value.loads] += offset;
	if (walk->arch->abi->word == 4)
		value.offset[value.loads] = (uint32_t)value.offset[value.loads];
	return value;
}

/*
 * Returns the sum of the move's base and displacement. `behind`: the address of the next
 * instruction.
 */
static struct value address_of(const struct walk *walk, const struct insn_move *move,
			       uint64_t behind)
{
	struct value base = {.origin = ADDRESS};

	if (move->base == MOVE_BASE_PC)
		base.offset[0] = behind;
	else if (move->base != MOVE_BASE_NONE)
		base = walk->registers[move->base];
	return with_offset(walk, base, (uint64_t)move->displacement);
}

static struct value loaded_from(const struct walk *walk, const struct value *address)
{
	const struct abi *abi = walk->arch->abi;
	struct value value = *address;

	if (value.origin == STACK) {
		/*
		 * The stack grows downwards from the return address, and the arguments are above
		 * that.
		 */
		const bool is_first = !value.loads && value.offset[0] == abi->stack_first;

		return (struct value){.origin = is_first && !abi->int_args ? ARGUMENT : UNKNOWN};
	}
	if (value.origin == UNKNOWN || value.loads == ACCESSOR_LOADS_MAX)
		return (struct value){.origin = UNKNOWN};
	value.offset[++value.loads] = 0;
	return value;
}

static bool apply(struct walk *walk, const struct insn_move *move, uint64_t behind)
{
	struct value *to = move->to >= 0 ? &walk->registers[move->to] : NULL;
	struct value *sp = &walk->registers[REG_SP];
	struct value address = address_of(walk, move, behind);
	const uint64_t word = walk->arch->abi->word;

	if (move->changes_flags)
		walk->tells_null = false;
	switch ((enum insn_move_kind)move->kind) {
	case MOVE_COPY:
		*to = walk->registers[move->base];
		break;
	case MOVE_ADDRESS:
		*to = address;
		break;
	case MOVE_LOAD:
		*to = loaded_from(walk, &address);
		break;
	case MOVE_LOAD_TLS:
		return false;
	case MOVE_TEST:
		walk->tells_null = is_argument(&walk->registers[move->base]);
		break;
	case MOVE_PUSH:
		*sp = with_offset(walk, *sp, -word);
		break;
	case MOVE_POP:
		to->origin = UNKNOWN;
		*sp = with_offset(walk, *sp, word);
		break;
	}
	return sp->origin == STACK;
}

static bool read_insn(const struct walk *walk, uint64_t address, uint8_t bytes[INSN_BYTES],
		      struct displaced *insn)
{
	const size_t length = memory_read(walk->memory, address, bytes, INSN_BYTES);

	return !walk->arch->displace(walk->decoder, bytes, length, address, insn);
}

/*
 * Recognises a call of `mov (%esp), %register; ret`, and sets that register to the address behind
 * the call.
 */
static bool load_own_address(struct walk *walk, const struct displaced *call)
{
	uint8_t bytes[INSN_BYTES];
	struct displaced load, end;
	struct insn_move move;

	if (!read_insn(walk, call->target, bytes, &load) ||
	    !walk->arch->insn_move(bytes, load.length, &move) || move.kind != MOVE_LOAD ||
	    move.base != REG_SP || move.displacement || move.to == REG_SP)
		return false;
	if (!read_insn(walk, call->target + load.length, bytes, &end) ||
	    end.kind != DISPLACED_EMULATE || end.action != ACTION_RETURN || end.pop)
		return false;
	walk->registers[move.to] = (struct value){.origin = ADDRESS,
						  .offset = {call->address + call->length}};
	return true;
}

/* Follows a conditional jump to the side where the argument is not NULL. */
static bool branch(struct walk *walk, const struct displaced *insn)
{
	if (!walk->tells_null)
		return false;
	if (insn->condition == CONDITION_NOT_EQUAL)
		walk->at = insn->target;
	return insn->condition == CONDITION_NOT_EQUAL || insn->condition == CONDITION_EQUAL;
}

/* Returns 0 if the function goes on, 1 if it has returned, or -ENOTSUP. */
static int step(struct walk *walk)
{
	uint8_t bytes[INSN_BYTES];
	struct displaced insn;
	struct insn_move move;
	bool fine = false;

	if (!read_insn(walk, walk->at, bytes, &insn))
		return -ENOTSUP;
	walk->at += insn.length;
	if (insn.kind != DISPLACED_EMULATE) {
		fine = walk->arch->insn_move(bytes, insn.length, &move) &&
		       apply(walk, &move, walk->at);
	} else if (insn.action == ACTION_RETURN) {
		return insn.pop ? -ENOTSUP : 1;
	} else if (insn.action == ACTION_JUMP) {
		walk->at = insn.target;
		fine = true;
	} else if (insn.action == ACTION_JUMP_IF) {
		fine = branch(walk, &insn);
	} else {
		fine = insn.action == ACTION_SKIP ||
		       (insn.action == ACTION_CALL && load_own_address(walk, &insn));
	}
	return fine ? 0 : -ENOTSUP;
}

int accessor_find(struct decoder *decoder, const struct arch *arch,
		  const struct memory_source *memory, uint64_t function, struct accessor *out)
{
	struct walk walk = {.arch = arch, .decoder = decoder, .memory = memory, .at = function};
	const struct value *result = &walk.registers[REG_AX];
	uint8_t byte;
	int status = 0;

	if (!memory_read(memory, function, &byte, 1))
		return -EFAULT;
	walk.registers[REG_SP].origin = STACK;
	if (arch->abi->int_args)
		walk.registers[arch->abi->int_arg[0]].origin = ARGUMENT;
	for (unsigned i = 0; i < INSNS_MAX && !status; i++)
		status = step(&walk);
	if (status != 1 || (result->origin != ARGUMENT && result->origin != ADDRESS) ||
	    (result->origin == ADDRESS && !result->loads && !result->offset[0]))
		return -ENOTSUP;
	*out = (struct accessor){.of_argument = result->origin == ARGUMENT, .loads = result->loads};
	for (unsigned i = 0; i <= result->loads; i++)
		out->offset[i] = result->offset[i];
	return 0;
}
