/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads bytes and tables of an ELF file that may be damaged, or change while it is read: see
 * elf_records.c.
 */
#ifndef TRACER_OBJECT_ELF_RECORDS_H
#define TRACER_OBJECT_ELF_RECORDS_H

#include "object/elf_private.h"

/* Creates `pieces`; to be freed with free(). */
struct elf_pieces *elf_pieces_create(void);
/* Reads `length` bytes at `offset`. Returns false if the file has, or now has, fewer bytes. */
bool elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t length);
/*
 * Like elf_file_read(), for many small reads close to each other. The bytes may be those that the
 * file had a moment ago.
 */
bool elf_file_read_near(const struct elf_file *file, uint64_t offset, void *buffer, size_t length);
/*
 * Reads `length` bytes into a new block with a NUL behind them. Returns NULL if they are not there,
 * or are more than ELF_TABLE_MAX.
 */
void *elf_file_load(const struct elf_file *file, uint64_t offset, uint64_t length);
/*
 * Stores the file offset of `address`, and how many of the file's bytes are mapped from there on.
 * Returns false if no byte of the file is mapped there.
 */
bool elf_locate(const struct elf_file *file, uint64_t address, uint64_t *offset,
		uint64_t *available);
/* Returns the bytes of one record of `type` in this file's class. */
size_t elf_record_size(const struct elf_file *file, Elf_Type type);
/*
 * Reads `count` records at file offset `offset` into `out`, translated to the GElf form of `type`
 * (EHDR, PHDR, SHDR, DYN, SYM, REL, RELA, WORD). Returns false if they are not all there.
 */
bool elf_read_records(const struct elf_file *file, Elf_Type type, uint64_t offset, size_t count,
		      void *out);
/*
 * Like elf_read_records(), into a new array. Returns NULL also if `count` is 0 or the table is too
 * large.
 */
void *elf_load_records(const struct elf_file *file, Elf_Type type, uint64_t offset, uint64_t count);
/* Returns a copy of a NUL-terminated string of less than ELF_STRING_MAX bytes, or NULL. */
char *elf_load_string(const struct elf_file *file, uint64_t offset, uint64_t limit);

#endif
