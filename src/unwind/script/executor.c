/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the programs of frame descriptions.
 *
 * Freestanding: no libc, no allocation, no thread-local storage, because the same file runs in
 * traced processes, too, where it is most of what a stack costs. Nothing that a program or the
 * memory says is trusted: there is a register for each number that an instruction can have, jumps
 * stay in the program, and a run ends after steps_max instructions.
 */
#include "unwind/script/executor.h"

enum { REGISTERS = UINT8_MAX + 1 };

/* The registers, and what a run does with them. */
struct machine {
	uint64_t registers[REGISTERS];
	struct script_run *run;
};

static void set_up(struct machine *machine, struct script_run *run)
{
	uint64_t *registers = machine->registers;
	const struct raw_frame *decoded = run->decoded;
	unsigned count = run->value_count;

	for (unsigned i = 0; i < REGISTERS; i++) {
		registers[i] = 0;
		__asm__("" : "+r"(i)); /* keeps the compiler from calling memset */
	}
	registers[SCRIPT_THREAD_POINTER] = run->thread_pointer;
	registers[SCRIPT_TID] = run->tid;
	if (decoded) {
		registers[SCRIPT_CODE] = decoded->code;
		registers[SCRIPT_AT] = decoded->position;
		for (unsigned i = 0; i < 3; i++)
			registers[SCRIPT_IDENTITY + i] = decoded->identity[i];
	}
	if (count > SCRIPT_REGISTERS - SCRIPT_VALUES)
		count = SCRIPT_REGISTERS - SCRIPT_VALUES;
	for (unsigned i = 0; i < count; i++) {
		registers[SCRIPT_VALUES + i] = run->values[i];
		__asm__("" : "+r"(i)); /* memcpy */
	}
	machine->run = run;
	run->frame_count = 0;
}

static uint64_t divide(uint64_t left, uint64_t right)
{
	if (!right)
		return 0;
	/* INT64_MIN / -1 has no result. */
	return right == UINT64_MAX ? 0 - left : (uint64_t)((int64_t)left / (int64_t)right);
}

/* The operations that are rarer in walks. */
static uint64_t compute(unsigned operation, uint64_t left, uint64_t right)
{
	switch (operation) {
	case SCRIPT_MUL:
		return left * right;
	case SCRIPT_DIV:
		return divide(left, right);
	case SCRIPT_OR:
		return left | right;
	case SCRIPT_SHL:
		return right < 64 ? left << right : 0;
	case SCRIPT_SHR:
		return right < 64 ? left >> right : 0;
	case SCRIPT_EQ:
		return left == right;
	case SCRIPT_NE:
		return left != right;
	case SCRIPT_LT:
		return (int64_t)left < (int64_t)right;
	default:
		return (int64_t)left <= (int64_t)right; /* SCRIPT_LE */
	}
}

/* Emits a frame. Returns false if the walk is to end; *end: as what. */
static bool emit(const struct machine *machine, unsigned first, enum script_end *end)
{
	struct script_run *run = machine->run;
	const uint64_t *word = machine->registers + first;
	struct raw_frame visited, *frame = &visited;

	*end = SCRIPT_FULL;
	if (first > SCRIPT_REGISTERS - SCRIPT_FRAME_WORDS)
		return false;
	if (!run->visit) {
		if (run->frame_count == run->capacity)
			return false;
		frame = &run->frames[run->frame_count];
	}
	run->frame_count++;
	frame->code = word[0];
	frame->position = word[1];
	frame->identity[0] = word[2];
	frame->identity[1] = word[3];
	frame->identity[2] = word[4];
	frame->entry = word[5];
	*end = SCRIPT_DONE;
	return !run->visit || run->visit(run->visitor, frame);
}

enum script_end script_execute(struct script_run *run)
{
	const struct script_program *program = run->program;
	struct machine machine;
	uint64_t *registers = machine.registers;
	uint64_t steps = run->steps_max;
	enum script_end end = SCRIPT_DONE;

	set_up(&machine, run);
	for (uint32_t next = 0; next < program->count;) {
		const struct script_instruction at = program->instructions[next++];
		const uint64_t left = registers[at.left];
		const uint64_t right = registers[at.right] + (uint64_t)at.value;
		uint64_t *target = &registers[at.target];

		if (!steps--)
			return SCRIPT_ENDLESS;
		switch (at.operation) {
		case SCRIPT_LOAD8:
		case SCRIPT_LOAD16:
		case SCRIPT_LOAD32:
		case SCRIPT_LOAD64:
			if (!run->read(run->context, left + (uint64_t)at.value,
				       1u << (at.operation - SCRIPT_LOAD8), target))
				return SCRIPT_UNREADABLE;
			break;
		case SCRIPT_LOAD_I32:
			if (!run->read(run->context, left + (uint64_t)at.value, 4, target))
				return SCRIPT_UNREADABLE;
			*target = (uint64_t)(int32_t)(uint32_t)*target;
			break;
		case SCRIPT_JUMP:
			next = (uint32_t)at.value;
			break;
		case SCRIPT_JUMP_ZERO:
			next = left ? next : (uint32_t)at.value;
			break;
		case SCRIPT_EMIT:
			if (!emit(&machine, at.left, &end))
				return end;
			break;
		case SCRIPT_RESULT:
			if ((uint32_t)at.value < run->result_count)
				run->results[at.value] = left;
			break;
		case SCRIPT_SET:
			*target = right;
			break;
		case SCRIPT_ADD:
			*target = left + right;
			break;
		case SCRIPT_AND:
			*target = left & right;
			break;
		case SCRIPT_SUB:
			*target = left - right;
			break;
		default:
			if (at.operation > SCRIPT_LE)
				return SCRIPT_DONE; /* SCRIPT_END */
			*target = compute(at.operation, left, right);
		}
		registers[SCRIPT_ZERO] = 0;
	}
	return SCRIPT_DONE;
}
