/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landing pads: where a C++ exception (or a Rust panic, or the unwinding of a cancelled thread)
 * continues in a function that has something to clean up or to catch.
 *
 * The compiler may put a landing pad right behind a call that never returns. The unwinder then
 * arrives at the call's return address, with the stack pointer that a return would have left. Only
 * the exception tables tell the two apart: an arrival at a landing pad is never the return of the
 * call before it.
 */
#ifndef TRACER_UNWIND_LANDING_PADS_H
#define TRACER_UNWIND_LANDING_PADS_H

#include "base/vec.h"
#include "object/elf.h"

/*
 * Returns all landing pads of a file, as ascending addresses in its own address space, or NULL if
 * it has none. The file owns the array, which is read at the first call of this or
 * landing_pads_has().
 */
const uint64_t *landing_pads(struct elf_file *file, size_t *count);
/*
 * Appends to `pads` (uint64_t) the landing pads of the function, or part of one, that begins at
 * `start`, in no particular order. Returns false if they cannot be read.
 */
bool landing_pads_of(struct elf_file *file, uint64_t start, struct vec *pads);
/* Returns true if a landing pad begins at `address`, in the file's own address space. */
bool landing_pads_has(struct elf_file *file, uint64_t address);

#endif
