/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that use their return address: see return_address_readers.c. */
#ifndef TRACER_TARGET_RETURN_ADDRESS_READERS_H
#define TRACER_TARGET_RETURN_ADDRESS_READERS_H

#include "target/target_state.h"

/* Returns true if functions called `name` use their return address. */
bool readers_are_asked_for(const char *name);
/* Returns true if hooks show functions called `name` their true return address (unwinders.c). */
bool readers_are_put_right(const struct target *target, const char *name);
/*
 * Returns true if code of the function at `address` reads its return address. `address` is one of
 * the file's own address space.
 */
bool readers_are_read(const struct arch *arch, struct elf_file *file, uint64_t address);
/* Like readers_are_read(), for the function of that name in the first module that defines it. */
bool readers_are_read_by(const struct space *space, const char *name);
/*
 * Adds to `found` (uint64_t) the addresses, in the file's address space, of functions that
 * readers_are_asked_for() is true for, and of the stubs and GOT slots that lead to such functions
 * in other modules.
 */
void readers_find(const struct target *target, struct elf_file *file, struct vec *found);
/* Tells the agent what readers_find() finds in a module. */
void readers_note(const struct target *target, struct space *space, const struct module *module);

#endif
