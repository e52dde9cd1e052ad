/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens an ELF file: its header, segments and dynamic section.
 *
 * The dynamic section, found through the program headers, is what the dynamic linker itself uses,
 * so it is trusted first. Section headers may be stripped or wrong. They serve only for what
 * nothing else tells (.symtab, the extent of PLTs). Opening reads some ten small pieces. Symbols,
 * GOT slots and section headers are read when first asked for, since most modules of a process are
 * never asked.
 *
 * elf_records.c does all reading, and explains how a file is kept without its descriptor.
 */
#include "object/code_pointers.h"
#include "object/elf_private.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_hash.h"
#include "object/elf_mentions.h"
#include "object/elf_records.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { SEGMENTS_MAX = 1024, DYNAMIC_MAX = 4096 };

static struct elf_file *create(void)
{
	struct elf_file *file = xcalloc(1, sizeof *file);

	file->references = 1;
	file->pieces = elf_pieces_create();
	return file;
}

static int map_file(struct elf_file *file, int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode) || status.st_size < EI_NIDENT)
		return -ENOEXEC;
	if ((uint64_t)status.st_size > SIZE_MAX / 2)
		return -EFBIG;
	void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	file->map = map;
	file->size = (uint64_t)status.st_size;
	return 0;
}

/* e_machine is at the same offset in both classes. */
static int find_arch(struct elf_file *file)
{
	unsigned char start[EI_NIDENT + 4];

	if (!elf_file_read(file, 0, start, sizeof start) || memcmp(start, ELFMAG, SELFMAG) ||
	    start[EI_VERSION] != EV_CURRENT)
		return -ENOEXEC;
	if (start[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	file->arch = arch_find((uint16_t)(start[EI_NIDENT + 2] | start[EI_NIDENT + 3] << 8),
			       start[EI_CLASS]);
	memcpy(file->header.e_ident, start, EI_NIDENT);
	return file->arch ? 0 : -ENOTSUP;
}

static int read_any_header(struct elf_file *file)
{
	int error = find_arch(file);

	if (error)
		return error;
	return elf_read_records(file, ELF_T_EHDR, 0, 1, &file->header) ? 0 : -ENOEXEC;
}

static int read_header(struct elf_file *file)
{
	int error = read_any_header(file);
	const GElf_Ehdr *header = &file->header;

	if (error)
		return error;
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return -ENOEXEC;
	if (header->e_phentsize != elf_record_size(file, ELF_T_PHDR) ||
	    header->e_phnum > SEGMENTS_MAX)
		return -ENOEXEC;
	return 0;
}

/* Adds the part of the segment that is in the file. A segment that wraps around is left out. */
static void add_segment(struct elf_file *file, const GElf_Phdr *phdr)
{
	uint64_t size = phdr->p_filesz < phdr->p_memsz ? phdr->p_filesz : phdr->p_memsz;

	if (phdr->p_vaddr + phdr->p_memsz < phdr->p_vaddr || phdr->p_offset > file->size)
		return;
	if (size > file->size - phdr->p_offset)
		size = file->size - phdr->p_offset;
	file->segments[file->segment_count++] = (struct elf_segment){
		.address = phdr->p_vaddr,
		.file_offset = phdr->p_offset,
		.file_size = size,
		.memory_size = phdr->p_memsz,
		.flags = phdr->p_flags,
	};
}

static void add_relro(struct elf_file *file, const GElf_Phdr *header)
{
	file->relro = header->p_vaddr;
	file->relro_size = header->p_memsz;
}

static uint64_t program_header_address(const struct elf_file *file)
{
	uint64_t offset = file->header.e_phoff;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (offset >= segment->file_offset &&
		    offset - segment->file_offset < segment->file_size)
			return segment->address + (offset - segment->file_offset);
	}
	return 0;
}

static int read_program_headers(struct elf_file *file, GElf_Phdr *dynamic)
{
	size_t count = file->header.e_phnum;
	_cleanup_free_ GElf_Phdr *headers = elf_load_records(file, ELF_T_PHDR, file->header.e_phoff,
							     count);

	if (!headers)
		return -ENOEXEC;
	file->segments = xcalloc(count, sizeof *file->segments);
	for (size_t i = 0; i < count; i++) {
		const GElf_Phdr *header = &headers[i];

		if (header->p_type == PT_LOAD)
			add_segment(file, header);
		else if (header->p_type == PT_DYNAMIC)
			*dynamic = *header;
		else if (header->p_type == PT_PHDR)
			file->program_headers = header->p_vaddr;
		else if (header->p_type == PT_GNU_EH_FRAME)
			file->eh_frame_header = header->p_vaddr;
		else if (header->p_type == PT_GNU_RELRO)
			add_relro(file, header);
		else if (header->p_type == PT_INTERP && !file->interpreter)
			file->interpreter = elf_load_string(file, header->p_offset,
							    header->p_filesz);
	}
	if (!file->segment_count)
		return -ENOEXEC;
	if (!file->program_headers)
		file->program_headers = program_header_address(file);
	return 0;
}

static void take_tag(struct elf_file *file, const GElf_Dyn *entry)
{
	if (entry->d_tag >= 0 && entry->d_tag < DT_NUM)
		/* DT_TEXTREL has no value: 1 marks its presence. */
		file->tags[entry->d_tag] = entry->d_tag == DT_TEXTREL ? 1 : entry->d_un.d_val;
	else if (entry->d_tag == DT_GNU_HASH)
		file->gnu_hash = entry->d_un.d_ptr;
	else if (entry->d_tag == DT_VERSYM)
		file->versions = entry->d_un.d_ptr;
	else if (entry->d_tag == DT_VERDEF)
		file->versions_defined = entry->d_un.d_ptr;
	else if (entry->d_tag == DT_VERNEED)
		file->versions_needed = entry->d_un.d_ptr;
	else if (entry->d_tag == DT_RELACOUNT || entry->d_tag == DT_RELCOUNT)
		file->relative_count = entry->d_un.d_val;
}

static void read_dynamic(struct elf_file *file, const GElf_Phdr *segment)
{
	size_t size = elf_record_size(file, ELF_T_DYN);
	uint64_t offset, available;

	file->dynamic = segment->p_vaddr;
	if (!file->dynamic || !elf_locate(file, segment->p_vaddr, &offset, &available))
		return;
	if (segment->p_filesz < available)
		available = segment->p_filesz;
	if (available / size > DYNAMIC_MAX)
		available = DYNAMIC_MAX * size;
	size_t count = available / size, i = 0;
	_cleanup_free_ GElf_Dyn *entries = elf_load_records(file, ELF_T_DYN, offset, count);

	for (; entries && i < count && entries[i].d_tag != DT_NULL; i++)
		take_tag(file, &entries[i]);
	if (!entries || i == DYNAMIC_MAX)
		file->damage = "its dynamic section is damaged";
}

static void read_soname(struct elf_file *file)
{
	uint64_t offset, available;
	uint64_t name = file->tags[DT_SONAME];

	if (!name || !elf_locate(file, file->tags[DT_STRTAB], &offset, &available) ||
	    name >= available)
		return;
	file->soname = elf_load_string(file, offset + name, available - name);
}

/* Reads what is always needed of a mapped file. Takes over the reference to `file`. */
static int read_start(struct elf_file *file, struct elf_file **out)
{
	GElf_Phdr dynamic = {0};

	elf_version(EV_CURRENT);
	int error = read_header(file);

	if (!error)
		error = read_program_headers(file, &dynamic);
	if (error) {
		elf_unref(file);
		return error;
	}
	read_dynamic(file, &dynamic);
	read_soname(file);
	*out = file;
	return 0;
}

int elf_open(int fd, struct elf_file **out)
{
	struct elf_file *file = create();
	int error = map_file(file, fd);

	if (!error)
		return read_start(file, out);
	elf_unref(file);
	return error;
}

/* Takes over `file`, which is mapped. */
static int read_debug(struct elf_file *file, struct elf_file **out)
{
	elf_version(EV_CURRENT);
	const int error = read_any_header(file);

	if (error)
		elf_unref(file);
	else
		*out = file;
	return error;
}

int elf_open_debug(int fd, struct elf_file **out)
{
	struct elf_file *file = create();
	const int error = map_file(file, fd);

	if (!error)
		return read_debug(file, out);
	elf_unref(file);
	return error;
}

int elf_open_debug_image(uint8_t *bytes, uint64_t size, struct elf_file **out)
{
	struct elf_file *file = create();

	file->map = bytes;
	file->size = size;
	return read_debug(file, out);
}

int elf_open_image(uint8_t *bytes, uint64_t size, struct elf_file **out)
{
	struct elf_file *file = create();

	file->map = bytes;
	file->size = size;
	return read_start(file, out);
}

struct elf_file *elf_ref(struct elf_file *file)
{
	file->references++;
	return file;
}

static void free_symbol_table(struct symbol_table *table)
{
	free(table->items);
	free(table->index.buckets);
	free(table->index.next);
}

void elf_unref(struct elf_file *file)
{
	if (!file || --file->references)
		return;
	if (file->map)
		munmap((void *)(uintptr_t)file->map, file->size);
	free(file->pieces);
	free(file->segments);
	free(file->soname);
	free(file->interpreter);
	elf_free_hash(file->hash);
	elf_free_mentions(file->mentions);
	free(file->sections);
	free(file->section_names);
	free_symbol_table(&file->exported);
	free_symbol_table(&file->internal);
	free(file->dynamic_names.text);
	free(file->internal_names.text);
	free(file->symbols);
	free(file->slots);
	free(file->landings);
	free(file->extents);
	free(file->starts);
	if (file->unwind)
		file->unwind_free(file->unwind);
	free(file->signal_calls);
	free(file->slot_calls);
	free(file->relocated);
	code_pointers_free(file->code_pointers);
	free(file->ifuncs);
	free(file->code);
	free(file);
}

const struct arch *elf_arch(const struct elf_file *file)
{
	return file->arch;
}

bool elf_is_pie(const struct elf_file *file)
{
	return file->header.e_type == ET_DYN;
}

const char *elf_soname(const struct elf_file *file)
{
	return file->soname;
}

const char *elf_interpreter(const struct elf_file *file)
{
	return file->interpreter;
}

uint64_t elf_entry(const struct elf_file *file)
{
	return file->header.e_entry;
}

uint64_t elf_program_headers(const struct elf_file *file)
{
	return file->program_headers;
}

uint64_t elf_dynamic(const struct elf_file *file)
{
	return file->dynamic;
}

uint64_t elf_eh_frame_header(const struct elf_file *file)
{
	return file->eh_frame_header;
}

const char *elf_damage(const struct elf_file *file)
{
	return file->damage;
}

bool elf_is_constant(const struct elf_file *file, uint64_t address)
{
	if (address - file->relro < file->relro_size)
		return true;
	for (size_t i = 0; i < file->segment_count; i++)
		if (address - file->segments[i].address < file->segments[i].memory_size)
			return !(file->segments[i].flags & PF_W);
	return false;
}

const struct elf_segment *elf_segments(const struct elf_file *file, size_t *count)
{
	*count = file->segment_count;
	return file->segments;
}

bool elf_read(const struct elf_file *file, uint64_t address, void *buffer, size_t length)
{
	uint64_t offset, available;

	return elf_locate(file, address, &offset, &available) && length <= available &&
	       elf_file_read_near(file, offset, buffer, length);
}
