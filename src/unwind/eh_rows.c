/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the call-frame instructions of .eh_frame.
 *
 * They tell, for each instruction of a function, how to compute the CFA, from which the caller's
 * frame is found, and where each of the caller's registers is kept. Expressions are not evaluated
 * here: a row has their addresses. Source: DWARF 5, section 6.4; for the GNU instructions: LSB core
 * specification, "DWARF Extensions".
 *
 * The instructions of the CIE come first and define the rules to which "restore" goes back.
 * "remember" and "recall" include the CFA, as compilers mean it and GCC's unwinder does it.
 */
#include "unwind/eh_rows.h"

#include "base/xalloc.h"
#include "unwind/eh_frame.h"
#include "unwind/eh_reader.h"

#include <stdlib.h>

enum { PIECE = 512, STATES = 16, INSTRUCTIONS_MAX = 1 << 16 };

/*
 * Call-frame instructions. The first three are the upper two bits of an instruction whose operand
 * is in the other six bits; the others are whole bytes.
 */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET = 0x01,
	CFA_ADVANCE_1 = 0x02,
	CFA_ADVANCE_2 = 0x03,
	CFA_ADVANCE_4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0a,
	CFA_RECALL = 0x0b,
	CFA_DEFINE = 0x0c,
	CFA_DEFINE_REGISTER = 0x0d,
	CFA_DEFINE_OFFSET = 0x0e,
	CFA_DEFINE_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_SIGNED = 0x11,
	CFA_DEFINE_SIGNED = 0x12,
	CFA_DEFINE_OFFSET_SIGNED = 0x13,
	CFA_VALUE = 0x14,
	CFA_VALUE_SIGNED = 0x15,
	CFA_VALUE_EXPRESSION = 0x16,
	CFA_ARGUMENTS = 0x2e
};

/* On the heap: the tracer may run with a stack of few pages (ulimit -s). */
struct eh_interpreter {
	struct eh_reader reader;
	/* What the instructions of a CIE have defined. */
	struct eh_unwind_row initial;
	uint64_t initial_of; /* address of these instructions */
	bool has_initial, initial_is_whole;

	/* The function whose instructions are run. */
	const struct eh_function *function;
	eh_unwind_row_visitor *visit;
	void *context;
	bool in_common; /* the instructions are those of the CIE */
	struct eh_unwind_row now;
	unsigned depth, instructions;
	bool ended; /* no more rows are wanted, or the addresses do not ascend */
	struct eh_unwind_row states[STATES];
};

static void row_ends(struct eh_interpreter *interpreter, uint64_t at)
{
	uint64_t end = interpreter->function->start + interpreter->function->size;
	struct eh_unwind_row *now = &interpreter->now;

	if (interpreter->ended)
		return;
	now->to = at < end ? at : end;
	if (now->from < now->to && !interpreter->visit(interpreter->context, now))
		interpreter->ended = true;
	if (at < now->from)
		interpreter->ended = true;
	now->from = at;
}

static void advance(struct eh_interpreter *interpreter, uint64_t units)
{
	if (!interpreter->in_common)
		row_ends(interpreter,
			 interpreter->now.from + units * interpreter->function->code_alignment);
}

static void define(struct eh_interpreter *interpreter, uint64_t reg, int64_t offset)
{
	interpreter->now.cfa = (struct eh_rule){EH_REGISTER_PLUS, offset};
	interpreter->now.cfa_register = reg;
}

static void set_rule(struct eh_interpreter *interpreter, uint64_t reg, enum eh_rule_kind kind,
		     int64_t value)
{
	if (reg < EH_REGISTERS)
		interpreter->now.registers[reg] = (struct eh_rule){(uint8_t)kind, value};
}

static void restore(struct eh_interpreter *interpreter, uint64_t reg)
{
	if (reg < EH_REGISTERS)
		interpreter->now.registers[reg] = interpreter->in_common
							  ? (struct eh_rule){0}
							  : interpreter->initial.registers[reg];
}

/* Moves past an expression. Returns its address. */
static int64_t take_expression(struct eh_reader *reader)
{
	uint64_t start = reader->at;
	uint64_t length = eh_uleb(reader);

	eh_seek(reader, reader->at + length);
	return (int64_t)start;
}

static int64_t factored(struct eh_interpreter *interpreter)
{
	return (int64_t)((uint64_t)eh_value(&interpreter->reader, EH_SLEB128) *
			 (uint64_t)interpreter->function->data_alignment);
}

static int64_t factored_unsigned(struct eh_interpreter *interpreter)
{
	return (int64_t)(eh_uleb(&interpreter->reader) *
			 (uint64_t)interpreter->function->data_alignment);
}

static void remember(struct eh_interpreter *interpreter)
{
	if (interpreter->depth < STATES)
		interpreter->states[interpreter->depth] = interpreter->now;
	interpreter->depth++;
}

/* The rules return to what they were; their code goes on. */
static void recall(struct eh_interpreter *interpreter)
{
	uint64_t from = interpreter->now.from;

	if (!interpreter->depth || --interpreter->depth >= STATES)
		interpreter->now.cfa.kind = EH_UNDEFINED;
	else
		interpreter->now = interpreter->states[interpreter->depth];
	interpreter->now.from = from;
}

/* Runs an instruction that changes the CFA or the code address. Returns false for any other one. */
static bool run_cfa(struct eh_interpreter *interpreter, uint8_t code)
{
	struct eh_reader *reader = &interpreter->reader;
	uint64_t reg;

	switch (code) {
	case CFA_ADVANCE_1:
		advance(interpreter, eh_fixed(reader, 1));
		return true;
	case CFA_ADVANCE_2:
		advance(interpreter, eh_fixed(reader, 2));
		return true;
	case CFA_ADVANCE_4:
		advance(interpreter, eh_fixed(reader, 4));
		return true;
	case CFA_REMEMBER:
		remember(interpreter);
		return true;
	case CFA_RECALL:
		recall(interpreter);
		return true;
	case CFA_DEFINE:
		reg = eh_uleb(reader);
		define(interpreter, reg, (int64_t)eh_uleb(reader));
		return true;
	case CFA_DEFINE_SIGNED:
		reg = eh_uleb(reader);
		define(interpreter, reg, factored(interpreter));
		return true;
	case CFA_DEFINE_REGISTER:
		interpreter->now.cfa_register = eh_uleb(reader);
		return true;
	case CFA_DEFINE_OFFSET:
		interpreter->now.cfa.value = (int64_t)eh_uleb(reader);
		return true;
	case CFA_DEFINE_OFFSET_SIGNED:
		interpreter->now.cfa.value = factored(interpreter);
		return true;
	case CFA_DEFINE_EXPRESSION:
		interpreter->now.cfa = (struct eh_rule){EH_IS_EXPRESSION, take_expression(reader)};
		return true;
	default:
		return false;
	}
}

/* Runs a rule for a register. Returns false if the instruction, and so its length, is unknown. */
static bool run_register(struct eh_interpreter *interpreter, uint8_t code)
{
	struct eh_reader *reader = &interpreter->reader;

	if (code == CFA_NOP)
		return true;
	uint64_t reg = eh_uleb(reader); /* each of these instructions begins with a number */

	switch (code) {
	case CFA_ARGUMENTS:
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(interpreter, reg);
		return true;
	case CFA_UNDEFINED:
		set_rule(interpreter, reg, EH_UNDEFINED, 0);
		return true;
	case CFA_SAME:
		set_rule(interpreter, reg, EH_SAME, 0);
		return true;
	case CFA_OFFSET_EXTENDED:
		set_rule(interpreter, reg, EH_AT_CFA, factored_unsigned(interpreter));
		return true;
	case CFA_OFFSET_SIGNED:
		set_rule(interpreter, reg, EH_AT_CFA, factored(interpreter));
		return true;
	case CFA_VALUE:
		set_rule(interpreter, reg, EH_CFA_PLUS, factored_unsigned(interpreter));
		return true;
	case CFA_VALUE_SIGNED:
		set_rule(interpreter, reg, EH_CFA_PLUS, factored(interpreter));
		return true;
	case CFA_REGISTER:
		set_rule(interpreter, reg, EH_REGISTER, (int64_t)eh_uleb(reader));
		return true;
	case CFA_EXPRESSION:
		set_rule(interpreter, reg, EH_AT_EXPRESSION, take_expression(reader));
		return true;
	case CFA_VALUE_EXPRESSION:
		set_rule(interpreter, reg, EH_IS_EXPRESSION, take_expression(reader));
		return true;
	default:
		return false;
	}
}

static bool run(struct eh_interpreter *interpreter, const struct eh_program *program)
{
	struct eh_reader *reader = &interpreter->reader;

	eh_seek(reader, program->start);
	for (unsigned i = 0; i < INSTRUCTIONS_MAX && reader->at < program->end; i++) {
		uint8_t code = (uint8_t)eh_fixed(reader, 1);
		uint8_t operand = code & 0x3f;

		interpreter->instructions++;
		if (reader->failed)
			return false;
		if ((code & 0xc0) == CFA_ADVANCE)
			advance(interpreter, operand);
		else if ((code & 0xc0) == CFA_OFFSET)
			set_rule(interpreter, operand, EH_AT_CFA, factored_unsigned(interpreter));
		else if ((code & 0xc0) == CFA_RESTORE)
			restore(interpreter, operand);
		else if (!run_cfa(interpreter, code) && !run_register(interpreter, code))
			return false;
		if (interpreter->ended)
			return false;
	}
	return !reader->failed && reader->at >= program->end;
}

struct eh_interpreter *eh_interpreter_create(const struct elf_file *file, size_t piece)
{
	struct eh_interpreter *interpreter = xmalloc(sizeof *interpreter);

	interpreter->has_initial = false;
	eh_reader_init(&interpreter->reader, file, piece);
	return interpreter;
}

void eh_interpreter_destroy(struct eh_interpreter *interpreter)
{
	eh_reader_deinit(&interpreter->reader);
	free(interpreter);
}

/* Makes `initial` what the instructions of the function's CIE define. */
static void run_common(struct eh_interpreter *interpreter)
{
	const struct eh_program *common = &interpreter->function->common;

	if (interpreter->has_initial && interpreter->initial_of == common->start)
		return;
	interpreter->now = (struct eh_unwind_row){.cfa = {.kind = EH_UNDEFINED}};
	interpreter->in_common = true;
	interpreter->initial_is_whole = run(interpreter, common);
	interpreter->in_common = false;
	interpreter->initial = interpreter->now;
	interpreter->initial_of = common->start;
	interpreter->has_initial = true;
}

unsigned eh_unwind_rows_for_each(struct eh_interpreter *interpreter,
				 const struct eh_function *function, eh_unwind_row_visitor *visit,
				 void *context)
{
	interpreter->function = function;
	interpreter->visit = visit;
	interpreter->context = context;
	interpreter->depth = interpreter->instructions = 0;
	interpreter->ended = interpreter->in_common = false;
	run_common(interpreter);
	interpreter->now = interpreter->initial;
	interpreter->now.from = function->start;
	interpreter->depth = 0;
	if (interpreter->initial_is_whole && run(interpreter, &function->own))
		row_ends(interpreter, function->start + function->size);
	return interpreter->instructions;
}

struct simple_visit {
	eh_row_visitor *visit;
	void *context;
};

static bool visit_simple(void *context, const struct eh_unwind_row *row)
{
	const struct simple_visit *simple = context;
	const struct eh_row plain = {row->from, row->to, row->cfa_register, row->cfa.value};

	if (row->cfa.kind == EH_REGISTER_PLUS)
		simple->visit(simple->context, &plain);
	return true;
}

void eh_rows_for_each(const struct elf_file *file, const struct eh_function *function,
		      eh_row_visitor *visit, void *context)
{
	struct eh_interpreter *interpreter = eh_interpreter_create(file, PIECE);
	struct simple_visit simple = {visit, context};

	eh_unwind_rows_for_each(interpreter, function, visit_simple, &simple);
	eh_interpreter_destroy(interpreter);
}
