/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions cannot be caught by any jump, as code branches behind their beginnings, where
 * the jump would stand: the bytes from there on must stay as they are (detours.c).
 *
 * Nobody tells where code branches to: all code of a module is looked through, as any of it may
 * branch to any other, at every byte, as it is not known where instructions begin. A byte that
 * looks like a branch to such a place is taken for one unless the function around it is known (by
 * its symbol, or by .eh_frame, which tells of those without one), and decoding that from its
 * beginning shows that no instruction begins there.
 *
 * The same look finds functions that end by a jump to what asks who called it
 * (agent_asks_caller()).
 *
 * That takes 3 ns a byte, and Python has 3 MB; but there are programs with hundreds of them, so
 * some is held at a time, and what a function has of it elsewhere is read where it is asked for.
 * Where a process has been attached to it is done while all of its threads run: code does not
 * change, or if it does (a runtime that writes over its own) it may do so at any other time, too.
 */
#include "engine/agent/private.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "inferior/maps.h"
#include "inferior/waiting.h"

#include <errno.h>
#include <stdlib.h>

/* HELD: bytes that are held at once; BEHIND: those of them that have been looked through before. */
enum { HELD = 1 << 19, BEHIND = 1 << 16, PART = 1 << 16, OVERLAP = 16, FUNCTION_MAX = 1 << 24 };

static const char unreadable[] = "the code around it cannot be read";
static const char in_front[] = "code branches into the instructions in front of it";

/* One look. */
struct search {
	struct agent *agent;
	struct space *space;
	struct agent_space *own;
	struct sieve *sieve; /* of branches' targets */
	bool gives_way;	     /* to threads that have stopped, once it has done a part */
	unsigned parts;	     /* that were looked through */
};

/* ------------------------------------------------------------------ branches */

/* Whatever note_branch() may answer for. */
static void fill_sieve(struct search *search)
{
	const struct agent_space *own = search->own;
	uint64_t address;
	size_t cursor = 0;
	void *value;

	for (size_t i = 0; i < own->wishes.count; i++) {
		const struct agent_wish *wish = vec_at(&own->wishes, i);

		sieve_add(search->sieve, wish->address);
		sieve_add(search->sieve, wish->address + AGENT_JUMP - 1);
	}
	while (map_next(&own->asking, &cursor, &address, &value))
		sieve_add(search->sieve, address);
}

/* The function's wish in whose code `address` is, or count. */
static size_t wish_around(const struct vec *wishes, uint64_t address)
{
	size_t found = wishes_last_before(wishes, address + 1);
	const struct agent_wish *wish = found < wishes->count ? vec_at(wishes, found) : NULL;

	while (wish && wish->slot && found)
		wish = vec_at(wishes, --found);
	if (!wish || wish->slot)
		return wishes->count;
	return wish && address - wish->address < wish->length ? found : wishes->count;
}

/* Where the function begins that `from` is in, and its bytes; false: nobody knows. */
static bool function_around(const struct search *search, uint64_t from, uint64_t *start,
			    uint64_t *length)
{
	const struct vec *wishes = &search->own->wishes;
	size_t found = wish_around(wishes, from);
	const struct agent_wish *wish = found < wishes->count ? vec_at(wishes, found) : NULL;

	if (!wish)
		return search->agent->around(search->space, from, start, length);
	*start = wish->address;
	*length = wish->length;
	return !wish->is_plt_stub;
}

/*
 * The bytes of a function in the mapping that is looked through, or NULL; what has been read for
 * that is *made, to be freed.
 */
static const uint8_t *bytes_of(const struct search *search, uint64_t start, uint64_t length,
			       uint8_t **made)
{
	const struct agent_look *look = &search->own->look;
	const uint64_t at = start - look->start;

	*made = NULL;
	if (at >= look->length || length > look->length - at || length > FUNCTION_MAX)
		return NULL;
	if (at >= look->held_from && at + length <= look->held_from + look->held_count)
		return look->held + (at - look->held_from);
	*made = xmalloc(length);
	return agent_read_code(search->space, start, *made, length) == length ? *made : NULL;
}

/*
 * Where the code around it is known to begin, most of what looks like a branch is told to be none.
 */
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
	const struct vec *wishes = &search->own->wishes;
	size_t found = wishes_covered(wishes, target);
	struct agent_wish *wish = found < wishes->count ? vec_at(wishes, found) : NULL;

	if (wish && !wish->refusal && !wish_is_closed(wish) &&
	    (!wish->kept || target - wish->address < wish->kept) && may_be_branch(search, from)) {
		wish->kept = (uint8_t)(target - wish->address);
		wish->kept_because = "code branches into its first instructions";
		wish->refusal = wish_is_front(wish) ? in_front : NULL;
	}
	if (is_call || !map_get(&search->own->asking, target))
		return;
	found = wish_around(wishes, from);
	if (found < wishes->count)
		((struct agent_wish *)vec_at(wishes, found))->refusal =
			"it may end by a jump to what asks who called it";
}

/* ------------------------------------------------------------------ all code of a module */

/* The first wish in a mapping, or count. */
static size_t first_in(const struct vec *wishes, const struct mapping *mapping)
{
	size_t before = wishes_last_before(wishes, mapping->start);
	size_t first = before < wishes->count ? before + 1 : 0;
	const struct agent_wish *wish = first < wishes->count ? vec_at(wishes, first) : NULL;

	return wish && wish->address < mapping->end ? first : wishes->count;
}

/* Whether there is one that has not been looked for. */
static bool has_news(const struct vec *wishes, const struct mapping *mapping)
{
	for (size_t i = first_in(wishes, mapping); i < wishes->count; i++) {
		const struct agent_wish *wish = vec_at(wishes, i);

		if (wish->address >= mapping->end)
			return false;
		if (!wish->looked_for)
			return true;
	}
	return false;
}

/* Marks those that the look which begins now answers for. */
static void note_asked(const struct search *search, const struct mapping *mapping)
{
	const struct vec *wishes = &search->own->wishes;

	for (size_t i = 0; i < wishes->count; i++) {
		struct agent_wish *wish = vec_at(wishes, i);

		wish->is_looked_for = wish->address >= mapping->start &&
				      wish->address < mapping->end;
	}
}

/* Of those that no branch is known to lead into. */
static void look_for_computed(const struct search *search, struct agent_wish *wish)
{
	_cleanup_free_ uint8_t *made = NULL;
	uint64_t start = wish->address, length = wish->length;

	if (wish->refusal || wish_is_closed(wish))
		return;
	const bool is_known = !wish_is_front(wish) ||
			      search->agent->around(search->space, start, &start, &length);
	const struct agent_function function = {
		.address = start,
		.bytes = is_known ? bytes_of(search, start, length, &made) : NULL,
		.length = length,
		.covered = wish->kept ? wish->kept : AGENT_JUMP,
	};

	if (!function.bytes)
		wish->refusal = unreadable;
	else if (computed_may_lead_into(search->agent, search->space, &function, wish->address))
		wish->refusal = "its jumps may lead into its first instructions";
}

static void note_looked(const struct search *search, const char *refusal)
{
	const struct vec *wishes = &search->own->wishes;

	for (size_t i = 0; i < wishes->count; i++) {
		struct agent_wish *wish = vec_at(wishes, i);

		if (!wish->is_looked_for)
			continue;
		wish->is_looked_for = false;
		wish->looked_for = true;
		if (refusal)
			wish->refusal = refusal;
		else
			look_for_computed(search, wish);
	}
}

static void begin_look(struct search *search, const struct mapping *mapping)
{
	note_asked(search, mapping);
	search->own->look = (struct agent_look){.held = xmalloc(HELD),
						.start = mapping->start,
						.length = mapping->end - mapping->start};
}

/* Sees to it that what comes next is held; false: it cannot be read. */
static bool hold_next(const struct search *search)
{
	struct agent_look *look = &search->own->look;
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
 * Goes on with the look that has begun, if one has, until it is `end`, or a thread has stopped and
 * is to be served. Whether all is done.
 */
static bool go_on(struct search *search, uint64_t end)
{
	struct agent_look *look = &search->own->look;
	bool is_readable = true;

	while (look->held && look->done < look->length && is_readable) {
		uint64_t left = look->length - look->done;

		if (inferior_clock() > end ||
		    (search->parts++ && search->gives_way && waiting_is_due()))
			return false;
		is_readable = hold_next(search);
		/* What begins at the end of a part is within it. */
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

/* Whether something is left to be looked for, in whatever mapping. */
static bool is_anything_left(const struct agent_space *own)
{
	for (size_t i = 0; i < own->wishes.count; i++)
		if (!((struct agent_wish *)vec_at(&own->wishes, i))->looked_for)
			return true;
	return own->look.held;
}

/* Looks through what is mapped and has not been looked through: 0 or -errno; -EAGAIN: not all. */
static int look_through(struct search *search, pid_t tid, uint64_t longest)
{
	struct vec *wishes = &search->own->wishes;
	struct maps maps;
	bool done = true;
	int error = maps_read(tid, &maps);

	if (error)
		return error;
	/* From here on, as each time something is to be got done: there may be 65,000 mappings. */
	const uint64_t end = inferior_clock() + longest;

	for (size_t i = 0; i < maps.count && done; i++)
		if (maps.mappings[i].executable && has_news(wishes, &maps.mappings[i])) {
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

	/* By address, for whoever asks, too: a child inherits them in no order, all looked for. */
	wishes_sort(&search.own->wishes);
	/* It is asked again at each stop, until all are installed. */
	if (!is_anything_left(search.own))
		return 0;
	search.sieve = xcalloc(1, sizeof *search.sieve);
	fill_sieve(&search);
	if (go_on(&search, inferior_clock() + longest))
		error = look_through(&search, tid, longest);
	free(search.sieve);
	return error;
}
