/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the symbol tables of a file and their names, as they are in the file: see elf_symtab.h. */
#include "object/elf_symtab.h"

#include "object/elf_hash.h"
#include "object/elf_records.h"
#include "object/elf_sections.h"

#include <string.h>

/* Cuts all names at once: an offset behind an '@' still leads to a string with the same end. */
struct string_table elf_load_names(const struct elf_file *file, uint64_t offset, uint64_t size)
{
	struct string_table names = {.text = elf_file_load(file, offset, size), .size = size};

	if (!names.text)
		return (struct string_table){0};
	for (char *at = names.text; (at = memchr(at, '@', names.size - (size_t)(at - names.text)));)
		*at = '\0';
	return names;
}

const struct string_table *elf_dynamic_names(struct elf_file *file)
{
	uint64_t size = file->tags[DT_STRSZ];
	uint64_t offset, available;

	if (file->dynamic_names_read)
		return &file->dynamic_names;
	file->dynamic_names_read = true;
	if (file->tags[DT_STRTAB] && elf_locate(file, file->tags[DT_STRTAB], &offset, &available))
		file->dynamic_names = elf_load_names(file, offset,
						     size < available ? size : available);
	return &file->dynamic_names;
}

const char *elf_name_at(const struct string_table *names, uint64_t offset)
{
	if (!names->text || offset >= names->size)
		return NULL;
	return names->text[offset] ? names->text + offset : NULL;
}

GElf_Sym *elf_load_dynamic_symbols(struct elf_file *file, size_t *count)
{
	uint64_t offset, available;

	*count = elf_dynamic_symbol_count(file);
	if (!*count || !elf_locate(file, file->tags[DT_SYMTAB], &offset, &available))
		return NULL;
	return elf_load_records(file, ELF_T_SYM, offset, *count);
}

bool elf_find_symtab(struct elf_file *file, const GElf_Shdr **symbols, const GElf_Shdr **names)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	*symbols = elf_section_of_type(file, SHT_SYMTAB);
	if (!*symbols || (*symbols)->sh_link >= count)
		return false;
	*names = &sections[(*symbols)->sh_link];
	return (*names)->sh_type == SHT_STRTAB;
}
