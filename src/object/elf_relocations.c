/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the dynamic relocations in blocks. A large program has millions of them, nearly all
 * RELATIVE. Linkers sort these to the front and count them (DT_RELACOUNT), so they can be skipped
 * unread.
 *
 * DT_JMPREL may be inside of the range of DT_RELA (some linkers count it in); its relocations are
 * visited only once. A static program has no dynamic section; its start-up code applies the
 * relocations in sections such as .rela.plt, .rela.iplt or .rel.dyn.
 */
#include "object/elf_relocations.h"

#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_sections.h"

enum { BLOCK = 512 };

static const char damaged[] = "its table of relocations is damaged";

/* A table of relocations at a file offset. `skip_*`: the part that another table covers. */
struct relocation_table {
	uint64_t offset, size;
	uint64_t first; /* index of the record to begin with */
	bool implicit;	/* REL: the addend is in the word to be relocated */
	uint64_t skip_offset, skip_size;
};

static bool read_block(const struct elf_file *file, bool implicit, uint64_t offset, size_t count,
		       GElf_Rela *out)
{
	GElf_Rel narrow[BLOCK];

	if (!implicit)
		return elf_read_records(file, ELF_T_RELA, offset, count, out);
	if (!elf_read_records(file, ELF_T_REL, offset, count, narrow))
		return false;
	for (size_t i = 0; i < count; i++)
		out[i] = (GElf_Rela){.r_offset = narrow[i].r_offset, .r_info = narrow[i].r_info};
	return true;
}

static bool walk(struct elf_file *file, const struct relocation_table *table,
		 elf_relocation_visitor *visit, void *context)
{
	GElf_Rela block[BLOCK];
	size_t size = elf_record_size(file, table->implicit ? ELF_T_REL : ELF_T_RELA);
	uint64_t count = table->size / size;

	if (count > ELF_RELOCATIONS_MAX) {
		file->damage = damaged;
		count = ELF_RELOCATIONS_MAX;
	}
	for (uint64_t at = table->first; at < count;) {
		size_t some = count - at < BLOCK ? (size_t)(count - at) : BLOCK;

		if (!read_block(file, table->implicit, table->offset + at * size, some, block)) {
			file->damage = damaged;
			return true;
		}
		for (size_t i = 0; i < some; i++, at++)
			if (table->offset + at * size - table->skip_offset >= table->skip_size &&
			    !visit(context, &block[i], table->implicit))
				return false;
	}
	return true;
}

/* Returns the table whose address and size two tags tell; its size is 0 if there is none. */
static struct relocation_table find_table(struct elf_file *file, unsigned address_tag,
					  unsigned size_tag, bool implicit)
{
	struct relocation_table table = {.implicit = implicit};
	uint64_t available;

	if (!file->tags[address_tag] || !file->tags[size_tag])
		return table;
	if (!elf_locate(file, file->tags[address_tag], &table.offset, &available)) {
		file->damage = damaged;
		return table;
	}
	table.size = file->tags[size_tag];
	if (table.size > available) {
		file->damage = damaged;
		table.size = available;
	}
	return table;
}

static void walk_dynamic(struct elf_file *file, bool relative, elf_relocation_visitor *visit,
			 void *context)
{
	struct relocation_table tables[] = {
		find_table(file, DT_JMPREL, DT_PLTRELSZ, file->tags[DT_PLTREL] == DT_REL),
		find_table(file, DT_RELA, DT_RELASZ, false),
		find_table(file, DT_REL, DT_RELSZ, true),
	};

	for (size_t i = 1; i < 3; i++) {
		tables[i].first = relative ? 0 : file->relative_count;
		tables[i].skip_offset = tables[0].offset;
		tables[i].skip_size = tables[0].size;
	}
	for (size_t i = 0; i < 3; i++)
		if (!walk(file, &tables[i], visit, context))
			return;
}

static void walk_sections(struct elf_file *file, elf_relocation_visitor *visit, void *context)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	for (size_t i = 0; i < count; i++) {
		struct relocation_table table = {.offset = sections[i].sh_offset,
						 .size = sections[i].sh_size,
						 .implicit = sections[i].sh_type == SHT_REL};

		if ((sections[i].sh_type == SHT_RELA || table.implicit) &&
		    sections[i].sh_flags & SHF_ALLOC && !walk(file, &table, visit, context))
			return;
	}
}

void elf_for_each_relocation(struct elf_file *file, bool relative, elf_relocation_visitor *visit,
			     void *context)
{
	if (file->tags[DT_JMPREL] || file->tags[DT_RELA] || file->tags[DT_REL])
		walk_dynamic(file, relative, visit, context);
	else
		walk_sections(file, visit, context);
}
