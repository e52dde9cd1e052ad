/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tracer has left in a process, when it was killed and its guardian with it: units that
 * nobody has a journal of, jumps that lead there, stubs on stacks. The program goes on with them,
 * as calls that find no tracer just go through; whoever attaches next notes them in its own
 * journal, and so they go with all that is its own.
 *
 * A unit is known by the name of its memory file and by its code, so only one of this layout is
 * taken; what functions begin with in their files is put back where there is a jump to a unit's
 * stub instead. Nothing is taken for granted that the process could have made to look so but harms
 * itself by.
 */
#include "engine/agent/private.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "engine/agent/rings_abi.h"
#include "inferior/arena.h"
#include "inferior/files.h"
#include "inferior/journal.h"
#include "inferior/kept_maps.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 25, PAGES_SEEN = 64 };

struct remains {
	struct space *space;
	struct vec units; /* uint64_t: where they begin */
	struct vec rings; /* uint64_t: the same of these */
	struct vec pages; /* uint64_t: of detours */
	const struct maps *maps;
	struct file_view files;
	bool stay; /* there are jumps that cannot be taken out, or may be */
};

static void note_mapping(const struct remains *remains, uint64_t address, uint64_t length)
{
	journal_mapping(remains->space->journal, address, length);
	arena_add_region(remains->space->arena, address, length);
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

	space->arch->agent->write_return_stub(base, 0, true, stub);
	return is_code(space, base + AGENT_RETURN_CALLS, stub, sizeof stub);
}

/* It is unmapped with all that is ours. */
static void note_unit(const struct remains *remains, uint64_t base)
{
	struct space *space = remains->space;

	note_mapping(remains, base, AGENT_TEXT_BYTES);
	note_mapping(remains, base + AGENT_SLOTS, AGENT_SLOTS_BYTES);
	note_mapping(remains, base + AGENT_SHARED, AGENT_SHARED_BYTES);
	if (makes_records(space, base)) {
		note_mapping(remains, base + AGENT_PLANS, AGENT_WORDS_BYTES);
		note_mapping(remains, base + AGENT_PLANS + AGENT_WORDS_BYTES,
			     AGENT_PLANS_BYTES - AGENT_WORDS_BYTES);
	}
	journal_agent(space->journal, base, AGENT_TEXT_BYTES);
}

/* More than one may have been found in the page. */
static void note_detours(const struct remains *remains, uint64_t page)
{
	struct journal *journal = remains->space->journal;

	if (journal_has_mapping(journal, page))
		return;
	note_mapping(remains, page, DETOUR_PAGE);
	journal_agent(journal, page, DETOUR_PAGE);
}

static void find_units(struct remains *remains, const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->mappings[i];
		uint64_t length = mapping->end - mapping->start;
		uint64_t base = mapping->start - AGENT_SHARED;

		if (strcmp(mapping->path, "/memfd:" AGENT_FILE " (deleted)"))
			continue;
		if (length == AGENT_SHARED_BYTES && mapping->start > AGENT_SHARED &&
		    is_unit(remains->space, base))
			vec_push(&remains->units, &base);
		else if (length == AGENT_RINGS_BYTES)
			vec_push(&remains->rings, &mapping->start);
	}
}

static bool is_stub(const struct remains *remains, uint64_t address)
{
	for (size_t i = 0; i < remains->units.count; i++) {
		uint64_t base = *(uint64_t *)vec_at(&remains->units, i);
		uint64_t offset = address - (base + AGENT_PROBE_STUBS);

		if (offset < (uint64_t)AGENT_PROBE_COUNT * AGENT_PROBE_STUB &&
		    offset % AGENT_PROBE_STUB == 0)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ jumps that lead there */

/* What is found of a jump that may be a detour (detours.c). */
struct leading {
	const struct remains *remains;
	bool to_stub;
};

static void note_leading(void *context, uint64_t from, uint64_t target, bool is_call)
{
	struct leading *leading = context;
	uint64_t word;

	(void)from, (void)is_call;
	/* Where the stub is not in reach, the jump is by a word. */
	leading->to_stub |=
		is_stub(leading->remains, target) ||
		(memory_read_word(&leading->remains->space->memory, target, sizeof word, &word) &&
		 is_stub(leading->remains, word));
}

static bool is_in_unnamed_code(const struct maps *maps, uint64_t address)
{
	const struct mapping *mapping = maps_find(maps, address);

	return mapping && mapping->executable && !mapping->inode;
}

/* Whether some jump among `length` bytes of code leads to a stub. */
static bool leads_to_stub(const struct remains *remains, uint64_t address, size_t length)
{
	const struct agent_arch *arch = remains->space->arch->agent;
	struct leading leading = {remains, false};
	struct sieve everything;
	uint8_t code[DETOUR_PAGE];

	if (!memory_read_exact(&remains->space->memory, address, code, length))
		return false;
	memset(&everything, 0xff, sizeof everything);
	arch->find_branches(code, length, address, &everything, note_leading, &leading);
	return leading.to_stub;
}

static bool is_detour(struct remains *remains, uint64_t address)
{
	const uint64_t page = address & ~(uint64_t)(DETOUR_PAGE - 1);

	if (!is_in_unnamed_code(remains->maps, address) ||
	    !leads_to_stub(remains, address, DETOUR_BYTES))
		return false;
	vec_push(&remains->pages, &page);
	return true;
}

static bool is_in_unit(const struct remains *remains, uint64_t address)
{
	for (size_t i = 0; i < remains->units.count; i++)
		if (address - *(uint64_t *)vec_at(&remains->units, i) < AGENT_TEXT_BYTES)
			return true;
	return false;
}

/*
 * Also those that no jump leads to just now. Few lie side by side, and are one mapping then;
 * generated code has larger ones.
 */
static void find_pages(struct remains *remains)
{
	for (size_t i = 0; i < remains->maps->count; i++) {
		const struct mapping *mapping = &remains->maps->mappings[i];

		if (!mapping->executable || mapping->writable || mapping->inode || *mapping->path ||
		    mapping->end - mapping->start > PAGES_SEEN * DETOUR_PAGE)
			continue;
		for (uint64_t page = mapping->start; page < mapping->end; page += DETOUR_PAGE)
			if (!is_in_unit(remains, page) && leads_to_stub(remains, page, DETOUR_PAGE))
				vec_push(&remains->pages, &page);
	}
}

/* A jump of ours, and what its bytes are in the file. */
struct old_jump {
	uint64_t address;
	size_t length;
	uint8_t before[AGENT_SPAN_MAX], after[AGENT_SPAN_MAX];
};

/* Code of a mapping that is looked through for jumps of ours. */
struct looking {
	struct remains *remains;
	const struct mapping *mapping;
	const uint8_t *code;
	int file;	  /* behind the mapping; -1: not open */
	struct vec found; /* struct old_jump */
};

/* Reads what the file has there; false: nothing that a jump could have taken the place of. */
static bool read_before(struct looking *looking, struct old_jump *jump)
{
	const struct mapping *mapping = looking->mapping;

	if (looking->file == -1)
		looking->file = file_view_open(&looking->remains->files, mapping);
	return looking->file >= 0 &&
	       pread(looking->file, jump->before, jump->length,
		     (off_t)(mapping->offset + (jump->address - mapping->start))) ==
		       (ssize_t)jump->length &&
	       memcmp(jump->before, jump->after, jump->length) != 0;
}

/*
 * Takes off what a jump that leads to a detour has not written: bytes of the file, and a breakpoint
 * (detours.c sees to it that the last byte written is none).
 */
static void take_off_kept(const struct looking *looking, struct old_jump *jump)
{
	const uint8_t trap = looking->remains->space->arch->breakpoint[0];
	const uint8_t *after = jump->after;

	while (jump->length > 1 && (after[jump->length - 1] == jump->before[jump->length - 1] ||
				    after[jump->length - 1] == trap))
		jump->length--;
}

/* It may have fillers in front of it that were written with it. */
static void add_fillers(struct looking *looking, struct old_jump *jump)
{
	const uint8_t filler = looking->remains->space->arch->agent->filler(jump->address);

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
	struct space *space = looking->remains->space;
	struct old_jump jump = {.address = from, .length = AGENT_JUMP};
	uint8_t expected[ARCH_JUMP_MAX];

	/* Most stay in the module. */
	if (is_call ||
	    target - looking->mapping->start < looking->mapping->end - looking->mapping->start)
		return;
	space->arch->emit_jump(from, target, expected);
	memcpy(jump.after, looking->code + (from - looking->mapping->start), AGENT_JUMP);
	if (memcmp(jump.after, expected, AGENT_JUMP) != 0)
		return;
	const bool by_detour = !is_stub(looking->remains, target);

	if (by_detour && !is_detour(looking->remains, target))
		return;
	if (!read_before(looking, &jump)) {
		looking->remains->stay = true;
		return;
	}
	if (by_detour) {
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

/* What is behind a jump that leads to a detour may be the next jump's. */
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
			journal_jump(looking->remains->space->journal, jump->address, jump->before,
				     jump->after, jump->length);
	}
	vec_deinit(found);
}

static void find_jumps(struct remains *remains, const struct mapping *mapping)
{
	size_t length = mapping->end - mapping->start;
	uint8_t *code = length <= TEXT_MAX ? xmalloc(length) : NULL;
	struct looking looking = {remains, mapping, code, -1, VEC_OF(struct old_jump)};
	struct sieve everything;

	if (!code) {
		remains->stay = true;
		return;
	}
	memset(&everything, 0xff, sizeof everything);
	remains->stay |= memory_read_pages(&remains->space->memory, mapping->start, code, length) !=
			 length;
	remains->space->arch->agent->find_branches(code, length, mapping->start, &everything,
						   note_branch, &looking);
	note_jumps(&looking);
	if (looking.file >= 0)
		close(looking.file);
	free(code);
}

/* While a jump stays, so must what it leads to. */
static void note_all(const struct remains *remains)
{
	for (size_t i = 0; i < remains->units.count; i++)
		note_unit(remains, *(uint64_t *)vec_at(&remains->units, i));
	for (size_t i = 0; i < remains->rings.count; i++)
		note_mapping(remains, *(uint64_t *)vec_at(&remains->rings, i), AGENT_RINGS_BYTES);
	for (size_t i = 0; i < remains->pages.count; i++)
		note_detours(remains, *(uint64_t *)vec_at(&remains->pages, i));
}

static void look_for_jumps(struct remains *remains, const struct maps *maps, pid_t pid)
{
	file_view_init(&remains->files, pid);
	for (size_t i = 0; i < maps->count; i++)
		if (maps->mappings[i].executable && maps->mappings[i].inode)
			find_jumps(remains, &maps->mappings[i]);
	file_view_deinit(&remains->files);
}

void agent_adopt_remains(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct remains remains = {.space = space,
				  .units = VEC_OF(uint64_t),
				  .rings = VEC_OF(uint64_t),
				  .pages = VEC_OF(uint64_t)};
	struct maps maps;

	if (!space->arch->agent || kept_maps_read(space, thread->tid, &maps) != 0)
		return;
	remains.maps = &maps;
	find_units(&remains, &maps);
	if (remains.units.count) {
		space->has_remains = true;
		space_find_kernel_code(space, thread->tid);
		find_pages(&remains);
		look_for_jumps(&remains, &maps, thread->process->pid);
		if (!remains.stay)
			note_all(&remains);
		agent_turn_off(space);
		agent_stop_others(thread); /* who does not stop sits in the kernel */
		agent_undo_jumps(space, true);
	}
	maps_deinit(&maps);
	vec_deinit(&remains.units);
	vec_deinit(&remains.rings);
	vec_deinit(&remains.pages);
}
