/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a space that wait to be caught inside, by address. */
#include "engine/agent/private.h"

#include "engine/trap/trap.h"

#include <stdlib.h>

void agent_asks_caller(struct space *space, uint64_t address)
{
	struct agent_space *own = agent_space_of(space);

	map_put(&own->asking, address, own);
}

const char *agent_wish(struct space *space, const struct agent_wish *wish)
{
	struct agent_space *own = agent_space_of(space);

	if (!space->arch->agent)
		return "not on this architecture";
	if (own->refused)
		return own->refused;
	if (!wish->length)
		return "its length is not known";
	struct agent_wish *kept = vec_push(&own->wishes, wish);

	kept->was_called = wish_is_gate(wish); /* or no gate would be wished */
	if (!kept->breakpoint)
		kept->breakpoint = kept->address;
	return NULL;
}

bool agent_is_due(const struct space *space, uint64_t now)
{
	return now > space->agent->due;
}

bool agent_has_wishes_of_calls(const struct space *space)
{
	const struct vec *wishes = agent_has_wishes(space) ? &space->agent->wishes : NULL;

	for (size_t i = 0; wishes && i < wishes->count; i++)
		if (((struct agent_wish *)vec_at(wishes, i))->site)
			return true;
	return false;
}

bool agent_has_wishes(const struct space *space)
{
	return space->agent && space->agent->wishes.count && !space->agent->refused &&
	       space->arch->agent;
}

static int by_address(const void *a, const void *b)
{
	const struct agent_wish *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

/* They mostly are since the last time, and sorting takes as long as much of the look. */
void wishes_sort(struct vec *wishes)
{
	bool is_sorted = true;

	for (size_t i = 1; i < wishes->count && is_sorted; i++)
		is_sorted = by_address(vec_at(wishes, i - 1), vec_at(wishes, i)) <= 0;
	if (!is_sorted)
		qsort(wishes->items, wishes->count, wishes->item_size, by_address);
}

size_t wishes_last_before(const struct vec *wishes, uint64_t address)
{
	size_t low = 0, high = wishes->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (((struct agent_wish *)vec_at(wishes, middle))->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : wishes->count;
}

size_t wishes_covered(const struct vec *wishes, uint64_t address)
{
	size_t found = wishes_last_before(wishes, address);

	if (found < wishes->count &&
	    address - ((struct agent_wish *)vec_at(wishes, found))->address >= AGENT_JUMP)
		return wishes->count;
	return found;
}

size_t wishes_covered_own(const struct vec *wishes, uint64_t address)
{
	size_t found = wishes_covered(wishes, address);
	const struct agent_wish *wish = found < wishes->count ? vec_at(wishes, found) : NULL;

	return wish && address - wish->address < wish->length ? found : wishes->count;
}

void wishes_note_calls(struct vec *wishes, const struct space *space)
{
	struct vec *hits = trap_first_hits(space);

	for (size_t i = 0; hits && i < hits->count; i++) {
		uint64_t address = *(uint64_t *)vec_at(hits, i);
		size_t found = wishes_last_before(wishes, address + 1);
		struct agent_wish *wish = found < wishes->count ? vec_at(wishes, found) : NULL;

		if (wish && wish->address == address)
			wish->was_called = true;
	}
	if (hits)
		vec_clear(hits);
}
