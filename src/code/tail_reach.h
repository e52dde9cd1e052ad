/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the code of a function can get to by jumps, and so what it can make tail calls to. */
#ifndef TRACER_CODE_TAIL_REACH_H
#define TRACER_CODE_TAIL_REACH_H

#include "base/arch.h"
#include "object/elf.h"

struct tail_reach;

/*
 * Examines the function that begins at `from`, an address of the file's own address space, and up
 * to `bytes` of the code that it gets to. The result does not refer to the file;
 * tail_reach_destroy() frees it.
 */
enum { TAIL_REACH_BYTES = 256 << 10 };
struct tail_reach *tail_reach_of(struct elf_file *file, const struct arch *arch,
				 struct decoder *decoder, uint64_t from, uint64_t bytes);
void tail_reach_destroy(struct tail_reach *reach); /* NULL is allowed */

/*
 * Returns false if the function is known to get to no code at `to` without a call; `to` is an
 * address of the same file, or 0 for one outside of it.
 */
bool tail_reach_has(const struct tail_reach *reach, uint64_t to);

#endif
