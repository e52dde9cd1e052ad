/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the unit that has the code at an address.
 *
 * .debug_aranges is a table for that, of some megabytes at most. gcc writes it by default, clang
 * does not. This file reads it without libdwarf, which would allocate an object for each entry. For
 * code that the table does not cover, the first entry of each unit is read, which has the ranges of
 * the unit's code. That is done once, and only when an address is not in the table.
 */
#include "dwarf/dwarf_ranges.h"

#include "base/sorted.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	RANGES_MAX = 8 << 20,
	/* single addresses for which the table is scanned before it is kept in memory */
	SCANS_MAX = 8
};

/* ------------------------------------------------------------------ .debug_aranges */

/* Adds a range. Adjacent ranges of one unit become one. */
static void add_range(struct dwarf_reader *reader, struct unit_range range)
{
	struct vec *ranges = &reader->ranges;
	struct unit_range *last = ranges->count ? vec_at(ranges, ranges->count - 1) : NULL;

	if (range.start >= range.end || !range.start)
		return; /* empty, or code that the linker has dropped */
	if (last && last->unit == range.unit && range.start >= last->end &&
	    range.start - last->end < 16)
		last->end = range.end;
	else if (ranges->count < RANGES_MAX)
		vec_push(ranges, &range);
}

/* The units that have an address. */
struct found {
	uint64_t *headers; /* UNITS_AT_ONCE_MAX */
	unsigned count;
};

static void add_found(struct found *found, uint64_t unit)
{
	for (unsigned i = 0; i < found->count; i++)
		if (found->headers[i] == unit)
			return;
	if (found->count < UNITS_AT_ONCE_MAX)
		found->headers[found->count++] = unit;
}

/* A scan of all tables: for one address, or to collect all ranges. */
struct scan {
	struct dwarf_reader *reader;
	bool collect;
	uint64_t address;
	struct found *found; /* the units that have `address` */
};

/* Reads the pairs of address and length of one unit. */
static void scan_pairs(struct scan *scan, struct bytes bytes, unsigned size, uint64_t unit)
{
	while (bytes.left >= 2 * size) {
		uint64_t start = take(&bytes, size);
		uint64_t length = take(&bytes, size);

		if (scan->collect) {
			add_range(scan->reader, (struct unit_range){start, start + length, unit});
		} else if (scan->address - start < length && start) {
			add_found(scan->found, unit);
		}
	}
}

/* Reads the table of one unit; `bytes` begins behind the length field. */
static void scan_table(struct scan *scan, struct bytes bytes, unsigned offset_size)
{
	const uint8_t *start = bytes.at - (offset_size == 8 ? 12 : 4);
	uint64_t version = take(&bytes, 2);
	uint64_t unit = take(&bytes, offset_size);
	unsigned size = (unsigned)take(&bytes, 1);
	uint64_t segment_size = take(&bytes, 1);

	if (version != 2 || segment_size || (size != 4 && size != 8))
		return;
	/* Pairs are aligned to their size, counted from the beginning of the table. */
	unsigned over = (unsigned)((size_t)(bytes.at - start) % (2 * size));

	for (unsigned i = over; over && i < 2 * size; i++)
		take(&bytes, 1);
	if (scan->collect)
		map_put(&scan->reader->covered, unit + 1, scan->reader);
	scan_pairs(scan, bytes, size, unit);
}

static void scan_tables(struct scan *scan)
{
	struct bytes bytes = section_bytes(&scan->reader->main, ".debug_aranges", 0);

	while (bytes.left > 4) {
		unsigned offset_size = 4;
		uint64_t length = take(&bytes, 4);

		if (length == 0xffffffff) {
			offset_size = 8;
			length = take(&bytes, 8);
		}
		if (length > bytes.left)
			return;
		scan_table(scan, (struct bytes){bytes.at, length}, offset_size);
		bytes.at += length;
		bytes.left -= length;
	}
}

static int compare_ranges(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void sort_ranges(struct dwarf_reader *reader)
{
	struct vec *ranges = &reader->ranges;
	const struct unit_range *items = ranges->items;
	size_t sorted = 1;

	while (sorted < ranges->count && items[sorted - 1].start <= items[sorted].start)
		sorted++;
	if (sorted < ranges->count)
		qsort(ranges->items, ranges->count, ranges->item_size, compare_ranges);
}

/*
 * Finds the units that have `address` among the last ranges that begin at `address` or before it.
 * Ranges that begin still earlier and reach up to `address` are not needed: they belong to other
 * units with the same code.
 */
static void find_ranges(const struct dwarf_reader *reader, uint64_t address, struct found *found)
{
	const struct unit_range *items = reader->ranges.items;
	const struct sorted starts = SORTED(struct unit_range, start, items, reader->ranges.count);
	const size_t behind = sorted_above(&starts, address);

	for (size_t i = behind; i && behind - i < 2 * UNITS_AT_ONCE_MAX; i--)
		if (address < items[i - 1].end)
			add_found(found, items[i - 1].unit);
}

/* ------------------------------------------------------------------ code of entries */

/*
 * Visits a list in .debug_ranges (DWARF 3 and 4): pairs of offsets from a base, up to a pair of
 * zeros.
 */
static void visit_old(const struct die *die, uint64_t offset, uint64_t base, code_visitor *visit,
		      void *context)
{
	const unsigned size = die->object->file->reader->word;
	const uint64_t new_base = size == 4 ? UINT32_MAX : UINT64_MAX;
	struct bytes list = section_bytes(die->object->file, ".debug_ranges", offset);

	while (list.left >= 2 * size && may_step(die->object->file)) {
		uint64_t start = take(&list, size);
		uint64_t end = take(&list, size);

		if (!start && !end)
			return;
		if (start == new_base)
			base = end;
		else
			visit(context, base + start, base + end);
	}
}

/* Reads one entry of a list in .debug_rnglists (DWARF 5). False at the end, and at damage. */
static bool take_entry(const struct die *die, struct bytes *list, uint64_t *base, uint64_t range[2])
{
	const unsigned size = die->object->file->reader->word;

	range[0] = range[1] = 0; /* no range */
	switch (take(list, 1)) {
	case DW_RLE_base_addressx:
		*base = die_indexed_address(die, take_leb(list));
		return true;
	case DW_RLE_startx_endx:
		range[0] = die_indexed_address(die, take_leb(list));
		range[1] = die_indexed_address(die, take_leb(list));
		return true;
	case DW_RLE_startx_length:
		range[0] = die_indexed_address(die, take_leb(list));
		range[1] = range[0] + take_leb(list);
		return true;
	case DW_RLE_offset_pair:
		range[0] = *base + take_leb(list);
		range[1] = *base + take_leb(list);
		return true;
	case DW_RLE_base_address:
		*base = take(list, size);
		return true;
	case DW_RLE_start_end:
		range[0] = take(list, size);
		range[1] = take(list, size);
		return true;
	case DW_RLE_start_length:
		range[0] = take(list, size);
		range[1] = range[0] + take_leb(list);
		return true;
	default: /* DW_RLE_end_of_list */
		return false;
	}
}

static void visit_new(const struct die *die, uint64_t offset, uint64_t base, code_visitor *visit,
		      void *context)
{
	struct bytes list = section_bytes(die->object->file, ".debug_rnglists", offset);
	uint64_t range[2];

	while (list.left && may_step(die->object->file) && take_entry(die, &list, &base, range))
		if (range[0])
			visit(context, range[0], range[1]);
}

/* The offset of the unit's part of a section, from the attribute `name`. */
static uint64_t table_of_unit(const struct die *first, unsigned name)
{
	Dwarf_Attribute attribute = die_attribute(first, name);
	uint64_t offset = 0;
	unsigned form;

	if (!attribute)
		return 0;
	if (!die_section_offset(first, attribute, &form, &offset))
		offset = 0;
	dwarf_dealloc_attribute(attribute);
	return offset;
}

void ranges_learn(const struct die *first, struct unit_code *code)
{
	*code = (struct unit_code){.offset_size = die_offset_size(first),
				   .lists = table_of_unit(first, DW_AT_rnglists_base),
				   .places = table_of_unit(first, DW_AT_loclists_base)};
	die_address(first, DW_AT_low_pc, &code->base);
}

void ranges_visit(const struct die *die, const struct unit_code *code, code_visitor *visit,
		  void *context)
{
	Dwarf_Attribute attribute = die_attribute(die, DW_AT_ranges);
	uint64_t low = 0, high = 0, offset = 0;
	unsigned form = 0;

	if (!attribute) {
		if (!die_address(die, DW_AT_low_pc, &low))
			return;
		/* A constant is a length. */
		if (!die_address(die, DW_AT_high_pc, &high) &&
		    die_number(die, DW_AT_high_pc, &high))
			high += low;
		visit(context, low, high);
		return;
	}
	const bool is = die_section_offset(die, attribute, &form, &offset);

	dwarf_dealloc_attribute(attribute);
	if (is && form == DW_FORM_rnglistx) {
		/*
		 * Behind the header of the unit's part is a table of offsets, counted from that
		 * table.
		 */
		struct bytes entry = section_bytes(die->object->file, ".debug_rnglists",
						   code->lists + offset * code->offset_size);

		offset = code->lists + take(&entry, code->offset_size);
	}
	if (is && die_version(die) >= 5)
		visit_new(die, offset, code->base, visit, context);
	else if (is)
		visit_old(die, offset, code->base, visit, context);
}

/* ------------------------------------------------------------------ code of units */

/* The unit whose ranges are added. */
struct unit_context {
	struct dwarf_reader *reader;
	uint64_t unit;
};

static void add_unit_range(void *context, uint64_t start, uint64_t end)
{
	const struct unit_context *unit = context;

	add_range(unit->reader, (struct unit_range){start, end, unit->unit});
}

/* Adds the ranges of the units that .debug_aranges does not cover. */
static void read_units(struct dwarf_reader *reader)
{
	uint64_t header = 0, first, next;

	for (; units_next(&reader->main, header, &first, &next); header = next) {
		if (map_get(&reader->covered, header + 1))
			continue;
		struct unit_context unit = {reader, header};
		struct die die = die_at(&reader->main, first);
		struct unit_code code;

		if (die_is(&die) && (die_tag(&die) == DW_TAG_compile_unit ||
				     die_tag(&die) == DW_TAG_skeleton_unit)) {
			ranges_learn(&die, &code);
			ranges_visit(&die, &code, add_unit_range, &unit);
		}
		die_drop(&die);
		dwarf_file_trim(&reader->main);
	}
	sort_ranges(reader);
}

/*
 * Keeps all ranges of .debug_aranges in memory. That takes some time, so the first SCANS_MAX
 * addresses are searched without it.
 */
static void collect_ranges(struct dwarf_reader *reader)
{
	struct scan scan = {.reader = reader, .collect = true};

	reader->ranges_read = true;
	scan_tables(&scan);
	sort_ranges(reader);
}

static bool find_by_table(struct dwarf_reader *reader, uint64_t address, struct found *found)
{
	struct scan scan = {.reader = reader, .address = address, .found = found};

	if (!reader->ranges_read && ++reader->scans <= SCANS_MAX) {
		scan_tables(&scan);
	} else {
		if (!reader->ranges_read)
			collect_ranges(reader);
		find_ranges(reader, address, found);
	}
	return found->count != 0;
}

unsigned ranges_find_units(struct dwarf_reader *reader, uint64_t address,
			   uint64_t headers[UNITS_AT_ONCE_MAX])
{
	struct found found = {.headers = headers};

	if (find_by_table(reader, address, &found) || reader->units_read)
		return found.count;
	reader->units_read = true;
	if (!reader->ranges_read)
		collect_ranges(reader);
	read_units(reader);
	find_by_table(reader, address, &found);
	return found.count;
}
