/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rebuilds an ELF file from the memory into which it was loaded, for when the file itself is gone,
 * replaced, or cannot be opened: see elf_memory.c.
 */
#ifndef TRACER_OBJECT_ELF_MEMORY_H
#define TRACER_OBJECT_ELF_MEMORY_H

#include "object/elf.h"

/*
 * Rebuilds a file from the memory into which it was loaded, with its ELF header at `header`, for
 * when the file itself cannot be opened. The result has no section headers and no .symtab. Returns
 * 0; -EFBIG if more than `room` bytes would be needed; -EFAULT if the memory cannot be read;
 * -ENOEXEC and -ENOTSUP as elf_open().
 */
int elf_open_memory(const struct memory_source *memory, uint64_t header, uint64_t room,
		    struct elf_file **out);
bool elf_is_from_memory(const struct elf_file *file);
/* Returns true if the headers in memory at `header` equal those of the file. */
bool elf_fits_memory(const struct elf_file *file, const struct memory_source *memory,
		     uint64_t header);
/*
 * Returns false if the notes of the file, which has been loaded with that bias, differ from those
 * in memory: they have its build ID. What cannot be read is not compared.
 */
bool elf_notes_fit_memory(const struct elf_file *file, const struct memory_source *memory,
			  uint64_t bias);

#endif
