/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries (DIEs) and their attributes, read by libdwarf. Offsets are those in the file's own
 * .debug_info; libdwarf sees a slice of that section (dwarf_file.c).
 *
 * dwz(1) moves strings and entries to a shared file. libdwarf finds the strings itself in the
 * "tied" object. Entries are looked up there by this file (DW_FORM_GNU_ref_alt, DW_FORM_ref_sup).
 *
 * libdwarf ends the process if it has no place for an error, so each call passes one.
 */
#include "dwarf/dwarf_die.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_private.h"

#include <errno.h>
#include <string.h>

/* ------------------------------------------------------------------ entries */

/* Returns true if a call's `result` means success; else frees its error. */
static bool succeeded(const struct dwarf_object *object, int result, Dwarf_Error error)
{
	if (result == DW_DLV_ERROR)
		dwarf_dealloc_error(object->debug, error);
	return result == DW_DLV_OK;
}

void die_drop(struct die *die)
{
	if (die->handle)
		dwarf_dealloc_die(die->handle);
	die->handle = NULL;
}

/* Reads the entry at an offset as libdwarf counts it. */
static struct die entry_at(struct dwarf_object *object, uint64_t offset, bool in_information)
{
	struct die found = {.object = object};
	Dwarf_Error error = NULL;

	if (may_step(object->file) &&
	    !succeeded(object,
		       dwarf_offdie_b(object->debug, offset, in_information, &found.handle, &error),
		       error))
		found.handle = NULL;
	return found;
}

struct die die_at(struct dwarf_file *file, uint64_t offset)
{
	uint64_t header;
	struct dwarf_object *object = dwarf_file_unit_of(file, offset, &header)
					      ? dwarf_file_slice(file, header)
					      : NULL;

	return object ? entry_at(object, offset - header, true) : (struct die){0};
}

struct die die_first_child(const struct die *die)
{
	struct die child = {.object = die->object};
	Dwarf_Error error = NULL;

	if (may_step(die->object->file) &&
	    !succeeded(die->object, dwarf_child(die->handle, &child.handle, &error), error))
		child.handle = NULL;
	return child;
}

bool die_advance(struct die *die)
{
	Dwarf_Error error = NULL;
	Dwarf_Die next = NULL;
	Dwarf_Bool in_information = dwarf_get_die_infotypes_flag(die->handle);

	if (!may_step(die->object->file) ||
	    !succeeded(die->object,
		       dwarf_siblingof_b(die->object->debug, die->handle, in_information, &next,
					 &error),
		       error))
		next = NULL;
	die_drop(die);
	die->handle = next;
	return next != NULL;
}

unsigned die_tag(const struct die *die)
{
	Dwarf_Error error = NULL;
	Dwarf_Half tag = 0;

	return succeeded(die->object, dwarf_tag(die->handle, &tag, &error), error) ? tag : 0;
}

uint64_t die_offset(const struct die *die)
{
	Dwarf_Error error = NULL;
	Dwarf_Off offset = 0;

	if (!succeeded(die->object, dwarf_dieoffset(die->handle, &offset, &error), error))
		return 0;
	return dwarf_get_die_infotypes_flag(die->handle) ? die->object->base + offset : offset;
}

uint64_t die_key(const struct die *die)
{
	const struct dwarf_file *file = die->object->file;
	const uint64_t offset = die_offset(die);

	return file == &file->reader->main && dwarf_get_die_infotypes_flag(die->handle) && offset
		       ? offset + 1
		       : 0;
}

bool die_is_same(const struct die *a, const struct die *b)
{
	return a->object->file == b->object->file &&
	       dwarf_get_die_infotypes_flag(a->handle) == dwarf_get_die_infotypes_flag(b->handle) &&
	       die_offset(a) == die_offset(b);
}

enum { PLACE_SHARED = 1, PLACE_OF_TYPES = 2, PLACE_SHIFT = 2 };

uint64_t die_place(const struct die *die)
{
	const struct dwarf_file *file = die->object->file;
	const bool in_types = !dwarf_get_die_infotypes_flag(die->handle);
	const uint64_t offset = die_offset(die);

	return offset ? offset << PLACE_SHIFT | (in_types ? PLACE_OF_TYPES : 0) |
				(file == &file->reader->shared ? PLACE_SHARED : 0)
		      : 0;
}

struct die die_of_place(struct dwarf_reader *reader, uint64_t place)
{
	struct dwarf_file *file = place & PLACE_SHARED ? &reader->shared : &reader->main;
	const uint64_t offset = place >> PLACE_SHIFT;

	if (!(place & PLACE_OF_TYPES))
		return die_at(file, offset);
	/* The slice at 0 sees all of .debug_info, and .debug_types. */
	struct dwarf_object *object = dwarf_file_slice(file, 0);

	return object ? entry_at(object, offset, false) : (struct die){0};
}

/* ------------------------------------------------------------------ attributes */

bool die_has(const struct die *die, unsigned attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Bool has = 0;

	return succeeded(die->object,
			 dwarf_hasattr(die->handle, (Dwarf_Half)attribute, &has, &error), error) &&
	       has;
}

Dwarf_Attribute die_attribute(const struct die *die, unsigned attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute found = NULL;

	return succeeded(die->object,
			 dwarf_attr(die->handle, (Dwarf_Half)attribute, &found, &error), error)
		       ? found
		       : NULL;
}

bool die_flag(const struct die *die, unsigned attribute)
{
	Dwarf_Attribute found = die_attribute(die, attribute);
	Dwarf_Error error = NULL;
	Dwarf_Bool flag = 0;

	if (!found)
		return false;
	if (!succeeded(die->object, dwarf_formflag(found, &flag, &error), error))
		flag = 0;
	dwarf_dealloc_attribute(found);
	return flag;
}

bool die_is_virtual(const struct die *die)
{
	uint64_t virtuality = DW_VIRTUALITY_none;

	die_number(die, DW_AT_virtuality, &virtuality);
	return virtuality != DW_VIRTUALITY_none;
}

const char *die_text(const struct die *die, unsigned attribute)
{
	Dwarf_Error error = NULL;
	char *text = NULL;

	return succeeded(die->object,
			 dwarf_die_text(die->handle, (Dwarf_Half)attribute, &text, &error), error)
		       ? text
		       : NULL;
}

/* Forms of a fixed size do not record a sign; their users know it. */
static bool read_number(const struct die *die, Dwarf_Attribute attribute, uint64_t *value)
{
	Dwarf_Error error = NULL;
	Dwarf_Half form = 0;
	Dwarf_Signed number = 0;
	Dwarf_Unsigned bits = 0;

	if (!succeeded(die->object, dwarf_whatform(attribute, &form, &error), error))
		return false;
	if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
		if (!succeeded(die->object, dwarf_formsdata(attribute, &number, &error), error))
			return false;
		*value = (uint64_t)number;
		return true;
	}
	if (form != DW_FORM_udata && form != DW_FORM_data1 && form != DW_FORM_data2 &&
	    form != DW_FORM_data4 && form != DW_FORM_data8)
		return false;
	if (!succeeded(die->object, dwarf_formudata(attribute, &bits, &error), error))
		return false;
	*value = bits;
	return true;
}

bool die_number(const struct die *die, unsigned attribute, uint64_t *value)
{
	Dwarf_Attribute found = die_attribute(die, attribute);
	bool is = found && read_number(die, found, value);

	if (found)
		dwarf_dealloc_attribute(found);
	return is;
}

/* libdwarf allocates a header for the block; the bytes are in the section. */
static bool read_old_block(const struct die *die, Dwarf_Attribute attribute, struct bytes *bytes)
{
	Dwarf_Error error = NULL;
	Dwarf_Block *block = NULL;

	if (!succeeded(die->object, dwarf_formblock(attribute, &block, &error), error))
		return false;
	*bytes = (struct bytes){block->bl_data, block->bl_len};
	dwarf_dealloc(die->object->debug, block, DW_DLA_BLOCK);
	return true;
}

bool die_block(const struct die *die, Dwarf_Attribute attribute, struct bytes *block)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned length = 0;
	Dwarf_Half form = 0;
	Dwarf_Ptr start = NULL;

	if (!succeeded(die->object, dwarf_whatform(attribute, &form, &error), error))
		return false;
	if (form != DW_FORM_exprloc)
		return (form == DW_FORM_block || form == DW_FORM_block1 || form == DW_FORM_block2 ||
			form == DW_FORM_block4) &&
		       read_old_block(die, attribute, block);
	error = NULL;
	if (!succeeded(die->object, dwarf_formexprloc(attribute, &length, &start, &error), error))
		return false;
	*block = (struct bytes){start, length};
	return true;
}

/*
 * Reads a member's offset in the format before DWARF 4: an expression of one operation, which adds
 * a LEB128 number.
 */
static bool read_plus(const struct die *die, Dwarf_Attribute attribute, uint64_t *value)
{
	struct bytes code;

	*value = 0;
	if (!die_block(die, attribute, &code) || take(&code, 1) != DW_OP_plus_uconst || !code.left)
		return false;
	*value = take_leb(&code);
	return !code.left;
}

bool die_member_offset(const struct die *member, uint64_t *offset)
{
	Dwarf_Attribute found = die_attribute(member, DW_AT_data_member_location);
	bool is = !found || read_number(member, found, offset) || read_plus(member, found, offset);

	if (!found)
		*offset = 0;
	else
		dwarf_dealloc_attribute(found);
	return is;
}

bool die_bit_offset(const struct die *member, uint64_t bits, uint64_t size, uint64_t *offset)
{
	uint64_t from_top, start;

	if (die_number(member, DW_AT_data_bit_offset, offset))
		return true;
	/*
	 * Before DWARF 4 the offset counts from the highest bit of a storage unit. The unit has the
	 * size of the type unless DW_AT_byte_size gives another one.
	 */
	if (!die_number(member, DW_AT_bit_offset, &from_top) || !die_member_offset(member, &start))
		return false;
	die_number(member, DW_AT_byte_size, &size);
	*offset = 8 * (start + size) - from_top - bits;
	return true;
}

static bool is_address(const struct die *die, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Half form = 0;

	return succeeded(die->object, dwarf_whatform(attribute, &form, &error), error) &&
	       (form == DW_FORM_addr || form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
		(form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4));
}

bool die_address(const struct die *die, unsigned attribute, uint64_t *value)
{
	Dwarf_Attribute found = die_attribute(die, attribute);
	Dwarf_Error error = NULL;
	Dwarf_Addr address = 0;
	bool is = found && is_address(die, found) &&
		  succeeded(die->object, dwarf_formaddr(found, &address, &error), error);

	if (found)
		dwarf_dealloc_attribute(found);
	*value = address;
	return is;
}

bool die_section_offset(const struct die *die, Dwarf_Attribute attribute, unsigned *form,
			uint64_t *value)
{
	Dwarf_Error error = NULL;
	Dwarf_Half final = 0;
	Dwarf_Unsigned number = 0;
	Dwarf_Off offset = 0;

	if (!succeeded(die->object, dwarf_whatform(attribute, &final, &error), error))
		return false;
	error = NULL;
	*form = final;
	if (final == DW_FORM_rnglistx || final == DW_FORM_loclistx) {
		bool is = succeeded(die->object, dwarf_formudata(attribute, &number, &error),
				    error);

		*value = number;
		return is;
	}
	bool is = succeeded(die->object, dwarf_global_formref(attribute, &offset, &error), error);

	*value = offset;
	return is;
}

uint64_t die_indexed_address(const struct die *die, uint64_t index)
{
	Dwarf_Error error = NULL;
	Dwarf_Addr address = 0;

	return succeeded(die->object,
			 dwarf_debug_addr_index_to_addr(die->handle, index, &address, &error),
			 error)
		       ? address
		       : 0;
}

unsigned die_version(const struct die *die)
{
	Dwarf_Half version = 0, offset_size = 0;

	return dwarf_get_version_of_die(die->handle, &version, &offset_size) == DW_DLV_OK ? version
											  : 0;
}

unsigned die_offset_size(const struct die *die)
{
	Dwarf_Half version = 0, size = 0;

	dwarf_get_version_of_die(die->handle, &version, &size);
	return size == 8 ? 8 : 4;
}

struct die die_unit(const struct die *die)
{
	struct dwarf_file *file = die->object->file;
	uint64_t header, first, next;

	return dwarf_file_unit_of(file, die_offset(die), &header) &&
			       units_next(file, header, &first, &next)
		       ? die_at(file, first)
		       : (struct die){0};
}

/* Language codes that libdwarf does not know yet, as LLVM numbers them. */
enum { LANGUAGE_C_PLUS_PLUS_17 = 0x2b, LANGUAGE_C17 = 0x2c };

/*
 * Go, Rust, Swift, Haskell and others have calling conventions of their own. Assemblers describe no
 * types.
 */
bool die_is_of_c(const struct die *first)
{
	uint64_t language;

	if (!die_number(first, DW_AT_language, &language))
		return true;
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANGUAGE_C_PLUS_PLUS_17:
	case DW_LANG_ObjC:
	case DW_LANG_ObjC_plus_plus:
	case DW_LANG_D:
		return true;
	default:
		return die_is_of_c_itself(first);
	}
}

bool die_is_of_go(const struct die *first)
{
	uint64_t language = 0;

	return die_number(first, DW_AT_language, &language) && language == DW_LANG_Go;
}

bool die_is_of_c_itself(const struct die *first)
{
	uint64_t language = 0;

	die_number(first, DW_AT_language, &language);
	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11 || language == LANGUAGE_C17;
}

/*
 * Finds the type that a type unit is for; `unit` is the unit's first entry. The last field of the
 * unit's header has the offset of the type, counted from the beginning of the header. The header
 * has one layout in DWARF 4 and another in 5.
 */
static struct die type_of_unit(struct die unit, bool in_information)
{
	struct dwarf_object *object = unit.object;
	const uint64_t first = die_offset(&unit);
	Dwarf_Half version = 0, offset_size = 0;

	dwarf_get_version_of_die(unit.handle, &version, &offset_size);
	die_drop(&unit);
	const uint64_t header = (version >= 5 ? 12 : 11) + (offset_size == 8 ? 28 : 12);

	if (first < header)
		return (struct die){0};
	struct bytes field = section_bytes(
		object->file, in_information ? ".debug_info" : ".debug_types", first - offset_size);
	uint64_t offset = first - header + take(&field, offset_size);

	return in_information ? die_at(object->file, offset) : entry_at(object, offset, false);
}

static struct die find_signature(struct dwarf_object *object, Dwarf_Sig8 *signature)
{
	struct die found = {.object = object};
	Dwarf_Error error = NULL;
	Dwarf_Bool in_information = 0;

	if (!object || !succeeded(object,
				  dwarf_find_die_given_sig8(object->debug, signature, &found.handle,
							    &in_information, &error),
				  error))
		return (struct die){0};
	return die_tag(&found) == DW_TAG_type_unit ? type_of_unit(found, in_information) : found;
}

/*
 * Finds a type by the signature of its unit (DW_FORM_ref_sig8), which may be anywhere in the file.
 */
static struct die by_signature(const struct die *die, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Sig8 signature;

	if (!succeeded(die->object, dwarf_formsig8(attribute, &signature, &error), error))
		return (struct die){0};
	return find_signature(dwarf_file_slice(die->object->file, 0), &signature);
}

/* Reads an offset in .debug_info; false if libdwarf finds it too large for the slice. */
static bool read_offset(const struct die *die, Dwarf_Attribute attribute, uint64_t *offset)
{
	Dwarf_Error error = NULL;
	Dwarf_Off seen = 0;

	if (!succeeded(die->object, dwarf_global_formref(attribute, &seen, &error), error))
		return false;
	*offset = seen;
	return true;
}

/* Reads the offset in that attribute through the slice at 0, which sees all of .debug_info. */
static bool read_whole_offset(const struct die *die, unsigned attribute, uint64_t *offset)
{
	struct dwarf_object *whole = dwarf_file_slice(die->object->file, 0);

	if (!whole || whole == die->object)
		return false;
	struct die same = entry_at(whole, die_offset(die), true);
	Dwarf_Attribute found = die_is(&same) ? die_attribute(&same, attribute) : NULL;
	bool is = found && read_offset(&same, found, offset);

	if (found)
		dwarf_dealloc_attribute(found);
	die_drop(&same);
	return is;
}

static struct die follow(const struct die *die, unsigned name, Dwarf_Attribute attribute)
{
	struct dwarf_object *object = die->object;
	const bool in_information = dwarf_get_die_infotypes_flag(die->handle);
	Dwarf_Error error = NULL;
	Dwarf_Half form = 0;
	uint64_t offset = 0;

	if (!may_step(object->file) ||
	    !succeeded(object, dwarf_whatform(attribute, &form, &error), error))
		return (struct die){0};
	if (form == DW_FORM_ref_sig8)
		return by_signature(die, attribute);
	if (!read_offset(die, attribute, &offset) &&
	    (form != DW_FORM_ref_addr || !in_information || !read_whole_offset(die, name, &offset)))
		return (struct die){0};
	if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8)
		return die_at(&object->file->reader->shared, offset);
	if (form == DW_FORM_ref_addr)
		return die_at(object->file, offset);
	/* The target is in the same unit, which may be one of .debug_types. */
	return entry_at(object, offset, in_information);
}

struct die die_reference(const struct die *die, unsigned attribute)
{
	Dwarf_Attribute found = die_attribute(die, attribute);

	if (!found)
		return (struct die){0};
	struct die target = follow(die, attribute, found);

	dwarf_dealloc_attribute(found);
	return target;
}

struct die die_told_by(const struct die *die)
{
	return die_reference(die, die_has(die, DW_AT_abstract_origin) ? DW_AT_abstract_origin
								      : DW_AT_specification);
}

struct die die_last_origin(struct die die)
{
	for (unsigned i = 0; die_is(&die) && die_has(&die, DW_AT_abstract_origin); i++) {
		struct die next = i < ORIGINS_MAX ? die_reference(&die, DW_AT_abstract_origin)
						  : (struct die){0};

		die_drop(&die);
		die = next;
	}
	return die;
}

bool die_has_parameters(const struct die *function, bool or_variable)
{
	_cleanup_die_ struct die child = die_first_child(function);

	while (die_is(&child)) {
		const unsigned tag = die_tag(&child);

		if (tag == DW_TAG_formal_parameter || tag == DW_TAG_GNU_formal_parameter_pack ||
		    (or_variable && tag == DW_TAG_unspecified_parameters))
			return true;
		if (!die_advance(&child))
			break;
	}
	return false;
}
