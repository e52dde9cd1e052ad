/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the frame of a function's caller begins, at each of its instructions.
 *
 * The call-frame instructions of .eh_frame tell where each register of the caller is kept. Only the
 * CFA is followed here: what is said of registers is skipped. A CFA by an expression (PLT entries,
 * hand-written code) makes rows that are not visited. Source: DWARF 5, section 6.4; the GNU ones:
 * LSB core specification, "DWARF Extensions".
 */
#include "image/eh_frame.h"

enum { PIECE = 512, STATES = 16, INSTRUCTIONS_MAX = 1 << 16 };

/*
 * The upper two bits of an instruction, the operand being in the others; and instructions that have
 * none there.
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

struct cfa {
	bool known;
	uint64_t reg;
	int64_t offset;
};

struct machine {
	struct eh_reader reader;
	const struct eh_function *function;
	eh_row_visitor *visit;
	void *context;
	struct cfa cfa, states[STATES];
	unsigned depth;
	uint64_t at; /* the code that the next row begins at */
};

static void row_ends(struct machine *machine, uint64_t at)
{
	const struct eh_function *function = machine->function;
	uint64_t end = function->start + function->size;
	const struct eh_row row = {machine->at, at < end ? at : end, machine->cfa.reg,
				   machine->cfa.offset};

	if (machine->cfa.known && row.from < row.to)
		machine->visit(machine->context, &row);
	machine->at = at;
}

static void advance(struct machine *machine, uint64_t units)
{
	row_ends(machine, machine->at + units * machine->function->code_alignment);
}

static void define(struct machine *machine, uint64_t reg, int64_t offset)
{
	machine->cfa = (struct cfa){true, reg, offset};
}

static void skip_block(struct eh_reader *reader)
{
	uint64_t length = eh_uleb(reader);

	eh_seek(reader, reader->at + length);
}

static int64_t factored(struct machine *machine)
{
	return (int64_t)((uint64_t)eh_value(&machine->reader, EH_SLEB128) *
			 (uint64_t)machine->function->data_alignment);
}

/* What says something of the CFA, or of the place; false: another one. */
static bool run_known(struct machine *machine, uint8_t code)
{
	struct eh_reader *reader = &machine->reader;
	uint64_t reg;

	switch (code) {
	case CFA_ADVANCE_1:
		advance(machine, eh_fixed(reader, 1));
		return true;
	case CFA_ADVANCE_2:
		advance(machine, eh_fixed(reader, 2));
		return true;
	case CFA_ADVANCE_4:
		advance(machine, eh_fixed(reader, 4));
		return true;
	case CFA_REMEMBER:
		if (machine->depth < STATES)
			machine->states[machine->depth] = machine->cfa;
		machine->depth++;
		return true;
	case CFA_RECALL:
		if (!machine->depth || --machine->depth >= STATES)
			machine->cfa.known = false;
		else
			machine->cfa = machine->states[machine->depth];
		return true;
	case CFA_DEFINE:
		reg = eh_uleb(reader);
		define(machine, reg, (int64_t)eh_uleb(reader));
		return true;
	case CFA_DEFINE_SIGNED:
		reg = eh_uleb(reader);
		define(machine, reg, factored(machine));
		return true;
	case CFA_DEFINE_REGISTER:
		machine->cfa.reg = eh_uleb(reader);
		return true;
	case CFA_DEFINE_OFFSET:
		machine->cfa.offset = (int64_t)eh_uleb(reader);
		return true;
	case CFA_DEFINE_OFFSET_SIGNED:
		machine->cfa.offset = factored(machine);
		return true;
	case CFA_DEFINE_EXPRESSION:
		machine->cfa.known = false;
		skip_block(reader);
		return true;
	default:
		return false;
	}
}

/* What says where a register is kept; false: it is not known what follows it. */
static bool skip(struct eh_reader *reader, uint8_t code)
{
	switch (code) {
	case CFA_NOP:
		return true;
	case CFA_RESTORE_EXTENDED:
	case CFA_UNDEFINED:
	case CFA_SAME:
	case CFA_ARGUMENTS:
		eh_uleb(reader);
		return true;
	case CFA_OFFSET_EXTENDED:
	case CFA_REGISTER:
	case CFA_OFFSET_SIGNED:
	case CFA_VALUE:
	case CFA_VALUE_SIGNED:
		eh_uleb(reader);
		eh_uleb(reader);
		return true;
	case CFA_EXPRESSION:
	case CFA_VALUE_EXPRESSION:
		eh_uleb(reader);
		skip_block(reader);
		return true;
	default:
		return false;
	}
}

static bool run(struct machine *machine, const struct eh_program *program)
{
	struct eh_reader *reader = &machine->reader;

	eh_seek(reader, program->start);
	for (unsigned i = 0; i < INSTRUCTIONS_MAX && reader->at < program->end; i++) {
		uint8_t code = (uint8_t)eh_fixed(reader, 1);
		uint8_t operand = code & 0x3f;

		if (reader->failed)
			return false;
		if ((code & 0xc0) == CFA_ADVANCE)
			advance(machine, operand);
		else if ((code & 0xc0) == CFA_OFFSET)
			eh_uleb(reader);
		else if ((code & 0xc0) != CFA_RESTORE && !run_known(machine, code) &&
			 !skip(reader, code))
			return false;
	}
	return !reader->failed && reader->at >= program->end;
}

void eh_rows_for_each(const struct elf_file *file, const struct eh_function *function,
		      eh_row_visitor *visit, void *context)
{
	struct machine machine = {
		.function = function, .visit = visit, .context = context, .at = function->start};

	eh_reader_init(&machine.reader, file, PIECE);
	if (run(&machine, &function->common) && run(&machine, &function->own))
		row_ends(&machine, function->start + function->size);
	eh_reader_deinit(&machine.reader);
}
