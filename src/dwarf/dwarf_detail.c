/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether debug information describes types at all.
 *
 * With gcc's -g1, and with clang's -gmlt -fdebug-info-for-profiling, there are line tables and
 * names of functions, but no parameters and no results. The entries of such functions look like the
 * entry of `void f()`, which has no parameters and no result either.
 *
 * In C the entry of `void f()` has a mark (DW_AT_prototyped). In C++ the rest of the unit decides.
 * Most units have a type somewhere; clang without details does not even mark external functions.
 * There remain units of gcc in which all functions are `void f()`: there the recorded command line
 * decides, and if it was not recorded, nothing is known. A function whose unit comes in two parts
 * (link-time optimisation, dwz) is described if one of the two units has details.
 */
#include "dwarf/dwarf_detail.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_private.h"

#include <string.h>

enum detail { DETAIL_UNKNOWN, DETAIL_LINES, DETAIL_TYPES };

/*
 * Reads the level from gcc's recorded options: the last of -g, -g1, -ggdb and the like counts.
 * Other options begin with -g, too.
 */
static enum detail detail_by_producer(const char *producer)
{
	enum detail found = DETAIL_UNKNOWN;

	if (strncmp(producer, "GNU ", 4) != 0)
		return DETAIL_UNKNOWN;
	for (const char *at = producer; (at = strstr(at, " -g"));) {
		at += 3;
		const char *level = !strncmp(at, "gdb", 3) ? at + 3 : at;
		const size_t length = strcspn(level, " ");

		if (!strncmp(at, "dwarf-", 6) || !length ||
		    (length == 1 && (*level == '2' || *level == '3')))
			found = DETAIL_TYPES;
		else if (length == 1 && *level == '1')
			found = DETAIL_LINES;
	}
	return found;
}

/* Returns true for an entry that a unit without types would not have. */
static bool tells(const struct die *die, bool is_of_clang)
{
	switch (die_tag(die)) {
	case DW_TAG_subprogram:
		return die_has(die, DW_AT_type) || die_has(die, DW_AT_specification) ||
		       die_flag(die, DW_AT_prototyped) ||
		       (is_of_clang && die_flag(die, DW_AT_external));
	case DW_TAG_variable:
		return die_has(die, DW_AT_type);
	case DW_TAG_imported_unit:
		return false;
	default:
		return true;
	}
}

static enum detail detail_of_unit(const struct die *first)
{
	const char *producer = die_text(first, DW_AT_producer);
	const enum detail by_producer = producer ? detail_by_producer(producer) : DETAIL_UNKNOWN;

	if (by_producer != DETAIL_UNKNOWN)
		return by_producer;
	const bool is_of_clang = producer && strstr(producer, "clang");
	_cleanup_die_ struct die child = die_first_child(first);

	while (die_is(&child)) {
		if (tells(&child, is_of_clang))
			return DETAIL_TYPES;
		if (!die_advance(&child))
			break;
	}
	return DETAIL_LINES;
}

/* Returns true if the unit with this first entry describes types. The result is cached. */
static bool unit_tells(const struct die *first)
{
	struct map *known = &first->object->file->reader->details;
	const uint64_t key = die_key(first);
	uintptr_t detail = key ? (uintptr_t)map_get(known, key) : 0;

	if (!detail) {
		detail = detail_of_unit(first);
		if (key)
			map_put(known, key, (void *)detail);
	}
	return detail == DETAIL_TYPES;
}

bool detail_is_told(const struct die *function, const struct die *unit)
{
	if (die_tag(function) != DW_TAG_subprogram || tells(function, false) ||
	    die_has_parameters(function, true) || (die_is(unit) && unit_tells(unit)))
		return true;
	_cleanup_die_ struct die own = die_unit(function);

	return die_is(&own) && unit_tells(&own);
}
