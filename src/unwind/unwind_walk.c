/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a native stack.
 *
 * Each step is made by the rule for the code (unwind_step_by_rule()), which is fast, and keeps no
 * register but sp, bp and pc. Few pieces of code need another one, most of them in hand-written
 * code that keeps the caller's stack pointer in some register. In the innermost frame, and behind a
 * signal frame, all registers are known. If a frame farther out needs a register, the walk goes
 * back to the last frame where all were known and makes the steps once more by the rows
 * (unwind_step_by_row()), which tell all registers. The rest of the walk is then made in the same
 * way. Where nothing describes the code, or what describes it leads nowhere, unwind_guess.c says
 * what is plausible.
 *
 * The row that belongs to a return address is that of the call in front of it: the call may be the
 * last instruction of its function, or the last one before a landing pad with another row. Where
 * the pc is no return address (in the innermost frame, and where a signal came), it is the row of
 * the pc itself.
 *
 * An end is certain, because sp must ascend, except at signal frames and at rows that no rule
 * covers, where stacks may be switched; such steps are counted, and frames are, too.
 */
#include "unwind/unwind_walk.h"

#include "base/xalloc.h"
#include "unwind/unwind_guess.h"
#include "unwind/unwind_step.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>

enum { DESCENTS_MAX = 32 };

/* A frame of a walk under way. */
struct cursor {
	struct unwind_registers registers;
	bool is_call, is_guessed;
	unsigned descents; /* steps after which sp was not above the one before */
};

/* One walk. */
struct walk {
	struct unwind_view *view;
	struct cursor now;
	/* The last frame where all registers were known, and its index. */
	struct cursor known;
	size_t known_index;
	bool by_rows; /* rules are not used any more */
	struct unwind_frame *frames;
};

struct unwinder {
	struct unwind_view view;
	/* The last walk once more, by rows: where it began, and how far it has got. */
	struct cursor start;
	struct walk replay;
	size_t replayed; /* index of the frame in replay.now */
};

struct unwinder *unwinder_create(const struct unwind_process *process)
{
	struct unwinder *unwinder = xcalloc(1, sizeof *unwinder);

	unwind_view_init(&unwinder->view, process);
	return unwinder;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	unwind_view_deinit(&unwinder->view);
	free(unwinder);
}

static uint64_t pc_of(const struct walk *walk)
{
	return walk->now.registers.values[walk->view->arch->dwarf_return];
}

static uint64_t sp_of(const struct walk *walk)
{
	return walk->now.registers.values[walk->view->arch->dwarf_sp];
}

static void describe(struct walk *walk, struct unwind_frame *frame)
{
	const struct unwind_module *module = unwind_view_module(walk->view,
								pc_of(walk) - walk->now.is_call);

	*frame = (struct unwind_frame){.pc = pc_of(walk),
				       .sp = sp_of(walk),
				       .is_call = walk->now.is_call,
				       .is_guessed = walk->now.is_guessed};
	if (module)
		frame->module = *module;
}

/* Steps by what describes the code, or returns -ENOENT. */
static int step_by_table(struct walk *walk, const struct unwind_module *module, struct cursor *next,
			 struct unwind_found *found)
{
	uint64_t address = pc_of(walk) - walk->now.is_call - module->bias;

	if (!module->file)
		return -ENOENT;
	struct unwind_table *table = unwind_table(module->file);
	struct unwind_rule rule = unwind_table_rule(table, address);

	if (rule.cfa == UNWIND_NONE)
		return -ENOENT;
	if (rule.cfa == UNWIND_EXACT || walk->by_rows)
		return unwind_step_by_row(walk->view, table, address, &next->registers, found);
	return unwind_step_by_rule(walk->view, &rule, &next->registers, found);
}

/* A step may lead to a lower stack where stacks are switched, but not for ever. */
static int check_progress(const struct walk *walk, const struct unwind_found *found,
			  struct cursor *next)
{
	const struct arch *arch = walk->view->arch;
	uint64_t sp = next->registers.values[arch->dwarf_sp];

	if (sp > sp_of(walk))
		return 0;
	return found->may_descend && ++next->descents <= DESCENTS_MAX ? 0 : -ELOOP;
}

/* Replaces the caller's pc by the program's. */
static void translate(const struct walk *walk, struct cursor *next,
		      const struct unwind_found *found)
{
	uint64_t *pc = &next->registers.values[walk->view->arch->dwarf_return];

	*pc = unwind_view_program_pc(walk->view, *pc, found->place);
}

/*
 * Returns true if the caller's pc can be one: 0, which marks the outermost frame, or executable.
 * Some hand-written code is described wrongly (glibc's memcpy() for i386).
 */
static bool is_plausible(const struct walk *walk, const struct cursor *next)
{
	uint64_t pc = next->registers.values[walk->view->arch->dwarf_return];

	return !pc || unwind_view_module(walk->view, pc) || unwind_view_module(walk->view, pc - 1);
}

static int step_by_guess(struct walk *walk, struct cursor *next, struct unwind_found *found)
{
	bool is_certain = false;
	int error = unwind_step_by_guess(walk->view, walk->now.is_call, &next->registers, found,
					 &is_certain);

	next->is_guessed |= !is_certain;
	return error;
}

/*
 * Makes the registers of the present frame's caller. `blind`: the code's description is of no use,
 * because it needs a register that is lost.
 */
static int find_caller(struct walk *walk, const struct unwind_frame *frame, bool blind,
		       struct cursor *next, struct unwind_found *found)
{
	int error = blind ? -ENOENT : step_by_table(walk, &frame->module, next, found);

	if (error == -ENOENT)
		error = step_by_guess(walk, next, found);
	if (error)
		return error;
	next->is_guessed |= blind;
	translate(walk, next, found);
	if (is_plausible(walk, next))
		return 0;
	struct cursor other = walk->now;
	struct unwind_found other_found = {0};

	other.is_guessed = true;
	if (step_by_guess(walk, &other, &other_found))
		return 0;
	*next = other;
	*found = other_found;
	translate(walk, next, found);
	return 0;
}

/*
 * Makes the caller of the present frame the present one. Returns 0, or an error as
 * unwind_step_by_rule(); -ELOOP if the caller is not above the frame.
 */
static int step(struct walk *walk, struct unwind_frame *frame, bool blind)
{
	struct cursor next = walk->now;
	struct unwind_found found = {0};
	int error = find_caller(walk, frame, blind, &next, &found);

	if (!error)
		error = check_progress(walk, &found, &next);
	if (error)
		return error;
	frame->cfa = found.cfa;
	frame->is_signal_frame = found.is_signal_frame;
	walk->now = next;
	walk->now.is_call = !found.is_signal_frame;
	return 0;
}

/*
 * Comes back to the present frame with the registers that only the rows tell. Returns false if that
 * is no different way.
 */
static bool return_by_rows(struct walk *walk, size_t index)
{
	uint64_t pc = pc_of(walk), sp = sp_of(walk);

	if (walk->by_rows || index == walk->known_index)
		return false;
	walk->by_rows = true;
	walk->now = walk->known;
	for (size_t i = walk->known_index; i < index; i++) {
		struct unwind_frame frame = walk->frames[i];

		if (step(walk, &frame, false))
			return false;
	}
	return pc_of(walk) == pc && sp_of(walk) == sp;
}

/* Steps from the frame at `index`, in one way or the other. */
static int step_somehow(struct walk *walk, size_t index)
{
	struct unwind_frame *frame = &walk->frames[index];
	struct cursor here = walk->now;
	int error = step(walk, frame, false);

	if (error == -ENODATA && return_by_rows(walk, index))
		error = step(walk, frame, false);
	if (error == -ENODATA) {
		walk->now = here;
		error = step(walk, frame, true);
	}
	if (!error && frame->is_signal_frame) {
		walk->known = walk->now;
		walk->known_index = index + 1;
	}
	return error;
}

static enum unwind_end end_of(int error)
{
	switch (error) {
	case -ECHILD:
		return UNWIND_END_OUTER;
	case -ELOOP:
		return UNWIND_END_NO_PROGRESS;
	case -EFAULT:
		return UNWIND_END_UNREADABLE;
	default:
		return UNWIND_END_LOST;
	}
}

size_t unwinder_walk(struct unwinder *unwinder, const struct regs *regs, bool is_call,
		     struct unwind_frame *frames, size_t room, enum unwind_end *end)
{
	const struct arch *arch = unwinder->view.arch;
	struct walk walk = {.view = &unwinder->view, .frames = frames};
	size_t count = 0;

	*end = UNWIND_END_LIMIT;
	unwind_view_forget(walk.view);
	unwind_registers_load(&walk.now.registers, arch, regs);
	walk.now.registers.values[arch->dwarf_return] = unwind_view_program_pc(walk.view, regs->pc,
									       0);
	walk.now.is_call = is_call;
	walk.known = walk.now;
	unwinder->start = walk.now;
	unwinder->replay.view = NULL;
	while (count < room) {
		describe(&walk, &frames[count++]);
		int error = step_somehow(&walk, count - 1);

		/* A return address of 0 marks the outermost frame, too. */
		if (!error && walk.now.is_call && !pc_of(&walk))
			error = -ECHILD;
		if (!error)
			continue;
		*end = end_of(error);
		break;
	}
	return count;
}

bool unwinder_registers(struct unwinder *unwinder, const struct unwind_frame *frames, size_t index,
			struct unwind_registers *registers)
{
	struct walk *walk = &unwinder->replay;

	if (!walk->view || index < unwinder->replayed) {
		*walk = (struct walk){
			.view = &unwinder->view, .now = unwinder->start, .by_rows = true};
		unwinder->replayed = 0;
	}
	for (; unwinder->replayed < index; unwinder->replayed++) {
		struct unwind_frame frame = frames[unwinder->replayed];

		if (step(walk, &frame, false))
			return false;
	}
	*registers = walk->now.registers;
	return !walk->now.is_guessed && pc_of(walk) == frames[index].pc &&
	       sp_of(walk) == frames[index].sp;
}

const char *unwind_end_text(enum unwind_end end)
{
	static const char *const texts[] = {
		[UNWIND_END_OUTER] = "the outermost frame",
		[UNWIND_END_LIMIT] = "no room for more frames",
		[UNWIND_END_NO_PROGRESS] = "the next frame would not be above this one",
		[UNWIND_END_UNREADABLE] = "memory that is needed cannot be read",
		[UNWIND_END_LOST] = "nothing tells where the caller is",
	};

	return texts[end];
}
