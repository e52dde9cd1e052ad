/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MiniDebugInfo: Fedora and its relatives strip .symtab from their files, and put an ELF file that
 * has nothing but the symbols of functions, compressed by xz, into the section .gnu_debugdata
 * (gdb's manual, "Debugging information in a special section"). Symbols of .dynsym are left out of
 * it.
 *
 * The section is unpacked from the mapping itself, and a forged one may make the decoder fail in
 * any way, so this is for processes that may die of it. The memory of the decoder and the size of
 * the result are limited. liblzma is optional: without it, no file has such a table.
 */
#include "object/mini_debug.h"

#include "object/elf_private.h"
#include "object/elf_sections.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#ifdef HAVE_LZMA

enum { UNPACKED_MAX = 64 << 20, DECODER_MEMORY_MAX = 128 << 20 };

static const GElf_Shdr *find_table(struct elf_file *file)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(elf_section_name(file, &sections[i]), ".gnu_debugdata") &&
		    sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset < file->size &&
		    sections[i].sh_size <= file->size - sections[i].sh_offset)
			return &sections[i];
	return NULL;
}

/* Unpacks into `room` bytes. Returns how many there are, 0 if the data cannot be unpacked. */
static size_t decode(const uint8_t *packed, size_t length, uint8_t *bytes, size_t room)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&stream, DECODER_MEMORY_MAX, 0);

	stream.next_in = packed;
	stream.avail_in = length;
	stream.next_out = bytes;
	stream.avail_out = room;
	/* Without progress the result is LZMA_BUF_ERROR. */
	while (result == LZMA_OK)
		result = lzma_code(&stream, LZMA_FINISH);
	lzma_end(&stream);
	return result == LZMA_STREAM_END ? room - stream.avail_out : 0;
}

/* Returns the unpacked bytes in memory of mmap(2), NULL if the data cannot be unpacked. */
static uint8_t *unpack(const uint8_t *packed, size_t length, size_t *size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *bytes = mmap(NULL, UNPACKED_MAX, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	*size = decode(packed, length, bytes, UNPACKED_MAX);
	const size_t used = (*size + page - 1) & ~(page - 1);

	if (used < UNPACKED_MAX)
		munmap(bytes + used, UNPACKED_MAX - used);
	return *size ? bytes : NULL;
}

bool mini_debug_is_there(struct elf_file *file)
{
	return find_table(file) != NULL;
}

int mini_debug_open(struct elf_file *file, struct elf_file **out)
{
	const GElf_Shdr *table = find_table(file);
	size_t size = 0;
	uint8_t *bytes = table ? unpack(file->map + table->sh_offset, table->sh_size, &size) : NULL;

	return bytes && elf_open_debug_image(bytes, size, out) == 0 ? 0 : -ENOENT;
}

#else

bool mini_debug_is_there(struct elf_file *file)
{
	(void)file;
	return false;
}

int mini_debug_open(struct elf_file *file, struct elf_file **out)
{
	(void)file;
	(void)out;
	return -ENOENT;
}

#endif
