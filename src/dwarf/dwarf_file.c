/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives libdwarf access to a file with debug information.
 *
 * libdwarf gets the section contents from this file (Dwarf_Obj_Access_Interface). Its own ELF
 * access would read whole sections into memory, and .debug_info may have hundreds of megabytes of
 * which a few pages are needed. Compressed sections are unpacked before libdwarf sees them.
 *
 * To get at an entry, libdwarf first reads the headers and first entries of all units before it,
 * and for each first entry a table of abbreviations, often up to its last abbreviation: 40 µs for
 * each of thousands of units. So each unit that is read gets a view of its own, a *slice*:
 * .debug_info from the unit's header on. Offsets from the beginning of .debug_info
 * (DW_FORM_ref_addr, which dwz and link-time optimisation make) are resolved by a list of all unit
 * headers, and read in the slice of their unit. libdwarf takes an offset that is larger than the
 * slice for an error; then the slice at 0, which has the whole section, is asked.
 *
 * libdwarf gets only the sections that it needs. Given .debug_rnglists, for example, it would read
 * the lists of all units at once, and it frees memory twice if these are damaged.
 */
#include "dwarf/dwarf_file.h"

#include "base/sorted.h"
#include "base/xalloc.h"
#include "dwarf/dwarf_private.h"

#include <errno.h>
#include <stdlib.h>

enum { SLICES_MAX = 64, UNITS_MAX = 4 << 20 };

/* ------------------------------------------------------------------ sections */

static const char *const needed[] = {".debug_info",	   ".debug_abbrev", ".debug_str",
				     ".debug_str_offsets", ".debug_addr",   ".debug_line_str",
				     ".debug_types"};

enum { NEEDED = sizeof needed / sizeof *needed };

/* The section with libdwarf's number `index`. Number 0 is no section, as in ELF. */
static const struct debug_section *section_at(const struct dwarf_object *object, Dwarf_Half index)
{
	return index && index <= NEEDED
		       ? debug_section_find(&object->file->sections, needed[index - 1])
		       : NULL;
}

static int section_info(void *context, Dwarf_Half index, Dwarf_Obj_Access_Section *out, int *error)
{
	const struct dwarf_object *object = context;
	const struct debug_section *section = section_at(object, index);

	(void)error;
	*out = (Dwarf_Obj_Access_Section){.name = ""};
	if (index > NEEDED)
		return DW_DLV_NO_ENTRY;
	if (section) {
		out->name = section->name;
		out->size = section->size - (index == 1 ? object->base : 0);
		out->type = 1; /* SHT_PROGBITS */
	}
	return DW_DLV_OK;
}

static Dwarf_Endianness byte_order(void *context)
{
	(void)context;
	return DW_OBJECT_LSB; /* elf_open_debug() rejects big-endian files */
}

static Dwarf_Small pointer_size(void *context)
{
	const struct dwarf_object *object = context;

	return (Dwarf_Small)object->file->reader->word;
}

static Dwarf_Unsigned section_count(void *context)
{
	(void)context;
	return NEEDED + 1;
}

static int load_section(void *context, Dwarf_Half index, Dwarf_Small **bytes, int *error)
{
	struct dwarf_object *object = context;
	const struct debug_section *section = section_at(object, index);

	if (!section)
		return DW_DLV_NO_ENTRY;
	struct bytes contents = section_bytes(object->file, section->name,
					      index == 1 ? object->base : 0);

	/* libdwarf does not write to it. */
	*bytes = (Dwarf_Small *)(uintptr_t)contents.at;
	if (*bytes)
		return DW_DLV_OK;
	*error = DW_DLE_ALLOC_FAIL;
	return DW_DLV_ERROR;
}

static const Dwarf_Obj_Access_Methods methods = {
	.get_section_info = section_info,
	.get_byte_order = byte_order,
	.get_length_size = pointer_size,
	.get_pointer_size = pointer_size,
	.get_section_count = section_count,
	.load_section = load_section,
};

struct bytes section_bytes(struct dwarf_file *file, const char *name, uint64_t offset)
{
	const struct debug_section *section = debug_section_find(&file->sections, name);

	if (!section || offset >= section->size)
		return (struct bytes){NULL, 0};
	const uint8_t *start = debug_section_bytes(&file->sections,
						   (size_t)(section - file->sections.items));

	return start ? (struct bytes){start + offset, section->size - offset}
		     : (struct bytes){NULL, 0};
}

/* ------------------------------------------------------------------ slices */

static void close_object(struct dwarf_object *object)
{
	Dwarf_Error error = NULL;

	if (object->debug)
		dwarf_object_finish(object->debug, &error);
	free(object);
}

static struct dwarf_object *open_object(struct dwarf_file *file, uint64_t base)
{
	struct dwarf_file *shared = &file->reader->shared;
	struct dwarf_object *object = xcalloc(1, sizeof *object);
	Dwarf_Error error = NULL;

	object->file = file;
	object->base = base;
	object->access = (Dwarf_Obj_Access_Interface){object, &methods};
	/*
	 * This code frees all that libdwarf returns. libdwarf need not keep a list of it, which
	 * would take half the time.
	 */
	dwarf_set_de_alloc_flag(0);
	if (dwarf_object_init_b(&object->access, NULL, NULL, DW_GROUPNUMBER_ANY, &object->debug,
				&error) != DW_DLV_OK)
		object->debug = NULL;
	/* libdwarf finds the strings of the shared file itself. */
	if (object->debug && file != shared && shared->information) {
		struct dwarf_object *strings = dwarf_file_slice(shared, 0);

		if (strings)
			dwarf_set_tied_dbg(object->debug, strings->debug, &error);
	}
	return object;
}

struct dwarf_object *dwarf_file_slice(struct dwarf_file *file, uint64_t header)
{
	struct dwarf_object *object;

	if (!file->information || header >= file->size)
		return NULL;
	object = map_get(&file->slices, header + 1);
	if (!object) {
		object = open_object(file, header);
		map_put(&file->slices, header + 1, object);
	}
	return object->debug ? object : NULL;
}

static void close_slices(struct dwarf_file *file)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&file->slices, &cursor, NULL, &value))
		close_object(value);
	map_deinit(&file->slices);
}

void dwarf_file_trim(struct dwarf_file *file)
{
	if (file->slices.count < SLICES_MAX)
		return;
	close_slices(file);
}

int dwarf_file_open(struct dwarf_file *file, struct dwarf_reader *reader, struct elf_file *elf)
{
	file->reader = reader;
	vec_init(&file->units, sizeof(uint64_t));
	debug_sections_init(&file->sections, elf);
	/*
	 * A section that cannot be unpacked would be missing, and the rest might then mean
	 * something else.
	 */
	if (file->sections.has_unknown)
		return -ENOTSUP;
	struct bytes information = section_bytes(file, ".debug_info", 0);

	file->information = information.at;
	file->size = information.left;
	return file->information ? 0 : -ENOENT;
}

void dwarf_file_close(struct dwarf_file *file)
{
	close_slices(file);
	vec_deinit(&file->units);
	debug_sections_deinit(&file->sections);
	file->information = NULL;
}

/* ------------------------------------------------------------------ units */

bool may_step(const struct dwarf_file *file)
{
	struct dwarf_reader *reader = file->reader;

	return reader->steps < reader->steps_max && ++reader->steps;
}

bool units_next(struct dwarf_file *file, uint64_t header, uint64_t *first, uint64_t *next)
{
	unsigned offset_size = 4;

	if (!file->information || header >= file->size || !may_step(file))
		return false;
	struct bytes bytes = {file->information + header, file->size - header};
	uint64_t length = take(&bytes, 4);

	if (length == 0xffffffff) {
		offset_size = 8;
		length = take(&bytes, 8);
	}
	if (!length || length > bytes.left)
		return false;
	*next = (uint64_t)(bytes.at - file->information) + length;
	uint64_t version = take(&bytes, 2);
	uint64_t kind = version >= 5 ? take(&bytes, 1) : DW_UT_compile;

	/*
	 * The offset of the abbreviations and the size of an address follow, in an order that
	 * depends on the version.
	 */
	*first = (uint64_t)(bytes.at - file->information) + offset_size + 1;
	if (kind == DW_UT_type || kind == DW_UT_split_type)
		*first += 8 + offset_size;
	else if (kind == DW_UT_skeleton || kind == DW_UT_split_compile)
		*first += 8;
	return *first < *next;
}

static void list_units(struct dwarf_file *file)
{
	uint64_t header = 0, first, next;

	file->units_listed = true;
	while (file->units.count < UNITS_MAX && units_next(file, header, &first, &next)) {
		vec_push(&file->units, &header);
		header = next;
	}
}

bool dwarf_file_unit_of(struct dwarf_file *file, uint64_t offset, uint64_t *header)
{
	if (!file->units_listed)
		list_units(file);
	const uint64_t *headers = file->units.items;
	const struct sorted sorted = SORTED_WORDS(headers, file->units.count);
	const size_t behind = sorted_above(&sorted, offset);

	if (!behind || offset >= file->size)
		return false;
	*header = headers[behind - 1];
	return true;
}
