/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls by pointers that were loaded from a GOT slot: see slot_calls.h.
 *
 * A compiler that calls a function more than once may load the GOT slot into a register, and call
 * by that register as often as needed. slot_calls.c finds the loads: they are the references to a
 * GOT slot that are no calls. In a function with such a load each call by a pointer is a possible
 * call of the slot's function; when a thread gets there, the engine compares the target. Each of
 * these places costs a stop, so those that the loaded pointer cannot reach are left out: the jumps
 * of an interpreter's switch, calls by way of an object (slot_flow.c). A call by an address that
 * was passed on to another function is found only if it is made in the function that loaded the
 * address.
 *
 * A breakpoint is to be written there, so it must be certain where instructions begin. The bytes of
 * "call *slot" are too many to be anything else, but "call *%rbx" has two bytes, which may be part
 * of anything. Therefore the function is decoded from its beginning, which .eh_frame or its symbol
 * tells. The decoder must meet each reference that was found in the function as a displacement
 * within one instruction.
 *
 * Code of the large model refers to a GOT slot by a 64-bit number, its distance from the GOT, which
 * it adds to the GOT's address in another register: that number is a reference, too. Large-model
 * code that is not position-independent loads the function's address itself. That address is a
 * relocation of the code (SLOT_LOADED), so it needs no search.
 */
#include "code/slot_pointers.h"

#include "base/cleanup.h"
#include "base/sorted.h"
#include "base/xalloc.h"
#include "code/relocate.h"
#include "code/slot_search.h"
#include "object/elf_symbols.h"
#include "unwind/eh_frame.h"

#include <stdlib.h>
#include <string.h>

enum {
	FUNCTION_MAX = 1 << 20,
	DECODED_MAX = 64 << 20,
	REFERRED_MAX = 8192 /* references in one function; each is compared with all before it */
};

/* Large model: the GOT slot is at a register plus an offset in another register. */
static bool is_jump_by_offset(const struct displaced_operand *operand)
{
	return operand->memory && operand->index != OPERAND_NONE && operand->scale == 1;
}

/*
 * Returns true for calls and jumps by a pointer. What is read by way of a segment register is not
 * the program's (i386's system calls), and does not count. Jumps by way of memory belong to
 * switches and interpreters, except tail calls by a variable. `wide`: the function is of the large
 * model.
 */
static bool is_call_by_pointer(const struct displaced *insn, bool wide)
{
	const struct displaced_operand *operand = &insn->operand;

	return insn->kind == DISPLACED_EMULATE && !operand->segment &&
	       (insn->action == ACTION_CALL_OPERAND ||
		(insn->action == ACTION_JUMP_OPERAND &&
		 (!operand->memory || (operand->base < 0 && operand->index < 0) ||
		  (wide && is_jump_by_offset(operand)))));
}

/*
 * Returns true for jumps by way of memory, which may belong to a switch where the data flow is not
 * known. `wide`: those that the large model uses for calls are excepted.
 */
static bool may_be_switch(const struct displaced *insn, bool wide)
{
	return insn->action == ACTION_JUMP_OPERAND && insn->operand.memory &&
	       !(wide && is_jump_by_offset(&insn->operand));
}

/* Calls through the GOT slot itself are found by slot_calls.c, and are certain. */
static bool is_through_slot(const struct call_search *search, const uint8_t *code,
			    const struct displaced *insn)
{
	/* the displacement is at the end, behind any prefixes */
	size_t at = (size_t)insn->length - WORD;

	return insn->length >= INSN && referred_at(search, code + at, insn->address + at);
}

/*
 * Relative to the GOT, GOT slots have small negative offsets, and so have strings and variables.
 * The last bytes of such an operand, 0xff, together with the opcode behind it may look like another
 * reference.
 */
static bool is_by_chance(const struct call_search *search, const struct reference *reference,
			 uint64_t insn, size_t length)
{
	return search->file->arch->slot_by_got && length > WORD &&
	       reference->address > insn + length - WORD;
}

/*
 * Returns true if the instruction calls code that may change any register: a function of the same
 * object may change fewer, and its caller may rely on that.
 */
static bool clobbers(const struct call_search *search, const struct displaced *insn)
{
	return insn->kind == DISPLACED_EMULATE &&
	       (insn->action == ACTION_CALL_OPERAND ||
		(insn->action == ACTION_CALL && map_get(&search->stubs, insn->target)));
}

/*
 * Decodes a function that contains these references, up to `end`. Returns false if one of them is
 * not within one instruction. Sets *wide if the function is of the large model.
 */
static bool decode(struct call_search *search, const uint8_t *code, size_t size, uint64_t address,
		   struct reference *reference, const struct reference *end, bool *wide)
{
	const struct arch *arch = search->file->arch;

	for (const struct reference *one = reference; one < end; one++)
		*wide |= one->is_wide;
	for (size_t at = 0; at < size;) {
		struct displaced insn = {.length = 0};
		uint64_t here = address + at;

		if (arch->displace(search->decoder, code + at, size - at, here, &insn) ||
		    !insn.length)
			break;
		for (; reference < end && reference->address < here + insn.length; reference++) {
			reference->insn = here;
			if (reference->address > here &&
			    reference->address + WORD <= here + insn.length)
				continue;
			reference->is_none = is_by_chance(search, reference, here, insn.length);
			if (!reference->is_none)
				return false;
		}
		if (is_call_by_pointer(&insn, *wide) && !is_through_slot(search, code + at, &insn))
			vec_push(&search->branches,
				 &(struct branch){here, may_be_switch(&insn, *wide)});
		slot_flow_add(search->flow, &insn, code + at, clobbers(search, &insn));
		at += insn.length;
	}
	return reference == end;
}

/*
 * Stores in `reached` the calls that the pointer loaded by these references may reach. Returns
 * false if that is not known.
 */
static bool follow_slot(struct call_search *search, const struct reference *first,
			const struct reference *end)
{
	bool known = true;

	vec_clear(&search->reached);
	for (const struct reference *one = first; one < end; one++)
		if (one->slot == first->slot && !one->is_none)
			known &= slot_flow_load(search->flow, one->insn,
						one->slot->kind == SLOT_LOADED);
	return slot_flow_run(search->flow, &search->reached) && known;
}

/*
 * Adds the branches that may be calls by each of the GOT slots. In a function of the large model
 * each of its branches may be one.
 */
static void add_branches(struct call_search *search, const struct reference *first,
			 const struct reference *end, bool wide)
{
	for (const struct reference *reference = first; reference < end; reference++) {
		const struct reference *before = first;

		while (before < reference && (before->is_none || before->slot != reference->slot))
			before++;
		if (before < reference || reference->is_none)
			continue;
		const bool all = !follow_slot(search, reference, end) || wide;
		size_t next = 0; /* index in `reached`; both lists are in ascending order */

		for (size_t i = 0; i < search->branches.count; i++) {
			const struct branch *branch = vec_at(&search->branches, i);

			while (next < search->reached.count &&
			       *(uint64_t *)vec_at(&search->reached, next) < branch->address)
				next++;
			bool is_reached = next < search->reached.count &&
					  *(uint64_t *)vec_at(&search->reached, next) ==
						  branch->address;

			if (all ? !branch->may_be_switch : is_reached)
				slot_search_add(search, reference->slot, branch->address, false);
		}
	}
}

/* Returns the first reference at or behind an address. */
static struct reference *reference_from(const struct call_search *search, uint64_t address)
{
	struct reference *references = search->references.items;
	const struct sorted addresses = SORTED(struct reference, address, references,
					       search->references.count);

	return references + sorted_from(&addresses, address);
}

static bool decode_function(struct call_search *search, const struct eh_function *function,
			    struct reference *first, const struct reference *end, bool *wide)
{
	const size_t size = (size_t)function->size;

	if (function->size > FUNCTION_MAX || search->decoded > DECODED_MAX ||
	    end - first > REFERRED_MAX)
		return false;
	_cleanup_free_ uint8_t *code = xmalloc(size);

	search->decoded += size;
	return elf_read(search->file, function->start, code, size) &&
	       decode(search, code, size, function->start, first, end, wide);
}

/*
 * Code that cannot be decoded refers to this GOT slot, so calls by the slot may be made anywhere in
 * it, unseen.
 */
static void give_up(const struct call_search *search, const struct reference *reference)
{
	/* elsewhere (i386) most references are there by chance */
	if (search->file->arch->is_relative)
		reference->slot->may_be_unseen = true;
}

static void visit_function(void *context, const struct eh_function *function)
{
	struct call_search *search = context;
	struct reference *first = reference_from(search, function->start);
	const struct reference *end = reference_from(search, function->start + function->size);

	if (first >= end)
		return;
	for (struct reference *one = first; one < end; one++)
		one->is_seen = true;
	vec_clear(&search->branches);
	bool wide = false;

	slot_flow_begin(search->flow, search->file, function);
	if (decode_function(search, function, first, end, &wide))
		add_branches(search, first, end, wide);
	else
		for (const struct reference *one = first; one < end; one++)
			give_up(search, one);
}

/* Visits functions that have no entry in .eh_frame, by their symbols. */
static void visit_symbols(struct call_search *search)
{
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(search->file, &count);
	const struct reference *past = (const struct reference *)search->references.items +
				       search->references.count;

	for (size_t i = 0; i < count; i++) {
		const struct elf_symbol *symbol = &symbols[i];
		const struct reference *first;

		if (symbol->type != STT_FUNC || !symbol->value || !symbol->size)
			continue;
		first = reference_from(search, symbol->value);
		if (first < past && !first->is_seen)
			visit_function(search, &(struct eh_function){.start = symbol->value,
								     .size = symbol->size});
	}
}

void slot_pointers_visit(struct call_search *search)
{
	bool all_are_seen = true;

	eh_frame_for_each(search->file, visit_function, search);
	for (size_t i = 0; i < search->references.count; i++)
		all_are_seen &= ((struct reference *)vec_at(&search->references, i))->is_seen;
	if (!all_are_seen)
		visit_symbols(search);
	for (size_t i = 0; i < search->references.count; i++) {
		const struct reference *reference = vec_at(&search->references, i);

		if (!reference->is_seen)
			give_up(search, reference);
	}
}
