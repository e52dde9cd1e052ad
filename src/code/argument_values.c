/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What instructions do with the values that argument_flow.c follows.
 *
 * A register holds a number, an address in the frame, or a value whose name is where it came from:
 * a register at the entry, or the instruction that has made it. The name stands for the value that
 * the instruction has made last. When it is run again, what still holds the value of the time
 * before loses the name; so whatever has the same name is equal. Words of the frame are known by
 * their distance from the CFA. Which of them hold a value depends on the way of control; that they
 * hold nothing else, ever, does not: a word to which anything else is stored is dead, wherever the
 * store is. So a word needs no thought about longjmp() and exceptions.
 *
 * Stores by pointers that do not come from the frame cannot reach it, as the program has no pointer
 * to a word whose address it never took. An address counts as taken when it is in another register
 * than sp and bp, or in memory. Then a pointer to anything in the frame may exist, and no word of
 * it is known: nobody can tell where an object begins and ends. The return address separates the
 * frame from the stack arguments.
 *
 * The words from the stack pointer on may be arguments of a callee, which it may change. Whether
 * they are cannot be seen; but a caller does not read the arguments that it has passed. So over a
 * call only such words count that the function itself reads, or has addressed by the frame pointer.
 * The same instruction that removes an argument may pop it, so a pop is no read.
 */
#include "code/argument_flow_private.h"

enum { STORES_MAX = 1024 };

static const struct flow_value unknown = {.is = VALUE_IS_UNKNOWN};

static struct flow_value frame_address(int64_t offset)
{
	return (struct flow_value){.is = VALUE_IS_FRAME, .number = offset};
}

static bool is_frame(const struct flow_value *value)
{
	return value->is == VALUE_IS_FRAME;
}

/* A register gets a new value. */
static void define(const struct argument_flow *flow, const struct code_insn *insn,
		   struct flow_state *state, int to)
{
	const struct flow_value made = {.is = VALUE_IS_NAMED,
					.origin = (int8_t)to,
					.width = (uint8_t)flow->word,
					.base = (int64_t)insn->address};

	for (int i = 0; i < REG_COUNT; i++)
		if (flow_value_is_of(&state->registers[i], &made))
			state->registers[i] = unknown;
	for (unsigned i = 0; i < flow->word_count; i++)
		if (flow_value_is_of(&flow->words[i].value, &made))
			state->stored &= ~(UINT64_C(1) << i);
	state->registers[to] = made;
}

/* ------------------------------------------------------------------ exposed addresses */

/* A pointer exists that comes from that address of the frame. */
static void expose(struct argument_flow *flow, int64_t address)
{
	bool *is_exposed = address < 0 ? &flow->is_exposed : &flow->are_arguments_exposed;

	flow->has_news |= !*is_exposed;
	*is_exposed = true;
}

/*
 * The frame pointer, or a copy of it, is in a register of which nothing more is known: what it is
 * used for may be anywhere in the frame, and among the stack arguments.
 */
static void expose_all(struct argument_flow *flow)
{
	expose(flow, -1);
	expose(flow, 0);
}

static bool is_exposed(const struct argument_flow *flow, int64_t offset)
{
	return offset < 0 ? flow->is_exposed : flow->are_arguments_exposed;
}

/* ------------------------------------------------------------------ words of the frame */

static void note_store(struct argument_flow *flow, int64_t offset, int64_t length)
{
	for (size_t i = 0; i < flow->stores.count; i++) {
		const struct frame_store *store = vec_at(&flow->stores, i);

		if (store->offset == offset && store->length >= length)
			return;
	}
	if (flow->stores.count == STORES_MAX) {
		flow->is_lost = true;
		return;
	}
	vec_push(&flow->stores, &(struct frame_store){offset, length});
	flow->has_news = true;
}

static bool overlap(int64_t one, int64_t one_length, int64_t other, int64_t other_length)
{
	return one < other + other_length && other < one + one_length;
}

/* Returns true if other values than those with names may be in some bytes of the frame. */
static bool may_have_others(const struct argument_flow *flow, int64_t offset, int64_t length)
{
	bool may = is_exposed(flow, offset);

	for (size_t i = 0; i < flow->stores.count; i++) {
		const struct frame_store *store = vec_at(&flow->stores, i);

		may |= overlap(store->offset, store->length, offset, length);
	}
	return may;
}

bool argument_values_are_intact(const struct argument_flow *flow, int64_t offset, int64_t length)
{
	bool may = may_have_others(flow, offset, length);

	for (unsigned i = 0; i < flow->word_count; i++)
		may |= overlap(flow->words[i].offset, flow->words[i].value.width, offset, length);
	return !may;
}

bool argument_values_bury(struct argument_flow *flow)
{
	bool any = false;

	for (unsigned i = 0; i < flow->word_count; i++) {
		struct frame_word *word = &flow->words[i];
		bool is_dead = may_have_others(flow, word->offset, word->value.width);

		for (unsigned k = 0; k < flow->word_count; k++)
			is_dead |= k != i &&
				   overlap(word->offset, word->value.width, flow->words[k].offset,
					   flow->words[k].value.width);
		any |= is_dead && !word->is_dead;
		word->is_dead |= is_dead;
	}
	return any;
}

static bool is_same(const struct flow_value *one, const struct flow_value *other)
{
	return one->is == other->is && one->origin == other->origin &&
	       one->number == other->number && one->base == other->base;
}

/* A value with a name is stored to the frame. */
static void keep(struct argument_flow *flow, struct flow_state *state, int64_t offset,
		 const struct flow_value *value, unsigned width, bool is_own)
{
	const unsigned valid = value->width < width ? value->width : width;
	unsigned i = 0;

	while (i < flow->word_count &&
	       (flow->words[i].offset != offset || flow->words[i].value.width != valid ||
		!is_same(&flow->words[i].value, value)))
		i++;
	/* What is above the valid bytes, and words beyond the limit, are other values. */
	if (i == FLOW_WORDS_MAX || valid < width)
		note_store(flow, offset + (i == FLOW_WORDS_MAX ? 0 : valid),
			   i == FLOW_WORDS_MAX ? width : width - valid);
	if (i == FLOW_WORDS_MAX)
		return;
	if (i == flow->word_count) {
		flow->words[i] = (struct frame_word){.offset = offset, .value = *value};
		flow->words[i].value.width = (uint8_t)valid;
		flow->word_count++;
		flow->has_news = true;
	}
	flow->has_news |= is_own && !flow->words[i].is_own;
	flow->words[i].is_own |= is_own;
	state->stored |= UINT64_C(1) << i;
}

static void store(struct argument_flow *flow, struct flow_state *state, int64_t offset,
		  const struct flow_value *value, unsigned width, bool is_own)
{
	if (is_frame(value))
		expose(flow, value->number);
	if (value->is == VALUE_IS_NAMED)
		keep(flow, state, offset, value, width, is_own);
	else
		note_store(flow, offset, width);
}

/* Loads a value with a name from the frame. Returns false if no such value is there. */
static bool load(const struct argument_flow *flow, struct flow_state *state, int to, int64_t offset,
		 unsigned width)
{
	for (unsigned i = 0; i < flow->word_count; i++) {
		const struct frame_word *word = &flow->words[i];

		if (word->offset != offset || word->is_dead || !(state->stored >> i & 1))
			continue;
		state->registers[to] = word->value;
		if (width < word->value.width)
			state->registers[to].width = (uint8_t)width;
		return true;
	}
	return false;
}

static void note_read(struct argument_flow *flow, int64_t offset)
{
	for (unsigned i = 0; i < flow->word_count; i++) {
		struct frame_word *word = &flow->words[i];

		if (offset < word->offset || offset >= word->offset + word->value.width)
			continue;
		flow->has_news |= !word->is_read;
		word->is_read = true;
	}
}

/* ------------------------------------------------------------------ memory operands */

static const struct flow_value *register_of(const struct flow_state *state, int number)
{
	return number >= 0 ? &state->registers[number] : &unknown;
}

/* Returns true if the memory operand is at one known place of the frame. */
static bool find_place(const struct flow_state *state, const struct insn_change *change,
		       int64_t *offset)
{
	const struct flow_value *base = register_of(state, change->base);

	*offset = base->number + change->displacement;
	return is_frame(base) && change->is_exact;
}

/* The instruction writes to its operand, or computes its address, and the place is not known. */
static void use_somewhere(struct argument_flow *flow, const struct flow_state *state,
			  const struct insn_change *change)
{
	const int numbers[] = {change->base, change->index};

	for (unsigned i = 0; i < 2; i++) {
		const struct flow_value *value = register_of(state, numbers[i]);

		/* An address computed by an unknown sp is below all words that are known. */
		if (is_frame(value))
			expose(flow, value->number + change->displacement);
		else if (numbers[i] == REG_SP && change->kind != CHANGE_ADDRESS)
			expose(flow, -1);
	}
}

/* Follows what the instruction writes to memory. `value`: what it stores, if that is known. */
static void write_operand(struct argument_flow *flow, const struct insn_change *change,
			  const struct flow_value *value, struct flow_state *state)
{
	int64_t offset;

	if (!find_place(state, change, &offset)) {
		use_somewhere(flow, state, change);
		if (is_frame(value))
			expose(flow, value->number);
	} else if (change->stored == STORED_MANY) {
		expose(flow, offset);
	} else {
		store(flow, state, offset, value, change->stored, change->base != REG_SP);
	}
}

/* ------------------------------------------------------------------ instructions */

/* A register gets an address in the frame. */
static void set_address(struct argument_flow *flow, struct flow_state *state, int to,
			int64_t offset)
{
	state->registers[to] = frame_address(offset);
	if (to != REG_SP && to != REG_BP)
		expose(flow, offset);
}

static void copy(struct argument_flow *flow, const struct insn_change *change,
		 struct flow_state *state)
{
	struct flow_value value = state->registers[change->from];

	if (is_frame(&value) && change->to != REG_SP && change->to != REG_BP)
		expose_all(flow);
	if (is_frame(&value) && change->width != flow->word) {
		expose_all(flow);
		value = unknown;
	}
	if (value.is == VALUE_IS_NAMED && value.width > change->width)
		value.width = change->width;
	else if (value.is != VALUE_IS_NAMED && change->width != flow->word)
		value = unknown;
	state->registers[change->to] = value;
	if (is_frame(&value))
		set_address(flow, state, change->to, value.number);
}

static void add(struct argument_flow *flow, const struct insn_change *change,
		struct flow_state *state)
{
	struct flow_value value = state->registers[change->from];

	value.number += change->addend;
	if (value.is != VALUE_IS_FRAME && value.is != VALUE_IS_CONSTANT &&
	    value.is != VALUE_IS_NAMED)
		value = unknown;
	state->registers[change->to] = value;
	if (!is_frame(&value))
		return;
	set_address(flow, state, change->to, value.number);
}

static void load_address(struct argument_flow *flow, const struct code_insn *insn,
			 struct flow_state *state)
{
	const struct insn_change *change = &insn->change;
	const struct flow_value base = *register_of(state, change->base);
	int64_t offset;

	if (find_place(state, change, &offset)) {
		set_address(flow, state, change->to, offset);
		return;
	}
	use_somewhere(flow, state, change);
	if (change->is_exact && change->base == MOVE_BASE_PC) {
		state->registers[change->to] = (struct flow_value){
			.is = VALUE_IS_CONSTANT,
			.number = (int64_t)(insn->address + insn->length) + change->displacement};
	} else if (change->is_exact &&
		   (base.is == VALUE_IS_CONSTANT || base.is == VALUE_IS_NAMED)) {
		state->registers[change->to] = base;
		state->registers[change->to].number += change->displacement;
	} else {
		define(flow, insn, state, change->to);
	}
}

static void load_operand(struct argument_flow *flow, const struct code_insn *insn,
			 struct flow_state *state)
{
	const struct insn_change *change = &insn->change;
	int64_t offset;

	if (!find_place(state, change, &offset) ||
	    !load(flow, state, change->to, offset, change->width))
		define(flow, insn, state, change->to);
}

static void sum(struct argument_flow *flow, const struct code_insn *insn, struct flow_state *state)
{
	const struct insn_change *change = &insn->change;
	const struct flow_value *one = &state->registers[change->to];
	const struct flow_value *other = &state->registers[change->from];

	if (is_frame(one))
		expose(flow, one->number);
	if (is_frame(other))
		expose(flow, other->number);
	define(flow, insn, state, change->to);
}

static void push(struct argument_flow *flow, const struct insn_change *change,
		 struct flow_state *state)
{
	const struct flow_value value = *register_of(state, change->from);
	struct flow_value *sp = &state->registers[REG_SP];

	if (is_frame(sp)) {
		sp->number -= flow->word;
		store(flow, state, sp->number, &value, (unsigned)flow->word, false);
	} else if (is_frame(&value)) {
		expose(flow, value.number);
	}
}

static void pop(struct argument_flow *flow, const struct code_insn *insn, int to,
		struct flow_state *state)
{
	struct flow_value *sp = &state->registers[REG_SP];
	const bool is_known = is_frame(sp) &&
			      load(flow, state, to, sp->number, (unsigned)flow->word);

	if (is_frame(sp))
		sp->number += flow->word;
	if (!is_known)
		define(flow, insn, state, to);
}

/* Values of registers are read, and something unknown is made of them. */
static void mix(struct argument_flow *flow, const struct insn_change *change,
		const struct flow_state *state)
{
	const uint32_t read = change->written || change->stored ? change->read : 0;

	for (int i = 0; i < REG_COUNT; i++) {
		const struct flow_value *value = &state->registers[i];

		if (((read | change->leaked | change->written) >> i & 1) && is_frame(value))
			expose_all(flow);
	}
}

static void change_registers(struct argument_flow *flow, const struct code_insn *insn,
			     struct flow_state *state)
{
	const struct insn_change *change = &insn->change;

	switch ((enum insn_change_kind)change->kind) {
	case CHANGE_COPY:
		copy(flow, change, state);
		return;
	case CHANGE_LOAD:
		load_operand(flow, insn, state);
		return;
	case CHANGE_ADD:
		add(flow, change, state);
		return;
	case CHANGE_ADDRESS:
		load_address(flow, insn, state);
		return;
	case CHANGE_SUM:
		sum(flow, insn, state);
		return;
	case CHANGE_PUSH:
		push(flow, change, state);
		return;
	case CHANGE_POP:
		pop(flow, insn, change->to, state);
		return;
	case CHANGE_LEAVE:
		state->registers[REG_SP] = state->registers[REG_BP];
		pop(flow, insn, REG_BP, state);
		return;
	case CHANGE_NUMBER:
		state->registers[change->to] = (struct flow_value){.is = VALUE_IS_NUMBER,
								   .number = change->addend};
		return;
	case CHANGE_STORE:
	case CHANGE_OTHER:
		break;
	}
	for (int i = 0; i < REG_COUNT; i++)
		if (change->written >> i & 1)
			define(flow, insn, state, i);
}

void argument_values_apply(struct argument_flow *flow, const struct code_insn *insn,
			   struct flow_state *state)
{
	const struct insn_change *change = &insn->change;
	const bool is_store = change->kind == CHANGE_STORE;
	int64_t offset;

	if (change->kind == CHANGE_OTHER)
		mix(flow, change, state);
	if (change->has_memory && !is_store && change->kind != CHANGE_ADDRESS &&
	    find_place(state, change, &offset))
		note_read(flow, offset);
	if (change->stored)
		write_operand(flow, change, is_store ? &state->registers[change->from] : &unknown,
			      state);
	change_registers(flow, insn, state);
}

/* ------------------------------------------------------------------ calls */

void argument_values_pass(const struct argument_flow *flow, struct flow_state *state)
{
	const struct flow_value *sp = &state->registers[REG_SP];

	for (unsigned i = 0; i < flow->word_count; i++) {
		const struct frame_word *word = &flow->words[i];

		if ((is_frame(sp) && word->offset < sp->number) || !(word->is_own || word->is_read))
			state->stored &= ~(UINT64_C(1) << i);
	}
}

void argument_values_call(struct argument_flow *flow, const struct code_insn *insn,
			  struct flow_state *state)
{
	const struct arch *arch = flow->code.arch;
	const int thunk = insn->kind == CODE_CALL ? argument_code_thunk(&flow->code, insn->target)
						  : -1;
	const struct flow_value here = {.is = VALUE_IS_CONSTANT,
					.number = (int64_t)(insn->address + insn->length)};

	argument_values_pass(flow, state);
	if (thunk >= 0) {
		state->registers[thunk] = here;
		return;
	}
	for (int i = 0; i < REG_COUNT; i++)
		if (arch->call_clobbers >> i & 1)
			state->registers[i] = unknown;
	define(flow, insn, state, REG_AX);
}

/* ------------------------------------------------------------------ where ways meet */

static bool join_value(struct argument_flow *flow, int number, struct flow_value *value,
		       const struct flow_value *other)
{
	const struct flow_value before = *value;

	if (value->is == VALUE_IS_UNKNOWN && !(number == REG_BP && is_frame(other)))
		return false;
	if (!is_same(value, other)) {
		/* What was a frame pointer may be used for any store from now on. */
		if (number == REG_BP && (is_frame(value) || is_frame(other)))
			expose_all(flow);
		*value = unknown;
	} else if (other->width < value->width) {
		value->width = other->width;
	}
	return !is_same(&before, value) || before.width != value->width;
}

bool argument_values_join(struct argument_flow *flow, struct flow_state *state,
			  const struct flow_state *other)
{
	bool is_less = state->stored & ~other->stored;

	state->stored &= other->stored;
	for (int i = 0; i < REG_COUNT; i++)
		is_less |= join_value(flow, i, &state->registers[i], &other->registers[i]);
	return is_less;
}
