/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See argument_flow.h.
 *
 * This is a forward data-flow analysis. It follows control from the function's beginning, where
 * each register holds its own value, and keeps for each instruction what is known whenever control
 * gets there: where two ways meet, only what is known on both. Callees preserve the registers that
 * the psABI says, and sp. argument_values.c has the rules for instructions. An argument is known if
 * anything that is left, while the callee runs, holds a value of the same name.
 *
 * What may have been stored to the frame is one fact for the whole function, because it does not
 * matter when. As that makes less known elsewhere, the analysis is repeated until nothing new is
 * found; there are finitely many facts, and few rounds.
 *
 * All ways of control have to be known. A jump by a register or memory behind an epilogue is a call
 * in the place of this function; any other one, as that of a switch, makes the analysis give up. An
 * exception may arrive at any landing pad, with registers that are not known. Where control gets to
 * some code in no known way, the analysis gives up, too.
 *
 * A call may not return, and be followed by other code. In code without callees that remove their
 * arguments, a different frame behind a call tells so. For i386 the rows of call-frame information
 * tell where sp is behind a call.
 */
#include "code/argument_flow.h"

#include "base/sorted.h"
#include "code/argument_flow_private.h"
#include "unwind/landing_pads.h"

#include <string.h>

enum { ROUNDS_MAX = 8, STEPS_MAX = 1 << 16, CALL_MIN = 2, CALL_MAX = 15, EPILOGUE_MAX = 8 };

/* ------------------------------------------------------------------ states */

static struct flow_state *state_at(const struct argument_flow *flow, int number)
{
	return vec_at(&flow->states, (size_t)number);
}

static void wait(struct argument_flow *flow, int number)
{
	struct flow_state *state = state_at(flow, number);

	if (state->is_waiting)
		return;
	state->is_waiting = true;
	vec_push(&flow->work, &number);
}

/* Control may get to `address` in a state. */
static void reach(struct argument_flow *flow, uint64_t address, const struct flow_state *from)
{
	const int number = argument_code_at(&flow->code, address);

	if (number < 0) {
		flow->is_lost = true;
		return;
	}
	while (flow->states.count < flow->code.insns.count)
		vec_push(&flow->states, NULL);
	struct flow_state *state = state_at(flow, number);

	if (!state->is_reached) {
		*state = *from;
		state->is_reached = true;
		state->is_waiting = false;
		wait(flow, number);
	} else if (argument_values_join(flow, state, from)) {
		wait(flow, number);
	}
}

static bool is_at_entry_level(const struct argument_flow *flow, const struct flow_state *state)
{
	const struct flow_value *sp = &state->registers[REG_SP];

	return sp->is == VALUE_IS_FRAME && sp->number == -flow->word;
}

/* ------------------------------------------------------------------ ways of control */

/* A jump, or a branch, to one address. */
static void jump(struct argument_flow *flow, uint64_t target, const struct flow_state *state)
{
	if (!argument_code_part(&flow->code, target)) {
		if (is_at_entry_level(flow, state) &&
		    !argument_code_comes_back(&flow->code, target)) {
			flow->leaves_too = true;
			return;
		}
		if (!argument_code_add_part(&flow->code, target)) {
			flow->is_lost = true;
			return;
		}
	}
	reach(flow, target, state);
}

/* Returns true if the instruction in front of that address gives up the frame. */
static bool is_behind_epilogue(const struct argument_flow *flow, uint64_t address)
{
	for (unsigned length = 1; length <= EPILOGUE_MAX; length++) {
		const int number = argument_code_known(&flow->code, address - length);
		const struct code_insn *insn = number < 0 ? NULL
							  : argument_code_insn(&flow->code, number);

		if (!insn || insn->length != length)
			continue;
		const struct insn_change *change = &insn->change;

		return change->kind == CHANGE_POP || change->kind == CHANGE_LEAVE ||
		       (change->kind == CHANGE_ADD && change->to == REG_SP && change->addend > 0);
	}
	return false;
}

/* A jump by a register or by memory: that of a switch, or a call in the place of this function. */
static void jump_by_operand(struct argument_flow *flow, const struct code_insn *insn,
			    const struct flow_state *state)
{
	flow->leaves_too = true;
	flow->is_lost |= !is_at_entry_level(flow, state) ||
			 !is_behind_epilogue(flow, insn->address);
}

/* Sets sp to where a row says it is; its place in the frame is not known by another rule. */
static void set_sp_by_row(struct argument_flow *flow, const struct eh_row *row,
			  struct flow_state *state)
{
	struct flow_value *sp = &state->registers[REG_SP];

	*sp = (struct flow_value){.is = VALUE_IS_UNKNOWN};
	if (row && row->reg == flow->code.arch->dwarf_sp)
		*sp = (struct flow_value){.is = VALUE_IS_FRAME, .number = -row->offset};
}

static bool is_by_sp(const struct argument_flow *flow, const struct eh_row *row)
{
	return row && row->reg == flow->code.arch->dwarf_sp;
}

/* Returns true if rows tell that the code behind a call is not reached from it. */
static bool has_other_frame(const struct argument_flow *flow, const struct code_insn *insn,
			    const struct flow_state *state)
{
	const struct eh_row *call = argument_code_row(&flow->code, insn->address);
	const struct eh_row *next = argument_code_row(&flow->code, insn->address + insn->length);
	const struct flow_value *sp = &state->registers[REG_SP];

	return is_by_sp(flow, call) && is_by_sp(flow, next) && sp->is == VALUE_IS_FRAME &&
	       sp->number == -call->offset && call->offset != next->offset;
}

static void call(struct argument_flow *flow, const struct code_insn *insn, struct flow_state *state)
{
	const uint64_t next = insn->address + insn->length;
	const bool callees_pop = !flow->code.arch->abi->int_args;

	/* It only pushes its address. */
	if (insn->kind == CODE_CALL && insn->target == next) {
		argument_values_pass(flow, state);
		set_sp_by_row(flow, argument_code_row(&flow->code, next), state);
		reach(flow, next, state);
		return;
	}
	argument_values_call(flow, insn, state);
	if (!argument_code_part(&flow->code, next) ||
	    (!callees_pop && has_other_frame(flow, insn, state)))
		return;
	if (callees_pop)
		set_sp_by_row(flow, argument_code_row(&flow->code, next), state);
	reach(flow, next, state);
}

static void follow(struct argument_flow *flow, int number)
{
	const struct code_insn insn = *argument_code_insn(&flow->code, number);
	struct flow_state state = *state_at(flow, number);

	argument_values_apply(flow, &insn, &state);
	switch ((enum code_kind)insn.kind) {
	case CODE_END:
		return;
	case CODE_CALL:
	case CODE_CALL_OPERAND:
		call(flow, &insn, &state);
		return;
	case CODE_JUMP:
		jump(flow, insn.target, &state);
		return;
	case CODE_JUMP_OPERAND:
		jump_by_operand(flow, &insn, &state);
		return;
	case CODE_BRANCH:
		jump(flow, insn.target, &state);
		break;
	case CODE_ON:
		break;
	}
	reach(flow, insn.address + insn.length, &state);
}

/* ------------------------------------------------------------------ rounds */

static void start_at_entry(struct argument_flow *flow, uint64_t start)
{
	struct flow_state state = {.stored = 0};

	for (int i = 0; i < REG_COUNT; i++)
		state.registers[i] = (struct flow_value){
			.is = VALUE_IS_NAMED, .origin = (int8_t)i, .width = (uint8_t)flow->word};
	state.registers[REG_SP] = (struct flow_value){.is = VALUE_IS_FRAME, .number = -flow->word};
	reach(flow, start, &state);
}

/* An exception arrives with the frame that the rows tell, and with registers that are not known. */
static void start_at_pad(struct argument_flow *flow, uint64_t pad)
{
	const struct eh_row *row = argument_code_row(&flow->code, pad);
	struct flow_state state = {.stored = 0};

	set_sp_by_row(flow, row, &state);
	if (row && row->reg == flow->code.arch->dwarf_bp)
		state.registers[REG_BP] = (struct flow_value){.is = VALUE_IS_FRAME,
							      .number = -row->offset};
	reach(flow, pad, &state);
}

static void start_at_pads(struct argument_flow *flow)
{
	size_t count;
	const uint64_t *pads = flow->code.lsda ? landing_pads(flow->code.file, &count) : NULL;

	/* Parts are added while the first round is under way. */
	for (size_t i = 0; pads && i < flow->code.parts.count; i++) {
		const struct code_part *part = vec_at(&flow->code.parts, i);
		const struct sorted sorted = SORTED_WORDS(pads, count);
		const uint64_t start = part->start, end = start + part->size;

		for (size_t k = sorted_from(&sorted, start); k < count && pads[k] < end; k++)
			start_at_pad(flow, pads[k]);
	}
}

static void run_round(struct argument_flow *flow, uint64_t start)
{
	const size_t parts = flow->code.parts.count;

	flow->has_news = false;
	vec_clear(&flow->work);
	for (size_t i = 0; i < flow->states.count; i++)
		*state_at(flow, (int)i) = (struct flow_state){.is_reached = false};
	start_at_entry(flow, start);
	start_at_pads(flow);
	while (flow->work.count && !flow->is_lost) {
		const int number = *(int *)vec_at(&flow->work, flow->work.count - 1);

		flow->work.count--;
		state_at(flow, number)->is_waiting = false;
		follow(flow, number);
		flow->is_lost |= !--flow->steps;
	}
	flow->has_news |= argument_values_bury(flow) || flow->code.parts.count != parts;
}

/* Returns true if all facts are known. */
static bool run(struct argument_flow *flow, uint64_t start)
{
	for (unsigned i = 0; i < ROUNDS_MAX; i++) {
		run_round(flow, start);
		if (flow->is_lost)
			return false;
		if (!flow->has_news)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ code that was not reached */

/* Returns true if the instruction sets a register to what it has: lea 0(%esi), %esi. */
static bool keeps_register(const struct insn_change *change)
{
	return change->kind == CHANGE_ADDRESS && change->is_exact && change->to == change->base &&
	       !change->displacement;
}

/* Returns the length of an instruction behind which nothing goes on, or that does nothing; or 0. */
static unsigned padding_at(struct argument_flow *flow, uint64_t address)
{
	const int number = argument_code_at(&flow->code, address);
	const struct code_insn *insn = number < 0 ? NULL : argument_code_insn(&flow->code, number);

	return insn && (insn->is_nothing || insn->change.ends || keeps_register(&insn->change))
		       ? insn->length
		       : 0;
}

/* Returns the length of the instruction that control gets to at that address; 0: it does not. */
static unsigned reached_at(const struct argument_flow *flow, uint64_t address)
{
	const int number = argument_code_known(&flow->code, address);

	if (number < 0 || (size_t)number >= flow->states.count ||
	    !state_at(flow, number)->is_reached)
		return 0;
	return argument_code_insn(&flow->code, number)->length;
}

/*
 * Returns true if control gets to all code of the function. If it does not, there are ways that are
 * not known: to a label whose address was taken, as that of __builtin_setjmp() or in a table.
 */
static bool reaches_all(struct argument_flow *flow)
{
	for (size_t i = 0; i < flow->code.parts.count; i++) {
		const struct code_part *part = vec_at(&flow->code.parts, i);
		const uint64_t start = part->start, size = part->size;

		for (uint64_t at = 0; at < size;) {
			const unsigned reached = reached_at(flow, start + at);
			const unsigned length = reached ? reached : padding_at(flow, start + at);

			if (!length)
				return false;
			at += length;
		}
	}
	return true;
}

/* ------------------------------------------------------------------ the answer */

/* Finds the instruction whose state tells about a frame at `pc`. */
static int find_insn(const struct argument_flow *flow, uint64_t pc, bool is_call)
{
	if (!is_call)
		return argument_code_known(&flow->code, pc);
	for (unsigned length = CALL_MIN; length <= CALL_MAX; length++) {
		const int number = argument_code_known(&flow->code, pc - length);
		const struct code_insn *insn = number < 0 ? NULL
							  : argument_code_insn(&flow->code, number);

		if (insn && insn->length == length &&
		    (insn->kind == CODE_CALL || insn->kind == CODE_CALL_OPERAND))
			return number;
	}
	return -1;
}

/* Adds a place that holds a value of the same name as the one that is wanted. */
static void add_copy(const struct flow_value *wanted, enum held_place place, int64_t at,
		     const struct flow_value *there, struct held_value *held)
{
	if (held->count < HELD_COPIES_MAX && flow_value_is_of(wanted, there))
		held->copies[held->count++] = (struct held_copy){
			.place = (uint8_t)place,
			.width = there->width < wanted->width ? there->width : wanted->width,
			.at = at,
			.addend = (int64_t)((uint64_t)wanted->number - (uint64_t)there->number)};
}

/* Finds where a value can be told from in a state. */
static struct held_value find_copies(const struct argument_flow *flow,
				     const struct flow_value *wanted,
				     const struct flow_state *state)
{
	const struct held_copy itself = {.place = wanted->is == VALUE_IS_NUMBER ? HELD_IS_NUMBER
						  : wanted->is == VALUE_IS_CONSTANT
							  ? HELD_IS_ADDRESS
							  : HELD_IS_FRAME,
					 .width = (uint8_t)flow->word,
					 .at = wanted->number};
	struct held_value held = {.count = 0};

	if (wanted->is == VALUE_IS_NUMBER || wanted->is == VALUE_IS_CONSTANT ||
	    wanted->is == VALUE_IS_FRAME)
		return (struct held_value){.count = 1, .copies = {itself}};
	for (int i = 0; i < REG_COUNT; i++)
		add_copy(wanted, HELD_IN_REGISTER, i, &state->registers[i], &held);
	for (unsigned i = 0; i < flow->word_count; i++)
		if ((state->stored >> i & 1) && !flow->words[i].is_dead)
			add_copy(wanted, HELD_IN_FRAME, flow->words[i].offset,
				 &flow->words[i].value, &held);
	return held;
}

/* Returns true if the callee gets a pointer to the frame that may lead to `offset`. */
static bool passes_pointer(const struct argument_flow *flow, const struct flow_state *passed,
			   int64_t offset)
{
	const struct abi *abi = flow->code.arch->abi;

	for (unsigned i = 0; i < abi->int_args; i++) {
		const struct flow_value *value = &passed->registers[abi->int_arg[i]];

		if (value->is == VALUE_IS_FRAME && value->number <= offset)
			return true;
	}
	return false;
}

/* If a value was loaded from the frame, adds the place as a guess. */
static void add_guess(const struct argument_flow *flow, const struct flow_value *wanted,
		      const struct flow_state *passed, struct held_value *held)
{
	const int number = wanted->is == VALUE_IS_NAMED && wanted->base
				   ? argument_code_known(&flow->code, (uint64_t)wanted->base)
				   : -1;
	const struct code_insn *insn = number < 0 ? NULL : argument_code_insn(&flow->code, number);

	if (held->count || !insn || insn->change.kind != CHANGE_LOAD || !insn->change.is_exact ||
	    insn->change.base < 0)
		return;
	const struct flow_value *base = &state_at(flow, number)->registers[insn->change.base];
	const int64_t offset = base->number + insn->change.displacement;
	const unsigned width = insn->change.width < wanted->width ? insn->change.width
								  : wanted->width;

	if (base->is != VALUE_IS_FRAME || passes_pointer(flow, passed, offset))
		return;
	held->copies[held->count++] = (struct held_copy){.place = HELD_IN_FRAME,
							 .width = (uint8_t)width,
							 .at = offset,
							 .addend = wanted->number,
							 .is_guess = true};
}

/* `left`: what is known while the callee runs; `passed`: when it is called, or NULL. */
static void tell(const struct argument_flow *flow, const struct flow_state *left,
		 const struct flow_state *passed, struct argument_places *places)
{
	const struct abi *abi = flow->code.arch->abi;
	const struct flow_value *sp = &left->registers[REG_SP];

	*places = (struct argument_places){.leaves_too = flow->leaves_too,
					   .has_sp = sp->is == VALUE_IS_FRAME,
					   .sp = sp->number};
	for (unsigned i = 0; i < abi->int_args; i++) {
		const uint8_t number = abi->int_arg[i];
		const struct flow_value entry = {.is = VALUE_IS_NAMED,
						 .origin = (int8_t)number,
						 .width = (uint8_t)flow->word};

		places->entry[number] = find_copies(flow, &entry, left);
		if (!passed)
			continue;
		places->passed[number] = find_copies(flow, &passed->registers[number], left);
		add_guess(flow, &passed->registers[number], passed, &places->passed[number]);
	}
	for (unsigned i = 0; i < 64; i++)
		if (argument_values_are_intact(flow, i * flow->word, flow->word))
			places->intact |= UINT64_C(1) << i;
}

static bool answer(struct argument_flow *flow, uint64_t pc, bool is_call,
		   struct argument_places *places)
{
	const int number = find_insn(flow, pc, is_call);

	if (number < 0 || (size_t)number >= flow->states.count ||
	    !state_at(flow, number)->is_reached)
		return false;
	struct flow_state state = *state_at(flow, number);
	const struct code_insn insn = *argument_code_insn(&flow->code, number);

	if (!is_call) {
		argument_values_pass(flow, &state);
		/* One that repeats may be half done. */
		for (int i = 0; i < REG_COUNT; i++)
			if (insn.change.written >> i & 1)
				state.registers[i] = (struct flow_value){.is = VALUE_IS_UNKNOWN};
		tell(flow, &state, NULL, places);
		return true;
	}
	argument_values_apply(flow, &insn, &state);
	const struct flow_state passed = state;

	argument_values_call(flow, &insn, &state);
	tell(flow, &state, &passed, places);
	return true;
}

bool argument_flow_find(struct elf_file *file, struct decoder *decoder, uint64_t start, uint64_t pc,
			bool is_call, size_t *budget, struct argument_places *places)
{
	const struct arch *arch = elf_arch(file);
	struct argument_flow flow = {.word = arch->abi->word,
				     .states = VEC_OF(struct flow_state),
				     .work = VEC_OF(int),
				     .stores = VEC_OF(struct frame_store),
				     .steps = *budget < STEPS_MAX ? *budget : STEPS_MAX};
	const size_t steps = flow.steps;

	/* Each takes one step at least. */
	const bool found = steps && argument_code_init(&flow.code, file, decoder, start) &&
			   run(&flow, start) && reaches_all(&flow) &&
			   answer(&flow, pc, is_call, places);

	*budget -= steps ? steps - flow.steps + (flow.steps > 0) : 0;
	argument_code_deinit(&flow.code);
	vec_deinit(&flow.states);
	vec_deinit(&flow.work);
	vec_deinit(&flow.stores);
	return found;
}
