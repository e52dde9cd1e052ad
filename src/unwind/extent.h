/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extents of functions by .eh_frame, for functions without a symbol, such as a stripped
 * library's IFUNC implementations.
 */
#ifndef TRACER_UNWIND_EXTENT_H
#define TRACER_UNWIND_EXTENT_H

#include "object/elf.h"

struct extent;

/*
 * Returns all functions and parts of functions (struct extent in object/elf_private.h), sorted by
 * address; the file owns them.
 */
const struct extent *extent_list(struct elf_file *file, size_t *count);

/*
 * Returns the bytes of the function (or part of one) whose code begins at `address`, in the file's
 * own address space, or 0 if none begins there. The first call reads all extents; the file owns
 * them.
 */
uint64_t extent_of_function(struct elf_file *file, uint64_t address);
/*
 * Stores the beginning and the size of the function (or part of one) whose code contains `address`.
 * Returns false if none is known there.
 */
bool extent_around(struct elf_file *file, uint64_t address, uint64_t *start, uint64_t *size);
/*
 * Returns the address of the FDE for the function that begins at `address`, as eh_frame_at() takes
 * it, or 0.
 */
uint64_t extent_entry(struct elf_file *file, uint64_t address);
/*
 * Remembers the answer to a question about the function that begins at `address`; the caller
 * decides what the question is. extent_recall() returns false if there is no answer yet.
 */
void extent_remember(struct elf_file *file, uint64_t address, bool answer);
bool extent_recall(struct elf_file *file, uint64_t address, bool *answer);

/*
 * Returns the distance in bytes from `address` to the next symbol, or UINT64_MAX if there is none:
 * other code may call what begins at a symbol.
 */
uint64_t extent_to_next_symbol(struct elf_file *file, uint64_t address);

#endif
