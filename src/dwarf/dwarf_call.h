/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out whether a function takes its parameters where the ABI has them: see dwarf_call.c. */
#ifndef TRACER_DWARF_DWARF_CALL_H
#define TRACER_DWARF_DWARF_CALL_H

#include "dwarf/dwarf_private.h"

/*
 * Finds the locations of the parameters of `function`, whose code begins at `address`. The entry
 * may be an instance of another one. is_local: the function cannot be called from outside of the
 * object.
 */
void call_find_places(const struct die *function, uint64_t address, bool is_local,
		      struct call_places *places);
/* Returns false if an entry says that the function has another calling convention. */
bool call_is_of_c(const struct die *function, unsigned word);
/* Uses up what the result needs. `owner` has its type; by_reference is what type_add() set. */
void call_add_result(struct call_places *places, const struct die *owner, bool by_reference);
/*
 * Uses up what the next parameter needs; `owner` has its type. Returns false if the parameter is in
 * another place at the first instruction than the ABI says, or if it is not passed.
 */
bool call_add_parameter(struct call_places *places, const struct die *parameter,
			const struct die *owner, bool by_reference);
/*
 * Called after all parameters. Returns false if no location confirms that they are where the ABI
 * says.
 */
bool call_is_known(const struct call_places *places);

#endif
