/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes types of the debug information as types of .conf files.
 *
 * The result is to be readable in one line of a trace, and to cost a bounded amount of memory
 * there. The target of a parameter that is a pointer is shown, and the targets of pointers to
 * structs in it (dwarf_link.c). A pointer to numbers is written as an address: a const one may
 * point to an array of any length, whose first element would look like the argument itself; others
 * mostly point to results, which are not there yet. A reference of C++ is to one object, so the
 * target of a const reference is shown. A C++ class with functions is written as an address if it
 * is large or has virtual functions, as its members say little. `this` is written as an address,
 * too, as its target would fill the line before the method's arguments.
 *
 * Characters other than char are recognised by their names, which are typedefs in C and types in
 * C++. Types of one byte with other names (unsigned char, uint8_t) are as often data.
 *
 * dwarf_struct.c writes the insides of structs. A struct that is passed by value must be written
 * completely, as its members decide on its registers. If that is not possible, a struct of words
 * takes its place that is passed in the same way (dwarf_passing.c), so that the parameters behind
 * it are right.
 *
 * Types may refer to each other in any way, so depth, steps and length of the text are bounded.
 * What exceeds the bounds is written as an address, or not at all (-ENOTSUP).
 */
#include "dwarf/dwarf_type.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_link.h"
#include "dwarf/dwarf_passing.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_struct.h"
#include "proto/conf_type.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	PEEL_MAX = 32,	 /* typedefs and qualifiers around a type */
	NESTED_MAX = 12, /* nested structs and arrays */
	NAMES_MAX = 128	 /* of an enumeration */
};

bool type_is_full(const struct type_writer *writer)
{
	return writer->text->length > DWARF_TEXT_MAX;
}

void type_cut_back(struct type_writer *writer, size_t length)
{
	writer->text->length = length;
	if (writer->text->text)
		writer->text->text[length] = '\0';
}

static bool is_only_a_name(unsigned tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* Returns true if the type has the name of a character; in C all but char are typedefs. */
static bool is_named_character(const struct die *type)
{
	static const char *const names[] = {"char", "wchar_t", "char8_t", "char16_t", "char32_t"};
	const char *name = die_text(type, DW_AT_name);

	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_char(const struct die *type)
{
	const char *name = die_text(type, DW_AT_name);

	return name && !strcmp(name, "char");
}

/* Bytes of an integer type that can be a character, else 0. */
static unsigned character_size(const struct die *type)
{
	uint64_t encoding = 0, size = 0;

	die_number(type, DW_AT_encoding, &encoding);
	die_number(type, DW_AT_byte_size, &size);
	if (encoding != DW_ATE_signed && encoding != DW_ATE_unsigned &&
	    encoding != DW_ATE_signed_char && encoding != DW_ATE_unsigned_char &&
	    encoding != DW_ATE_UTF)
		return 0;
	return size == 1 || size == 2 || size == 4 ? (unsigned)size : 0;
}

struct die type_peel(struct die type, bool *is_const)
{
	bool is_text;

	return type_peel_text(type, is_const, &is_text);
}

struct die type_peel_text(struct die type, bool *is_const, bool *is_text)
{
	*is_text = false;
	for (unsigned i = 0; die_is(&type); i++) {
		unsigned tag = die_tag(&type);
		/* A skeleton entry refers to the type's own unit. */
		unsigned link = is_only_a_name(tag) ? DW_AT_type : DW_AT_signature;

		if (link == DW_AT_signature && !die_has(&type, DW_AT_signature))
			break;
		*is_const |= tag == DW_TAG_const_type;
		*is_text |= tag == DW_TAG_typedef && is_named_character(&type);
		struct die next = i < PEEL_MAX ? die_reference(&type, link) : (struct die){0};

		die_drop(&type);
		type = next;
	}
	*is_text = die_is(&type) && die_tag(&type) == DW_TAG_base_type &&
		   (*is_text || is_named_character(&type)) && character_size(&type);
	return type;
}

/* ------------------------------------------------------------------ numbers */

static unsigned natural_align(const struct type_writer *writer, uint64_t size)
{
	/* Numbers of 16 bytes exist only where words have 8. */
	return size > writer->word && size < 16 ? writer->word : (unsigned)size;
}

static const char *integer_name(const char *name, uint64_t size, bool is_signed, unsigned word)
{
	switch (size) {
	case 1:
		return is_signed ? "int8" : "uint8";
	case 2:
		return is_signed ? "short" : "ushort";
	case 4:
		if (word == 4 && name && strstr(name, "long"))
			return is_signed ? "long" : "ulong";
		return is_signed ? "int" : "uint";
	case 16:
		return is_signed ? "int128" : "uint128";
	case 8:
		if (word == 4 || (name && strstr(name, "long long")))
			return is_signed ? "llong" : "ullong";
		return is_signed ? "long" : "ulong";
	default:
		return NULL;
	}
}

static const char *float_name(const struct type_writer *writer, const char *name,
			      struct type_layout *layout)
{
	if (layout->size == 4)
		return "float";
	if (layout->size == 8)
		return "double";
	/* Other floating-point formats have this size, too. */
	if (name && !strcmp(name, "long double") && layout->size == (writer->word == 8 ? 16 : 12)) {
		layout->align = writer->word == 8 ? 16 : 4;
		return "ldouble";
	}
	return NULL;
}

static const char *bool_name(uint64_t size)
{
	switch (size) {
	case 1:
		return "bool(uint8)";
	case 2:
		return "bool(ushort)";
	case 4:
		return "bool(uint)";
	case 8:
		return "bool(ullong)";
	default:
		return NULL;
	}
}

/* A complex number is two numbers of the same type. */
static const char *complex_name(const struct type_writer *writer, const char *name,
				struct type_layout *layout)
{
	struct type_layout part = {.size = layout->size / 2};
	/* clang names all complex types so. */
	const bool is_long = name && (strstr(name, "long double") || !strcmp(name, "complex"));
	const char *number = float_name(writer, is_long ? "long double" : "", &part);

	layout->align = part.align ? part.align : natural_align(writer, part.size);
	if (!number)
		return NULL;
	return *number == 'f'	? "float _Complex"
	       : *number == 'd' ? "double _Complex"
				: "long double _Complex";
}

static int add_base(struct type_writer *writer, const struct die *type, struct type_layout *layout)
{
	const char *name = die_text(type, DW_AT_name);
	const char *found = NULL;
	uint64_t encoding = 0;

	if (!die_number(type, DW_AT_encoding, &encoding) ||
	    !die_number(type, DW_AT_byte_size, &layout->size))
		return -ENOTSUP;
	layout->align = natural_align(writer, layout->size);
	layout->exact = true;
	switch (encoding) {
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		found = is_char(type) ? "char"
				      : integer_name(name, layout->size,
						     encoding == DW_ATE_signed_char, writer->word);
		break;
	case DW_ATE_signed:
		found = integer_name(name, layout->size, true, writer->word);
		break;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
		found = integer_name(name, layout->size, false, writer->word);
		break;
	case DW_ATE_boolean:
		found = bool_name(layout->size);
		break;
	case DW_ATE_float:
		found = float_name(writer, name, layout);
		break;
	case DW_ATE_complex_float:
		found = complex_name(writer, name, layout);
		break;
	}
	if (!found)
		return -ENOTSUP;
	strbuf_add(writer->text, found);
	return 0;
}

/* ------------------------------------------------------------------ enumerations */

bool type_is_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	const struct conf_token token = {
		.kind = TOKEN_NAME, .text = text, .length = text ? strlen(text) : 0};

	return token.length && strchr(letters, *text) &&
	       !text[strspn(text,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$.0123456789")] &&
	       !conf_is_c_word(&token);
}

/*
 * Extends the sign: compilers store constants in as few bytes as possible, or in the type's size.
 */
static int64_t enumerator_value(uint64_t value, uint64_t size, bool is_signed)
{
	unsigned unused = 64 - 8 * (unsigned)size;

	return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

/* Writes `NAME=VALUE` for each enumerator; false if there is none. */
static bool add_enumerators(struct type_writer *writer, const struct die *type, uint64_t size,
			    bool is_signed)
{
	_cleanup_die_ struct die child = die_first_child(type);
	unsigned count = 0;

	while (die_is(&child) && count < NAMES_MAX && !type_is_full(writer)) {
		const char *name = die_text(&child, DW_AT_name);
		uint64_t value;

		if (die_tag(&child) == DW_TAG_enumerator && type_is_name(name) &&
		    die_number(&child, DW_AT_const_value, &value))
			strbuf_printf(writer->text, "%s%s=%" PRId64, count++ ? ", " : "", name,
				      enumerator_value(value, size, is_signed));
		if (!die_advance(&child))
			break;
	}
	return count != 0;
}

/*
 * Older compilers do not record the underlying type: it is int, unless a value does not fit, which
 * makes no difference here.
 */
static bool enumeration_is_signed(const struct die *type)
{
	bool is_const = false;
	_cleanup_die_ struct die base = type_peel(die_reference(type, DW_AT_type), &is_const);
	uint64_t encoding = DW_ATE_signed;

	if (die_is(&base))
		die_number(&base, DW_AT_encoding, &encoding);
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

static int add_enumeration(struct type_writer *writer, const struct die *type,
			   struct type_layout *layout)
{
	size_t before = writer->text->length;
	bool is_signed = enumeration_is_signed(type);

	if (!die_number(type, DW_AT_byte_size, &layout->size))
		return -ENOTSUP;
	const char *base = integer_name(NULL, layout->size, is_signed, writer->word);

	if (!base)
		return -ENOTSUP;
	layout->align = natural_align(writer, layout->size);
	layout->exact = true;
	strbuf_printf(writer->text, "enum[%s](", base);
	if (add_enumerators(writer, type, layout->size, is_signed)) {
		strbuf_add_char(writer->text, ')');
	} else {
		type_cut_back(writer, before);
		strbuf_add(writer->text, base);
	}
	return 0;
}

/* ------------------------------------------------------------------ pointers */

static bool is_stream(const struct die *type)
{
	const char *name = die_text(type, DW_AT_name);

	return type_is_record(die_tag(type)) && name && !strcmp(name, "_IO_FILE");
}

/* Writes the target of a pointer if it is to be shown. False: it is not, and nothing was added. */
static bool add_target(struct type_writer *writer, const struct die *target, bool is_one)
{
	size_t before = writer->text->length;
	const unsigned tag = die_tag(target);
	const bool is_number = tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type;
	struct type_layout layout;

	if (writer->depth)
		return link_add(writer, target);
	if (!is_number)
		return link_add_root(writer, target);
	if (!is_one)
		return false;
	if (type_add_object(writer, target, &layout)) {
		type_cut_back(writer, before);
		return false;
	}
	strbuf_add_char(writer->text, '*');
	return true;
}

/* Writes the type of a text that ends in a NUL. */
static void add_text(struct type_writer *writer, const struct die *character)
{
	struct type_layout layout;

	if (character_size(character) == 1) {
		strbuf_add(writer->text, "string");
		return;
	}
	strbuf_add(writer->text, "string(array(");
	add_base(writer, character, &layout);
	strbuf_add(writer->text, ", zero)*)");
}

static int add_pointer(struct type_writer *writer, const struct die *type,
		       struct type_layout *layout)
{
	const bool is_pointer = die_tag(type) == DW_TAG_pointer_type;
	bool is_const = false, is_text;
	_cleanup_die_ struct die target = type_peel_text(die_reference(type, DW_AT_type), &is_const,
							 &is_text);

	*layout = (struct type_layout){.size = writer->word, .align = writer->word, .exact = true};
	if (is_pointer && is_text)
		add_text(writer, &target);
	else if (die_is(&target) && is_stream(&target))
		strbuf_add(writer->text, "file");
	else if (die_is(&target) && die_tag(&target) == DW_TAG_subroutine_type)
		strbuf_add(writer->text, "funcptr");
	else if (!die_is(&target) || !add_target(writer, &target, is_const && !is_pointer))
		strbuf_add(writer->text, "addr");
	return 0;
}

/*
 * Writes a pointer to a member of a class: an offset; for a function an address, and what to add to
 * the address of the object.
 */
static int add_member_pointer(struct type_writer *writer, const struct die *type,
			      struct type_layout *layout)
{
	bool is_const = false;
	_cleanup_die_ struct die target = type_peel(die_reference(type, DW_AT_type), &is_const);
	const bool is_function = die_is(&target) && die_tag(&target) == DW_TAG_subroutine_type;

	*layout = (struct type_layout){.size = writer->word, .align = writer->word, .exact = true};
	layout->size *= is_function ? 2 : 1;
	strbuf_add(writer->text, is_function ? "struct(funcptr, long)" : "hex(ulong)");
	return 0;
}

/* ------------------------------------------------------------------ all of them */

/* Writes a type that has parts, one level deeper. */
static int add_nested(struct type_writer *writer, const struct die *type,
		      struct type_layout *layout,
		      int (*add)(struct type_writer *, const struct die *, struct type_layout *))
{
	if (writer->depth >= NESTED_MAX)
		return -ENOTSUP;
	writer->depth++;
	int error = add(writer, type, layout);

	/* The .conf language has natural alignment only, and arguments get their places by it. */
	layout->is_aligned |= die_has(type, DW_AT_alignment);
	writer->depth--;
	return error;
}

int type_add_object(struct type_writer *writer, const struct die *type, struct type_layout *layout)
{
	*layout = (struct type_layout){0};
	if (!die_is(type) || type_is_full(writer))
		return -ENOTSUP;
	switch (die_tag(type)) {
	case DW_TAG_base_type:
		return add_base(writer, type, layout);
	case DW_TAG_enumeration_type:
		return add_enumeration(writer, type, layout);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return add_pointer(writer, type, layout);
	case DW_TAG_ptr_to_member_type:
		return add_member_pointer(writer, type, layout);
	case DW_TAG_unspecified_type: /* nullptr */
		*layout = (struct type_layout){writer->word, writer->word, .exact = true};
		strbuf_add(writer->text, "addr");
		return 0;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return add_nested(writer, type, layout, type_add_struct);
	case DW_TAG_array_type:
		/* A vector is passed in registers that no array is passed in. */
		return die_has(type, DW_AT_GNU_vector)
			       ? -ENOTSUP
			       : add_nested(writer, type, layout, type_add_array);
	default:
		return -ENOTSUP;
	}
}

/* Writes a type, or if that is not possible a struct that is passed in the same way. */
static int add_value(struct type_writer *writer, const struct die *type)
{
	const bool drops_empty = writer->word == 8 && type->object->file->reader->drops_empty;
	const size_t before = writer->text->length;
	struct type_layout layout;
	const bool is_said = !type_add_object(writer, type, &layout) && !layout.is_aligned &&
			     !type_is_full(writer);

	if (is_said && !(layout.is_vain && drops_empty) &&
	    (layout.exact || type_is_in_memory(writer, type, layout.align)))
		return 0;
	type_cut_back(writer, before);
	if (is_said && layout.is_vain && drops_empty) {
		strbuf_add(writer->text, TYPE_EMPTY);
		return 0;
	}
	return type_add_passed(writer, type);
}

static bool is_wint(const struct die *owner)
{
	_cleanup_die_ struct die type = die_reference(owner, DW_AT_type);
	const char *name = die_is(&type) ? die_text(&type, DW_AT_name) : NULL;

	return name && !strcmp(name, "wint_t");
}

const char *type_wide_character(const struct die *owner, const struct die *type, bool is_text)
{
	uint64_t encoding = 0;

	/* wint_t has values that are no characters, so pointers to it are not text. */
	if (is_wint(owner) && character_size(type) == 4)
		return "wint_t";
	switch (is_text ? character_size(type) : 0) {
	case 2:
		return "char16_t";
	case 4:
		die_number(type, DW_AT_encoding, &encoding);
		return encoding == DW_ATE_signed ? "wchar_t" : "char32_t";
	default:
		return NULL;
	}
}

int type_add(struct strbuf *text, const struct die *owner, unsigned word, bool *by_reference)
{
	struct type_writer writer = {.text = text, .word = word};
	bool is_const = false, is_character;
	_cleanup_die_ struct die type = type_peel_text(die_reference(owner, DW_AT_type), &is_const,
						       &is_character);

	*by_reference = false;
	if (!die_has(owner, DW_AT_type)) {
		strbuf_add(text, "void");
		return 0;
	}
	if (!die_is(&type))
		return -ENOTSUP;
	const char *wide = type_wide_character(owner, &type, is_character);

	if (wide) {
		strbuf_add(text, wide);
		return 0;
	}
	const enum type_passing passing = type_is_record(die_tag(&type)) ? type_find_passing(&type)
									 : PASSED_BY_VALUE;

	if (passing == PASSED_SOMEHOW)
		return -ENOTSUP;
	/* The target of `this` is not shown. */
	writer.depth = writer.is_closed = die_flag(owner, DW_AT_artificial);
	if (passing == PASSED_BY_REFERENCE) {
		*by_reference = true;
		if (!add_target(&writer, &type, false))
			strbuf_add(text, "addr");
		return 0;
	}
	return add_value(&writer, &type);
}
