/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landing pads: where a C++ exception (or a Rust panic, or the unwinding of a cancelled thread)
 * continues in a function that has something to clean up or to catch.
 *
 * The compiler may put one right behind a call, when that call never returns. The unwinder then
 * arrives at the call's return address with the stack pointer that a return would have left; only
 * these tables tell the two apart. An arrival at a landing pad is never the return of the call
 * before it.
 */
#ifndef TRACER_IMAGE_LANDING_H
#define TRACER_IMAGE_LANDING_H

#include "image/elf.h"

/*
 * All landing pads of a file, as ascending addresses of its own address space; NULL when it has
 * none. Owned by the file; read when first asked, by here or landing_is_pad().
 */
const uint64_t *landing_pads(struct elf_file *file, size_t *count);
/* Whether a landing pad begins at `address` of the file's own address space. */
bool landing_is_pad(struct elf_file *file, uint64_t address);

#endif
