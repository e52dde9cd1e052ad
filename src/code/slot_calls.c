/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See slot_calls.h.
 *
 * Two kinds of code are searched for. "call *slot" and "jmp *slot" contain the 32-bit displacement
 * of the GOT slot. Other code hardly ever contains these bytes by chance, so the search tries every
 * byte and does not decode instructions. Without section headers it finds the stubs of .plt.got,
 * too.
 *
 * Any other reference to a GOT slot loads it: slot_pointers.c finds the calls by what was loaded.
 *
 * i386 code refers to a GOT slot by its address, or relative to the GOT, whose address is in a
 * register. Which GOT address the register holds varies, so all candidates are tried: a place that
 * is taken for a call by mistake costs a comparison each time it runs.
 *
 * The file may be damaged or made to mislead, so all loops and sizes are bounded.
 */
#include "code/slot_calls.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "code/slot_pointers.h"
#include "code/slot_search.h"
#include "object/elf_got.h"
#include "object/elf_got_slots.h"
#include "object/elf_records.h"

#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 1 << 20,
	WIDE = 8,   /* bytes of a number of the large code model */
	BEFORE = 5, /* bytes of an instruction in front of its displacement */
	PLT_HEAD = 64,
	SEARCH_MAX = 512 << 20,
	REFERENCES_MAX = 1 << 20
};

/* Returns true if the displacement belongs to a call or a jump through the GOT slot. */
static bool is_called_at(const struct call_search *search, const uint8_t *code, uint64_t address,
			 const struct got_slot *slot)
{
	const struct arch *arch = search->file->arch;
	uint64_t place;

	for (size_t i = 0; *code == arch->slot_call_opcode && i < GOTS; i++)
		if (arch->slot_call(code, address, search->gots[i], &place) &&
		    place == slot->address)
			return true;
	return false;
}

/*
 * Looks for retpoline thunks outside of the PLT. Thunks in front of the PLT's stubs or between them
 * belong to the PLT (lld: -z retpolineplt) and do not count.
 */
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

/*
 * Returns the GOT slot that the 64-bit number at `code` refers to, or NULL. The number has to be
 * the operand of an instruction that loads it.
 */
static struct got_slot *widely_referred_at(const struct call_search *search, const uint8_t *code)
{
	int64_t number;

	if (!search->file->arch->wide_load(code - (WIDE_LOAD_BYTES - WIDE), &number))
		return NULL;
	for (size_t i = 0; i < GOTS; i++) {
		struct got_slot *slot = search->gots[i]
						? map_get(&search->slots,
							  search->gots[i] + (uint64_t)number)
						: NULL;

		if (slot)
			return slot;
	}
	return NULL;
}

/*
 * Searches `size` bytes of code. `readable` bytes can be read, so an instruction may extend beyond
 * `size`.
 */
static void search_code(struct call_search *search, const uint8_t *code, size_t size,
			size_t readable, uint64_t address)
{
	const struct arch *arch = search->file->arch;

	for (size_t at = INSN - WORD; at + WORD <= size; at++) {
		struct got_slot *slot = referred_at(search, code + at, address + at);

		if (!slot && at >= BEFORE && arch->behind_displacement &&
		    arch->is_relative(code[at - 1]) && arch->behind_displacement(code + at))
			slot = referred_at(search, code + at,
					   address + at + arch->behind_displacement(code + at));
		size_t insn = at - (INSN - WORD);

		/*
		 * A ModRM byte must come first. "b8 28 00 00" of a "mov $40,%eax" only looks like a
		 * reference.
		 */
		if (slot && arch->is_relative && !arch->is_relative(code[at - 1]))
			slot = NULL;

		bool is_wide = !slot && arch->wide_load && at + WIDE <= readable &&
			       elf_loads_word(arch, code[at - 1]);

		if (is_wide)
			slot = widely_referred_at(search, code + at);
		if (!slot)
			continue;
		if (is_called_at(search, code + insn, address + insn, slot))
			slot_search_add(search, slot, address + insn, true);
		else if (search->references.count < REFERENCES_MAX)
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
		slot_search_cut(search);
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

/* ------------------------------------------------------------------ combining the results */

static void collect_stubs(struct call_search *search)
{
	const struct elf_file *file = search->file;

	for (size_t i = file->slot_count; i-- > 0;) {
		struct got_slot *slot = &file->slots[i];

		if (slot->stub)
			map_put(&search->stubs, slot->stub, slot);
		if (slot->stub && (!search->first_stub || slot->stub < search->first_stub))
			search->first_stub = slot->stub;
		if (slot->stub > search->last_stub)
			search->last_stub = slot->stub;
	}
}

/*
 * Returns true if the slot is not the one of a PLT stub itself, and its function's address is that
 * of a PLT stub: calls by the slot run through that stub and are seen there.
 */
static bool leads_to_stub(const struct call_search *search, const struct got_slot *slot)
{
	return slot->kind != SLOT_JUMP && slot->canonical &&
	       map_get(&search->stubs, slot->canonical);
}

static void collect_slots(struct call_search *search)
{
	struct elf_file *file = search->file;

	search->lowest = UINT64_MAX;
	/*
	 * Backwards, so that of several relocations of a GOT slot the first one stays in the map.
	 */
	for (size_t i = file->slot_count; i-- > 0;) {
		struct got_slot *slot = &file->slots[i];

		if (leads_to_stub(search, slot) || (slot->stub && slot->kind == SLOT_JUMP) ||
		    got_slot_is_code(slot))
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

/*
 * Adds a place where code loads a function's address. The first such place of each function stands
 * for all of them.
 */
static void add_loaded(struct call_search *search, struct map *functions, struct got_slot *slot)
{
	const uint64_t name = (uint64_t)(uintptr_t)slot->name;
	struct got_slot *first = map_get(functions, name);

	if (!first)
		map_put(functions, name, slot);
	if (search->references.count < REFERENCES_MAX)
		vec_push(&search->references, &(struct reference){.address = slot->address,
								  .slot = first ? first : slot});
}

/*
 * Adds calls and loads in code that is itself relocated. The opcode of a call is the byte in front
 * of the relocated word.
 */
static void add_relocated(struct call_search *search)
{
	const struct elf_file *file = search->file;
	struct map functions = {0}; /* name of a function → struct got_slot */

	for (size_t i = 0; i < file->slot_count; i++) {
		struct got_slot *slot = &file->slots[i];

		if (leads_to_stub(search, slot))
			continue;
		if (slot->kind == SLOT_CODE)
			slot_search_add(search, slot, slot->address - 1, true);
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
		slot_pointers_visit(search);
	}
	if (search->found.count)
		qsort(search->found.items, search->found.count, search->found.item_size,
		      compare_calls);
	vec_deinit(&search->references);
	vec_deinit(&search->branches);
	vec_deinit(&search->reached);
	slot_flow_destroy(search->flow);
	map_deinit(&search->slots);
	map_deinit(&search->stubs);
}

const struct slot_call *slot_calls(struct elf_file *file, struct decoder *decoder, size_t *count)
{
	size_t slots;

	elf_got_slots(file, &slots);
	if (!file->slot_calls_read) {
		struct call_search search = {.file = file,
					     .decoder = decoder,
					     .found = VEC_OF(struct slot_call),
					     .references = VEC_OF(struct reference),
					     .branches = VEC_OF(struct branch),
					     .reached = VEC_OF(uint64_t),
					     .flow = slot_flow_create(file->arch)};

		file->slot_calls_read = true;
		elf_find_gots(file, search.gots);
		find(&search);
		file->slot_calls = search.found.items;
		file->slot_call_count = search.found.count;
	}
	*count = file->slot_call_count;
	return file->slot_calls;
}
