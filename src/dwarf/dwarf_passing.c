/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out how an object is passed by value if the .conf language cannot express its type. A
 * struct takes its place that goes to the same registers, or takes as many bytes on the stack, so
 * that the parameters behind it are found.
 *
 * i386: all arguments are on the stack, word by word, and results are in memory. x86_64 (System V
 * psABI, 3.2.3): an object of more than two words of 8 bytes is on the stack. Else each word has
 * the class INTEGER if an integer or a pointer is in it, and SSE if only floating-point numbers are
 * in it. So the scalars inside of the type are visited with their offsets. INTEGER words are shown
 * in hexadecimal, SSE words are hidden, and "..." marks that the object has more than is shown.
 *
 * Rejected are objects that are passed like no struct of the .conf language: objects of up to 16
 * bytes with an unaligned member, or a long double beside another member; vectors; words that are
 * padding only.
 */
#include "dwarf/dwarf_passing.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_struct.h"
#include "dwarf/dwarf_type.h"

#include <errno.h>
#include <inttypes.h>

enum { EIGHT = 8, DEPTH_MAX = 16, ALIGN_MAX = 16 };

/* What was found so far. */
struct passing {
	uint64_t size; /* of the whole object, in bytes */
	bool wide;     /* x86_64: the offsets of members matter */
	unsigned align;
	bool has_integer[2], has_float[2]; /* for each word of an object of up to two words */
	uint32_t floats;		   /* bit n: byte n is a part of a floating-point number */
	bool any;			   /* a scalar was found */
	unsigned depth;
};

static int look(struct passing *passing, const struct die *type, uint64_t offset);

static void note_align(struct passing *passing, uint64_t align)
{
	if (align > passing->align)
		passing->align = align > ALIGN_MAX ? ALIGN_MAX + 1 : (unsigned)align;
}

static void note_alignment_of(struct passing *passing, const struct die *die)
{
	uint64_t align;

	if (die_number(die, DW_AT_alignment, &align))
		note_align(passing, align);
}

/* Notes a scalar: a number or a pointer. */
static int note(struct passing *passing, uint64_t offset, uint64_t size, bool is_float)
{
	passing->any = true;
	if (!passing->wide)
		return 0;
	if (!size || size & (size - 1) || size > ALIGN_MAX)
		return -ENOTSUP;
	note_align(passing, size);
	if (passing->size > PASSED_IN_REGISTERS)
		return 0;
	if (offset % size || offset > PASSED_IN_REGISTERS - size)
		return -ENOTSUP;
	if (is_float)
		passing->floats |= ((1U << size) - 1) << offset;
	for (uint64_t at = offset; at < offset + size; at += EIGHT)
		(is_float ? passing->has_float : passing->has_integer)[at / EIGHT] = true;
	return 0;
}

static int look_at_number(struct passing *passing, const struct die *type, uint64_t offset)
{
	uint64_t encoding = 0, size = 0;

	if (!die_number(type, DW_AT_encoding, &encoding) ||
	    !die_number(type, DW_AT_byte_size, &size))
		return -ENOTSUP;
	if (encoding == DW_ATE_complex_float) {
		int error = note(passing, offset, size / 2, true);

		return error ? error : note(passing, offset + size / 2, size / 2, true);
	}
	const bool is_float = encoding == DW_ATE_float || encoding == DW_ATE_decimal_float;

	/*
	 * A long double is of neither class, and __float128 is one SSE register and its upper half.
	 */
	if (is_float && size > EIGHT && passing->size <= PASSED_IN_REGISTERS)
		return -ENOTSUP;
	return note(passing, offset, size, is_float);
}

static int look_at_member(struct passing *passing, const struct die *member, uint64_t offset)
{
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(member, DW_AT_type), &is_const);
	uint64_t size = 0, bits = 0, at = 0;

	note_alignment_of(passing, member);
	if (!die_has(member, DW_AT_bit_size))
		return die_member_offset(member, &at) ? look(passing, &type, offset + at)
						      : -ENOTSUP;
	if (!die_is(&type) || !die_number(&type, DW_AT_byte_size, &size) ||
	    !die_number(member, DW_AT_bit_size, &bits) || !die_bit_offset(member, bits, size, &at))
		return -ENOTSUP;
	note_align(passing, size);
	return note(passing, offset + at / 8, 1, false);
}

static int look_at_members(struct passing *passing, const struct die *type, uint64_t offset)
{
	_cleanup_die_ struct die child = die_first_child(type);
	int error = 0;

	if (die_flag(type, DW_AT_declaration))
		return -ENOTSUP;
	while (die_is(&child) && !error) {
		if (type_has_part(&child))
			error = look_at_member(passing, &child, offset);
		if (!die_advance(&child))
			break;
	}
	return error;
}

static int look_at_elements(struct passing *passing, const struct die *type, uint64_t offset)
{
	bool is_const = false;
	_cleanup_die_ struct die element = type_peel(die_reference(type, DW_AT_type), &is_const);
	uint64_t count = 0, size = 0;
	int error = 0;

	/* A flexible array member has no elements. */
	if (die_has(type, DW_AT_GNU_vector) || !die_is(&element))
		return -ENOTSUP;
	if (!type_array_length(type, &count))
		return 0;
	/* Offsets do not matter for an object in memory, so one element is enough. */
	if (passing->size > PASSED_IN_REGISTERS)
		return look(passing, &element, offset);
	if (!die_number(&element, DW_AT_byte_size, &size) || !size ||
	    count > PASSED_IN_REGISTERS / size)
		return -ENOTSUP;
	for (uint64_t i = 0; i < count && !error; i++)
		error = look(passing, &element, offset + i * size);
	return error;
}

/*
 * Visits a part of the object: `type`, without qualifiers, `offset` bytes behind the beginning of
 * the whole object.
 */
static int look(struct passing *passing, const struct die *type, uint64_t offset)
{
	int error = -ENOTSUP;

	if (!die_is(type) || passing->depth >= DEPTH_MAX)
		return -ENOTSUP;
	passing->depth++;
	note_alignment_of(passing, type);
	switch (die_tag(type)) {
	case DW_TAG_base_type:
		error = look_at_number(passing, type, offset);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:
		error = note(passing, offset, EIGHT, false);
		break;
	case DW_TAG_enumeration_type: {
		uint64_t size = 0;

		die_number(type, DW_AT_byte_size, &size);
		error = note(passing, offset, size, false);
		break;
	}
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		error = look_at_members(passing, type, offset);
		break;
	case DW_TAG_array_type:
		error = look_at_elements(passing, type, offset);
		break;
	}
	passing->depth--;
	return error;
}

static int add_words(struct type_writer *writer, const struct passing *passing)
{
	const unsigned words = passing->size > EIGHT ? 2 : 1;
	const bool *integers = passing->has_integer, *floats = passing->has_float;

	if (passing->align > EIGHT && !(integers[0] && integers[1]))
		return -ENOTSUP;
	if (passing->align > EIGHT) {
		strbuf_add(writer->text, "struct(int128, ...)");
		return 0;
	}
	strbuf_add(writer->text, "struct(");
	for (unsigned i = 0; i < words; i++) {
		/*
		 * Bit-fields without a name have no entry, and gcc makes a word with such a
		 * bit-field an INTEGER.
		 */
		if (!integers[i] && (!floats[i] || (passing->floats >> 8 * i & 0xff) != 0xff))
			return -ENOTSUP;
		strbuf_add(writer->text, integers[i] ? "hex(ulong), " : "hide(double), ");
	}
	strbuf_add(writer->text, "...)");
	return 0;
}

/* Examines a type. Returns 0, or -ENOTSUP: it is not known how objects of the type are passed. */
static int find_passing(const struct type_writer *writer, const struct die *type,
			struct passing *passing)
{
	*passing = (struct passing){.align = 1, .wide = writer->word == EIGHT};
	if (!die_number(type, DW_AT_byte_size, &passing->size) || !passing->size ||
	    passing->size > UINT32_MAX / 2)
		return -ENOTSUP;
	/*
	 * Numbers of more than 16 bytes are returned in registers of their own. On i386 other types
	 * that are no records may be, too.
	 */
	if (!type_is_record(die_tag(type)) &&
	    (!passing->wide || passing->size > PASSED_IN_REGISTERS))
		return -ENOTSUP;
	int error = look(passing, type, 0);

	/* Compilers do not agree on how empty classes of C++ are passed on i386. */
	return passing->any ? error : -ENOTSUP;
}

bool type_is_in_memory(const struct type_writer *writer, const struct die *type, unsigned align)
{
	struct passing passing;

	return !find_passing(writer, type, &passing) &&
	       passing.align <= (align > EIGHT ? align : EIGHT) &&
	       (!passing.wide || passing.size > PASSED_IN_REGISTERS);
}

bool type_find_registers(const struct die *type, struct type_registers *out)
{
	const struct type_writer writer = {.word = EIGHT};
	struct passing passing;

	*out = (struct type_registers){0};
	if (find_passing(&writer, type, &passing))
		return false;
	if (passing.size > PASSED_IN_REGISTERS)
		return true;
	for (uint64_t at = 0; at < passing.size; at += EIGHT) {
		const uint64_t size = passing.size - at < EIGHT ? passing.size - at : EIGHT;
		const uint32_t bytes = (1U << size) - 1;
		const bool is_integer = passing.has_integer[at / EIGHT];

		/* Like add_words(): an unnamed bit-field may be where no member is seen. */
		if (!is_integer && (passing.floats >> at & bytes) != bytes)
			return false;
		out->integers += is_integer;
		out->floats += !is_integer;
		out->begins_with_float |= !at && !is_integer;
	}
	/* Objects aligned to 16 take pairs of registers, which are not modelled. */
	return passing.align <= EIGHT;
}

int type_add_passed(struct type_writer *writer, const struct die *type)
{
	struct passing passing;

	if (find_passing(writer, type, &passing) ||
	    passing.align > (passing.wide ? ALIGN_MAX : EIGHT))
		return -ENOTSUP;
	if (passing.wide && passing.size <= PASSED_IN_REGISTERS)
		return add_words(writer, &passing);
	const bool by_16 = passing.align > EIGHT;

	strbuf_printf(writer->text, "struct(hide(array(%s, %" PRIu64 ")), ...)",
		      by_16 ? "int128" : "uint8", by_16 ? passing.size / ALIGN_MAX : passing.size);
	return 0;
}
