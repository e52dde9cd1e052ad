/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads section headers, which serve to find .symtab and the PLTs. A stripped file may have none,
 * so nothing depends on them alone.
 */
#include "object/elf_sections.h"

#include "base/cleanup.h"
#include "object/elf_private.h"
#include "object/elf_records.h"

#include <string.h>

/* Counts that are too large for the ELF header are in fields of the first section header. */
static void read_counts(const struct elf_file *file, uint64_t *count, uint64_t *names)
{
	GElf_Shdr first;

	*count = file->header.e_shnum;
	*names = file->header.e_shstrndx;
	if ((*count && *names != SHN_XINDEX) ||
	    !elf_read_records(file, ELF_T_SHDR, file->header.e_shoff, 1, &first))
		return;
	if (!*count)
		*count = first.sh_size;
	if (*names == SHN_XINDEX)
		*names = first.sh_link;
}

static void read_sections(struct elf_file *file)
{
	uint64_t count, names;

	if (!file->header.e_shoff || file->header.e_shentsize != elf_record_size(file, ELF_T_SHDR))
		return;
	read_counts(file, &count, &names);
	if (count <= ELF_SECTIONS_MAX)
		file->sections = elf_load_records(file, ELF_T_SHDR, file->header.e_shoff, count);
	if (!file->sections) {
		if (count)
			file->damage =
				"its section headers are damaged, so its symbol table is unknown";
		return;
	}
	file->section_count = count;
	if (names >= count || file->sections[names].sh_type != SHT_STRTAB)
		return;
	file->section_names = elf_file_load(file, file->sections[names].sh_offset,
					    file->sections[names].sh_size);
	if (file->section_names)
		file->section_names_size = file->sections[names].sh_size;
}

const GElf_Shdr *elf_sections(struct elf_file *file, size_t *count)
{
	if (!file->sections_read) {
		file->sections_read = true;
		read_sections(file);
	}
	*count = file->section_count;
	return file->sections;
}

const char *elf_section_name(const struct elf_file *file, const GElf_Shdr *section)
{
	return section->sh_name < file->section_names_size ? file->section_names + section->sh_name
							   : "";
}

const GElf_Shdr *elf_section_of_type(struct elf_file *file, uint32_t type)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	for (size_t i = 0; i < count; i++)
		if (sections[i].sh_type == type)
			return &sections[i];
	return NULL;
}
