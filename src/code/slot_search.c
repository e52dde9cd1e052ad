/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of calls that a search for calls without stubs has found: see slot_search.h. */
#include "code/slot_search.h"

enum {
	STUB = 16, /* bytes of a PLT stub, at most */
	CALLS_MAX = 1 << 18
};

void slot_search_cut(struct call_search *search)
{
	search->file->damage = "it has too much code to be searched for calls without a PLT";
}

/*
 * Returns true if the instruction is part of a known PLT stub, of its own GOT slot or, if a wrong
 * GOT address was tried, of another one.
 */
static bool is_in_stub(const struct call_search *search, uint64_t address)
{
	for (uint64_t back = 0; back < STUB; back++)
		if (map_get(&search->stubs, address - back))
			return true;
	return false;
}

void slot_search_add(struct call_search *search, const struct got_slot *slot, uint64_t address,
		     bool certain)
{
	if (is_in_stub(search, address))
		return;
	if (search->found.count < CALLS_MAX)
		vec_push(&search->found, &(struct slot_call){slot, address, certain});
	else
		slot_search_cut(search);
}
