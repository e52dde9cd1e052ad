/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step of a walk through code that no call-frame information describes: hand-written assembly,
 * code of a just-in-time compiler, PLTs made by LLVM's linker, a C library without tables (musl),
 * or a jump to nowhere.
 *
 * What can be known is tried first, and what is only plausible afterwards:
 *
 * 1. The code by which a signal handler returns is known by its bytes: the interrupted registers
 *    are in the frame that the kernel has made.
 * 2. A PLT stub is known by its bytes: the return address is on top of the stack.
 * 3. A return address behind a direct call of just this function, in the frame below bp: a function
 *    without a frame pointer, called by one that has one, which 4 would hide.
 * 4. Frame pointers. bp must lie above sp, not far away, with a return address above it, and what
 *    it points to must lie above it or be 0.
 * 5. In the innermost frame, where a function may just have been entered, a return address on top
 *    of the stack.
 * 6. A frame pointer whose caller uses bp for something else.
 * 7. The first word of the stack that may be a return address: one that lies behind a call. Such a
 *    word may be left over from an earlier call.
 *
 * In 4, the frames are as sure as the rule that the code keeps frame pointers; compilers that run
 * in a process do. 3 and 5 to 7 are guesses, except for a function's first instruction: if the word
 * on top of the stack belongs to a call that leads there, it is the return address.
 */
#include "unwind/unwind_guess.h"

#include "object/elf_address.h"
#include "unwind/unwind_signal.h"

#include <errno.h>
#include <string.h>

enum {
	FRAME_MAX = 1 << 20, /* bytes between sp and a plausible frame pointer */
	SCAN_WORDS = 2048,   /* of the stack, for a return address */
	STUB_BYTES = 16,     /* a PLT stub, and its alignment */
	STUB_PUSHED = 11,    /* from there on, the stub has pushed a word (psABI: lazy PLTs) */
	FIRST_PUSH = 6,	     /* length of the push in the first stub */
	CALL_BYTES = 5,	     /* a direct call */
	PROLOGUE_BYTES = 4   /* an endbr, before anything is pushed */
};

/* Makes the caller's registers for a return address that was read at `place`. */
static void return_to(const struct unwind_view *view, uint64_t place, uint64_t pc,
		      struct unwind_registers *registers, struct unwind_found *found)
{
	const struct arch *arch = view->arch;
	uint64_t cfa = place + arch->abi->word;

	registers->values[arch->dwarf_sp] = cfa;
	registers->values[arch->dwarf_return] = pc;
	registers->known &= UINT32_C(1) << arch->dwarf_bp;
	registers->known |= UINT32_C(1) << arch->dwarf_sp | UINT32_C(1) << arch->dwarf_return;
	*found = (struct unwind_found){.cfa = cfa, .place = place};
}

/*
 * Returns how many words the PLT stub around the pc has pushed onto the return address, or -1 if no
 * stub is there. The first stub of a lazy PLT, to which the others jump with a word pushed, pushes
 * another word before it jumps through a slot.
 */
static int pushed_by_stub(struct unwind_view *view, uint64_t pc)
{
	const struct arch *arch = view->arch;
	uint64_t start = pc & ~(uint64_t)(STUB_BYTES - 1), slot;
	uint8_t code[STUB_BYTES];

	if (!unwind_view_code(view, start, code, sizeof code))
		return -1;
	if (arch->plt_slot(code, sizeof code, start, 0, &slot))
		return pc - start >= STUB_PUSHED;
	if (arch->plt_slot(code + FIRST_PUSH, sizeof code - FIRST_PUSH, start + FIRST_PUSH, 0,
			   &slot))
		return pc - start >= FIRST_PUSH ? 2 : 1;
	return -1;
}

static bool step_from_stub(struct unwind_view *view, struct unwind_registers *registers,
			   struct unwind_found *found)
{
	const struct arch *arch = view->arch;
	uint64_t place = registers->values[arch->dwarf_sp], address;
	int pushed = pushed_by_stub(view, registers->values[arch->dwarf_return]);

	if (pushed < 0)
		return false;
	place += (unsigned)pushed * arch->abi->word;
	if (!unwind_view_return(view, place, &address))
		return false;
	return_to(view, place, address, registers, found);
	return true;
}

/*
 * Returns how far the frame's pc is behind the beginning of its function, by the file's symbols; or
 * PROLOGUE_BYTES if that is not known.
 */
static uint64_t depth_in_function(struct unwind_view *view, uint64_t pc)
{
	const struct unwind_module *module = unwind_view_module(view, pc);
	uint64_t offset;

	if (!module || !module->file || !elf_name_of_code(module->file, pc - module->bias, &offset))
		return PROLOGUE_BYTES;
	return offset;
}

/* If a PLT stub is at `address`, returns where its slot leads; else `address` itself. */
static uint64_t through_stub(struct unwind_view *view, uint64_t address)
{
	uint8_t code[STUB_BYTES];
	uint64_t slot, target;

	if (unwind_view_code(view, address, code, sizeof code) &&
	    view->arch->plt_slot(code, sizeof code, address, 0, &slot) &&
	    unwind_view_word(view, slot, &target))
		return target;
	return address;
}

/*
 * Returns true if a direct call in front of `address` leads to code at most `depth` bytes in front
 * of `pc`, perhaps through a PLT stub.
 */
static bool calls(struct unwind_view *view, uint64_t address, uint64_t pc, uint64_t depth)
{
	uint8_t code[CALL_BYTES];
	int32_t distance;

	if (!unwind_view_code(view, address - CALL_BYTES, code, sizeof code))
		return false;
	memcpy(&distance, code + 1, sizeof distance);
	uint64_t target = address + (uint64_t)(int64_t)distance;

	return pc - target <= depth || pc - through_stub(view, target) <= depth;
}

/* `entered`: only if the function has just been called from there. */
static bool step_from_top(struct unwind_view *view, bool entered,
			  struct unwind_registers *registers, struct unwind_found *found)
{
	const struct arch *arch = view->arch;
	uint64_t place = registers->values[arch->dwarf_sp], address;

	if (!unwind_view_return(view, place, &address) ||
	    (entered &&
	     !calls(view, address, registers->values[arch->dwarf_return], PROLOGUE_BYTES)))
		return false;
	return_to(view, place, address, registers, found);
	return true;
}

/* `chained`: only if the caller seems to have a frame pointer, too, or to be the outermost. */
static bool step_by_bp(struct unwind_view *view, bool chained, struct unwind_registers *registers,
		       struct unwind_found *found)
{
	const struct arch *arch = view->arch;
	unsigned word = arch->abi->word;
	uint64_t bp = registers->values[arch->dwarf_bp], next, address;
	uint64_t above = bp - registers->values[arch->dwarf_sp];

	if (!unwind_registers_have(registers, UINT32_C(1) << arch->dwarf_bp) || bp % word ||
	    above > FRAME_MAX || !unwind_view_word(view, bp, &next) ||
	    (chained && next && next <= bp) || !unwind_view_return(view, bp + word, &address))
		return false;
	return_to(view, bp + word, address, registers, found);
	registers->values[arch->dwarf_bp] = next;
	return true;
}

/*
 * Steps to the first word that may be a return address, from sp up to `end` (or 0: as far as
 * plausible). `only_of`: it must belong to a call of the code up to so many bytes in front of the
 * pc; UINT64_MAX: to any call.
 */
static bool step_by_scan(struct unwind_view *view, uint64_t end, uint64_t only_of,
			 struct unwind_registers *registers, struct unwind_found *found)
{
	const struct arch *arch = view->arch;
	unsigned word = arch->abi->word;
	uint64_t place = registers->values[arch->dwarf_sp] & ~(uint64_t)(word - 1), address, any;
	uint64_t pc = registers->values[arch->dwarf_return];

	for (unsigned i = 0; i < SCAN_WORDS && (!end || place < end); i++, place += word) {
		if (!unwind_view_word(view, place, &any))
			return false;
		if (!unwind_view_return(view, place, &address) ||
		    (only_of != UINT64_MAX && !calls(view, address, pc, only_of)))
			continue;
		return_to(view, place, address, registers, found);
		return true;
	}
	return false;
}

static bool step_below_bp(struct unwind_view *view, bool is_call,
			  struct unwind_registers *registers, struct unwind_found *found)
{
	const struct arch *arch = view->arch;
	const uint32_t known = UINT32_C(1) << arch->dwarf_bp;
	uint64_t bp = registers->values[arch->dwarf_bp];
	uint64_t above = bp - registers->values[arch->dwarf_sp];
	uint64_t pc = registers->values[arch->dwarf_return];
	bool is_frame = unwind_registers_have(registers, known) && above <= FRAME_MAX;

	return step_by_scan(view, is_frame ? bp + arch->abi->word : 0,
			    depth_in_function(view, pc - is_call) + is_call, registers, found);
}

static int step_plausibly(struct unwind_view *view, bool is_call,
			  struct unwind_registers *registers, struct unwind_found *found,
			  bool *is_certain)
{
	const struct arch *arch = view->arch;
	const uint32_t bp = UINT32_C(1) << arch->dwarf_bp;
	bool is_last = unwind_registers_have(registers, bp) && !registers->values[arch->dwarf_bp];

	*is_certain = !is_call && step_from_top(view, true, registers, found);
	if (*is_certain)
		return 0;
	if (step_below_bp(view, is_call, registers, found))
		return 0;
	*is_certain = step_by_bp(view, true, registers, found);
	if (*is_certain || (!is_call && step_from_top(view, false, registers, found)) ||
	    step_by_bp(view, false, registers, found) ||
	    step_by_scan(view, 0, UINT64_MAX, registers, found))
		return 0;
	/* The psABIs mark the outermost frame by a bp of 0. */
	return is_last ? -ECHILD : -ENOENT;
}

int unwind_step_by_guess(struct unwind_view *view, bool is_call, struct unwind_registers *registers,
			 struct unwind_found *found, bool *is_certain)
{
	const struct arch *arch = view->arch;

	if (!unwind_registers_have(registers, UINT32_C(1) << arch->dwarf_sp))
		return -ENODATA;
	*is_certain = true;
	if (unwind_step_from_signal(view, registers, found) ||
	    (!is_call && step_from_stub(view, registers, found)))
		return 0;
	if (unwind_view_module(view, registers->values[arch->dwarf_return] - is_call))
		return step_plausibly(view, is_call, registers, found, is_certain);
	*is_certain = false;
	return !is_call && step_from_top(view, false, registers, found) ? 0 : -ENOENT;
}
