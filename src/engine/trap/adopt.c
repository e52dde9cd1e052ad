/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A space that another process has planted, from its journal: as much of it as trap_leave() needs to
 * leave it as it was found. The bytes of the tracee are not read but for the instructions that stood
 * under breakpoints, which have to be decoded again to know where a thread inside a slot belongs.
 */
#include "engine/trap/breakpoint.h"
#include "engine/trap/trap.h"
#include "inferior/arena.h"
#include "inferior/journal.h"
#include "inferior/rescue.h"
#include "inferior/rescue_abi.h"

#include <errno.h>
#include <string.h>

/* What was noted may never have been mapped, and something else may be there by now. */
static bool is_mapped(const struct space *space, uint64_t address)
{
	return arena_is_mapped(journal_subject(space->journal)->pid, address);
}

static bool is_mapped_by_us(const struct space *space, uint64_t address)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_MAPPING && entry->address == address &&
		    entry->length == ARENA_BYTES)
			return is_mapped(space, address);
	}
	return false;
}

int trap_adopt(struct space *space)
{
	struct decoder *decoder = decoder_create();
	size_t count = journal_count(space->journal);

	if (!decoder)
		return -ENOTSUP;
	space->rescue = rescue_adopt(space, journal_subject(space->journal)->rescue,
				     is_mapped_by_us);
	for (size_t i = 0; i < count; i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_MAPPING && entry->length == ARENA_BYTES &&
		    !rescue_owns(space, entry->address) && is_mapped(space, entry->address))
			arena_adopt(space->arena, entry->address);
	}
	for (size_t i = 0; i < count; i++)
		breakpoint_adopt(decoder, space, i);
	decoder_destroy(decoder);
	if (!space->trap)
		space->trap = trap_space_create();
	space->trap->adopted = true;
	return 0;
}

static void heal_one(struct space *space, const struct journal_entry *entry)
{
	const struct arch *arch = space->arch;
	uint8_t now[sizeof entry->after];

	if (entry->kind == JOURNAL_BYTES && entry->length == arch->breakpoint_length &&
	    !memcmp(entry->after, arch->breakpoint, entry->length) &&
	    memory_read_exact(&space->memory, entry->address, now, entry->length) &&
	    !memcmp(now, arch->breakpoint, entry->length))
		space_write(space, entry->address, entry->before, entry->length);
}

static void heal_those(struct space *space, bool last)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && (entry->last != 0) == last)
			heal_one(space, entry);
	}
}

void trap_heal(struct space *space)
{
	heal_those(space, false);
	heal_those(space, true);
}

bool trap_in_our_code(const struct space *space, uint64_t pc)
{
	const struct arch *arch = space->arch;
	uint64_t rescue = journal_subject(space->journal)->rescue;

	if (rescue && pc >= rescue && pc - rescue < RESCUE_CODE)
		return true;
	/* What is patched and is no breakpoint is a landing. */
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_BYTES && pc >= entry->address &&
		    pc - entry->address < entry->length &&
		    (entry->length != arch->breakpoint_length ||
		     memcmp(entry->after, arch->breakpoint, arch->breakpoint_length) != 0))
			return true;
	}
	return false;
}
