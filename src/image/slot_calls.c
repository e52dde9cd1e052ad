/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See slot_calls.h.
 *
 * There are two kinds of code to be found. "call *slot" and "jmp *slot" have the 32-bit
 * displacement of the slot in them, which hardly happens by chance, so they are searched for at
 * every byte, whatever instruction that belongs to. Where there are no section headers that finds
 * the stubs of .plt.got, too.
 *
 * A compiler that calls a function more than once may instead load the slot into a register, and
 * call that as often as it likes. The loads are found by the same search: whatever else refers to
 * the slot. Which calls belong to them would take an analysis of the program's flow, but need not
 * be known: in a function that refers to a slot each call by a pointer is a place where it may be
 * called, and whoever gets there sees where it leads to. So a call of a function's address that was
 * passed on is not taken for one, unless it is made where that address was loaded. Jumps of a
 * switch are none: they would be looked at with each round of an interpreter.
 *
 * A breakpoint is to be put there, so it must not be mistaken in where instructions begin. The
 * bytes of "call *slot" are too many to be anything else; a "call *%rbx" is two bytes, which may be
 * part of anything. Therefore the function is decoded from its beginning on, which .eh_frame or
 * its symbol tells, and has to come by each reference that was found in it in the way that it
 * should: as a displacement within one instruction.
 *
 * Code of the large model refers to a slot by a number of 64 bits, what it is away from the GOT,
 * which it adds to the GOT's address in another register: that number is a reference, too. If such
 * code is not position-independent, it loads the function's address itself, which is a relocation
 * of the code (SLOT_LOADED) and takes no search.
 *
 * On i386 slots are referred to by their address or relative to the GOT, whose address a register
 * has. Which address that is differs, so all are tried: a place that is taken for one by mistake
 * costs a look at it when it is run.
 *
 * The file may be damaged or made to mislead: everything is bounded.
 */
#include "image/slot_calls.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "image/eh_frame.h"
#include "image/elf_private.h"
#include "image/relocate.h"

#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 1 << 20,
	INSN = 6,
	WORD = 4,	     /* a displacement */
	WIDE = 8,	     /* a number of the large model */
	GOTS = ELF_GOTS + 1, /* and none */
	STUB = 16,	     /* bytes of one, at most */
	PLT_HEAD = 64,
	SEARCH_MAX = 512 << 20,
	FUNCTION_MAX = 1 << 20,
	DECODED_MAX = 64 << 20,
	REFERENCES_MAX = 1 << 20,
	CALLS_MAX = 1 << 18
};

static const char too_much[] = "it has too much code to be searched for calls without a PLT";

/* A displacement, or a number of the large model, that refers to a slot. */
struct reference {
	uint64_t address;
	struct elf_slot *slot;
	bool is_wide; /* the latter */
	bool is_none; /* bytes of an operand and of what is behind it, see is_by_chance() */
	bool is_seen; /* it is in a function that has been looked at */
};

struct call_search {
	struct elf_file *file;
	struct decoder *decoder;
	struct map slots; /* address → struct elf_slot */
	struct map stubs; /* the same by the address of the stub, of all slots */
	uint64_t lowest, highest;
	uint64_t gots[GOTS]; /* what a register with the address of the GOT may hold; 0: nothing */
	struct vec found;    /* struct slot_call */
	struct vec references;
	struct vec branches; /* uint64_t: calls by pointers in the function that is decoded */
	size_t decoded;	     /* bytes */
	uint64_t first_stub, last_stub;
	bool has_thunks; /* beside the stubs */
};

/*
 * Whether an instruction is a known stub's: its own slot's, or with a wrong address of the GOT
 * another's.
 */
static bool is_in_stub(const struct call_search *search, uint64_t address)
{
	for (uint64_t back = 0; back < STUB; back++)
		if (map_get(&search->stubs, address - back))
			return true;
	return false;
}

static void add_call(struct call_search *search, const struct elf_slot *slot, uint64_t address,
		     bool certain)
{
	if (is_in_stub(search, address))
		return;
	if (search->found.count < CALLS_MAX)
		vec_push(&search->found, &(struct slot_call){slot, address, certain});
	else
		search->file->damage = too_much;
}

/*
 * The slot that the displacement at `code` refers to, or NULL. This is asked of each byte, so what
 * is out of question has to be so at once.
 */
static inline struct elf_slot *referred_at(const struct call_search *search, const uint8_t *code,
					   uint64_t address)
{
	bool by_got = search->file->arch->slot_by_got;
	int32_t word;

	memcpy(&word, code, sizeof word);
	for (size_t i = 0; i < GOTS; i++) {
		uint64_t place = by_got ? (uint32_t)(search->gots[i] + (uint32_t)word)
					: address + WORD + (uint64_t)(int64_t)word;
		struct elf_slot *slot = place < search->lowest || place > search->highest
						? NULL
						: map_get(&search->slots, place);

		if (slot || !by_got)
			return slot;
	}
	return NULL;
}

/* Whether the displacement is that of a call or a jump through the slot. */
static bool is_called_at(const struct call_search *search, const uint8_t *code, uint64_t address,
			 const struct elf_slot *slot)
{
	const struct arch *arch = search->file->arch;
	uint64_t place;

	for (size_t i = 0; *code == arch->slot_call_opcode && i < GOTS; i++)
		if (arch->slot_call(code, address, search->gots[i], &place) &&
		    place == slot->address)
			return true;
	return false;
}

/* Those of a PLT (lld: -z retpolineplt) stand in front of its stubs, or between them. */
static void search_thunks(struct call_search *search, const uint8_t *code, size_t size,
			  uint64_t address)
{
	const struct arch *arch = search->file->arch;
	const uint8_t *at = code, *end = code + size;

	while (!search->has_thunks && (at = memchr(at, arch->thunk_opcode, (size_t)(end - at))) &&
	       at + THUNK_BYTES <= end) {
		const uint64_t place = address + (uint64_t)(at - code);

		search->has_thunks = arch->is_thunk(at) &&
				     place - (search->first_stub - PLT_HEAD) >
					     search->last_stub - search->first_stub + 2 * PLT_HEAD;
		at++;
	}
}

/* The slot that the 64-bit number at `code` refers to, if an instruction loads that; or NULL. */
static struct elf_slot *widely_referred_at(const struct call_search *search, const uint8_t *code)
{
	int64_t number;

	if (!search->file->arch->wide_load(code - (WIDE_LOAD_BYTES - WIDE), &number))
		return NULL;
	for (size_t i = 0; i < GOTS; i++) {
		struct elf_slot *slot = search->gots[i]
						? map_get(&search->slots,
							  search->gots[i] + (uint64_t)number)
						: NULL;

		if (slot)
			return slot;
	}
	return NULL;
}

/* Behind the `size` bytes there are more, as far as `readable` says, for what begins in them. */
static void search_code(struct call_search *search, const uint8_t *code, size_t size,
			size_t readable, uint64_t address)
{
	const struct arch *arch = search->file->arch;

	for (size_t at = INSN - WORD; at + WORD <= size; at++) {
		struct elf_slot *slot = referred_at(search, code + at, address + at);
		size_t insn = at - (INSN - WORD);

		/* What else looks like one, as "b8 28 00 00" of a "mov $40,%eax", is none. */
		if (slot && arch->is_relative && !arch->is_relative(code[at - 1]))
			slot = NULL;

		bool is_wide = !slot && arch->wide_load && at + WIDE <= readable &&
			       elf_loads_word(arch, code[at - 1]);

		if (is_wide)
			slot = widely_referred_at(search, code + at);
		if (!slot)
			continue;
		if (is_called_at(search, code + insn, address + insn, slot))
			add_call(search, slot, address + insn, true);
		/* A static program's slot that has a stub nobody loads but who fills it. */
		else if ((!slot->stub || slot->kind == SLOT_DATA) &&
			 search->references.count < REFERENCES_MAX)
			vec_push(&search->references, &(struct reference){.address = address + at,
									  .slot = slot,
									  .is_wide = is_wide});
	}
}

static void search_segment(struct call_search *search, const struct elf_segment *segment)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE + WIDE - WORD);
	uint64_t size = segment->file_size < SEARCH_MAX ? segment->file_size : SEARCH_MAX;

	if (size < segment->file_size)
		search->file->damage = too_much;
	for (uint64_t at = 0; at < size; at += PIECE - INSN + 1) {
		size_t length = size - at < PIECE ? (size_t)(size - at) : PIECE;
		size_t behind = size - at - length < WIDE - WORD ? (size_t)(size - at - length)
								 : WIDE - WORD;

		if (!elf_file_read(search->file, segment->file_offset + at, piece, length + behind))
			return;
		search_code(search, piece, length, length + behind, segment->address + at);
		search_thunks(search, piece, length, segment->address + at);
	}
}

/* ------------------------------------------------------------------ calls by pointers */

/* The large model's, of a slot that is so far away from where a register says. */
static bool is_jump_by_offset(const struct displaced_operand *operand)
{
	return operand->memory && operand->index != OPERAND_NONE && operand->scale == 1;
}

/*
 * What is read by way of a segment register is not the program's: i386's system calls. `wide`: in a
 * function of the large model.
 */
static bool is_call_by_pointer(const struct displaced *insn, bool wide)
{
	return insn->kind == DISPLACED_EMULATE && !insn->operand.segment &&
	       (insn->action == ACTION_CALL_OPERAND ||
		/* Other jumps by way of a table are switches, and no calls. */
		(insn->action == ACTION_JUMP_OPERAND &&
		 (!insn->operand.memory || (wide && is_jump_by_offset(&insn->operand)))));
}

/* Whether a jump is that of a switch: where it leads to comes from a table. */
static bool is_switch(const struct call_search *search, const struct displaced *insn,
		      const uint8_t *before, size_t length)
{
	return insn->action == ACTION_JUMP_OPERAND && !insn->operand.memory &&
	       search->file->arch->computes_target(before, length, (unsigned)insn->operand.base);
}

/* Such are found otherwise, and known for certain. */
static bool is_through_slot(const struct call_search *search, const uint8_t *code,
			    const struct displaced *insn)
{
	size_t at = (size_t)insn->length - WORD; /* prefixes come in front */

	return insn->length >= INSN && referred_at(search, code + at, insn->address + at);
}

/*
 * Relative to the GOT slots have small negative numbers, and so have strings and variables: the
 * last bytes of such an operand, 0xff, and the opcode behind it may look like one more.
 */
static bool is_by_chance(const struct call_search *search, const struct reference *reference,
			 uint64_t insn, size_t length)
{
	return search->file->arch->slot_by_got && length > WORD &&
	       reference->address > insn + length - WORD;
}

/* Decodes a function that has these references: false when they are not where they should be. */
static bool decode(struct call_search *search, const uint8_t *code, size_t size, uint64_t address,
		   struct reference *reference, const struct reference *end)
{
	const struct arch *arch = search->file->arch;
	bool wide = false;

	for (const struct reference *one = reference; one < end; one++)
		wide |= one->is_wide;
	for (size_t at = 0, before = 0; at < size;) {
		struct displaced insn = {.length = 0};
		uint64_t here = address + at;

		if (arch->displace(search->decoder, code + at, size - at, here, &insn) ||
		    !insn.length)
			break;
		for (; reference < end && reference->address < here + insn.length; reference++) {
			if (reference->address > here &&
			    reference->address + WORD <= here + insn.length)
				continue;
			reference->is_none = is_by_chance(search, reference, here, insn.length);
			if (!reference->is_none)
				return false;
		}
		if (is_call_by_pointer(&insn, wide) && !is_through_slot(search, code + at, &insn) &&
		    !is_switch(search, &insn, code + before, at - before))
			vec_push(&search->branches, &here);
		before = at;
		at += insn.length;
	}
	return reference == end;
}

/* Each of the branches may be a call by each of the slots. */
static void add_branches(struct call_search *search, const struct reference *first,
			 const struct reference *end)
{
	for (const struct reference *reference = first; reference < end; reference++) {
		const struct reference *before = first;

		while (before < reference && (before->is_none || before->slot != reference->slot))
			before++;
		for (size_t i = 0;
		     before == reference && !reference->is_none && i < search->branches.count; i++)
			add_call(search, reference->slot, *(uint64_t *)vec_at(&search->branches, i),
				 false);
	}
}

/* The first reference at or behind an address. */
static struct reference *reference_from(const struct call_search *search, uint64_t address)
{
	struct reference *references = search->references.items;
	size_t low = 0, high = search->references.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (references[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return references + low;
}

static bool decode_function(struct call_search *search, const struct eh_function *function,
			    struct reference *first, const struct reference *end)
{
	const size_t size = (size_t)function->size;

	if (function->size > FUNCTION_MAX || search->decoded > DECODED_MAX)
		return false;
	_cleanup_free_ uint8_t *code = xmalloc(size);

	search->decoded += size;
	return elf_read(search->file, function->start, code, size) &&
	       decode(search, code, size, function->start, first, end);
}

/* Calls by what is referred to in code of which nothing is known may be anywhere. */
static void give_up(const struct call_search *search, const struct reference *reference)
{
	if (search->file->arch->is_relative) /* else most are there by chance */
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
	if (decode_function(search, function, first, end))
		add_branches(search, first, end);
	else
		for (const struct reference *one = first; one < end; one++)
			give_up(search, one);
}

/* Functions that .eh_frame does not know, as their symbols tell. */
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

static void visit_all(struct call_search *search)
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

/* ------------------------------------------------------------------ putting it together */

static void collect_stubs(struct call_search *search)
{
	const struct elf_file *file = search->file;

	for (size_t i = file->slot_count; i-- > 0;) {
		struct elf_slot *slot = &file->slots[i];

		if (slot->stub)
			map_put(&search->stubs, slot->stub, slot);
		if (slot->stub && (!search->first_stub || slot->stub < search->first_stub))
			search->first_stub = slot->stub;
		if (slot->stub > search->last_stub)
			search->last_stub = slot->stub;
	}
}

/* Whether calls by the slot, none of a stub itself, go by a stub that they are seen at. */
static bool leads_to_stub(const struct call_search *search, const struct elf_slot *slot)
{
	return slot->kind != SLOT_JUMP && slot->canonical &&
	       map_get(&search->stubs, slot->canonical);
}

static void collect_slots(struct call_search *search)
{
	struct elf_file *file = search->file;

	search->lowest = UINT64_MAX;
	/* The first relocation of a slot is the one that counts. */
	for (size_t i = file->slot_count; i-- > 0;) {
		struct elf_slot *slot = &file->slots[i];

		if (leads_to_stub(search, slot) || (slot->stub && slot->kind == SLOT_JUMP) ||
		    elf_slot_is_code(slot))
			continue;
		map_put(&search->slots, slot->address, slot);
		if (slot->address < search->lowest)
			search->lowest = slot->address;
		if (slot->address > search->highest)
			search->highest = slot->address;
	}
}

static int compare_references(const void *left, const void *right)
{
	const struct reference *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int compare_calls(const void *left, const void *right)
{
	const struct slot_call *a = left, *b = right;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Of several places where a function's address is loaded one stands for all of them. */
static void add_loaded(struct call_search *search, struct map *functions, struct elf_slot *slot)
{
	const uint64_t name = (uint64_t)(uintptr_t)slot->name;
	struct elf_slot *first = map_get(functions, name);

	if (!first)
		map_put(functions, name, slot);
	if (search->references.count < REFERENCES_MAX)
		vec_push(&search->references, &(struct reference){.address = slot->address,
								  .slot = first ? first : slot});
}

/* In code that is relocated itself: the opcode is in front of what the relocation changes. */
static void add_relocated(struct call_search *search)
{
	const struct elf_file *file = search->file;
	struct map functions = {0}; /* a name → struct elf_slot */

	for (size_t i = 0; i < file->slot_count; i++) {
		struct elf_slot *slot = &file->slots[i];

		if (leads_to_stub(search, slot))
			continue;
		if (slot->kind == SLOT_CODE)
			add_call(search, slot, slot->address - 1, true);
		else if (slot->kind == SLOT_LOADED)
			add_loaded(search, &functions, slot);
	}
	map_deinit(&functions);
}

static void find(struct call_search *search)
{
	const struct elf_file *file = search->file;

	collect_stubs(search);
	collect_slots(search);
	add_relocated(search);
	for (size_t i = 0; search->slots.count && i < file->segment_count; i++)
		if (file->segments[i].flags & PF_X)
			search_segment(search, &file->segments[i]);
	for (size_t i = 0; search->has_thunks && i < search->references.count; i++)
		((struct reference *)vec_at(&search->references, i))->slot->may_be_unseen = true;
	if (search->references.count) {
		qsort(search->references.items, search->references.count,
		      search->references.item_size, compare_references);
		visit_all(search);
	}
	if (search->found.count)
		qsort(search->found.items, search->found.count, search->found.item_size,
		      compare_calls);
	vec_deinit(&search->references);
	vec_deinit(&search->branches);
	map_deinit(&search->slots);
	map_deinit(&search->stubs);
}

const struct slot_call *slot_calls(struct elf_file *file, struct decoder *decoder, size_t *count)
{
	size_t slots;

	elf_slots(file, &slots);
	if (!file->slot_calls_read) {
		struct call_search search = {.file = file,
					     .decoder = decoder,
					     .found = VEC_OF(struct slot_call),
					     .references = VEC_OF(struct reference),
					     .branches = VEC_OF(uint64_t)};

		file->slot_calls_read = true;
		elf_find_gots(file, search.gots);
		find(&search);
		file->slot_calls = search.found.items;
		file->slot_call_count = search.found.count;
	}
	*count = file->slot_call_count;
	return file->slot_calls;
}
