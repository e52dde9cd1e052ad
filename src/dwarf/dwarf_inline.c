/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the functions that were inlined at an address.
 *
 * The entry of a function contains an entry for each call that was inlined, and so does that again.
 * Each has the ranges of its code, the place of the call, and a reference to the function that was
 * called. Blocks may lie between. So the way from the function's entry to the innermost one around
 * the address has all of them; other entries are not followed.
 */
#include "dwarf/dwarf_inline.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_index.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_ranges.h"

struct containing {
	uint64_t address;
	bool is;
};

static void look_at_range(void *context, uint64_t start, uint64_t end)
{
	struct containing *containing = context;

	containing->is |= start && containing->address >= start && containing->address < end;
}

static bool is_around(const struct die *die, const struct unit_code *code, uint64_t address)
{
	struct containing containing = {address, false};

	switch (die_tag(die)) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		ranges_visit(die, code, look_at_range, &containing);
		return containing.is;
	default:
		return false;
	}
}

/* Returns the child around the address, or none. */
static struct die child_around(const struct die *owner, const struct unit_code *code,
			       uint64_t address)
{
	struct die child = die_first_child(owner);

	while (die_is(&child) && !is_around(&child, code, address))
		if (!die_advance(&child))
			break;
	return child;
}

static struct inlined_call describe(const struct die *inlined)
{
	struct inlined_call call = {.function = index_symbol_name(inlined)};
	uint64_t line = 0;

	if (!die_number(inlined, DW_AT_call_file, &call.file) ||
	    !die_number(inlined, DW_AT_call_line, &line) || line > UINT32_MAX)
		line = 0;
	call.line = (unsigned)line;
	return call;
}

unsigned inline_find(struct dwarf_reader *reader, uint64_t header, const struct unit_code *code,
		     uint64_t address, struct inlined_call calls[INLINED_MAX])
{
	struct die die = index_find_code(reader, header, address);
	unsigned count = 0;

	while (die_is(&die)) {
		struct die child = child_around(&die, code, address);

		die_drop(&die);
		die = child;
		if (!die_is(&die) || die_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		if (count == INLINED_MAX) {
			count = 0;
			break;
		}
		calls[count++] = describe(&die);
	}
	die_drop(&die);
	return count;
}
