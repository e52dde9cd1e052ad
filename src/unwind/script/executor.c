/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the programs of frame descriptions.
 *
 * Freestanding: no libc, no allocation, no thread-local storage, because the same file is meant to
 * run in a traced process, too. Nothing that a program or the memory says is trusted: registers are
 * numbered below SCRIPT_REGISTERS or ignored, jumps stay in the program, and a run ends after
 * steps_max instructions.
 */
#include "unwind/script/executor.h"

/* The registers, and what a run does with them. */
struct machine {
	uint64_t registers[SCRIPT_REGISTERS];
	struct script_run *run;
};

static void set_up(struct machine *machine, struct script_run *run)
{
	uint64_t *registers = machine->registers;
	const struct raw_frame *decoded = run->decoded;
	unsigned count = run->value_count;

	for (unsigned i = 0; i < SCRIPT_REGISTERS; i++) {
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

static bool load(const struct machine *machine, unsigned operation, uint64_t address, uint64_t *to)
{
	static const uint8_t sizes[] = {1, 2, 4, 8, 4};
	const struct script_run *run = machine->run;
	uint64_t word = 0;

	if (!run->read(run->context, address, &word, sizes[operation - SCRIPT_LOAD8]))
		return false;
	*to = operation == SCRIPT_LOAD_I32 ? (uint64_t)(int32_t)(uint32_t)word : word;
	return true;
}

static uint64_t divide(uint64_t left, uint64_t right)
{
	if (!right)
		return 0;
	/* INT64_MIN / -1 has no result. */
	return right == UINT64_MAX ? 0 - left : (uint64_t)((int64_t)left / (int64_t)right);
}

static uint64_t compute(unsigned operation, uint64_t left, uint64_t right)
{
	switch (operation) {
	case SCRIPT_ADD:
		return left + right;
	case SCRIPT_SUB:
		return left - right;
	case SCRIPT_MUL:
		return left * right;
	case SCRIPT_DIV:
		return divide(left, right);
	case SCRIPT_AND:
		return left & right;
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
	case SCRIPT_LE:
		return (int64_t)left <= (int64_t)right;
	default:
		return right; /* SCRIPT_SET */
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
	uint32_t next = 0;

	set_up(&machine, run);
	for (uint64_t steps = 0; next < program->count; steps++) {
		const struct script_instruction *at = &program->instructions[next++];
		const unsigned operation = at->operation;
		uint64_t ignored;

		if (steps == run->steps_max)
			return SCRIPT_ENDLESS;
		if (at->left >= SCRIPT_REGISTERS || at->right >= SCRIPT_REGISTERS)
			return SCRIPT_UNREADABLE;
		/* Register 0 keeps its zero. */
		uint64_t *target = at->target && at->target < SCRIPT_REGISTERS
					   ? &registers[at->target]
					   : &ignored;
		const uint64_t left = registers[at->left];

		if (operation >= SCRIPT_LOAD8 && operation <= SCRIPT_LOAD_I32) {
			if (!load(&machine, operation, left + (uint64_t)at->value, target))
				return SCRIPT_UNREADABLE;
		} else if (operation <= SCRIPT_LE) {
			*target = compute(operation, left,
					  registers[at->right] + (uint64_t)at->value);
		} else if (operation == SCRIPT_JUMP || operation == SCRIPT_JUMP_ZERO) {
			if (operation == SCRIPT_JUMP || !left)
				next = (uint32_t)at->value;
		} else if (operation == SCRIPT_EMIT) {
			enum script_end end;

			if (!emit(&machine, at->left, &end))
				return end;
		} else if (operation == SCRIPT_RESULT) {
			if ((uint32_t)at->value < run->result_count)
				run->results[at->value] = left;
		} else {
			break; /* SCRIPT_END */
		}
	}
	return SCRIPT_DONE;
}
