/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which unit has the code at an address.
 *
 * .debug_aranges says so, a table of some megabytes at most, which compilers make by default (gcc) or not (clang).
 * It is read here and not by libdwarf, which would allocate an object for each of its entries. For what it does not
 * cover, the first entry of each unit is looked at, which says where its code is; that is done once, and only when an
 * address was not found otherwise.
 */
#include "proto/dwarf_private.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { RANGES_MAX = 8 << 20 };

/* ------------------------------------------------------------------ .debug_aranges */

/* What is left of a section. */
struct bytes {
	const uint8_t *at;
	size_t left;
};

/* A number of up to 8 bytes; 0 when it is not there. There may be millions of them. */
static inline uint64_t take(struct bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if (size > bytes->left) {
		bytes->left = 0;
		return 0;
	}
	if (size == sizeof value)
		memcpy(&value, bytes->at, sizeof value);
	else
		for (unsigned i = size; i--;)
			value = value << 8 | bytes->at[i];
	bytes->at += size;
	bytes->left -= size;
	return value;
}

/* Neighbours of the same unit become one. */
static void add_range(struct dwarf_reader *reader, struct unit_range range)
{
	struct vec *ranges = &reader->ranges;
	struct unit_range *last = ranges->count ? vec_at(ranges, ranges->count - 1) : NULL;

	if (range.start >= range.end || !range.start)
		return; /* nothing, or code that the linker has dropped */
	if (last && last->unit == range.unit && range.start >= last->end &&
	    range.start - last->end < 16)
		last->end = range.end;
	else if (ranges->count < RANGES_MAX)
		vec_push(ranges, &range);
}

/* The table of one unit; `bytes` are those behind its length. */
static void read_table(struct dwarf_reader *reader, struct bytes bytes, unsigned offset_size)
{
	const uint8_t *start = bytes.at - (offset_size == 8 ? 12 : 4);
	uint64_t version = take(&bytes, 2);
	uint64_t unit = take(&bytes, offset_size);
	unsigned address_size = (unsigned)take(&bytes, 1);
	uint64_t segment_size = take(&bytes, 1);

	if (version != 2 || segment_size || (address_size != 4 && address_size != 8))
		return;
	/* Pairs begin at a multiple of their size, counted from the beginning of the table. */
	unsigned pair = 2 * address_size;
	unsigned over = (unsigned)((size_t)(bytes.at - start) % pair);

	for (unsigned i = over; over && i < pair; i++)
		take(&bytes, 1);
	while (bytes.left >= pair) {
		uint64_t address = take(&bytes, address_size);
		uint64_t length = take(&bytes, address_size);

		add_range(reader, (struct unit_range){address, address + length, unit});
	}
}

static void read_tables(struct dwarf_reader *reader)
{
	struct debug_sections *sections = &reader->main.sections;
	const struct debug_section *section = debug_section_find(sections, ".debug_aranges");
	const uint8_t *start =
		section ? debug_section_bytes(sections, (size_t)(section - sections->items)) : NULL;
	struct bytes bytes = {start, start ? section->size : 0};

	while (bytes.left > 4) {
		unsigned offset_size = 4;
		uint64_t length = take(&bytes, 4);

		if (length == 0xffffffff) {
			offset_size = 8;
			length = take(&bytes, 8);
		}
		if (length > bytes.left)
			return;
		read_table(reader, (struct bytes){bytes.at, length}, offset_size);
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

/* The last range that begins at `address` or before, when it has it. */
static const struct unit_range *find_range(const struct dwarf_reader *reader, uint64_t address)
{
	const struct unit_range *items = reader->ranges.items;
	size_t low = 0, high = reader->ranges.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < items[low - 1].end ? &items[low - 1] : NULL;
}

/* ------------------------------------------------------------------ code of units */

bool units_next(struct dwarf_reader *reader, uint64_t header, uint64_t *first, uint64_t *next)
{
	struct debug_sections *sections = &reader->main.sections;
	const struct debug_section *section = debug_section_find(sections, ".debug_info");
	const uint8_t *start = debug_section_bytes(sections, (size_t)(section - sections->items));
	unsigned offset_size = 4;

	if (!start || header >= section->size)
		return false;
	struct bytes bytes = {start + header, section->size - header};
	uint64_t length = take(&bytes, 4);

	if (length == 0xffffffff) {
		offset_size = 8;
		length = take(&bytes, 8);
	}
	if (!length || length > bytes.left)
		return false;
	*next = (uint64_t)(bytes.at - start) + length;
	uint64_t version = take(&bytes, 2);
	uint64_t kind = version >= 5 ? take(&bytes, 1) : DW_UT_compile;

	/* Offset of the abbreviations and size of an address; in the two orders of versions. */
	*first = (uint64_t)(bytes.at - start) + offset_size + 1;
	if (kind == DW_UT_type || kind == DW_UT_split_type)
		*first += 8 + offset_size;
	else if (kind == DW_UT_skeleton || kind == DW_UT_split_compile)
		*first += 8;
	return *first < *next && may_step(&reader->main);
}

/* A list in .debug_ranges: DWARF 3 and 4. */
static void visit_old(const struct die *die, uint64_t offset, uint64_t base, code_visitor *visit,
		      void *context)
{
	Dwarf_Error error = NULL;
	Dwarf_Ranges *ranges = NULL;
	Dwarf_Signed count = 0;

	if (dwarf_get_ranges_a(die->object->debug, offset, die->handle, &ranges, &count, NULL,
			       &error) != DW_DLV_OK) {
		dwarf_dealloc_error(die->object->debug, error);
		return;
	}
	for (Dwarf_Signed i = 0; i < count && ranges[i].dwr_type != DW_RANGES_END; i++) {
		if (ranges[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = ranges[i].dwr_addr2;
		else
			visit(context, base + ranges[i].dwr_addr1, base + ranges[i].dwr_addr2);
	}
	dwarf_ranges_dealloc(die->object->debug, ranges, count);
}

/* One entry of a list in .debug_rnglists; false: the list cannot be read. */
static bool visit_entry(const struct die *die, Dwarf_Rnglists_Head head, Dwarf_Unsigned index,
			code_visitor *visit, void *context)
{
	Dwarf_Unsigned raw[2], range[2] = {0, 0};
	Dwarf_Bool unavailable = 0;
	Dwarf_Error error = NULL;
	unsigned length, kind = 0;

	if (dwarf_get_rnglists_entry_fields_a(head, index, &length, &kind, &raw[0], &raw[1],
					      &unavailable, &range[0], &range[1],
					      &error) != DW_DLV_OK) {
		dwarf_dealloc_error(die->object->debug, error);
		return false;
	}
	if (!unavailable && kind != DW_RLE_end_of_list && kind != DW_RLE_base_address &&
	    kind != DW_RLE_base_addressx)
		visit(context, range[0], range[1]);
	return true;
}

/* A list in .debug_rnglists: DWARF 5. */
static void visit_new(const struct die *die, Dwarf_Attribute attribute, unsigned form,
		      uint64_t offset, code_visitor *visit, void *context)
{
	Dwarf_Rnglists_Head head = NULL;
	Dwarf_Error error = NULL;
	Dwarf_Unsigned count = 0, place;

	if (dwarf_rnglists_get_rle_head(attribute, (Dwarf_Half)form, offset, &head, &count, &place,
					&error) != DW_DLV_OK) {
		dwarf_dealloc_error(die->object->debug, error);
		return;
	}
	for (Dwarf_Unsigned i = 0; i < count && i < RANGES_MAX; i++)
		if (!visit_entry(die, head, i, visit, context))
			break;
	dwarf_dealloc_rnglists_head(head);
}

void ranges_visit(const struct die *die, uint64_t base, code_visitor *visit, void *context)
{
	Dwarf_Attribute attribute = die_attribute(die, DW_AT_ranges);
	uint64_t low = 0, high = 0, offset = 0;
	unsigned form = 0;

	if (die_address(die, DW_AT_low_pc, &low) && !attribute) {
		/* A constant is a length. */
		if (!die_address(die, DW_AT_high_pc, &high) &&
		    die_number(die, DW_AT_high_pc, &high))
			high += low;
		visit(context, low, high);
	}
	if (!attribute)
		return;
	if (die_section_offset(die, attribute, &form, &offset)) {
		if (die_version(die) >= 5)
			visit_new(die, attribute, form, offset, visit, context);
		else
			visit_old(die, offset, base, visit, context);
	}
	dwarf_dealloc_attribute(attribute);
}

/* The unit that is looked at. */
struct unit_context {
	struct dwarf_reader *reader;
	uint64_t unit;
};

static void add_unit_range(void *context, uint64_t start, uint64_t end)
{
	const struct unit_context *unit = context;

	add_range(unit->reader, (struct unit_range){start, end, unit->unit});
}

/* All of them, those that .debug_aranges had as well. */
static void read_units(struct dwarf_reader *reader)
{
	uint64_t header = 0, first, next;

	vec_clear(&reader->ranges);
	while (units_next(reader, header, &first, &next)) {
		_cleanup_die_ struct die die = die_at(&reader->main, first);

		struct unit_context unit = {reader, header};
		uint64_t base = 0;

		if (die_is(&die) && die_tag(&die) == DW_TAG_compile_unit) {
			die_address(&die, DW_AT_low_pc, &base);
			ranges_visit(&die, base, add_unit_range, &unit);
		}
		header = next;
	}
	sort_ranges(reader);
}

bool ranges_find_unit(struct dwarf_reader *reader, uint64_t address, uint64_t *header)
{
	if (!reader->ranges_read) {
		reader->ranges_read = true;
		read_tables(reader);
		sort_ranges(reader);
	}
	const struct unit_range *found = find_range(reader, address);

	if (!found && !reader->units_read) {
		reader->units_read = true;
		read_units(reader);
		found = find_range(reader, address);
	}
	if (found)
		*header = found->unit;
	return found != NULL;
}
