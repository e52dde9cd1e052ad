/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the address of _GLOBAL_OFFSET_TABLE_, which i386 code keeps in a register and refers to GOT
 * slots by. This address is DT_PLTGOT with nearly every linker, and .got with some versions of
 * mold. Without section headers the code tells it: it adds a constant to its own address. The first
 * such sum that is an address in writable memory is right, because all code of a file uses the same
 * address.
 */
#include "object/elf_got.h"

#include "base/cleanup.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_sections.h"

#include <string.h>

enum {
	INSNS = 11,
	SEARCH_MAX = 4 << 20 /* in bytes; start-up code is near the beginning */
};

static uint64_t section_address(struct elf_file *file, const char *name)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(elf_section_name(file, &sections[i]), name))
			return sections[i].sh_addr;
	return 0;
}

static bool is_written(const struct elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->segment_count; i++)
		if (file->segments[i].flags & PF_W && address >= file->segments[i].address &&
		    address - file->segments[i].address < file->segments[i].memory_size)
			return true;
	return false;
}

static uint64_t search(const struct elf_file *file, const struct elf_segment *segment)
{
	size_t size = segment->file_size < SEARCH_MAX ? (size_t)segment->file_size : SEARCH_MAX;
	_cleanup_free_ uint8_t *code = elf_file_load(file, segment->file_offset, size);
	uint64_t got;

	for (size_t at = 0; code && at + INSNS <= size; at++)
		if (file->arch->loads_got(code + at, segment->address + at, &got) &&
		    is_written(file, got))
			return got;
	return 0;
}

void elf_find_gots(struct elf_file *file, uint64_t gots[ELF_GOTS])
{
	gots[0] = file->tags[DT_PLTGOT];
	gots[1] = section_address(file, ".got.plt");
	gots[2] = section_address(file, ".got");
	gots[3] = 0;
	if (!file->arch->loads_got || gots[1] || gots[2])
		return;
	for (size_t i = 0; !gots[3] && i < file->segment_count; i++)
		if (file->segments[i].flags & PF_X)
			gots[3] = search(file, &file->segments[i]);
}
