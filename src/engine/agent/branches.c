/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions whose first instructions are branch targets, behind the first byte. A jump cannot
 * cover these bytes: they have to stay as they are (jump_islands.c).
 *
 * No symbol tells where code branches to, and any code of a module may branch to any other. So all
 * code is searched, at every byte, as it is not known where instructions begin. A byte that looks
 * like a branch to such a target counts as one, unless the function around it is known (by its
 * symbol or .eh_frame), and decoding the function from its beginning shows that no instruction
 * begins there.
 *
 * The search also finds functions that end by a jump to code that uses its return address
 * (agent_asks_caller()).
 *
 * It takes 3 ns per byte. Python has 3 MB of code, but some programs have hundreds of MB, so only a
 * part is held at a time, and other parts of a function are read when they are needed. In an
 * attached process the search is made while all threads run: code does not change, except for a
 * runtime's that patches itself, which may do so at any other time, too.
 */
#include "engine/agent/branches.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/computed.h"
#include "engine/agent/entry_jumps.h"
#include "engine/agent/patch_candidates.h"
#include "tracee/clock.h"
#include "tracee/maps.h"
#include "tracee/waiting.h"

#include <errno.h>
#include <stdlib.h>

/* HELD: bytes held at a time. BEHIND: bytes before the current position that are among them. */
enum { HELD = 1 << 19, BEHIND = 1 << 16, PART = 1 << 16, OVERLAP = 16, FUNCTION_MAX = 1 << 24 };

static const char unreadable[] = "the code around it cannot be read";
static const char in_front[] = "code branches into the instructions in front of it";

/* The search. */
struct search {
	struct agent *agent;
	struct space *space;
	struct agent_space *own;
	struct sieve *sieve; /* targets that matter */
	bool gives_way;	     /* stop after a part if another thread waits for the tracer */
	unsigned parts;	     /* parts searched so far */
};

/* ------------------------------------------------------------------ branches */

/* All targets that note_branch() acts on. */
static void fill_sieve(struct search *search)
{
	const struct agent_space *own = search->own;
	uint64_t address;
	size_t cursor = 0;
	void *value;

	for (size_t i = 0; i < own->candidates.count; i++) {
		const struct patch_candidate *candidate = vec_at(&own->candidates, i);

		sieve_add(search->sieve, candidate->address);
		sieve_add(search->sieve, candidate->address + AGENT_JUMP - 1);
	}
	while (map_next(&own->asking, &cursor, &address, &value))
		sieve_add(search->sieve, address);
}

/* The index of the function's candidate whose code contains `address`, or count. */
static size_t candidate_around(const struct vec *candidates, uint64_t address)
{
	size_t found = candidates_last_before(candidates, address + 1);
	const struct patch_candidate *candidate = found < candidates->count
							  ? vec_at(candidates, found)
							  : NULL;

	while (candidate && candidate->got_slot && found)
		candidate = vec_at(candidates, --found);
	if (!candidate || candidate->got_slot)
		return candidates->count;
	return candidate && address - candidate->address < candidate->length ? found
									     : candidates->count;
}

/* Finds the function that contains `from`. Returns false if it is not known. */
static bool function_around(const struct search *search, uint64_t from, uint64_t *start,
			    uint64_t *length)
{
	const struct vec *candidates = &search->own->candidates;
	size_t found = candidate_around(candidates, from);
	const struct patch_candidate *candidate = found < candidates->count
							  ? vec_at(candidates, found)
							  : NULL;

	if (!candidate)
		return search->agent->around(search->space, from, start, length);
	*start = candidate->address;
	*length = candidate->length;
	return !candidate->is_plt_stub;
}

/*
 * Returns the bytes of a function in the mapping that is searched, or NULL. If they had to be read,
 * *made is what the caller has to free.
 */
static const uint8_t *bytes_of(const struct search *search, uint64_t start, uint64_t length,
			       uint8_t **made)
{
	const struct branch_scan *look = &search->own->look;
	const uint64_t at = start - look->start;

	*made = NULL;
	if (at >= look->length || length > look->length - at || length > FUNCTION_MAX)
		return NULL;
	if (at >= look->held_from && at + length <= look->held_from + look->held_count)
		return look->held + (at - look->held_from);
	*made = xmalloc(length);
	return agent_read_code(search->space, start, *made, length) == length ? *made : NULL;
}

/* If the function around is known, this rejects most bytes that look like a branch. */
static bool may_be_branch(const struct search *search, uint64_t from)
{
	_cleanup_free_ uint8_t *made = NULL;
	uint64_t start, length;
	const uint8_t *bytes = function_around(search, from, &start, &length)
				       ? bytes_of(search, start, length, &made)
				       : NULL;

	if (!bytes)
		return true;
	const struct agent_function function = {.address = start, .bytes = bytes, .length = length};

	return search->space->arch->agent->is_branch(trap_decoder(search->agent->trap), &function,
						     from - start);
}

static void note_branch(void *context, uint64_t from, uint64_t target, bool is_call)
{
	struct search *search = context;
	const struct vec *candidates = &search->own->candidates;
	size_t found = candidates_covered(candidates, target);
	struct patch_candidate *candidate = found < candidates->count ? vec_at(candidates, found)
								      : NULL;

	if (candidate && !candidate->refusal && !candidate_is_closed(candidate) &&
	    (!candidate->kept || target - candidate->address < candidate->kept) &&
	    may_be_branch(search, from)) {
		candidate->kept = (uint8_t)(target - candidate->address);
		candidate->kept_because = "code branches into its first instructions";
		candidate->refusal = candidate_is_front(candidate) ? in_front : NULL;
	}
	if (is_call || !map_get(&search->own->asking, target))
		return;
	found = candidate_around(candidates, from);
	if (found < candidates->count)
		((struct patch_candidate *)vec_at(candidates, found))->refusal =
			"it may end by a jump to what asks who called it";
}

/* ------------------------------------------------------------------ all code of a module */

/* The index of the first candidate in a mapping, or count. */
static size_t first_in(const struct vec *candidates, const struct mapping *mapping)
{
	size_t before = candidates_last_before(candidates, mapping->start);
	size_t first = before < candidates->count ? before + 1 : 0;
	const struct patch_candidate *candidate = first < candidates->count
							  ? vec_at(candidates, first)
							  : NULL;

	return candidate && candidate->address < mapping->end ? first : candidates->count;
}

/* Returns true if the mapping has a candidate that has not been searched for. */
static bool has_news(const struct vec *candidates, const struct mapping *mapping)
{
	for (size_t i = first_in(candidates, mapping); i < candidates->count; i++) {
		const struct patch_candidate *candidate = vec_at(candidates, i);

		if (candidate->address >= mapping->end)
			return false;
		if (!candidate->looked_for)
			return true;
	}
	return false;
}

/* Marks the candidates that the search that begins now is for. */
static void note_asked(const struct search *search, const struct mapping *mapping)
{
	const struct vec *candidates = &search->own->candidates;

	for (size_t i = 0; i < candidates->count; i++) {
		struct patch_candidate *candidate = vec_at(candidates, i);

		candidate->is_looked_for = candidate->address >= mapping->start &&
					   candidate->address < mapping->end;
	}
}

/* For candidates without a known branch into them. */
static void look_for_computed(const struct search *search, struct patch_candidate *candidate)
{
	_cleanup_free_ uint8_t *made = NULL;
	uint64_t start = candidate->address, length = candidate->length;

	if (candidate->refusal || candidate_is_closed(candidate))
		return;
	const bool is_known = !candidate_is_front(candidate) ||
			      search->agent->around(search->space, start, &start, &length);
	const struct agent_function function = {
		.address = start,
		.bytes = is_known ? bytes_of(search, start, length, &made) : NULL,
		.length = length,
		.covered = candidate->kept ? candidate->kept : AGENT_JUMP,
	};

	if (!function.bytes)
		candidate->refusal = unreadable;
	else if (computed_may_lead_into(search->agent, search->space, &function,
					candidate->address))
		candidate->refusal = "its jumps may lead into its first instructions";
}

static void note_looked(const struct search *search, const char *refusal)
{
	const struct vec *candidates = &search->own->candidates;

	for (size_t i = 0; i < candidates->count; i++) {
		struct patch_candidate *candidate = vec_at(candidates, i);

		if (!candidate->is_looked_for)
			continue;
		candidate->is_looked_for = false;
		candidate->looked_for = true;
		if (refusal)
			candidate->refusal = refusal;
		else
			look_for_computed(search, candidate);
	}
}

static void begin_look(struct search *search, const struct mapping *mapping)
{
	note_asked(search, mapping);
	search->own->look = (struct branch_scan){.held = xmalloc(HELD),
						 .start = mapping->start,
						 .length = mapping->end - mapping->start};
}

/* Makes sure that the next part is held. Returns false if it cannot be read. */
static bool hold_next(const struct search *search)
{
	struct branch_scan *look = &search->own->look;
	const uint64_t left = look->length - look->done;
	const uint64_t want = left < PART + OVERLAP ? left : PART + OVERLAP;

	if (look->done >= look->held_from &&
	    look->done + want <= look->held_from + look->held_count)
		return true;
	look->held_from = look->done < BEHIND ? 0 : look->done - BEHIND;
	look->held_count = look->length - look->held_from;
	if (look->held_count > HELD)
		look->held_count = HELD;
	return agent_read_code(search->space, look->start + look->held_from, look->held,
			       look->held_count) == look->held_count;
}

/*
 * Continues the current search, if there is one, until the time `end`, or until another thread
 * waits for the tracer. Returns true if the search is complete.
 */
static bool go_on(struct search *search, uint64_t end)
{
	struct branch_scan *look = &search->own->look;
	bool is_readable = true;

	while (look->held && look->done < look->length && is_readable) {
		uint64_t left = look->length - look->done;

		if (clock_now() > end || (search->parts++ && search->gives_way && waiting_is_due()))
			return false;
		is_readable = hold_next(search);
		/*
		 * An instruction that begins at the end of the part is inside: the parts overlap.
		 */
		if (is_readable)
			search->space->arch->agent->find_branches(
				look->held + (look->done - look->held_from),
				left < PART + OVERLAP ? left : PART + OVERLAP,
				look->start + look->done, search->sieve, note_branch, search);
		look->done += left < PART ? left : PART;
	}
	if (look->held)
		note_looked(search, is_readable ? NULL : unreadable);
	free(look->held);
	look->held = NULL;
	return true;
}

/* Returns true if something is left to search for, in any mapping. */
static bool is_anything_left(const struct agent_space *own)
{
	for (size_t i = 0; i < own->candidates.count; i++)
		if (!((struct patch_candidate *)vec_at(&own->candidates, i))->looked_for)
			return true;
	return own->look.held;
}

/* Searches all mappings with new candidates. Returns 0 or -errno; -EAGAIN: not complete. */
static int look_through(struct search *search, pid_t tid, uint64_t longest)
{
	struct vec *candidates = &search->own->candidates;
	struct maps maps;
	bool done = true;
	int error = maps_read(tid, &maps);

	if (error)
		return error;
	/*
	 * The time counts from here, or no call might get anything done: there may be 65,000
	 * mappings.
	 */
	const uint64_t end = clock_now() + longest;

	for (size_t i = 0; i < maps.count && done; i++)
		if (maps.mappings[i].executable && has_news(candidates, &maps.mappings[i])) {
			begin_look(search, &maps.mappings[i]);
			done = go_on(search, end);
		}
	maps_deinit(&maps);
	return done ? 0 : -EAGAIN;
}

int agent_look_ahead(struct agent *agent, struct space *space, pid_t tid, uint64_t longest)
{
	struct search search = {.agent = agent,
				.space = space,
				.own = space->agent,
				.gives_way = longest != AGENT_NO_LIMIT};
	int error = -EAGAIN;

	/*
	 * By address, for callers too: a child inherits its candidates unsorted, and searched for.
	 */
	candidates_sort(&search.own->candidates);
	/* This is called at each stop until all candidates are patched. */
	if (!is_anything_left(search.own))
		return 0;
	search.sieve = xcalloc(1, sizeof *search.sieve);
	fill_sieve(&search);
	if (go_on(&search, clock_now() + longest))
		error = look_through(&search, tid, longest);
	free(search.sieve);
	return error;
}
