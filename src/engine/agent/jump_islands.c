/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Punned jumps, for functions whose beginning has no room for a jump, and the jump islands that
 * they lead to.
 *
 * A jump has five bytes: its opcode, and a distance, lowest byte first. Not all five may be written
 * if the next function begins in the middle of them, or if code branches to one of them, as
 * mempcpy() does into memcpy():
 *
 *	add:	8d 04 37	lea (%rdi,%rsi), %eax
 *		c3		ret
 *	mul:	89 f8		mov %edi, %eax		must stay
 *
 * Here four bytes may be written. The fifth, 0x89, is the highest byte of the distance, and stays.
 * So the jump leads somewhere into the 16 MiB that begin 0x89000000 (a signed number) behind it. A
 * page is mapped in there, which gets a jump to the function's stub, the island. The bytes of mul()
 * do not change, so callers of mul() are not affected.
 *
 * If three bytes may be written, the island can be in 64 KiB; if two, in 256 bytes; if one, at a
 * single address. If nothing can be mapped there, fillers are put in front of the opcode (prefixes
 * without effect). Each filler moves the distance by one byte, so that other bytes are its highest
 * ones, at the price of one byte that could be chosen.
 *
 * Bytes that stay must not change as long as the jump is there. There are two ways in which they
 * could, if the function behind is traced too:
 *
 * A jump is written there, or removed. Both happen while all threads are stopped. Functions behind
 * are decided on first (install.c), and a jump that depends on a changing one is removed before
 * (kept.c).
 *
 * A breakpoint is there. Breakpoints are removed while threads run: the guardian does so before
 * anything else, and so does the SIGTRAP handler in the process. So two islands are made: where the
 * jump leads with the breakpoint, and where it leads without it. A breakpoint that is planted later
 * removes the jump (kept.c).
 *
 * Not covered are programs that write over the function behind, and uprobes of the kernel there:
 * the jump would lead elsewhere.
 *
 * An island is one instruction, so a thread at an island can be moved to the function's beginning.
 * In the journal a page of islands is like the code of a unit.
 */
#include "engine/agent/jump_islands.h"

#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/entry_jumps.h"
#include "engine/trap/breakpoint_takeover.h"
#include "tracee/arena.h"
#include "tracee/arena_map.h"
#include "tracee/maps_snapshot.h"
#include "tracee/remote_map.h"
#include "tracee/space.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	OPCODE = 1,
	DISTANCE = AGENT_JUMP - OPCODE,
	TRAPS_MAX = 2, /* breakpoints among the bytes that stay */
	STATES_MAX = 1 << TRAPS_MAX,
	PARTS = 4,	  /* of a large range, in each of which a page is looked for */
	PAGES_MAX = 1024, /* in a process */
	/* vm.max_map_count is 65,530; most of them are left to the program */
	MAPPINGS_MAX = 32768
};

/* The lowest page that may be mapped, and the end of the highest one. */
static const uint64_t LOWEST = 0x10000, HIGHEST = UINT64_C(0x7ffffffff000);

struct island_page {
	uint64_t address;
	bool used[ISLAND_PAGE];
};

/* A punned jump that is being made. */
struct making {
	struct agent_space *own;
	struct thread *thread;
	struct space *space;
	uint64_t function, stub;
	unsigned covered;	       /* how many bytes may be written */
	uint8_t bytes[AGENT_SPAN_MAX]; /* without breakpoints */
	bool may_trap[AGENT_SPAN_MAX]; /* a breakpoint is there, or may be there again */
	unsigned known;		       /* how many of the bytes can be relied on */
	bool may_map;
};

/*
 * A jump with fillers. With the breakpoints that `state` has bits for, it leads to bases[state]
 * plus a number of `free_bytes` bytes.
 */
struct form {
	unsigned fillers, free_bytes, states;
	uint64_t bases[STATES_MAX];
	uint64_t size; /* how many such numbers there are */
};

/* ------------------------------------------------------------------ pages */

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(ISLAND_PAGE - 1);
}

/* Returns true if ISLAND_BYTES at `address`, in a page of islands, are free. */
static bool is_unused(const struct island_page *page, uint64_t address)
{
	const uint64_t offset = address - page->address;

	for (uint64_t i = 0; i < ISLAND_BYTES; i++)
		if (offset + i >= ISLAND_PAGE || page->used[offset + i])
			return false;
	return true;
}

static bool can_be_mapped(const struct making *making, uint64_t page)
{
	uint64_t found;

	return making->may_map && page >= LOWEST && page < HIGHEST &&
	       arena_room_within(making->thread, page, page + ISLAND_PAGE, ISLAND_PAGE, &found) ==
		       0;
}

static bool can_be_had(const struct making *making, uint64_t address)
{
	const struct island_page *page = map_get(&making->own->island_pages, page_of(address));

	if (address - page_of(address) > ISLAND_PAGE - ISLAND_BYTES)
		return false;
	return page ? is_unused(page, address) : can_be_mapped(making, page_of(address));
}

static int map_page(const struct making *making, uint64_t address)
{
	struct space *space = making->space;
	struct island_page *page;
	uint64_t mapped;
	int error = remote_map(making->thread, address, ISLAND_PAGE, PROT_READ | PROT_EXEC,
			       &mapped);

	if (error)
		return error;
	arena_add_region(space->arena, address, ISLAND_PAGE);
	journal_agent(space->journal, address, ISLAND_PAGE);
	page = xcalloc(1, sizeof *page);
	page->address = address;
	map_put(&making->own->island_pages, address, page);
	return 0;
}

/* Writes an island to `address`, and maps its page if necessary. Returns 0 or -errno. */
static int put_island(const struct making *making, uint64_t address)
{
	const struct map *pages = &making->own->island_pages;
	uint8_t jump[ARCH_JUMP_MAX];
	int error = 0;

	static_assert((int)ARCH_JUMP_MAX <= (int)ISLAND_BYTES, "it holds any jump");
	if (!map_get(pages, page_of(address)))
		error = map_page(making, page_of(address));
	if (error)
		return error;
	const size_t length = making->space->arch->emit_jump(address, making->stub, jump);

	error = space_write(making->space, address, jump, length);
	if (error)
		return error;
	struct island_page *page = map_get(pages, page_of(address));
	struct island *island = xcalloc(1, sizeof *island);

	*island = (struct island){.address = address, .function = making->function};
	map_put(&making->own->islands, address, island);
	memset(page->used + (address - page->address), true, ISLAND_BYTES);
	return 0;
}

/* ------------------------------------------------------------------ where a jump can lead */

/* Where the jump leads if the bytes that stay are as in `bytes`, and the others are 0. */
static uint64_t base_of(const struct making *making, const struct form *form, const uint8_t *bytes)
{
	const unsigned begin = form->fillers + OPCODE;
	uint32_t distance = 0;

	for (unsigned i = form->free_bytes; i < DISTANCE; i++)
		distance |= (uint32_t)bytes[begin + i] << (8 * i);
	return making->function + begin + DISTANCE + (uint64_t)(int64_t)(int32_t)distance;
}

/* Returns false if the jump would have unknown bytes, or too many breakpoints. */
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
 * Returns true if an island can be had at each base plus `number`. The last byte that is written
 * must not look like a breakpoint: orphan_adoption.c tells it from the bytes that stay by this.
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

/* Looks for room in an existing page. */
static bool find_in_page(const struct making *making, const struct form *form,
			 const struct island_page *page, uint64_t *number)
{
	const uint64_t base = form->bases[0], end = page->address + ISLAND_PAGE;
	uint64_t address = base > page->address ? base : page->address;

	if (base >= end || page->address >= base + form->size)
		return false;
	if (form->free_bytes)
		address = (address + ISLAND_BYTES - 1) & ~(uint64_t)(ISLAND_BYTES - 1);
	for (; address < end && address - base < form->size; address += ISLAND_BYTES) {
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

	while (map_next(&making->own->island_pages, &cursor, NULL, &page))
		if (find_in_page(making, form, page, number))
			return true;
	return false;
}

/* Looks for a page that can be mapped, in each part of the range. */
static bool find_new(const struct making *making, const struct form *form, uint64_t *number)
{
	const uint64_t size = form->size / PARTS > ISLAND_PAGE ? form->size / PARTS : form->size;

	for (uint64_t low = 0; low < form->size; low += size) {
		const uint64_t begin = form->bases[0] + low, last = begin + size - 1;
		uint64_t page;

		if (begin < LOWEST || begin >= HIGHEST || last >= HIGHEST ||
		    arena_room_within(making->thread, page_of(begin), page_of(last) + ISLAND_PAGE,
				      ISLAND_PAGE, &page) != 0)
			continue;
		*number = low + (page > begin ? page - begin : 0);
		if (form->free_bytes)
			*number += -(form->bases[0] + *number) & (ISLAND_BYTES - 1);
		if (suits(making, form, *number))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ making a punned jump */

/* How many bytes from the function's beginning on are in a mapping that is not writable. */
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
		maps_snapshot_begin(space, &maps);
	if (!error)
		error = maps_snapshot_read(space, making->thread->tid, &maps);
	if (error)
		return error;
	making->known = count_known(making, &maps);
	making->may_map = making->own->island_pages.count < PAGES_MAX && maps.count < MAPPINGS_MAX;
	maps_deinit(&maps);
	if (trap_read_code(space, making->function, making->bytes, making->known) != making->known)
		return -EFAULT;
	for (unsigned i = 0; i < making->known; i++)
		making->may_trap[i] = trap_is_planted(space, making->function + i) &&
				      !agent_has_jump(space, making->function + i);
	/* The remote-call stub comes and goes there (tracee/remote.c). */
	if (space->remote_stub - making->function < making->known)
		making->known = (unsigned)(space->remote_stub - making->function);
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

int island_make(struct agent_space *own, struct thread *thread, uint64_t function, unsigned covered,
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
		error = put_island(&making, form.bases[state] + number);
	if (!error)
		fill_in(&making, &form, number, jump);
	else
		island_free(own, function);
	/* The program has mapped something there meanwhile. */
	return error == -EEXIST || error == -ENOMEM ? -ENOSPC : error;
}

/* ------------------------------------------------------------------ existing islands */

void island_free(struct agent_space *own, uint64_t function)
{
	struct vec gone = VEC_OF(struct island *);
	size_t cursor = 0;
	void *value;

	while (map_next(&own->islands, &cursor, NULL, &value))
		if (((struct island *)value)->function == function)
			vec_push(&gone, &value);
	for (size_t i = 0; i < gone.count; i++) {
		struct island *island = *(struct island **)vec_at(&gone, i);
		struct island_page *page = map_get(&own->island_pages, page_of(island->address));

		if (page)
			memset(page->used + (island->address - page->address), false, ISLAND_BYTES);
		map_remove(&own->islands, island->address);
		free(island);
	}
	vec_deinit(&gone);
}

const struct agent_probe *island_probe(const struct agent_space *own, uint64_t pc)
{
	const struct island *island = own->islands.count ? map_get(&own->islands, pc) : NULL;

	return island ? map_get(&own->probes, island->function) : NULL;
}

bool island_leave(struct thread *thread, struct regs *regs)
{
	const struct space *space = thread->process->space;
	const struct agent_probe *probe = space && space->agent
						  ? island_probe(space->agent, regs->pc)
						  : NULL;

	if (!probe)
		return false;
	regs->pc = probe->address;
	return regs_store(thread->tid, regs) == 0;
}

void islands_deinit(struct agent_space *own)
{
	map_deinit_values(&own->islands);
	map_deinit_values(&own->island_pages);
}
