/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long functions are that have no symbol, as a stripped library's implementations of its
 * IFUNCs.
 */
#ifndef TRACER_IMAGE_EXTENT_H
#define TRACER_IMAGE_EXTENT_H

#include "image/elf.h"

struct extent;

/* All functions and parts of functions (elf_private.h), by their addresses; owned by the file. */
const struct extent *extent_list(struct elf_file *file, size_t *count);

/*
 * The bytes of the function (or the part of one) whose code begins at `address` of the file's own
 * address space, as .eh_frame tells; 0: none begins there. All are read when this is first asked,
 * and owned by the file.
 */
uint64_t extent_of_function(struct elf_file *file, uint64_t address);
/*
 * The same of the one that `address` is in the code of: false when none is known there, else where
 * it begins and its bytes.
 */
bool extent_around(struct elf_file *file, uint64_t address, uint64_t *start, uint64_t *size);
/* Where .eh_frame tells of it, for eh_frame_at(); 0. */
uint64_t extent_entry(struct elf_file *file, uint64_t address);
/* What was found out about it by whoever asks, for the next time; false: nothing was. */
void extent_remember(struct elf_file *file, uint64_t address, bool answer);
bool extent_recall(struct elf_file *file, uint64_t address, bool *answer);

/*
 * The bytes from `address` to the next symbol behind it, UINT64_MAX when there is none: what stands
 * there may be called.
 */
uint64_t extent_to_next_symbol(struct elf_file *file, uint64_t address);

#endif
