/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See slot_flow.h.
 *
 * This is a forward data-flow analysis over the instructions of one function. For each instruction
 * it keeps the set of places that may hold the loaded value when control gets there: the general
 * registers, words of the stack (stack_words.c), the rest of the stack as one place, the vector
 * registers as one place, and all other memory as one place. The architecture says what an
 * instruction does with places (arch->insn_effect). Where it says nothing, places keep their
 * values; so the set may be too large, but never too small. A call by a register in the set, or by
 * way of memory in the set, may be a call by the GOT slot.
 *
 * A memory access counts as one of the stack if its base may be an address on the stack. Which
 * registers hold such addresses is the same kind of question, and it is answered first, once for
 * each function: the stack pointer always holds one, and so does what is computed from it.
 *
 * Comparing the value with something does not store it, but the code may then call what it was
 * equal to. So when the value is compared with memory, or with a register that has just been loaded
 * from memory, the displacement of that memory operand is kept; when it is stored, that
 * displacement is kept, too. Any object's member with that displacement may then be the value,
 * anywhere in the function. This is weak evidence, so which registers hold such a member is a third
 * question, for registers only. A value that is passed to other functions is lost, unless they
 * return it: see slot_pointers.c. Memory that the program cannot write to never gets the value:
 * rustc calls functions of the same program through GOT slots, which are read-only after
 * relocation.
 *
 * The targets of a switch are in a table, and the landing pads of a call that throws are in another
 * one: a value held there may be held anywhere. The same is true for jumps out of the function, as
 * to its cold part, which may jump back. But none of these moves the stack pointer, so "anywhere"
 * means only instructions with the same distance from the CFA. A jump by a register does not pass
 * that register on: either it is a tail call by it, or the register holds the target of a switch.
 * The question of addresses on the stack is answered more narrowly: a switch is assumed to lead
 * only to instructions that no other instruction falls through to. Otherwise all registers would
 * soon hold such an address, every value could be anywhere on the stack, and each call by a pointer
 * would be one by the GOT slot.
 */
#include "code/slot_flow_private.h"

#include "base/sorted.h"
#include "base/xalloc.h"
#include "code/slot_places.h"

#include <stdlib.h>
#include <string.h>

/* Maximum steps for one GOT slot in one function, and for the whole analysis of a file. */
enum { STEPS_MAX = 4 << 20, BUDGET = 256 << 20 };

struct slot_flow *slot_flow_create(const struct arch *arch)
{
	struct slot_flow *flow = xcalloc(1, sizeof *flow);

	flow->arch = arch;
	flow->budget = BUDGET;
	stack_words_init(&flow->words, arch);
	vec_init(&flow->insns, sizeof(struct flow_insn));
	vec_init(&flow->work, sizeof(size_t));
	vec_init(&flow->members, sizeof(int64_t));
	return flow;
}

void slot_flow_destroy(struct slot_flow *flow)
{
	if (!flow)
		return;
	stack_words_deinit(&flow->words);
	vec_deinit(&flow->insns);
	vec_deinit(&flow->work);
	vec_deinit(&flow->members);
	free(flow);
}

/* ------------------------------------------------------------------ the instructions */

void slot_flow_begin(struct slot_flow *flow, const struct elf_file *file,
		     const struct eh_function *function)
{
	vec_clear(&flow->insns);
	flow->file = file;
	stack_words_begin(&flow->words, file, function);
	/*
	 * For a function without an entry in .eh_frame it is not known whether it catches
	 * exceptions.
	 */
	flow->catches = function->lsda || !function->entry;
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

/* Notes the registers that determine the target of an indirect call or jump. */
static void note_operand(struct flow_insn *one, const struct displaced *insn)
{
	const struct displaced_operand *operand = &insn->operand;

	if (insn->kind != DISPLACED_EMULATE ||
	    (insn->action != ACTION_CALL_OPERAND && insn->action != ACTION_JUMP_OPERAND))
		return;
	one->by = (uint32_t)(bit_of(operand->base) |
			     (operand->memory ? bit_of(operand->index) : 0));
	one->by_memory = operand->memory;
}

/* Tracks which member each register was loaded from, within straight-line code. */
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
		flow->has_origin |= 1U << effect->to;
		flow->origin[effect->to] = one->member;
	}
}

/* Returns true if the last instruction does not fall through to the next one. */
static bool goes_elsewhere(const struct slot_flow *flow)
{
	const struct flow_insn *last = vec_at(&flow->insns, flow->insns.count - 1);

	return last->kind == FLOW_JUMP || last->kind == FLOW_ANYWHERE || last->kind == FLOW_END;
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
	if (one.effect.pc_relative) {
		one.member += (int64_t)(insn->address + insn->length);
		one.is_constant = elf_is_constant(flow->file, (uint64_t)one.member);
	}
	stack_words_locate(&flow->words, one.address, &one.effect,
			   one.kind == FLOW_ON || one.kind == FLOW_BRANCH, &one.access);
	note_origins(flow, &one);
	one.is_reached_by_jumps = !flow->insns.count || goes_elsewhere(flow);
	vec_push(&flow->insns, &one);
}

/* Returns the instruction that begins at an address, or NULL if the function has none there. */
static struct flow_insn *insn_at(const struct slot_flow *flow, uint64_t address)
{
	struct flow_insn *insns = flow->insns.items;
	const size_t count = flow->insns.count;
	const struct sorted addresses = SORTED(struct flow_insn, address, insns, count);
	const size_t at = sorted_from(&addresses, address);

	return at < count && insns[at].address == address ? &insns[at] : NULL;
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

/* ------------------------------------------------------------------ propagating the value */

static void wait(struct slot_flow *flow, struct flow_insn *insn)
{
	const struct flow_insn *first = flow->insns.items;
	const size_t index = (size_t)(insn - first);

	if (insn->is_waiting)
		return;
	insn->is_waiting = true;
	vec_push(&flow->work, &index);
}

static void reach(struct slot_flow *flow, struct flow_insn *insn, uint64_t held)
{
	uint64_t *before = &insn->before[flow->question];

	if (!(held & ~*before))
		return;
	*before |= held;
	wait(flow, insn);
}

/*
 * Returns the number of instructions up to the first push. Only a call of the function reaches
 * them.
 */
static size_t prologue_of(const struct slot_flow *flow)
{
	for (size_t i = 0; i < flow->insns.count; i++) {
		const struct flow_insn *insn = vec_at(&flow->insns, i);

		if (insn->kind != FLOW_ON)
			break;
		if (insn->effect.sp_change)
			return i + 1;
	}
	return 0;
}

/*
 * Passes the value on to every instruction that a jump from `frame` may lead to. The jump leaves
 * the stack pointer unchanged, so these have the same CFA rule. 0: any frame.
 */
static void reach_anywhere(struct slot_flow *flow, unsigned frame, uint64_t held)
{
	if (!(held & ~flow->anywhere[0] & ~flow->anywhere[frame]))
		return;
	flow->anywhere[frame] |= held;
	for (size_t i = frame ? flow->prologue : 0; i < flow->insns.count; i++) {
		struct flow_insn *insn = vec_at(&flow->insns, i);

		if (flow->question == ON_STACK && !insn->is_reached_by_jumps)
			continue;
		if (!frame || !insn->access.frame || insn->access.frame == frame)
			reach(flow, insn, held);
	}
}

static void reach_target(struct slot_flow *flow, const struct flow_insn *from, uint64_t held)
{
	struct flow_insn *insn = insn_at(flow, from->target);

	if (insn)
		reach(flow, insn, held);
	else
		reach_anywhere(flow, from->access.frame, held);
}

/* Passes the value, as an instruction leaves it, on to all instructions that may run next. */
static void follow(struct slot_flow *flow, struct flow_insn *insn)
{
	/*
	 * A callee may preserve the register that it was called by (preserve_most, ms_abi). If it
	 * does not, the caller writes the register before it is used again. So that register counts
	 * as preserved.
	 */
	const uint32_t results = 1U << REG_AX | 1U << REG_DX;
	const uint64_t clobbers = flow->arch->call_clobbers &
				  ~(insn->by_memory ? 0 : (uint64_t)(insn->by & ~results));
	const uint64_t held = (slot_flow_behind(flow, insn) & ~(insn->clobbers ? clobbers : 0)) |
			      slot_flow_given_back(flow, insn);

	switch ((enum flow_kind)insn->kind) {
	case FLOW_END:
		return;
	case FLOW_ANYWHERE:
		reach_anywhere(flow, insn->access.frame,
			       insn->by_memory ? held : held & ~(uint64_t)insn->by);
		return;
	case FLOW_JUMP:
		reach_target(flow, insn, held);
		return;
	case FLOW_BRANCH:
		reach_target(flow, insn, held);
		break;
	case FLOW_CALL:
		/* The landing pad of an exception gets the registers that callees save. */
		if (flow->catches)
			reach_anywhere(flow, 0, held & ~clobbers);
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

/*
 * Starts a question: the places in `always` hold the value before each instruction. before[HOLDS]
 * is still read after EQUALS has been asked, so that question keeps the numbers of the stack words.
 */
static void ask(struct slot_flow *flow, enum question question, uint64_t always)
{
	flow->question = question;
	memset(flow->anywhere, 0, sizeof flow->anywhere);
	vec_clear(&flow->work);
	if (question != EQUALS)
		stack_words_clear(&flow->words);
	for (size_t i = 0; i < flow->insns.count; i++) {
		struct flow_insn *insn = vec_at(&flow->insns, i);
		const bool begins = question == HOLDS ? insn->loaded
				    : question == EQUALS
					    ? insn->effect.from == EFFECT_MEMORY &&
						      slot_flow_is_member(flow, insn->member)
					    : true;

		insn->before[question] = always;
		insn->is_waiting = false;
		if (begins)
			wait(flow, insn);
	}
}

/* ------------------------------------------------------------------ the questions */

/*
 * Returns true if this is a part of a split function. A part does not push the frame pointer, which
 * then still holds an address on the stack.
 */
static bool is_part(const struct slot_flow *flow)
{
	for (size_t i = 0; i < flow->insns.count; i++) {
		const struct flow_insn *insn = vec_at(&flow->insns, i);

		if (insn->effect.from == REG_BP && insn->effect.to == EFFECT_TOP)
			return false;
	}
	return true;
}

static void forget_words(struct slot_flow *flow)
{
	for (size_t i = 0; i < flow->insns.count; i++)
		((struct flow_insn *)vec_at(&flow->insns, i))->access = (struct stack_access){0};
}

static bool prepare(struct slot_flow *flow)
{
	if (flow->is_prepared || !flow->insns.count)
		return true;
	if (!flow->words.is_sound)
		forget_words(flow);
	flow->prologue = prologue_of(flow);
	ask(flow, ON_STACK, bit_of(REG_SP));
	if (is_part(flow))
		((struct flow_insn *)flow->insns.items)->before[ON_STACK] |= bit_of(REG_BP);
	flow->is_prepared = work_off(flow);
	return flow->is_prepared;
}

/*
 * A jump by way of memory counts only if its operand is a known member: a tail call by a variable.
 */
static bool may_be_call(const struct slot_flow *flow, const struct flow_insn *insn)
{
	if (insn->is_constant)
		return false;
	if (!insn->by_memory)
		return (insn->before[HOLDS] | insn->before[EQUALS]) & insn->by;
	return (insn->kind == FLOW_CALL && (insn->before[HOLDS] & slot_flow_read_by(flow, insn))) ||
	       slot_flow_is_member(flow, insn->member);
}

bool slot_flow_run(struct slot_flow *flow, struct vec *reached)
{
	if (!flow->any_load)
		return true;
	/* Each instruction is visited at least once. */
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
