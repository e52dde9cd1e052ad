/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adopts what a tracer has left in a process when it was killed together with its guardian: units
 * that are in no journal, jumps to them, and return trampolines on stacks. The program runs on with
 * them, as calls that find no tracer just continue. The next tracer that attaches notes them in its
 * own journal, and so they are undone with its own changes.
 *
 * A unit is recognised by the name of its memory file and by its code, so only units of this
 * AGENT_LAYOUT are adopted. If a function in a mapped file begins with a jump to a unit's stub, the
 * file's bytes are put back. A process that imitates such traces can harm only itself.
 */
#include "engine/agent/orphan_adoption.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/return_addresses.h"
#include "engine/agent/ring_drain.h"
#include "engine/agent/rings_abi.h"
#include "engine/agent/unit.h"
#include "engine/trap/adopt.h"
#include "tracee/arena.h"
#include "tracee/files.h"
#include "tracee/journal.h"
#include "tracee/maps_snapshot.h"
#include "tracee/space.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 25, PAGES_SEEN = 64 };

struct orphan {
	struct space *space;
	struct vec units;   /* uint64_t: base addresses */
	struct vec rings;   /* uint64_t: addresses */
	struct vec buckets; /* struct mapping: the memory files with buckets; paths not owned */
	struct vec pages;   /* uint64_t: pages of islands */
	const struct maps *maps;
	struct file_view files;
	bool stay; /* some jumps cannot be removed, or are not known */
};

static void note_mapping(const struct orphan *orphan, uint64_t address, uint64_t length)
{
	journal_mapping(orphan->space->journal, address, length);
	arena_add_region(orphan->space->arena, address, length);
}

static bool is_code(const struct space *space, uint64_t address, const uint8_t *code, size_t length)
{
	uint8_t *bytes = xmalloc(length);
	bool same = memory_read_exact(&space->memory, address, bytes, length) &&
		    !memcmp(bytes, code, length);

	free(bytes);
	return same;
}

static bool is_unit_with(const struct space *space, uint64_t base, bool system_clock)
{
	uint8_t *code = unit_code(space->arch->agent, system_clock);
	bool is_unit = is_code(space, base, code, AGENT_RETURNED);

	free(code);
	return is_unit;
}

static bool is_unit(const struct space *space, uint64_t base)
{
	return is_unit_with(space, base, false) || is_unit_with(space, base, true);
}

static bool makes_records(const struct space *space, uint64_t base)
{
	uint8_t stub[AGENT_RETURN_STUB];

	space->arch->agent->write_return_stub(base, 0, AGENT_RETURNS_RECORDED, stub);
	return is_code(space, base + AGENT_RETURN_CALLS, stub, sizeof stub);
}

/* The unit is unmapped with all the tracer's mappings. */
static void note_unit(const struct orphan *orphan, uint64_t base)
{
	struct space *space = orphan->space;

	note_mapping(orphan, base, AGENT_TEXT_BYTES);
	note_mapping(orphan, base + AGENT_TRAMPOLINES, AGENT_TRAMPOLINES_BYTES);
	note_mapping(orphan, base + AGENT_SHARED, AGENT_SHARED_BYTES);
	if (makes_records(space, base)) {
		note_mapping(orphan, base + AGENT_PLANS, AGENT_WORDS_BYTES);
		note_mapping(orphan, base + AGENT_PLANS + AGENT_WORDS_BYTES,
			     AGENT_PLANS_BYTES - AGENT_WORDS_BYTES);
	}
	journal_agent(space->journal, base, AGENT_TEXT_BYTES);
}

/* A page may have been found more than once. */
static void note_islands(const struct orphan *orphan, uint64_t page)
{
	struct journal *journal = orphan->space->journal;

	if (journal_has_mapping(journal, page))
		return;
	note_mapping(orphan, page, ISLAND_PAGE);
	journal_agent(journal, page, ISLAND_PAGE);
}

static void find_units(struct orphan *orphan, const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->mappings[i];
		uint64_t length = mapping->end - mapping->start;
		uint64_t base = mapping->start - AGENT_SHARED;

		if (strcmp(mapping->path, "/memfd:" AGENT_FILE " (deleted)"))
			continue;
		if (length == AGENT_SHARED_BYTES && mapping->start > AGENT_SHARED &&
		    is_unit(orphan->space, base))
			vec_push(&orphan->units, &base);
		else if (length == AGENT_RINGS_BYTES)
			vec_push(&orphan->rings, &mapping->start);
		else if (length == AGENT_BUCKETS_BYTES * AGENT_BUCKETS_FEW ||
			 length == AGENT_BUCKETS_BYTES * AGENT_BUCKETS_MANY)
			vec_push(&orphan->buckets, mapping);
	}
}

static bool is_stub(const struct orphan *orphan, uint64_t address)
{
	for (size_t i = 0; i < orphan->units.count; i++) {
		uint64_t base = *(uint64_t *)vec_at(&orphan->units, i);
		uint64_t offset = address - (base + AGENT_PROBE_STUBS);

		if (offset < (uint64_t)AGENT_PROBE_COUNT * AGENT_PROBE_STUB &&
		    offset % AGENT_PROBE_STUB == 0)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ jumps to units */

/* A jump that may be an island (jump_islands.c). */
struct leading {
	const struct orphan *orphan;
	bool to_stub;
};

static void note_leading(void *context, uint64_t from, uint64_t target, bool is_call)
{
	struct leading *leading = context;
	uint64_t word;

	(void)from, (void)is_call;
	/* If the stub is out of reach, the jump is by a word. */
	leading->to_stub |=
		is_stub(leading->orphan, target) ||
		(memory_read_word(&leading->orphan->space->memory, target, sizeof word, &word) &&
		 is_stub(leading->orphan, word));
}

static bool is_in_unnamed_code(const struct maps *maps, uint64_t address)
{
	const struct mapping *mapping = maps_find(maps, address);

	return mapping && mapping->executable && !mapping->inode;
}

/* Returns true if one of `length` bytes of code is a jump to a stub. */
static bool leads_to_stub(const struct orphan *orphan, uint64_t address, size_t length)
{
	const struct agent_arch *arch = orphan->space->arch->agent;
	struct leading leading = {orphan, false};
	struct sieve everything;
	uint8_t code[ISLAND_PAGE];

	if (!memory_read_exact(&orphan->space->memory, address, code, length))
		return false;
	memset(&everything, 0xff, sizeof everything);
	arch->find_branches(code, length, address, &everything, note_leading, &leading);
	return leading.to_stub;
}

static bool is_island(struct orphan *orphan, uint64_t address)
{
	const uint64_t page = address & ~(uint64_t)(ISLAND_PAGE - 1);

	if (!is_in_unnamed_code(orphan->maps, address) ||
	    !leads_to_stub(orphan, address, ISLAND_BYTES))
		return false;
	vec_push(&orphan->pages, &page);
	return true;
}

static bool is_in_unit(const struct orphan *orphan, uint64_t address)
{
	for (size_t i = 0; i < orphan->units.count; i++)
		if (address - *(uint64_t *)vec_at(&orphan->units, i) < AGENT_TEXT_BYTES)
			return true;
	return false;
}

/*
 * Finds pages of islands, including those that no jump leads to at the moment. Adjacent pages are
 * one mapping, but there are few such; generated code has larger mappings.
 */
static void find_pages(struct orphan *orphan)
{
	for (size_t i = 0; i < orphan->maps->count; i++) {
		const struct mapping *mapping = &orphan->maps->mappings[i];

		if (!mapping->executable || mapping->writable || mapping->inode || *mapping->path ||
		    mapping->end - mapping->start > PAGES_SEEN * ISLAND_PAGE)
			continue;
		for (uint64_t page = mapping->start; page < mapping->end; page += ISLAND_PAGE)
			if (!is_in_unit(orphan, page) && leads_to_stub(orphan, page, ISLAND_PAGE))
				vec_push(&orphan->pages, &page);
	}
}

/* A jump of the agent, and the bytes of the file there. */
struct old_jump {
	uint64_t address;
	size_t length;
	uint8_t before[AGENT_SPAN_MAX], after[AGENT_SPAN_MAX];
};

/* The search for the agent's jumps in the code of a mapping. */
struct looking {
	struct orphan *orphan;
	const struct mapping *mapping;
	const uint8_t *code;
	int file;	  /* of the mapping; -1: not open */
	struct vec found; /* struct old_jump */
};

/* Reads the file's bytes; false: not readable, or they are the jump, so it has replaced nothing. */
static bool read_before(struct looking *looking, struct old_jump *jump)
{
	const struct mapping *mapping = looking->mapping;

	if (looking->file == -1)
		looking->file = file_view_open(&looking->orphan->files, mapping);
	return looking->file >= 0 &&
	       pread(looking->file, jump->before, jump->length,
		     (off_t)(mapping->offset + (jump->address - mapping->start))) ==
		       (ssize_t)jump->length &&
	       memcmp(jump->before, jump->after, jump->length) != 0;
}

/*
 * Shortens a punned jump to the bytes that were written: the others are the file's, or a
 * breakpoint. (jump_islands.c makes sure that the last byte written does not look like a
 * breakpoint.)
 */
static void take_off_kept(const struct looking *looking, struct old_jump *jump)
{
	const uint8_t trap = looking->orphan->space->arch->breakpoint[0];
	const uint8_t *after = jump->after;

	while (jump->length > 1 && (after[jump->length - 1] == jump->before[jump->length - 1] ||
				    after[jump->length - 1] == trap))
		jump->length--;
}

/* Adds fillers in front of a punned jump, if it was written with any. */
static void add_fillers(struct looking *looking, struct old_jump *jump)
{
	const uint8_t filler = looking->orphan->space->arch->agent->filler(jump->address);

	while (jump->length < AGENT_SPAN_MAX && jump->address > looking->mapping->start &&
	       looking->code[jump->address - looking->mapping->start - 1] == filler) {
		struct old_jump longer = *jump;

		longer.address--;
		longer.length++;
		memcpy(longer.after, looking->code + (longer.address - looking->mapping->start),
		       longer.length);
		if (!read_before(looking, &longer) || longer.before[0] == filler)
			return;
		*jump = longer;
	}
}

static void note_branch(void *context, uint64_t from, uint64_t target, bool is_call)
{
	struct looking *looking = context;
	struct space *space = looking->orphan->space;
	struct old_jump jump = {.address = from, .length = AGENT_JUMP};
	uint8_t expected[ARCH_JUMP_MAX];

	/* Most branches stay in the module. */
	if (is_call ||
	    target - looking->mapping->start < looking->mapping->end - looking->mapping->start)
		return;
	space->arch->emit_jump(from, target, expected);
	memcpy(jump.after, looking->code + (from - looking->mapping->start), AGENT_JUMP);
	if (memcmp(jump.after, expected, AGENT_JUMP) != 0)
		return;
	const bool by_island = !is_stub(looking->orphan, target);

	if (by_island && !is_island(looking->orphan, target))
		return;
	if (!read_before(looking, &jump)) {
		looking->orphan->stay = true;
		return;
	}
	if (by_island) {
		add_fillers(looking, &jump);
		take_off_kept(looking, &jump);
	}
	vec_push(&looking->found, &jump);
}

static int compare(const void *left, const void *right)
{
	const struct old_jump *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* The bytes behind a punned jump may belong to the next jump. */
static void note_jumps(struct looking *looking)
{
	struct vec *found = &looking->found;

	if (found->count)
		qsort(found->items, found->count, found->item_size, compare);
	for (size_t i = 0; i < found->count; i++) {
		struct old_jump *jump = vec_at(found, i);
		const struct old_jump *next = i + 1 < found->count ? vec_at(found, i + 1) : NULL;

		if (next && next->address - jump->address < jump->length)
			jump->length = next->address - jump->address;
		if (jump->length)
			journal_jump(looking->orphan->space->journal, jump->address, jump->before,
				     jump->after, jump->length);
	}
	vec_deinit(found);
}

static void find_jumps(struct orphan *orphan, const struct mapping *mapping)
{
	size_t length = mapping->end - mapping->start;
	uint8_t *code = length <= TEXT_MAX ? xmalloc(length) : NULL;
	struct looking looking = {orphan, mapping, code, -1, VEC_OF(struct old_jump)};
	struct sieve everything;

	if (!code) {
		orphan->stay = true;
		return;
	}
	memset(&everything, 0xff, sizeof everything);
	orphan->stay |= memory_read_pages(&orphan->space->memory, mapping->start, code, length) !=
			length;
	orphan->space->arch->agent->find_branches(code, length, mapping->start, &everything,
						  note_branch, &looking);
	note_jumps(&looking);
	if (looking.file >= 0)
		close(looking.file);
	free(code);
}

/* As long as a jump stays, all that it leads to must stay, too. */
static void note_all(const struct orphan *orphan)
{
	for (size_t i = 0; i < orphan->units.count; i++)
		note_unit(orphan, *(uint64_t *)vec_at(&orphan->units, i));
	for (size_t i = 0; i < orphan->rings.count; i++)
		note_mapping(orphan, *(uint64_t *)vec_at(&orphan->rings, i), AGENT_RINGS_BYTES);
	for (size_t i = 0; i < orphan->buckets.count; i++) {
		const struct mapping *mapping = vec_at(&orphan->buckets, i);

		note_mapping(orphan, mapping->start, mapping->end - mapping->start);
	}
	for (size_t i = 0; i < orphan->pages.count; i++)
		note_islands(orphan, *(uint64_t *)vec_at(&orphan->pages, i));
}

static void look_for_jumps(struct orphan *orphan, const struct maps *maps, pid_t pid)
{
	file_view_init(&orphan->files, pid);
	for (size_t i = 0; i < maps->count; i++)
		if (maps->mappings[i].executable && maps->mappings[i].inode)
			find_jumps(orphan, &maps->mappings[i]);
	file_view_deinit(&orphan->files);
}

bool agent_find_orphan(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct orphan orphan = {.space = space,
				.units = VEC_OF(uint64_t),
				.rings = VEC_OF(uint64_t),
				.buckets = VEC_OF(struct mapping),
				.pages = VEC_OF(uint64_t)};
	struct maps maps;

	if (!space->arch->agent || maps_snapshot_read(space, thread->tid, &maps) != 0)
		return false;
	orphan.maps = &maps;
	find_units(&orphan, &maps);
	if (orphan.units.count) {
		trap_note_orphaned(space);
		space_find_kernel_code(space, thread->tid);
		find_pages(&orphan);
		look_for_jumps(&orphan, &maps, thread->process->pid);
		if (!orphan.stay)
			note_all(&orphan);
		agent_turn_off(space);
	}
	bool found = orphan.units.count > 0;

	maps_deinit(&maps);
	vec_deinit(&orphan.units);
	vec_deinit(&orphan.rings);
	vec_deinit(&orphan.buckets);
	vec_deinit(&orphan.pages);
	return found;
}
