/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The patch candidates of a space, sorted by address. */
#include "engine/agent/patch_candidates.h"

#include "base/sorted.h"
#include "engine/agent/agent_state.h"
#include "engine/trap/breakpoint_takeover.h"

#include <stdlib.h>

void agent_asks_caller(struct space *space, uint64_t address)
{
	struct agent_space *own = agent_space_of(space);

	map_put(&own->asking, address, own);
}

const char *agent_add_candidate(struct space *space, const struct patch_candidate *candidate)
{
	struct agent_space *own = agent_space_of(space);

	if (!space->arch->agent)
		return "not on this architecture";
	if (own->refused)
		return own->refused;
	if (!candidate->length)
		return "its length is not known";
	struct patch_candidate *kept = vec_push(&own->candidates, candidate);

	/* a hook gets a gate after it was called */
	kept->was_called = candidate_is_gate(candidate);
	if (!kept->breakpoint)
		kept->breakpoint = kept->address;
	return NULL;
}

bool agent_is_due(const struct space *space, uint64_t now)
{
	return now > space->agent->due;
}

bool agent_has_call_candidates(const struct space *space)
{
	const struct vec *candidates = agent_has_candidates(space) ? &space->agent->candidates
								   : NULL;

	for (size_t i = 0; candidates && i < candidates->count; i++)
		if (((struct patch_candidate *)vec_at(candidates, i))->site)
			return true;
	return false;
}

bool agent_has_candidates(const struct space *space)
{
	return space->agent && space->agent->candidates.count && !space->agent->refused &&
	       space->arch->agent;
}

static int by_address(const void *a, const void *b)
{
	const struct patch_candidate *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

/* They are mostly sorted already, and sorting takes as long as much of the search. */
void candidates_sort(struct vec *candidates)
{
	bool is_sorted = true;

	for (size_t i = 1; i < candidates->count && is_sorted; i++)
		is_sorted = by_address(vec_at(candidates, i - 1), vec_at(candidates, i)) <= 0;
	if (!is_sorted)
		qsort(candidates->items, candidates->count, candidates->item_size, by_address);
}

size_t candidates_last_before(const struct vec *candidates, uint64_t address)
{
	const struct sorted addresses = SORTED(struct patch_candidate, address, candidates->items,
					       candidates->count);
	const size_t behind = sorted_from(&addresses, address);

	return behind ? behind - 1 : candidates->count;
}

size_t candidates_covered(const struct vec *candidates, uint64_t address)
{
	size_t found = candidates_last_before(candidates, address);

	if (found < candidates->count &&
	    address - ((struct patch_candidate *)vec_at(candidates, found))->address >= AGENT_JUMP)
		return candidates->count;
	return found;
}

size_t candidates_covered_own(const struct vec *candidates, uint64_t address)
{
	size_t found = candidates_covered(candidates, address);
	const struct patch_candidate *candidate = found < candidates->count
							  ? vec_at(candidates, found)
							  : NULL;

	return candidate && address - candidate->address < candidate->length ? found
									     : candidates->count;
}

void candidates_note_calls(struct vec *candidates, const struct space *space)
{
	struct vec *hits = trap_first_hits(space);

	for (size_t i = 0; hits && i < hits->count; i++) {
		uint64_t address = *(uint64_t *)vec_at(hits, i);
		size_t found = candidates_last_before(candidates, address + 1);
		struct patch_candidate *candidate = found < candidates->count
							    ? vec_at(candidates, found)
							    : NULL;

		if (candidate && candidate->address == address)
			candidate->was_called = true;
	}
	if (hits)
		vec_clear(hits);
}
