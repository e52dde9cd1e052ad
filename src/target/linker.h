/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of the dynamic linker: the function that it calls at each change of its list, and
 * r_debug, where that list begins: see linker.c.
 */
#ifndef TRACER_TARGET_LINKER_H
#define TRACER_TARGET_LINKER_H

#include "target/target_state.h"

/* Returns true if the executed program is itself a dynamic linker, which loads another program. */
bool linker_is_program(const struct module *program);
/* Returns the address of the linker's symbol _r_debug, or 0 if it has none. */
uint64_t linker_symbol_r_debug(const struct module *linker);
/* Returns the address of r_debug, found by a symbol of glibc or musl; 0 while its list is empty. */
uint64_t linker_r_debug(const struct space *space, const struct module *linker);
/* Hooks _dl_debug_state(), which the linker calls at each change of its list: 0 or -errno. */
int linker_hook(struct target *target, struct thread *thread, const struct module *linker);

#endif
