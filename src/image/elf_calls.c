/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that go through a GOT slot but by no PLT stub: code built with -fno-plt, by rustc for example,
 * has "call *slot" in place of "call stub". Nothing can be planted for these as a whole, so it has to be
 * known that they are there. A slot without a stub alone tells nothing: it may hold the address of a
 * function that is only passed on.
 *
 * The code is searched for such instructions at every byte, whatever instruction that belongs to. What
 * is found has the 32-bit displacement of a slot in it, which hardly happens by chance.
 */
#include "image/elf_private.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/xalloc.h"

#include <string.h>

enum { PIECE = 1 << 20, INSN = 6, SEARCH_MAX = 512 << 20 };

struct call_search {
	struct elf_file *file;
	struct map slots; /* address → struct elf_slot without a stub */
	uint64_t gots[3]; /* what an i386 register with the address of the GOT may hold */
};

static void search_code(struct call_search *search, const uint8_t *code, size_t size,
			uint64_t address)
{
	const struct arch *arch = search->file->arch;

	for (size_t at = 0; at + INSN <= size; at++) {
		uint64_t place;

		if (code[at] != arch->slot_call_opcode)
			continue;
		for (size_t i = 0; i < 3; i++) {
			struct elf_slot *slot = arch->slot_call(code + at, address + at,
								search->gots[i], &place)
							? map_get(&search->slots, place)
							: NULL;

			if (slot)
				slot->called = true;
		}
	}
}

static void search_segment(struct call_search *search, const struct elf_segment *segment)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE);
	uint64_t size = segment->file_size < SEARCH_MAX ? segment->file_size : SEARCH_MAX;

	if (size < segment->file_size)
		search->file->damage =
			"it has too much code to be searched for calls without a PLT";

	for (uint64_t at = 0; at < size; at += PIECE - INSN) {
		size_t length = size - at < PIECE ? (size_t)(size - at) : PIECE;

		if (!elf_file_read(search->file, segment->file_offset + at, piece, length))
			return;
		search_code(search, piece, length, segment->address + at);
	}
}

static uint64_t section_address(struct elf_file *file, const char *name)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(elf_section_name(file, &sections[i]), name))
			return sections[i].sh_addr;
	return 0;
}

void elf_find_calls(struct elf_file *file)
{
	struct call_search search = {.file = file};
	size_t count;

	elf_slots(file, &count);
	if (file->calls_read)
		return;
	file->calls_read = true;
	search.gots[0] = file->tags[DT_PLTGOT];
	search.gots[1] = section_address(file, ".got.plt");
	search.gots[2] = section_address(file, ".got");
	for (size_t i = 0; i < count; i++)
		if (!file->slots[i].stub && file->slots[i].name)
			map_put(&search.slots, file->slots[i].address, &file->slots[i]);
	for (size_t i = 0; search.slots.count && i < file->segment_count; i++)
		if (file->segments[i].flags & PF_X)
			search_segment(&search, &file->segments[i]);
	map_deinit(&search.slots);
}
