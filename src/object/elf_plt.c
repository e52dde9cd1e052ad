/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which PLT stub jumps through which GOT slot, by decoding stubs and not by counting them.
 *
 * Stubs are in executable sections named .plt* (.plt, .plt.sec, .plt.got) or .iplt. They begin at
 * multiples of 8 or 16 bytes. A lazy IBT PLT also has stubs that only push an index; these do not
 * jump through a GOT slot and are skipped: calls go to .plt.sec. Some linkers put another
 * instruction in front of the jump (mold loads the index first), so a second pass searches each
 * 16-byte entry for a jump anywhere in it; calls go to the beginning of the entry.
 *
 * i386 PIC stubs address GOT slots relative to ebx, which holds the address of
 * _GLOBAL_OFFSET_TABLE_ (elf_got.c). A wrong value of ebx could assign a stub to a neighbouring GOT
 * slot. So the value with which most GOT slots find a stub is taken, and no value if it is not even
 * half of them.
 *
 * Without section headers, all executable bytes are searched at multiples of 8, but only for GOT
 * slots that belong to a PLT (JUMP_SLOT): a compiler's own jump through a GLOB_DAT slot, in code
 * built without PLT, is not a stub.
 */
#include "object/elf_plt.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "object/elf_got.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_sections.h"

#include <string.h>

enum {
	STUB_ALIGN = 8,
	ENTRY_ALIGN = 16,
	PLT_MAX = 64 << 20,  /* bytes of one section */
	SCAN_MAX = 128 << 20 /* bytes of segments searched in a file without section headers */
};

struct stub_search {
	struct elf_file *file;
	struct map slots; /* address → struct got_slot that has no stub yet */
	/* number of these that should have a stub: all but GLOB_DAT, which seldom have one */
	size_t expected;
	uint64_t got;
	bool jump_slots_only;
};

static bool is_plt(const struct elf_file *file, const GElf_Shdr *section)
{
	const char *name = elf_section_name(file, section);

	return section->sh_type == SHT_PROGBITS && section->sh_flags & SHF_EXECINSTR &&
	       section->sh_size <= PLT_MAX && (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt"));
}

/* Sets `stub` in the slot through which the code at `address` jumps, if that has no stub yet. */
static bool try_stub(struct stub_search *search, const uint8_t *code, size_t length,
		     uint64_t address, uint64_t stub)
{
	uint64_t place;

	if (!search->file->arch->plt_slot(code, length, address, search->got, &place))
		return false;
	struct got_slot *slot = map_get(&search->slots, place);

	if (!slot || (search->jump_slots_only && slot->kind != SLOT_JUMP))
		return false;
	slot->stub = stub;
	search->expected -= slot->kind != SLOT_DATA;
	map_remove(&search->slots, place);
	return true;
}

/* Finds stubs that begin at multiples of 8 bytes. */
static void scan_starts(struct stub_search *search, const uint8_t *code, size_t size,
			uint64_t address)
{
	size_t skip = (size_t)(-address & (STUB_ALIGN - 1));

	for (size_t at = skip; at < size && search->slots.count; at += STUB_ALIGN)
		try_stub(search, code + at, size - at, address + at, address + at);
}

/* Finds jumps inside of entries that begin with another instruction. */
static void scan_entries(struct stub_search *search, const uint8_t *code, size_t size,
			 uint64_t address)
{
	for (size_t at = 0; at < size && search->expected; at++) {
		uint64_t stub = (address + at) & ~(uint64_t)(ENTRY_ALIGN - 1);

		if (stub >= address)
			try_stub(search, code + at, size - at, address + at, stub);
	}
}

typedef void code_scan(struct stub_search *search, const uint8_t *code, size_t size,
		       uint64_t address);

/* Returns false if there is no PLT section. */
static bool scan_sections(struct stub_search *search, code_scan *scan)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(search->file, &count);
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		if (!is_plt(search->file, &sections[i]))
			continue;
		found = true;
		_cleanup_free_ uint8_t *code = elf_file_load(search->file, sections[i].sh_offset,
							     sections[i].sh_size);

		if (code)
			scan(search, code, sections[i].sh_size, sections[i].sh_addr);
	}
	return found;
}

static void scan_segments(struct stub_search *search)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(search->file, &count);
	uint64_t left = SCAN_MAX;

	search->jump_slots_only = true;
	for (size_t i = 0; i < count && search->expected; i++) {
		if (!(segments[i].flags & PF_X))
			continue;
		uint64_t size = segments[i].file_size < left ? segments[i].file_size : left;
		_cleanup_free_ uint8_t *code = elf_file_load(search->file, segments[i].file_offset,
							     size);

		if (code)
			scan_starts(search, code, size, segments[i].address);
		left -= size;
	}
}

/*
 * Finds stubs, assuming that ebx holds `got`. Returns how many of the slots that should have a stub
 * got one. Of several relocations of one slot only the first counts: DT_JMPREL comes first.
 */
static size_t scan_with_got(struct stub_search *search, struct got_slot *slots, size_t count,
			    uint64_t got)
{
	size_t expected = 0;

	for (size_t i = count; i-- > 0;) {
		slots[i].stub = 0;
		if (!got_slot_is_code(&slots[i]))
			map_put(&search->slots, slots[i].address, &slots[i]);
	}
	for (size_t i = 0; i < count; i++)
		expected += slots[i].kind != SLOT_DATA &&
			    map_get(&search->slots, slots[i].address) == &slots[i];
	search->got = got;
	search->expected = expected;
	if (!scan_sections(search, scan_starts))
		scan_segments(search);
	else if (search->expected)
		scan_sections(search, scan_entries);
	return expected - search->expected;
}

void elf_find_stubs(struct elf_file *file, struct got_slot *slots, size_t count)
{
	uint64_t candidates[ELF_GOTS];
	struct stub_search search = {.file = file};
	size_t found = 0, best = 0, best_found = 0;
	size_t i;

	elf_find_gots(file, candidates);
	for (i = 0; i < ELF_GOTS; i++) {
		found = scan_with_got(&search, slots, count, candidates[i]);
		if (!search.expected)
			break;
		if (found > best_found) {
			best = i;
			best_found = found;
		}
	}
	if (i == ELF_GOTS)
		found = scan_with_got(&search, slots, count, candidates[best]);
	if (found < search.expected)
		for (i = 0; i < count; i++)
			slots[i].stub = 0;
	map_deinit(&search.slots);
}
