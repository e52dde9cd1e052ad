/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes a function from its first instruction on, without a branch, and keeps what each register
 * has to do with thread-local storage, until a variable is read. That is done in one of three ways:
 *
 *     local exec        a load at a distance from the thread pointer that the code has. Variables
 *                       of programs are below the thread pointer; what is above it belongs to the
 *                       C library. The word at distance 0 is the thread pointer itself, and the
 *                       load may be by a register that it was loaded into.
 *     initial exec      the distance is loaded from a word that the dynamic linker has written
 *     general dynamic,  a call is given the address of two words that the dynamic linker has
 *     local dynamic     written, and the load is by the address that it returns
 *
 * Plain moves (arch->insn_move) are understood. Any other instruction may change any register; if
 * one may have read a variable, nothing is found, so the result is never a guess. Source: ELF
 * Handling For Thread-Local Storage, the variant of x86.
 */
#include "code/thread_variable.h"

#include "code/relocate.h"

#include <errno.h>
#include <string.h>

enum { INSNS_MAX = 24, INSN_BYTES = 16 };

enum content {
	UNKNOWN,
	NUMBER,
	THREAD_POINTER,
	DISTANCE,     /* what is in a word */
	WORD_ADDRESS, /* of a word */
	BLOCK	      /* what the call returns that was given the address of a word */
};

struct value {
	enum content content;
	uint64_t word;
	int64_t number; /* is added to it */
};

enum outcome { GOES_ON, FOUND, FAILED };

struct walk {
	struct decoder *decoder;
	const struct arch *arch;
	const struct memory_source *memory;
	bool (*is_word)(void *context, uint64_t address);
	void *context;
	struct value registers[REG_COUNT];
	struct thread_variable *out;
};

static enum outcome found(struct walk *walk, const struct value *place)
{
	*walk->out = (struct thread_variable){
		.word = place->word, .of_module = place->content == BLOCK, .offset = place->number};
	return FOUND;
}

/* A load at `address`. `by_thread`: what it is relative to is the thread pointer. */
static enum outcome load(struct walk *walk, struct value address, bool by_thread, struct value *to)
{
	*to = (struct value){.content = UNKNOWN};
	switch (address.content) {
	case NUMBER:
		if (by_thread && address.number < 0)
			return found(walk, &address);
		if (by_thread && !address.number)
			to->content = THREAD_POINTER;
		return GOES_ON;
	case THREAD_POINTER:
		if (by_thread)
			return FAILED;
		return address.number < 0 ? found(walk, &address) : GOES_ON;
	case DISTANCE:
		return by_thread ? found(walk, &address) : FAILED;
	case WORD_ADDRESS:
		/* The address of a word alone has no other use. */
		if (by_thread || address.number)
			return FAILED;
		to->content = DISTANCE;
		to->word = address.word;
		return GOES_ON;
	case BLOCK:
		return by_thread ? FAILED : found(walk, &address);
	case UNKNOWN:
		break;
	}
	return by_thread ? FAILED : GOES_ON;
}

/* Returns base + displacement of a move. `behind`: the address of the next instruction. */
static struct value address_of(const struct walk *walk, const struct insn_move *move,
			       uint64_t behind)
{
	struct value value = {.content = NUMBER};

	if (move->base == MOVE_BASE_PC) {
		const uint64_t address = behind + (uint64_t)move->displacement;

		if (walk->is_word(walk->context, address))
			return (struct value){.content = WORD_ADDRESS, .word = address};
		return (struct value){.content = UNKNOWN};
	}
	if (move->base != MOVE_BASE_NONE)
		value = walk->registers[move->base];
	value.number += move->displacement;
	return value;
}

static enum outcome apply(struct walk *walk, const struct insn_move *move, uint64_t behind)
{
	struct value value = address_of(walk, move, behind);
	enum outcome outcome = GOES_ON;

	switch ((enum insn_move_kind)move->kind) {
	case MOVE_COPY:
	case MOVE_ADDRESS:
		break;
	case MOVE_LOAD:
	case MOVE_LOAD_TLS:
		outcome = load(walk, value, move->kind == MOVE_LOAD_TLS, &value);
		break;
	case MOVE_TEST:
	case MOVE_PUSH:
	case MOVE_POP:
		value = (struct value){.content = UNKNOWN};
		break;
	}
	if (move->to >= 0)
		walk->registers[move->to] = value;
	return outcome;
}

/* Returns true if a register has to do with thread-local storage. */
static bool is_on_the_way(const struct walk *walk)
{
	for (unsigned i = 0; i < REG_COUNT; i++)
		if (walk->registers[i].content > NUMBER)
			return true;
	return false;
}

/* An instruction that is no plain move. */
static enum outcome pass_over(struct walk *walk, const struct displaced *insn,
			      const struct insn_move *move)
{
	int32_t distance;

	if (move->by_segment || is_on_the_way(walk))
		return FAILED;
	memset(walk->registers, 0, sizeof walk->registers);
	if (insn->rip_offset < 0)
		return GOES_ON;
	memcpy(&distance, insn->code + insn->rip_offset, sizeof distance);
	const uint64_t operand = insn->address + insn->length + (uint64_t)(int64_t)distance;

	return walk->is_word(walk->context, operand) ? FAILED : GOES_ON;
}

/* A call returns the address of a variable if its argument is that of a word. */
static enum outcome call(struct walk *walk)
{
	const struct abi *abi = walk->arch->abi;
	struct value value = {.content = UNKNOWN};

	if (abi->int_args)
		value = walk->registers[abi->int_arg[0]];
	if (value.content != WORD_ADDRESS || value.number)
		return FAILED;
	value.content = BLOCK;
	memset(walk->registers, 0, sizeof walk->registers);
	walk->registers[REG_AX] = value;
	return GOES_ON;
}

static enum outcome step(struct walk *walk, uint64_t *at)
{
	uint8_t bytes[INSN_BYTES];
	const size_t length = memory_read(walk->memory, *at, bytes, INSN_BYTES);
	struct displaced insn;
	struct insn_move move;

	if (walk->arch->displace(walk->decoder, bytes, length, *at, &insn))
		return FAILED;
	*at += insn.length;
	if (insn.kind != DISPLACED_EMULATE)
		return walk->arch->insn_move(bytes, insn.length, &move)
			       ? apply(walk, &move, *at)
			       : pass_over(walk, &insn, &move);
	if (insn.action == ACTION_CALL || insn.action == ACTION_CALL_OPERAND)
		return call(walk);
	return insn.action == ACTION_SKIP ? GOES_ON : FAILED;
}

int thread_variable_find(struct decoder *decoder, const struct arch *arch,
			 const struct memory_source *memory, uint64_t function,
			 bool (*is_word)(void *context, uint64_t address), void *context,
			 struct thread_variable *out)
{
	struct walk walk = {.decoder = decoder,
			    .arch = arch,
			    .memory = memory,
			    .is_word = is_word,
			    .context = context,
			    .out = out};
	enum outcome outcome = GOES_ON;
	uint8_t byte;

	if (!memory_read(memory, function, &byte, 1))
		return -EFAULT;
	for (unsigned i = 0; i < INSNS_MAX && outcome == GOES_ON; i++)
		outcome = step(&walk, &function);
	return outcome == FOUND ? 0 : -ENOTSUP;
}
