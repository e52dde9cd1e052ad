/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that code branches into behind their beginnings, as mempcpy() does into memcpy().
 *
 *	memcpy:	48 89 f8	mov %rdi, %rax
 *	start:	48 83 fa 20	cmp $0x20, %rdx		mempcpy jumps here
 *
 * A jump takes five bytes: its opcode, and a distance whose lowest byte comes first. The two that
 * `start` begins with are the highest of that distance here, and stay. So the jump leads somewhere
 * into the 64 KiB that lie 0x83480000 (as a signed number) behind it, and who comes by `start`
 * finds what has always been there. Somewhere in those a page is mapped, and in it stands the jump
 * to the function's stub, its detour.
 *
 * If it is the third byte that is branched to there are 256 places, which one page holds; if it is
 * the fifth, there are 16 MiB to choose from. If it is the second there is but one place: such
 * functions keep their breakpoints.
 *
 * A detour is one instruction, so who is in there has not begun with it, and may as well be where
 * the function begins. For all who look for code of ours by the journal it is as a unit's.
 */
#include "engine/agent/private.h"

#include "inferior/arena.h"
#include "inferior/inferior.h"
#include "inferior/remote.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { OPCODE = 1 };

/* Where the jump can lead. */
struct window {
	uint64_t low, high;
};

static bool find_window(uint64_t function, const uint8_t *bytes, unsigned kept,
			struct window *window)
{
	const unsigned free_bits = 8 * (kept - OPCODE);
	uint32_t distance;

	if (kept <= OPCODE || kept >= AGENT_JUMP)
		return false;
	memcpy(&distance, bytes + OPCODE, sizeof distance);
	distance = distance >> free_bits << free_bits;
	window->low = function + AGENT_JUMP + (uint64_t)(int64_t)(int32_t)distance;
	window->high = window->low + (UINT64_C(1) << free_bits);
	return window->low < window->high;
}

static struct detour *detour_at(const struct agent_space *own, uint64_t address)
{
	for (size_t i = 0; i < own->detours.count; i++) {
		struct detour *detour = vec_at(&own->detours, i);

		if (detour->address == address)
			return detour;
	}
	return NULL;
}

/* One that lies in the window and nobody has, in a page that has been mapped. */
static struct detour *find_free(const struct agent_space *own, const struct window *window)
{
	for (size_t i = 0; i < own->detours.count; i++) {
		struct detour *detour = vec_at(&own->detours, i);

		if (!detour->function && detour->address >= window->low &&
		    detour->address < window->high)
			return detour;
	}
	return NULL;
}

static int map_page(struct agent_space *own, struct thread *thread, const struct window *window)
{
	static const uint64_t mask = DETOUR_PAGE - 1;
	struct space *space = thread->process->space;
	uint64_t page, mapped;
	int error = arena_room_within(thread, window->low & ~mask, (window->high + mask) & ~mask,
				      DETOUR_PAGE, &page);

	if (!error)
		error = remote_map(thread, page, DETOUR_PAGE, PROT_READ | PROT_EXEC, &mapped);
	if (error)
		return error;
	arena_add_region(space->arena, page, DETOUR_PAGE);
	journal_agent(space->journal, page, DETOUR_PAGE);
	for (uint64_t at = page; at < page + DETOUR_PAGE; at += DETOUR_BYTES)
		vec_push(&own->detours, &(struct detour){.address = at});
	return 0;
}

int detour_make(struct agent_space *own, struct thread *thread, uint64_t function,
		const uint8_t *bytes, unsigned kept, uint64_t stub, uint64_t *detour)
{
	struct space *space = thread->process->space;
	uint8_t jump[ARCH_JUMP_MAX];
	struct window window;

	static_assert((int)ARCH_JUMP_MAX <= (int)DETOUR_BYTES, "it holds any jump");
	if (!find_window(function, bytes, kept, &window))
		return -ENOSPC;
	struct detour *found = find_free(own, &window);

	if (!found) {
		int error = map_page(own, thread, &window);

		if (error)
			return error;
		found = find_free(own, &window);
	}
	if (!found)
		return -ENOSPC;
	size_t length = space->arch->emit_jump(found->address, stub, jump);
	int error = space_write(space, found->address, jump, length);

	if (error)
		return error;
	found->function = function;
	*detour = found->address;
	return 0;
}

void detour_free(struct agent_space *own, uint64_t address)
{
	struct detour *detour = address ? detour_at(own, address) : NULL;

	if (detour)
		detour->function = 0;
}

const struct agent_probe *detour_probe(const struct agent_space *own, uint64_t pc)
{
	const struct detour *detour = own->detours.count ? detour_at(own, pc) : NULL;

	return detour && detour->function ? map_get(&own->probes, detour->function) : NULL;
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

bool agent_is_unit(const struct journal_entry *entry)
{
	return entry && entry->kind == JOURNAL_AGENT && entry->length == AGENT_TEXT_BYTES;
}
