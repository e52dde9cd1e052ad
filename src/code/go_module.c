/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Go code is recognised by data that Go's linker adds to a file and that strip(1) leaves there,
 * because Go's runtime needs it:
 *
 * - the sections .go.buildinfo and .gopclntab (in PIEs its name begins with .data.rel.ro; a C
 *   linker puts its contents into .data.rel.ro itself);
 * - a note with the owner "Go", which has the build ID. The note is in a PT_NOTE segment, so it is
 *   found without section headers, too;
 * - the contents of .go.buildinfo, which begin with a magic number at a multiple of 16 in a
 *   writable segment. They are searched for only in a file without section headers, which may have
 *   no note either (-buildid=).
 *
 * C code in such a file has entries in .eh_frame; Go's compiler makes none. Since arguments are
 * passed in registers (Go 1.17), assembler functions have symbols that end in .abi0. A file that
 * was stripped of these symbols has no names of Go functions either.
 *
 * Source: cmd/link/internal/ld (elf.go, data.go) and debug/buildinfo of Go 1.13 to 1.23.
 */
#include "code/go_module.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_sections.h"
#include "object/elf_symbols.h"
#include "unwind/extent.h"

#include <string.h>

enum {
	NOTES_MAX = 1 << 16,
	NOTE_HEAD = 12, /* length of the owner, length of the description, type: 32 bits each */
	BUILDINFO_ALIGN = 16,
	PIECE = 64 << 10,
	DATA_MAX = 256 << 20
};

static const char buildinfo_magic[] = "\xff Go buildinf:";
static const char owner[] = "Go";

static const char *const sections_of_go[] = {".go.buildinfo", ".gopclntab",
					     ".data.rel.ro.gopclntab", ".note.go.buildid"};

static bool has_section(struct elf_file *file)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < sizeof sections_of_go / sizeof *sections_of_go; k++)
			if (!strcmp(elf_section_name(file, &sections[i]), sections_of_go[k]))
				return true;
	return false;
}

static uint64_t align_note(uint64_t length)
{
	return (length + 3) & ~UINT64_C(3);
}

/* Returns true if one of the notes in this range of the file has the owner "Go". */
static bool has_note_in(const struct elf_file *file, uint64_t offset, uint64_t length)
{
	uint64_t end = offset + (length < NOTES_MAX ? length : NOTES_MAX);

	while (offset + NOTE_HEAD + sizeof owner <= end) {
		uint32_t head[NOTE_HEAD / sizeof(uint32_t)];
		char name[sizeof owner];

		if (!elf_file_read(file, offset, head, sizeof head) ||
		    !elf_file_read(file, offset + sizeof head, name, sizeof name))
			return false;
		if (head[0] == sizeof owner && !memcmp(name, owner, sizeof owner))
			return true;
		offset += NOTE_HEAD + align_note(head[0]) + align_note(head[1]);
	}
	return false;
}

static bool has_note(const struct elf_file *file)
{
	size_t count = file->header.e_phnum;
	_cleanup_free_ GElf_Phdr *headers = elf_load_records(file, ELF_T_PHDR, file->header.e_phoff,
							     count);

	for (size_t i = 0; headers && i < count; i++)
		if (headers[i].p_type == PT_NOTE && headers[i].p_offset < file->size &&
		    has_note_in(file, headers[i].p_offset, headers[i].p_filesz))
			return true;
	return false;
}

/* Returns true if the segment contains the magic number with which .go.buildinfo begins. */
static bool has_magic(const struct elf_file *file, const struct elf_segment *segment)
{
	const size_t length = sizeof buildinfo_magic - 1;
	_cleanup_free_ char *piece = xmalloc(PIECE);
	uint64_t size = segment->file_size < DATA_MAX ? segment->file_size : DATA_MAX;

	for (uint64_t done = 0; done < size; done += PIECE) {
		size_t count = size - done < PIECE ? size - done : PIECE;
		size_t skip = -(segment->address + done) & (BUILDINFO_ALIGN - 1);

		if (!elf_file_read(file, segment->file_offset + done, piece, count))
			return false;
		for (size_t i = skip; i + length <= count; i += BUILDINFO_ALIGN)
			if (!memcmp(piece + i, buildinfo_magic, length))
				return true;
	}
	return false;
}

static bool has_buildinfo(const struct elf_file *file)
{
	for (size_t i = 0; i < file->segment_count; i++)
		if ((file->segments[i].flags & PF_W) && has_magic(file, &file->segments[i]))
			return true;
	return false;
}

bool go_module_is(struct elf_file *file)
{
	if (!file->go_known) {
		file->go_known = true;
		file->is_go = has_section(file) || has_note(file) ||
			      (!file->section_count && has_buildinfo(file));
	}
	return file->is_go;
}

/* Every Go program has these two symbols. */
static bool passes_in_registers(struct elf_file *file)
{
	return elf_find_symbol(file, "runtime.goexit.abi0") ||
	       elf_find_symbol(file, "runtime.morestack.abi0");
}

bool go_module_uses_registers(struct elf_file *file)
{
	if (!file->go_registers_known) {
		file->go_registers_known = true;
		file->go_registers = go_module_is(file) && passes_in_registers(file);
	}
	return file->go_registers;
}

bool go_module_has_code(struct elf_file *file, uint64_t address)
{
	uint64_t start, size;

	return go_module_is(file) && !extent_around(file, address, &start, &size);
}
