/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps for functions whose beginning has no room for a jump.
 *
 * A jump has five bytes: its opcode, and a distance whose lowest byte comes first. Not all five may
 * be written where the next function begins in the middle of them, or where code branches to one
 * of them, as mempcpy() does into memcpy():
 *
 *	add:	8d 04 37	lea (%rdi,%rsi), %eax
 *		c3		ret
 *	mul:	89 f8		mov %edi, %eax		must stay
 *
 * Here four bytes may be written. The fifth, 0x89, is the highest of the distance, and stays. So
 * the jump leads somewhere into the 16 MiB that begin 0x89000000 (as a signed number) behind it. A
 * page is mapped in there, and in it stands a jump to the function's stub, the detour. The bytes of
 * mul() are what they were, for whoever calls it.
 *
 * If three bytes may be written there are 64 KiB to choose from, if two 256 bytes, and if it is
 * one, there is but one place. Where nothing can be mapped there, fillers are put in front of the
 * opcode (prefixes that do nothing). Each moves the distance by one byte, so that other bytes are
 * its highest ones, at the price of one byte that could be chosen.
 *
 * Bytes that stay must not change for as long as the jump is there. They would where the function
 * behind is traced, too:
 *
 * A jump is written there, or is taken out again. Both happen while all threads stand. Functions
 * behind are decided on first (install.c), and a jump that depends on one which changes is taken
 * out before (kept.c).
 *
 * A breakpoint is there. That goes while threads run: the guardian takes breakpoints out before
 * anything else, and so does the handler in the process. So two detours are made: one where the
 * jump leads with the breakpoint, and one where it leads without. A breakpoint that is planted
 * later takes the jump out (kept.c).
 *
 * What is not covered is a program that writes over the function behind by itself, or a uprobe of
 * the kernel's there: the jump would lead elsewhere.
 *
 * A detour is one instruction, so who is in there has not begun with it, and may as well be where
 * the function begins. For all who look for code of ours by the journal it is as a unit's.
 */
#include "engine/agent/private.h"

#include "base/xalloc.h"
#include "inferior/arena.h"
#include "inferior/inferior.h"
#include "inferior/kept_maps.h"
#include "inferior/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	OPCODE = 1,
	DISTANCE = AGENT_JUMP - OPCODE,
	TRAPS_MAX = 2, /* breakpoints among the bytes that stay */
	STATES_MAX = 1 << TRAPS_MAX,
	PARTS = 4,	  /* of a large window, in each of which a page is looked for */
	PAGES_MAX = 1024, /* in a process */
	/* vm.max_map_count is 65,530: most of them are the program's to have. */
	MAPPINGS_MAX = 32768
};

/* The first page that may be mapped, and what is behind the last one. */
static const uint64_t LOWEST = 0x10000, HIGHEST = UINT64_C(0x7ffffffff000);

struct detour_page {
	uint64_t address;
	bool used[DETOUR_PAGE];
};

/* A function whose jump is being made. */
struct making {
	struct agent_space *own;
	struct thread *thread;
	struct space *space;
	uint64_t function, stub;
	unsigned covered;	       /* so many bytes may be written */
	uint8_t bytes[AGENT_SPAN_MAX]; /* without breakpoints */
	bool may_trap[AGENT_SPAN_MAX]; /* there is a breakpoint, or will be again */
	unsigned known;		       /* so many of these can be relied on */
	bool may_map;
};

/* A jump with some fillers. It leads to bases[state] plus a number of `free_bytes` bytes. */
struct form {
	unsigned fillers, free_bytes, states;
	uint64_t bases[STATES_MAX];
	uint64_t size; /* how many places there are to choose from */
};

/* ------------------------------------------------------------------ pages */

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(DETOUR_PAGE - 1);
}

/* Whether DETOUR_BYTES at `address` are free, in a page of ours. */
static bool is_unused(const struct detour_page *page, uint64_t address)
{
	const uint64_t offset = address - page->address;

	for (uint64_t i = 0; i < DETOUR_BYTES; i++)
		if (offset + i >= DETOUR_PAGE || page->used[offset + i])
			return false;
	return true;
}

static bool can_be_mapped(const struct making *making, uint64_t page)
{
	uint64_t found;

	return making->may_map && page >= LOWEST && page < HIGHEST &&
	       arena_room_within(making->thread, page, page + DETOUR_PAGE, DETOUR_PAGE, &found) ==
		       0;
}

static bool can_be_had(const struct making *making, uint64_t address)
{
	const struct detour_page *page = map_get(&making->own->detour_pages, page_of(address));

	if (address - page_of(address) > DETOUR_PAGE - DETOUR_BYTES)
		return false;
	return page ? is_unused(page, address) : can_be_mapped(making, page_of(address));
}

static int map_page(const struct making *making, uint64_t address)
{
	struct space *space = making->space;
	struct detour_page *page;
	uint64_t mapped;
	int error = remote_map(making->thread, address, DETOUR_PAGE, PROT_READ | PROT_EXEC,
			       &mapped);

	if (error)
		return error;
	arena_add_region(space->arena, address, DETOUR_PAGE);
	journal_agent(space->journal, address, DETOUR_PAGE);
	page = xcalloc(1, sizeof *page);
	page->address = address;
	map_put(&making->own->detour_pages, address, page);
	return 0;
}

/* Writes the jump to the stub to `address`, whose page is mapped if it has to be: 0 or -errno. */
static int put_detour(const struct making *making, uint64_t address)
{
	const struct map *pages = &making->own->detour_pages;
	uint8_t jump[ARCH_JUMP_MAX];
	int error = 0;

	static_assert((int)ARCH_JUMP_MAX <= (int)DETOUR_BYTES, "it holds any jump");
	if (!map_get(pages, page_of(address)))
		error = map_page(making, page_of(address));
	if (error)
		return error;
	const size_t length = making->space->arch->emit_jump(address, making->stub, jump);

	error = space_write(making->space, address, jump, length);
	if (error)
		return error;
	struct detour_page *page = map_get(pages, page_of(address));
	struct detour *detour = xcalloc(1, sizeof *detour);

	*detour = (struct detour){.address = address, .function = making->function};
	map_put(&making->own->detours, address, detour);
	memset(page->used + (address - page->address), true, DETOUR_BYTES);
	return 0;
}

/* ------------------------------------------------------------------ where a jump can lead */

/* Where the jump leads when the bytes that stay are these, and the others of its distance 0. */
static uint64_t base_of(const struct making *making, const struct form *form, const uint8_t *bytes)
{
	const unsigned begin = form->fillers + OPCODE;
	uint32_t distance = 0;

	for (unsigned i = form->free_bytes; i < DISTANCE; i++)
		distance |= (uint32_t)bytes[begin + i] << (8 * i);
	return making->function + begin + DISTANCE + (uint64_t)(int64_t)(int32_t)distance;
}

/* False: it has bytes that are not known, or may be too much. */
static bool find_form(const struct making *making, unsigned fillers, struct form *form)
{
	const unsigned end = fillers + AGENT_JUMP;
	unsigned traps[TRAPS_MAX], count = 0;

	*form = (struct form){.fillers = fillers, .free_bytes = making->covered - OPCODE - fillers};
	form->size = UINT64_C(1) << (8 * form->free_bytes);
	for (unsigned i = making->covered; i < end; i++) {
		if (i >= making->known || (making->may_trap[i] && count == TRAPS_MAX))
			return false;
		if (making->may_trap[i])
			traps[count++] = i;
	}
	form->states = 1U << count;
	for (unsigned state = 0; state < form->states; state++) {
		uint8_t bytes[AGENT_SPAN_MAX];

		memcpy(bytes, making->bytes, sizeof bytes);
		for (unsigned i = 0; i < count; i++)
			if (state >> i & 1)
				bytes[traps[i]] = making->space->arch->breakpoint[0];
		form->bases[state] = base_of(making, form, bytes);
	}
	return true;
}

/*
 * Whether a detour can be had at `number` behind each base. The last byte that is written must not
 * look like a breakpoint, by which remains.c tells it from those that stay.
 */
static bool suits(const struct making *making, const struct form *form, uint64_t number)
{
	const unsigned free_bytes = form->free_bytes;

	if (number >= form->size || (free_bytes && (uint8_t)(number >> (8 * (free_bytes - 1))) ==
							   making->space->arch->breakpoint[0]))
		return false;
	for (unsigned state = 0; state < form->states; state++)
		if (!can_be_had(making, form->bases[state] + number))
			return false;
	return true;
}

/* Looks in a page of ours. */
static bool find_in_page(const struct making *making, const struct form *form,
			 const struct detour_page *page, uint64_t *number)
{
	const uint64_t base = form->bases[0], end = page->address + DETOUR_PAGE;
	uint64_t address = base > page->address ? base : page->address;

	if (base >= end || page->address >= base + form->size)
		return false;
	if (form->free_bytes)
		address = (address + DETOUR_BYTES - 1) & ~(uint64_t)(DETOUR_BYTES - 1);
	for (; address < end && address - base < form->size; address += DETOUR_BYTES) {
		*number = address - base;
		if (is_unused(page, address) && suits(making, form, *number))
			return true;
	}
	return false;
}

static bool find_in_pages(const struct making *making, const struct form *form, uint64_t *number)
{
	size_t cursor = 0;
	void *page;

	while (map_next(&making->own->detour_pages, &cursor, NULL, &page))
		if (find_in_page(making, form, page, number))
			return true;
	return false;
}

/* Looks for a page that can be mapped, in each part of the window. */
static bool find_new(const struct making *making, const struct form *form, uint64_t *number)
{
	const uint64_t size = form->size / PARTS > DETOUR_PAGE ? form->size / PARTS : form->size;

	for (uint64_t low = 0; low < form->size; low += size) {
		const uint64_t begin = form->bases[0] + low, last = begin + size - 1;
		uint64_t page;

		if (begin < LOWEST || begin >= HIGHEST || last >= HIGHEST ||
		    arena_room_within(making->thread, page_of(begin), page_of(last) + DETOUR_PAGE,
				      DETOUR_PAGE, &page) != 0)
			continue;
		*number = low + (page > begin ? page - begin : 0);
		if (form->free_bytes)
			*number += -(form->bases[0] + *number) & (DETOUR_BYTES - 1);
		if (suits(making, form, *number))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ making one */

/* The bytes behind the function's beginning, as far as they lie in code that nobody writes to. */
static unsigned count_known(const struct making *making, const struct maps *maps)
{
	const struct mapping *mapping = maps_find(maps, making->function);
	const uint64_t left = mapping ? mapping->end - making->function : 0;

	if (!mapping || mapping->writable)
		return 0;
	return left < AGENT_SPAN_MAX ? (unsigned)left : AGENT_SPAN_MAX;
}

static int look_at_function(struct making *making)
{
	struct space *space = making->space;
	struct maps maps;
	int error = 0;

	if (!space->kept_maps.count && (error = maps_read(making->thread->tid, &maps)) == 0)
		kept_maps_begin(space, &maps);
	if (!error)
		error = kept_maps_read(space, making->thread->tid, &maps);
	if (error)
		return error;
	making->known = count_known(making, &maps);
	making->may_map = making->own->detour_pages.count < PAGES_MAX && maps.count < MAPPINGS_MAX;
	maps_deinit(&maps);
	if (trap_read_code(space, making->function, making->bytes, making->known) != making->known)
		return -EFAULT;
	for (unsigned i = 0; i < making->known; i++)
		making->may_trap[i] = trap_is_planted(space, making->function + i) &&
				      !agent_has_jump(space, making->function + i);
	/* Code of ours may come and go there (inferior/remote.c). */
	if (space->landing - making->function < making->known)
		making->known = (unsigned)(space->landing - making->function);
	return 0;
}

static bool find_place(const struct making *making, struct form *form, uint64_t *number)
{
	for (unsigned fillers = 0; fillers < making->covered; fillers++)
		if (find_form(making, fillers, form) && find_in_pages(making, form, number))
			return true;
	for (unsigned fillers = 0; fillers < making->covered && making->may_map; fillers++)
		if (find_form(making, fillers, form) && find_new(making, form, number))
			return true;
	return false;
}

static void fill_in(const struct making *making, const struct form *form, uint64_t number,
		    struct entry_jump *jump)
{
	const struct arch *arch = making->space->arch;

	memset(jump->bytes, arch->agent->filler(making->function), form->fillers);
	arch->emit_jump(making->function + form->fillers, form->bases[0] + number,
			jump->bytes + form->fillers);
	jump->length = (uint8_t)making->covered;
	jump->span = (uint8_t)(form->fillers + AGENT_JUMP);
	for (unsigned i = making->covered; i < jump->span; i++)
		jump->traps |= (uint8_t)(making->may_trap[i] << i);
}

int detour_make(struct agent_space *own, struct thread *thread, uint64_t function, unsigned covered,
		uint64_t stub, struct entry_jump *jump)
{
	struct making making = {.own = own,
				.thread = thread,
				.space = thread->process->space,
				.function = function,
				.stub = stub,
				.covered = covered};
	struct form form;
	uint64_t number;

	*jump = (struct entry_jump){0};
	int error = look_at_function(&making);

	if (error)
		return error;
	if (!find_place(&making, &form, &number))
		return -ENOSPC;
	for (unsigned state = 0; state < form.states && !error; state++)
		error = put_detour(&making, form.bases[state] + number);
	if (!error)
		fill_in(&making, &form, number, jump);
	else
		detour_free(own, function);
	/* What was free a moment ago is not any more. */
	return error == -EEXIST || error == -ENOMEM ? -ENOSPC : error;
}

/* ------------------------------------------------------------------ those that there are */

void detour_free(struct agent_space *own, uint64_t function)
{
	struct vec gone = VEC_OF(struct detour *);
	size_t cursor = 0;
	void *value;

	while (map_next(&own->detours, &cursor, NULL, &value))
		if (((struct detour *)value)->function == function)
			vec_push(&gone, &value);
	for (size_t i = 0; i < gone.count; i++) {
		struct detour *detour = *(struct detour **)vec_at(&gone, i);
		struct detour_page *page = map_get(&own->detour_pages, page_of(detour->address));

		if (page)
			memset(page->used + (detour->address - page->address), false, DETOUR_BYTES);
		map_remove(&own->detours, detour->address);
		free(detour);
	}
	vec_deinit(&gone);
}

const struct agent_probe *detour_probe(const struct agent_space *own, uint64_t pc)
{
	const struct detour *detour = own->detours.count ? map_get(&own->detours, pc) : NULL;

	return detour ? map_get(&own->probes, detour->function) : NULL;
}

bool detour_leave(struct thread *thread, struct regs *regs)
{
	const struct space *space = thread->process->space;
	const struct agent_probe *probe = space && space->agent
						  ? detour_probe(space->agent, regs->pc)
						  : NULL;

	if (!probe)
		return false;
	regs->pc = probe->address;
	return regs_store(thread->tid, regs) == 0;
}

void detours_deinit(struct agent_space *own)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&own->detours, &cursor, NULL, &value))
		free(value);
	cursor = 0;
	while (map_next(&own->detour_pages, &cursor, NULL, &value))
		free(value);
	map_deinit(&own->detours);
	map_deinit(&own->detour_pages);
}

bool agent_is_unit(const struct journal_entry *entry)
{
	return entry && entry->kind == JOURNAL_AGENT && entry->length == AGENT_TEXT_BYTES;
}
