/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effect of one instruction on the places of slot_flow.c.
 *
 * The architecture says which places an instruction copies, joins, overwrites, and computes from
 * others (arch->insn_effect). This file resolves two of these places: the memory operand, and the
 * top of the stack. If one is addressed by the stack pointer or the frame pointer, it is a word of
 * the frame (stack_words.c). Otherwise it is some other memory, and also some word of the stack if
 * its base may be an address there. In that case only exposed words are possible: those at or above
 * an address that the function computes somewhere. Words below are where compilers save registers,
 * and only their own displacement leads there.
 */
#include "code/slot_places.h"

#include "code/slot_flow_private.h"

enum { ARGUMENTS_WIDTH = 512 }; /* bytes of the stack that a callee's arguments may be in */

bool slot_flow_is_member(const struct slot_flow *flow, int64_t member)
{
	for (size_t i = 0; i < flow->members.count; i++)
		if (*(int64_t *)vec_at(&flow->members, i) == member)
			return true;
	return false;
}

static void add_member(struct slot_flow *flow, int64_t member)
{
	if (!slot_flow_is_member(flow, member) && flow->members.count <= MEMBERS_MAX)
		vec_push(&flow->members, &member);
}

static uint64_t places_of(uint64_t words)
{
	return words << FIRST_WORD;
}

/*
 * Returns the places to read for the word at `offset`: what was stored there directly, or by way of
 * a computed address.
 */
static uint64_t read_at(const struct slot_flow *flow, int64_t offset, unsigned width)
{
	return places_of(stack_words_within(&flow->words, offset, width)) | OTHER_WORDS |
	       (stack_words_exposes(&flow->words, offset, width) ? bit_of(EFFECT_STACK) : 0);
}

/* Returns the bytes of the memory operand; for a vector register, the most that it may have. */
static unsigned width_of(const struct slot_flow *flow, const struct insn_effect *effect)
{
	const bool is_wide = effect->from == EFFECT_VECTOR || effect->to == EFFECT_VECTOR ||
			     (effect->joined & bit_of(EFFECT_VECTOR));

	return is_wide ? STACK_WORDS_WIDTH : flow->arch->abi->word;
}

/*
 * Returns true if the access may be below the address in its base register, in a word that is not
 * exposed: an index may be negative.
 */
static bool leads_below(const struct insn_effect *effect)
{
	return effect->is_indexed || effect->displacement < 0;
}

uint64_t slot_flow_read_by(const struct slot_flow *flow, const struct flow_insn *insn)
{
	const struct insn_effect *effect = &insn->effect;
	const uint64_t elsewhere = insn->is_constant || (effect->base & bit_of(REG_SP))
					   ? 0
					   : bit_of(EFFECT_ELSEWHERE);

	if (insn->access.has_operand)
		return read_at(flow, insn->access.operand, width_of(flow, effect));
	if (!(insn->before[ON_STACK] & effect->base))
		return elsewhere;
	if (leads_below(effect) || !elsewhere)
		return elsewhere | ON_THE_STACK;
	return elsewhere | bit_of(EFFECT_STACK) | OTHER_WORDS |
	       places_of(stack_words_exposed(&flow->words));
}

/* Returns the place of the word at `offset`, or OTHER_WORDS if there are too many words. */
static uint64_t word_at(struct slot_flow *flow, int64_t offset)
{
	const int number = stack_words_number(&flow->words, offset);

	return number < 0 ? OTHER_WORDS : places_of(1ULL << number);
}

/* Returns the places that hold the value after it is stored to the memory operand. */
static uint64_t written_by(struct slot_flow *flow, const struct flow_insn *insn)
{
	const struct insn_effect *effect = &insn->effect;
	const unsigned word = flow->arch->abi->word, width = width_of(flow, effect);
	uint64_t places = 0;

	if (!insn->access.has_operand) {
		places = slot_flow_read_by(flow, insn);
		/*
		 * Reads of exposed words include EFFECT_STACK, and all reads OTHER_WORDS: no single
		 * words.
		 */
		return (places & ~WORDS) | (leads_below(effect) ? places & OTHER_WORDS : 0);
	}
	for (unsigned at = 0; at < width; at += word)
		places |= word_at(flow, insn->access.operand + at);
	return places;
}

static uint64_t pushed_by(struct slot_flow *flow, const struct flow_insn *insn)
{
	return insn->access.has_top ? word_at(flow, insn->access.top) : bit_of(EFFECT_STACK);
}

/* Returns the place of the word that the instruction overwrites, or 0. */
static uint64_t overwritten_by(const struct slot_flow *flow, const struct flow_insn *insn)
{
	const uint32_t killed = insn->effect.killed;
	const struct stack_access *access = &insn->access;
	const bool is_top = killed & bit_of(EFFECT_TOP);

	if (!(killed & ALIASES) || !(is_top ? access->has_top : access->has_operand))
		return 0;
	return places_of(stack_words_at(&flow->words, is_top ? access->top : access->operand));
}

/*
 * Returns which of EFFECT_MEMORY and EFFECT_TOP stand for a place that may hold the value before.
 */
static uint64_t aliases_of(const struct slot_flow *flow, const struct flow_insn *insn)
{
	const uint64_t held = insn->before[flow->question];
	const bool in_memory = flow->question == EQUALS ? slot_flow_is_member(flow, insn->member)
							: held & slot_flow_read_by(flow, insn);
	/* A popped word was pushed: no computed address leads there. */
	const uint64_t top =
		insn->access.has_top
			? OTHER_WORDS | places_of(stack_words_at(&flow->words, insn->access.top))
			: ON_THE_STACK;

	return (in_memory ? bit_of(EFFECT_MEMORY) : 0) | (held & top ? bit_of(EFFECT_TOP) : 0);
}

/*
 * Notes members that the value is stored to or compared with: the same member of any object may
 * hold it. A store to a known word of the frame does not count.
 */
static void note_members(struct slot_flow *flow, const struct flow_insn *insn, bool is_stored,
			 bool joins)
{
	const bool is_compared = joins && (insn->effect.joined & bit_of(EFFECT_MEMORY));

	if (is_compared || (is_stored && !insn->access.has_operand))
		add_member(flow, insn->member);
	for (unsigned i = 0; i < insn->origins && joins; i++)
		add_member(flow, insn->origin[i]);
}

/*
 * Returns true if the instruction computes an address on the stack: a sum with one is one, but the
 * difference of two is not.
 */
static bool is_address_of_stack(const struct insn_effect *effect, uint64_t held)
{
	return (held & effect->mixed & ~effect->subtracted) && !(held & effect->subtracted);
}

uint64_t slot_flow_behind(struct slot_flow *flow, const struct flow_insn *insn)
{
	const struct insn_effect *effect = &insn->effect;
	const uint64_t loaded = flow->question == HOLDS ? insn->loaded : 0;
	/* If the value is compared with the GOT slot itself, it counts as held before. */
	const uint64_t held = insn->before[flow->question] | aliases_of(flow, insn) |
			      (effect->compared ? loaded : 0);
	const uint64_t anywhere = effect->joined & bit_of(EFFECT_STACK) ? WORDS : 0;
	const bool joins = held & (effect->joined | anywhere) &&
			   !(effect->compared && flow->question == ON_STACK);
	uint64_t gets = loaded;

	if (joins && !effect->compared)
		gets |= effect->joined;
	if (held & bit_of(effect->from))
		gets |= bit_of(effect->to);
	if (flow->question == ON_STACK ? is_address_of_stack(effect, held)
				       : effect->by_bits && (held & effect->mixed))
		gets |= bit_of(effect->mixed_to);

	uint64_t left = (held & ~effect->killed & ~overwritten_by(flow, insn)) | gets;

	if (joins && effect->compared)
		left |= effect->joined;
	if (flow->question == EQUALS)
		return left & REGISTERS_MASK;
	if (gets & bit_of(EFFECT_MEMORY))
		left |= written_by(flow, insn);
	if (gets & bit_of(EFFECT_TOP))
		left |= pushed_by(flow, insn);
	if (flow->question == HOLDS)
		note_members(flow, insn, gets & bit_of(EFFECT_MEMORY), joins);
	else
		left |= bit_of(REG_SP);
	return left & ~ALIASES;
}

/* Returns the places in which a callee gets arguments. */
static uint64_t arguments_of(const struct slot_flow *flow, const struct flow_insn *insn)
{
	const struct stack_access *access = &insn->access;
	const uint64_t arguments = flow->arch->call_arguments;

	if (!(arguments & bit_of(EFFECT_STACK)))
		return arguments;
	if (!access->has_top)
		return arguments | ON_THE_STACK;
	return arguments | read_at(flow, access->top, ARGUMENTS_WIDTH);
}

uint64_t slot_flow_given_back(const struct slot_flow *flow, const struct flow_insn *insn)
{
	const uint64_t addresses = flow->arch->call_arguments & bit_of(EFFECT_STACK)
					   ? ON_THE_STACK
					   : flow->arch->call_arguments;
	const bool stores = !insn->clobbers && (insn->before[ON_STACK] & addresses);

	if (insn->kind != FLOW_CALL || !(insn->before[flow->question] & arguments_of(flow, insn)))
		return 0;
	return bit_of(REG_AX) | (stores ? bit_of(EFFECT_STACK) : 0);
}
