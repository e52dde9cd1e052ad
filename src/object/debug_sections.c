/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the debug sections of a file, and decompresses them when they are first asked for. Sections
 * that are not within the file, or have a damaged header, are left out; sizes are bounded.
 */
#include "object/debug_sections.h"

#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_sections.h"
#include "object/inflate.h"

#include <stdlib.h>
#include <string.h>

static uint64_t get_big_endian(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return value;
}

/* ".zdebug_*": "ZLIB", the decompressed size as 8 bytes in big endian, the compressed data. */
static bool take_old_form(const struct elf_file *file, struct debug_section *section)
{
	uint8_t header[12];

	if (section->stored < sizeof header ||
	    !elf_file_read(file, section->offset, header, sizeof header) ||
	    memcmp(header, "ZLIB", 4))
		return false;
	section->size = get_big_endian(header + 4);
	section->offset += sizeof header;
	section->stored -= sizeof header;
	section->compressed = true;
	return true;
}

/* SHF_COMPRESSED: the compressed data follows a header that the ELF specification defines. */
static bool take_compressed(struct debug_sections *sections, struct debug_section *section)
{
	const struct elf_file *file = sections->file;
	bool wide = file->arch->elf_class == ELFCLASS64;
	size_t size = wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	Elf64_Chdr header;
	Elf32_Chdr narrow;

	if (section->stored < size ||
	    !elf_file_read(file, section->offset, wide ? (void *)&header : (void *)&narrow, size))
		return false;
	if (!wide)
		header = (Elf64_Chdr){.ch_type = narrow.ch_type, .ch_size = narrow.ch_size};
	if (header.ch_type != ELFCOMPRESS_ZLIB) {
		sections->has_unknown = true;
		return false;
	}
	section->size = header.ch_size;
	section->offset += size;
	section->stored -= size;
	section->compressed = true;
	return true;
}

/* Returns the name of the uncompressed section if it is one that matters, or NULL. */
static const char *plain_name(const char *name)
{
	static const char *const names[] = {
		".debug_info",	   ".debug_abbrev",  ".debug_str",    ".debug_str_offsets",
		".debug_line_str", ".debug_addr",    ".debug_ranges", ".debug_rnglists",
		".debug_types",	   ".debug_aranges", ".debug_loc",    ".debug_loclists",
		".debug_line"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]) ||
		    (!strncmp(name, ".z", 2) && !strcmp(name + 2, names[i] + 1)))
			return names[i];
	return NULL;
}

static void take_section(struct debug_sections *sections, const GElf_Shdr *header)
{
	const struct elf_file *file = sections->file;
	const char *stored_name = elf_section_name(file, header);
	struct debug_section section = {.name = plain_name(stored_name),
					.size = header->sh_size,
					.offset = header->sh_offset,
					.stored = header->sh_size};

	if (!section.name || header->sh_type == SHT_NOBITS || !section.stored ||
	    section.offset > file->size || section.stored > file->size - section.offset ||
	    sections->count == DEBUG_SECTIONS_MAX || debug_section_find(sections, section.name))
		return;
	if (header->sh_flags & SHF_COMPRESSED) {
		if (!take_compressed(sections, &section))
			return;
	} else if (stored_name[1] == 'z' && !take_old_form(file, &section)) {
		return;
	}
	sections->items[sections->count++] = section;
}

void debug_sections_init(struct debug_sections *sections, struct elf_file *file)
{
	size_t count;
	const GElf_Shdr *headers = elf_sections(file, &count);

	*sections = (struct debug_sections){.file = file};
	for (size_t i = 0; i < count; i++)
		take_section(sections, &headers[i]);
}

void debug_sections_deinit(struct debug_sections *sections)
{
	for (size_t i = 0; i < sections->count; i++)
		free(sections->items[i].unpacked);
	sections->count = 0;
}

static uint8_t *unpack(struct debug_sections *sections, const struct debug_section *section)
{
	uint64_t size = section->size;

	/* zlib's data never gets longer than 1032 times its compressed size. */
	if (!size || size > DEBUG_UNPACKED_MAX - sections->unpacked ||
	    size / 1032 > section->stored)
		return NULL;
	uint8_t *bytes = malloc(size); /* may fail: so much memory may not be available */

	if (!bytes)
		return NULL;
	if (!inflate_whole(sections->file->map + section->offset, section->stored, bytes, size)) {
		free(bytes);
		return NULL;
	}
	sections->unpacked += size;
	return bytes;
}

const uint8_t *debug_section_bytes(struct debug_sections *sections, size_t index)
{
	struct debug_section *section = &sections->items[index];

	if (!section->compressed)
		return sections->file->map + section->offset;
	if (!section->unpacked)
		section->unpacked = unpack(sections, section);
	return section->unpacked;
}

const struct debug_section *debug_section_find(const struct debug_sections *sections,
					       const char *name)
{
	for (size_t i = 0; i < sections->count; i++)
		if (!strcmp(sections->items[i].name, name))
			return &sections->items[i];
	return NULL;
}
