/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See slot_flow.h.
 *
 * A forward data-flow analysis over the instructions of one function. For each instruction it has a
 * set of places that may hold what was loaded when control gets there: the general registers, the
 * stack, which is one place, and all other memory, which is another. What an instruction does with
 * places the architecture says (arch->insn_effect), and where it says nothing places keep what they
 * hold; so more is thought to hold it than does, never less. A call by a register that is in the
 * set may be one by the slot, or one by way of memory if that is.
 *
 * Memory is the stack where it is found by what may be an address on it. Which registers have such
 * is the same kind of question, and answered first, once for a function: the stack pointer always
 * has one, and so has what is computed from it.
 *
 * To compare the address with something is no store, but what is equal is called then. Of what was
 * compared in memory, or has just been loaded from there to a register that was, the displacement
 * is kept, and of what it was stored to: any object's member there may be it, anywhere in the
 * function. That is weak evidence: it is a third question who has such a member, which only
 * registers answer. What is passed to other functions is lost sight of, unless they give it back:
 * see slot_pointers.c.
 *
 * Where control goes to from a switch is in a table, and where from a call that throws in another:
 * what is held there may be held anywhere. The same goes for jumps out of the function, as to the
 * part of it that is seldom run, from which it may come back. But a jump by a register does not
 * carry that register on: it is a tail call by it, or it holds where the switch goes.
 */
#include "image/slot_flow.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* Steps of one slot in one function, and of all there are. */
enum { STEPS_MAX = 4 << 20, BUDGET = 256 << 20, MEMBERS_MAX = 64 };

enum { REGISTERS = 16, REGISTERS_MASK = (1 << REGISTERS) - 1 };

/*
 * What is asked: who has an address on the stack, who has what the slot holds, and which registers
 * have what it was compared with.
 */
enum question { ON_STACK, HOLDS, EQUALS, QUESTIONS };

enum flow_kind { FLOW_ON, FLOW_BRANCH, FLOW_JUMP, FLOW_CALL, FLOW_ANYWHERE, FLOW_END };

struct flow_insn {
	uint64_t address;
	uint64_t target;
	struct insn_effect effect;
	int64_t member; /* of what is in memory: its displacement, or address */
	/* The same of what two registers that are joined were loaded from. */
	int64_t origin[2];
	uint8_t origins;
	uint32_t by; /* the register of a call or a jump by one, or those it finds memory by */
	bool by_memory;
	uint8_t kind; /* enum flow_kind */
	bool clobbers;
	bool is_waiting;	    /* in `work` */
	uint32_t loaded;	    /* places that the slot is loaded to, in this run */
	uint32_t before[QUESTIONS]; /* places that may have it, when control gets here */
};

struct slot_flow {
	const struct arch *arch;
	bool catches;
	int64_t origin[REGISTERS]; /* members, of registers in has_origin */
	uint32_t has_origin;
	struct vec insns;   /* struct flow_insn, by address */
	struct vec work;    /* size_t: instructions to be looked at */
	struct vec members; /* int64_t: displacements of what it is compared with or stored to */
	enum question question;
	uint32_t anywhere;
	size_t budget;	  /* steps that are left */
	bool is_prepared; /* ON_STACK is answered */
	bool any_load;
};

struct slot_flow *slot_flow_create(const struct arch *arch)
{
	struct slot_flow *flow = xcalloc(1, sizeof *flow);

	flow->arch = arch;
	flow->budget = BUDGET;
	vec_init(&flow->insns, sizeof(struct flow_insn));
	vec_init(&flow->work, sizeof(size_t));
	vec_init(&flow->members, sizeof(int64_t));
	return flow;
}

void slot_flow_destroy(struct slot_flow *flow)
{
	if (!flow)
		return;
	vec_deinit(&flow->insns);
	vec_deinit(&flow->work);
	vec_deinit(&flow->members);
	free(flow);
}

/* ------------------------------------------------------------------ the instructions */

void slot_flow_begin(struct slot_flow *flow, bool catches)
{
	vec_clear(&flow->insns);
	flow->catches = catches;
	flow->has_origin = 0;
	flow->is_prepared = false;
}

static enum flow_kind kind_of(const struct displaced *insn)
{
	if (insn->kind != DISPLACED_EMULATE)
		return FLOW_ON;
	switch ((enum displaced_action)insn->action) {
	case ACTION_SKIP:
		return FLOW_ON;
	case ACTION_JUMP:
		return FLOW_JUMP;
	case ACTION_JUMP_IF:
	case ACTION_LOOP:
	case ACTION_JUMP_CXZ:
		return FLOW_BRANCH;
	case ACTION_CALL:
	case ACTION_CALL_OPERAND:
		return FLOW_CALL;
	case ACTION_JUMP_OPERAND:
		return FLOW_ANYWHERE;
	case ACTION_RETURN:
		break;
	}
	return FLOW_END;
}

static uint32_t bit_of(int place)
{
	return place >= 0 ? 1U << place : 0;
}

/* What says where a call or a jump goes. */
static void note_operand(struct flow_insn *one, const struct displaced *insn)
{
	const struct displaced_operand *operand = &insn->operand;

	if (insn->kind != DISPLACED_EMULATE ||
	    (insn->action != ACTION_CALL_OPERAND && insn->action != ACTION_JUMP_OPERAND))
		return;
	one->by = bit_of(operand->base) | (operand->memory ? bit_of(operand->index) : 0);
	one->by_memory = operand->memory;
}

/* Where registers were loaded from, in a row of instructions. */
static void note_origins(struct slot_flow *flow, struct flow_insn *one)
{
	const struct insn_effect *effect = &one->effect;

	for (int i = 0; i < REGISTERS && one->origins < 2; i++)
		if (effect->joined & flow->has_origin & bit_of(i))
			one->origin[one->origins++] = flow->origin[i];
	flow->has_origin &= ~effect->killed;
	if (one->kind != FLOW_ON && one->kind != FLOW_BRANCH)
		flow->has_origin = 0;
	if (effect->from == EFFECT_MEMORY && effect->to >= 0 && effect->to < REGISTERS) {
		flow->has_origin |= bit_of(effect->to);
		flow->origin[effect->to] = one->member;
	}
}

void slot_flow_add(struct slot_flow *flow, const struct displaced *insn, const uint8_t *code,
		   bool clobbers)
{
	struct flow_insn one = {
		.address = insn->address,
		.target = insn->target,
		.kind = (uint8_t)kind_of(insn),
		.clobbers = clobbers,
	};

	note_operand(&one, insn);
	flow->arch->insn_effect(code, insn->length, &one.effect);
	one.member = one.effect.displacement;
	if (one.effect.pc_relative)
		one.member += (int64_t)(insn->address + insn->length);
	note_origins(flow, &one);
	vec_push(&flow->insns, &one);
}

/* The instruction at an address, or NULL: it is not in the function, or not at its beginning. */
static struct flow_insn *insn_at(const struct slot_flow *flow, uint64_t address)
{
	struct flow_insn *insns = flow->insns.items;
	size_t low = 0, high = flow->insns.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (insns[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < flow->insns.count && insns[low].address == address ? &insns[low] : NULL;
}

bool slot_flow_load(struct slot_flow *flow, uint64_t address, bool immediate)
{
	struct flow_insn *insn = insn_at(flow, address);

	if (!insn)
		return false;
	int to = immediate ? insn->effect.immediate_to : insn->effect.memory_to;

	if (to == EFFECT_UNKNOWN)
		return false;
	if (to == EFFECT_NONE)
		return true;
	insn->loaded |= bit_of(to);
	flow->any_load = true;
	return true;
}

/* ------------------------------------------------------------------ who has it where */

static void wait(struct slot_flow *flow, struct flow_insn *insn)
{
	const struct flow_insn *first = flow->insns.items;
	const size_t index = (size_t)(insn - first);

	if (insn->is_waiting)
		return;
	insn->is_waiting = true;
	vec_push(&flow->work, &index);
}

static void reach(struct slot_flow *flow, struct flow_insn *insn, uint32_t held)
{
	uint32_t *before = &insn->before[flow->question];

	if (!(held & ~*before))
		return;
	*before |= held;
	wait(flow, insn);
}

static void reach_anywhere(struct slot_flow *flow, uint32_t held)
{
	if (!(held & ~flow->anywhere))
		return;
	flow->anywhere |= held;
	for (size_t i = 0; i < flow->insns.count; i++)
		reach(flow, vec_at(&flow->insns, i), held);
}

static void reach_target(struct slot_flow *flow, uint64_t target, uint32_t held)
{
	struct flow_insn *insn = insn_at(flow, target);

	if (insn)
		reach(flow, insn, held);
	else
		reach_anywhere(flow, held);
}

static bool is_member(const struct slot_flow *flow, int64_t member)
{
	for (size_t i = 0; i < flow->members.count; i++)
		if (*(int64_t *)vec_at(&flow->members, i) == member)
			return true;
	return false;
}

static void add_member(struct slot_flow *flow, int64_t member)
{
	if (!is_member(flow, member) && flow->members.count <= MEMBERS_MAX)
		vec_push(&flow->members, &member);
}

/* The memory that the operand may be. */
static uint32_t memory_of(const struct flow_insn *insn)
{
	const uint32_t base = insn->effect.base;

	return (insn->before[ON_STACK] & base ? bit_of(EFFECT_STACK) : 0) |
	       (base & bit_of(REG_SP) ? 0 : bit_of(EFFECT_ELSEWHERE));
}

/* Who has it behind an instruction. */
static uint32_t behind(struct slot_flow *flow, const struct flow_insn *insn)
{
	const struct insn_effect *effect = &insn->effect;
	const uint32_t memory = memory_of(insn);
	const uint32_t loaded = flow->question == HOLDS ? insn->loaded : 0;
	/* Compared with the slot itself it may have it before. */
	uint32_t held = insn->before[flow->question] | (effect->compared ? loaded : 0);

	if (flow->question == EQUALS ? is_member(flow, insn->member) : (held & memory) != 0)
		held |= bit_of(EFFECT_MEMORY);
	const bool joins = held & effect->joined;
	uint32_t left = (joins ? held | effect->joined : held) & ~effect->killed;
	bool is_stored = (joins && !effect->compared && (effect->joined & bit_of(EFFECT_MEMORY))) ||
			 (loaded & bit_of(EFFECT_MEMORY));

	if (held & bit_of(effect->from)) {
		left |= bit_of(effect->to);
		is_stored |= effect->to == EFFECT_MEMORY;
	}
	if ((held & effect->mixed) && (effect->by_bits || flow->question == ON_STACK))
		left |= bit_of(effect->mixed_to);
	if (is_stored)
		left |= memory;
	if (flow->question == ON_STACK)
		return (left | bit_of(REG_SP)) & ~bit_of(EFFECT_MEMORY);
	if (flow->question == EQUALS)
		return left & REGISTERS_MASK;
	if (is_stored || (joins && (effect->joined & bit_of(EFFECT_MEMORY))))
		add_member(flow, insn->member);
	for (unsigned i = 0; i < insn->origins && joins; i++)
		add_member(flow, insn->origin[i]);
	return (left | loaded) & ~bit_of(EFFECT_MEMORY);
}

/*
 * What a function does with an argument: it may give it back, or, if it is one of the same object,
 * store it where another argument says, on the stack.
 */
static uint32_t given_back(const struct slot_flow *flow, const struct flow_insn *insn)
{
	const uint32_t arguments = flow->arch->call_arguments;
	const bool stores = !insn->clobbers && (insn->before[ON_STACK] & arguments);

	if (insn->kind != FLOW_CALL || !(insn->before[flow->question] & arguments))
		return 0;
	return bit_of(REG_AX) | (stores ? bit_of(EFFECT_STACK) : 0);
}

/* Hands what an instruction leaves behind on to all that may come next. */
static void follow(struct slot_flow *flow, struct flow_insn *insn)
{
	const uint32_t clobbers = flow->arch->call_clobbers;
	const uint32_t held = (behind(flow, insn) & ~(insn->clobbers ? clobbers : 0)) |
			      given_back(flow, insn);

	switch ((enum flow_kind)insn->kind) {
	case FLOW_END:
		return;
	case FLOW_ANYWHERE:
		reach_anywhere(flow, insn->by_memory ? held : held & ~insn->by);
		return;
	case FLOW_JUMP:
		reach_target(flow, insn->target, held);
		return;
	case FLOW_BRANCH:
		reach_target(flow, insn->target, held);
		break;
	case FLOW_CALL:
		/* Who catches what it throws finds the registers that it saves. */
		if (flow->catches)
			reach_anywhere(flow, held & ~clobbers);
		break;
	case FLOW_ON:
		break;
	}
	if (insn + 1 < (struct flow_insn *)flow->insns.items + flow->insns.count)
		reach(flow, insn + 1, held);
}

static bool work_off(struct slot_flow *flow)
{
	size_t steps = 0;

	for (; flow->work.count && steps < STEPS_MAX; steps++) {
		size_t index = *(size_t *)vec_at(&flow->work, flow->work.count - 1);
		struct flow_insn *insn = vec_at(&flow->insns, index);

		flow->work.count--;
		insn->is_waiting = false;
		follow(flow, insn);
	}
	flow->budget -= steps < flow->budget ? steps : flow->budget;
	return steps < STEPS_MAX && flow->members.count <= MEMBERS_MAX;
}

/* Begins with these having it before each instruction. */
static void ask(struct slot_flow *flow, enum question question, uint32_t always)
{
	flow->question = question;
	flow->anywhere = 0;
	vec_clear(&flow->work);
	for (size_t i = 0; i < flow->insns.count; i++) {
		struct flow_insn *insn = vec_at(&flow->insns, i);
		const bool begins = question == HOLDS	 ? insn->loaded
				    : question == EQUALS ? insn->effect.from == EFFECT_MEMORY &&
								   is_member(flow, insn->member)
							 : true;

		insn->before[question] = always;
		insn->is_waiting = false;
		if (begins)
			wait(flow, insn);
	}
}

/* ------------------------------------------------------------------ asking */

/* Whether the frame pointer comes from another part of the function: nobody has saved it. */
static bool is_part(const struct slot_flow *flow)
{
	for (size_t i = 0; i < flow->insns.count; i++) {
		const struct flow_insn *insn = vec_at(&flow->insns, i);

		if (insn->effect.from == REG_BP && insn->effect.to == EFFECT_STACK)
			return false;
	}
	return true;
}

static bool prepare(struct slot_flow *flow)
{
	if (flow->is_prepared || !flow->insns.count)
		return true;
	ask(flow, ON_STACK, bit_of(REG_SP));
	if (is_part(flow))
		((struct flow_insn *)flow->insns.items)->before[ON_STACK] |= bit_of(REG_BP);
	flow->is_prepared = work_off(flow);
	return flow->is_prepared;
}

/* A jump by way of memory is known by where that is: a tail call by a variable. */
static bool may_be_call(const struct slot_flow *flow, const struct flow_insn *insn)
{
	if (!insn->by_memory)
		return (insn->before[HOLDS] | insn->before[EQUALS]) & insn->by;
	return (insn->kind == FLOW_CALL && (insn->before[HOLDS] & memory_of(insn))) ||
	       is_member(flow, insn->member);
}

bool slot_flow_run(struct slot_flow *flow, struct vec *reached)
{
	if (!flow->any_load)
		return true;
	/* Each instruction is looked at once, whatever becomes of it. */
	flow->budget -= flow->insns.count < flow->budget ? flow->insns.count : flow->budget;
	bool done = flow->budget && prepare(flow);

	if (done) {
		vec_clear(&flow->members);
		ask(flow, HOLDS, 0);
		done = work_off(flow);
	}
	if (done) {
		ask(flow, EQUALS, 0);
		done = work_off(flow);
	}
	for (size_t i = 0; i < flow->insns.count; i++) {
		struct flow_insn *insn = vec_at(&flow->insns, i);

		if (done && may_be_call(flow, insn))
			vec_push(reached, &insn->address);
		insn->loaded = 0;
	}
	flow->any_load = false;
	return done;
}
