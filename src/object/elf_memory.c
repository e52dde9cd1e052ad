/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rebuilds an ELF file from the memory into which it was loaded, for when the file itself is gone,
 * replaced, or cannot be opened.
 *
 * Memory holds all that the dynamic linker needs: program headers, dynamic section, exported
 * symbols and their hash table, relocations, code, exception tables. Each loaded segment is copied
 * to its offset in the file; holes stay zero. Section headers and .symtab are not loaded, so
 * functions that are not exported are unknown, and PLT stubs are found without section names.
 *
 * Two things in memory differ from the file. glibc adds the load bias to the pointers in the
 * dynamic section; the bias is subtracted again from those that point into the module's memory. And
 * data is relocated: GOT slots hold addresses. No reader uses relocated data, except for the
 * addends of REL relocations (i386): there, GOT slots of this module's IFUNCs are not recognised.
 *
 * The tracee may put anything into this memory, and change it during the copy. So sizes are
 * bounded, for each file and by `room` for all of them, and the copy goes through the same checks
 * as any file.
 */
#include "object/elf_memory.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_private.h"
#include "object/elf_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PIECE = 1 << 20, HEADERS_MAX = 1024 };

/* The image under construction. */
struct image {
	const struct memory_source *memory;
	uint64_t header; /* address of its ELF header in memory */
	uint64_t bias;
	uint64_t low, high; /* range of its segments' addresses, with the bias */
	bool wide;
	Elf64_Ehdr ehdr; /* converted to the 64-bit form */
	Elf64_Phdr *phdrs;
	uint64_t size;
	uint8_t *bytes;
};

/*
 * Reads the ELF header as it is in memory: both architectures are little-endian, and so is the
 * tracer.
 */
static int read_ehdr(struct image *image)
{
	unsigned char ident[EI_NIDENT];
	Elf32_Ehdr narrow;

	if (!memory_read_exact(image->memory, image->header, ident, sizeof ident))
		return -EFAULT;
	if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	image->wide = ident[EI_CLASS] == ELFCLASS64;
	if (image->wide)
		return memory_read_exact(image->memory, image->header, &image->ehdr,
					 sizeof image->ehdr)
			       ? 0
			       : -EFAULT;
	if (!memory_read_exact(image->memory, image->header, &narrow, sizeof narrow))
		return -EFAULT;
	image->ehdr = (Elf64_Ehdr){.e_phoff = narrow.e_phoff,
				   .e_phentsize = narrow.e_phentsize,
				   .e_phnum = narrow.e_phnum};
	return 0;
}

static int read_phdrs(struct image *image)
{
	size_t count = image->ehdr.e_phnum;
	size_t size = image->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t at = image->header + image->ehdr.e_phoff;

	if (!count || count > HEADERS_MAX || image->ehdr.e_phentsize != size ||
	    image->ehdr.e_phoff > ELF_TABLE_MAX)
		return -ENOEXEC;
	image->phdrs = xcalloc(count, sizeof *image->phdrs);
	if (image->wide)
		return memory_read_exact(image->memory, at, image->phdrs, count * size) ? 0
											: -EFAULT;
	_cleanup_free_ Elf32_Phdr *narrow = xcalloc(count, size);

	if (!memory_read_exact(image->memory, at, narrow, count * size))
		return -EFAULT;
	for (size_t i = 0; i < count; i++)
		image->phdrs[i] = (Elf64_Phdr){.p_type = narrow[i].p_type,
					       .p_offset = narrow[i].p_offset,
					       .p_vaddr = narrow[i].p_vaddr,
					       .p_filesz = narrow[i].p_filesz,
					       .p_memsz = narrow[i].p_memsz};
	return 0;
}

/*
 * Computes the load bias, from the segment that holds the header, the file's size, and its range in
 * memory.
 */
static int measure(struct image *image, uint64_t room)
{
	bool found = false;

	image->low = UINT64_MAX;
	for (size_t i = 0; i < image->ehdr.e_phnum; i++) {
		const Elf64_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type != PT_LOAD || phdr->p_filesz > phdr->p_memsz)
			continue;
		if (phdr->p_offset > room || phdr->p_filesz > room - phdr->p_offset)
			return -EFBIG;
		if (phdr->p_offset < 4096 && !found) {
			found = true;
			image->bias = image->header + phdr->p_offset - phdr->p_vaddr;
		}
		if (phdr->p_offset + phdr->p_filesz > image->size)
			image->size = phdr->p_offset + phdr->p_filesz;
		if (phdr->p_vaddr + image->bias < image->low)
			image->low = phdr->p_vaddr + image->bias;
		if (phdr->p_vaddr + phdr->p_memsz + image->bias > image->high)
			image->high = phdr->p_vaddr + phdr->p_memsz + image->bias;
	}
	return found && image->size > sizeof(Elf64_Ehdr) ? 0 : -ENOEXEC;
}

/* Bytes that cannot be read stay zero: pages that the program has unmapped, guard pages. */
static void copy_segments(struct image *image)
{
	for (size_t i = 0; i < image->ehdr.e_phnum; i++) {
		const Elf64_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type != PT_LOAD || phdr->p_filesz > phdr->p_memsz)
			continue;
		for (uint64_t done = 0; done < phdr->p_filesz; done += PIECE) {
			uint64_t length = phdr->p_filesz - done;

			memory_read(image->memory, image->bias + phdr->p_vaddr + done,
				    image->bytes + phdr->p_offset + done,
				    length < PIECE ? length : PIECE);
		}
	}
}

static bool is_pointer(uint64_t tag)
{
	switch (tag) {
	case DT_PLTGOT:
	case DT_HASH:
	case DT_STRTAB:
	case DT_SYMTAB:
	case DT_RELA:
	case DT_INIT:
	case DT_FINI:
	case DT_REL:
	case DT_JMPREL:
	case DT_INIT_ARRAY:
	case DT_FINI_ARRAY:
	case DT_PREINIT_ARRAY:
	case DT_GNU_HASH:
	case DT_VERSYM:
	case DT_VERDEF:
	case DT_VERNEED:
		return true;
	default:
		return false;
	}
}

static uint64_t get_word(const uint8_t *at, bool wide)
{
	uint64_t value = 0;

	memcpy(&value, at, wide ? 8 : 4);
	return value;
}

/*
 * Subtracts the bias from those pointers in the dynamic section to which the linker has added it.
 */
static void restore_dynamic(struct image *image, const Elf64_Phdr *dynamic)
{
	size_t word = image->wide ? 8 : 4;
	uint64_t end = dynamic->p_offset + dynamic->p_filesz;

	if (!image->bias || end < dynamic->p_offset || end > image->size)
		return;
	for (uint64_t at = dynamic->p_offset; at + 2 * word <= end; at += 2 * word) {
		uint64_t tag = get_word(image->bytes + at, image->wide);
		uint64_t value = get_word(image->bytes + at + word, image->wide);

		if (tag == DT_NULL)
			break;
		if (!is_pointer(tag) || value < image->low || value >= image->high)
			continue;
		value -= image->bias;
		memcpy(image->bytes + at + word, &value, word);
	}
}

/* Removes the section headers from the ELF header, since they are not in memory. */
static void drop_sections(struct image *image)
{
	if (image->wide) {
		Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)image->bytes;

		header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	} else {
		Elf32_Ehdr *header = (Elf32_Ehdr *)(void *)image->bytes;

		header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	}
}

static int build(struct image *image, uint64_t room)
{
	int error = read_ehdr(image);

	if (!error)
		error = read_phdrs(image);
	if (!error)
		error = measure(image, room < ELF_TABLE_MAX ? room : ELF_TABLE_MAX);
	if (error)
		return error;
	void *bytes = mmap(NULL, image->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	image->bytes = bytes;
	copy_segments(image);
	for (size_t i = 0; i < image->ehdr.e_phnum; i++)
		if (image->phdrs[i].p_type == PT_DYNAMIC)
			restore_dynamic(image, &image->phdrs[i]);
	drop_sections(image);
	return 0;
}

int elf_open_memory(const struct memory_source *memory, uint64_t header, uint64_t room,
		    struct elf_file **out)
{
	struct image image = {.memory = memory, .header = header};
	int error = build(&image, room);

	free(image.phdrs);
	if (error)
		return error;
	error = elf_open_image(image.bytes, image.size, out);
	if (!error)
		(*out)->from_memory = true;
	return error;
}

bool elf_is_from_memory(const struct elf_file *file)
{
	return file->from_memory;
}

bool elf_fits_memory(const struct elf_file *file, const struct memory_source *memory,
		     uint64_t header)
{
	uint8_t ours[4096], theirs[4096];
	uint64_t length = file->header.e_phoff +
			  (uint64_t)file->header.e_phnum * file->header.e_phentsize;

	/*
	 * Headers that are not at the beginning cannot be compared; then the ELF header alone is.
	 */
	if (length > sizeof ours)
		length = sizeof(Elf32_Ehdr);
	return elf_file_read(file, 0, ours, length) &&
	       memory_read_exact(memory, header, theirs, length) && !memcmp(ours, theirs, length);
}

bool elf_notes_fit_memory(const struct elf_file *file, const struct memory_source *memory,
			  uint64_t bias)
{
	_cleanup_free_ GElf_Phdr *headers = elf_load_records(file, ELF_T_PHDR, file->header.e_phoff,
							     file->header.e_phnum);
	uint8_t ours[4096], theirs[4096];

	for (size_t i = 0; headers && i < file->header.e_phnum; i++) {
		const GElf_Phdr *notes = &headers[i];
		const size_t length = notes->p_filesz < sizeof ours ? notes->p_filesz : sizeof ours;

		if (notes->p_type == PT_NOTE &&
		    elf_file_read(file, notes->p_offset, ours, length) &&
		    memory_read_exact(memory, notes->p_vaddr + bias, theirs, length) &&
		    memcmp(ours, theirs, length) != 0)
			return false;
	}
	return true;
}
