/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of debug information as types of .conf files.
 *
 * What comes out is meant to be read in one line of a trace, and to cost a bounded amount of memory there: what a
 * parameter points to is shown, what that points to is an address, unless it is a string. A pointer to numbers
 * is followed where they are const only: others are mostly where results go, and hold nothing yet. A class of
 * C++ with functions of its own is an address, too; its insides say little.
 *
 * The layout of a struct in a .conf file follows from its members as it does in C. In debug information each member
 * says where it is, so both are compared: gaps (padding that is larger than need be, bit-fields, unions and whatever else
 * has no name in the language) are filled with hidden bytes, and where a member would come to lie behind its
 * place (packed structs), the struct is cut off. What is passed by value must not have been cut,
 * or contain anything that was replaced by bytes, as its members decide on the registers it is in.
 *
 * Types refer to each other in any way the file says, so depth, steps and length of the text are bounded;
 * what does not fit is an address, or not to be had (-ENOTSUP).
 */
#include "proto/dwarf_private.h"

#include "base/cleanup.h"
#include "proto/conf_type.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	PEEL_MAX = 32,	  /* typedefs of typedefs, qualifiers */
	NESTED_MAX = 4,	  /* structs and arrays in structs */
	MEMBERS_MAX = 24, /* that are shown */
	NAMES_MAX = 128,  /* of an enumeration */
	ELEMENTS_MAX = 1 << 20
};

/* An object as it lies in memory. */
struct layout {
	uint64_t size;
	unsigned align;
	bool exact; /* all of it is shown */
};

/* On the way through one declaration. */
struct writer {
	struct strbuf *text;
	unsigned word;
	unsigned depth; /* structs around, and pointers */
};

static int add_object(struct writer *writer, const struct die *type, struct layout *layout);

static bool is_full(const struct writer *writer)
{
	return writer->text->length > DWARF_TEXT_MAX;
}

/* Takes back what was added since. */
static void cut_back(struct writer *writer, size_t length)
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

/* What is behind typedefs and qualifiers; *is_const is set if one of these was there. */
static struct die peel(struct die type, bool *is_const)
{
	for (unsigned i = 0; die_is(&type); i++) {
		unsigned tag = die_tag(&type);
		/* The type itself may be in a unit of its own. */
		unsigned link = is_only_a_name(tag) ? DW_AT_type : DW_AT_signature;

		if (link == DW_AT_signature && !die_has(&type, DW_AT_signature))
			break;
		*is_const |= tag == DW_TAG_const_type;
		struct die next = i < PEEL_MAX ? die_reference(&type, link) : (struct die){0};

		die_drop(&type);
		type = next;
	}
	return type;
}

/* ------------------------------------------------------------------ numbers */

static unsigned natural_align(const struct writer *writer, uint64_t size)
{
	return size > writer->word ? writer->word : (unsigned)size;
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
	case 8:
		if (word == 4 || (name && strstr(name, "long long")))
			return is_signed ? "llong" : "ullong";
		return is_signed ? "long" : "ulong";
	default:
		return NULL; /* 128 bits */
	}
}

static const char *float_name(const struct writer *writer, const char *name, struct layout *layout)
{
	if (layout->size == 4)
		return "float";
	if (layout->size == 8)
		return "double";
	/* There is another format with as many bytes. */
	if (name && !strcmp(name, "long double") && layout->size == (writer->word == 8 ? 16 : 12)) {
		layout->align = writer->word == 8 ? 16 : 4;
		return "ldouble";
	}
	return NULL;
}

static bool is_char(const struct die *type)
{
	const char *name = die_text(type, DW_AT_name);

	return die_tag(type) == DW_TAG_base_type && name && !strcmp(name, "char");
}

static int add_base(struct writer *writer, const struct die *type, struct layout *layout)
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
		found = layout->size == 1 ? "bool(uint8)" : NULL;
		break;
	case DW_ATE_float:
		found = float_name(writer, name, layout);
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

/* Sign-extended: constants are stored with as few bytes as do, or as many as the type has. */
static int64_t enumerator_value(uint64_t value, uint64_t size, bool is_signed)
{
	unsigned unused = 64 - 8 * (unsigned)size;

	return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

/* `ENUM` or `ENUM=VALUE` for each of the names; false when there is none. */
static bool add_enumerators(struct writer *writer, const struct die *type, uint64_t size,
			    bool is_signed)
{
	_cleanup_die_ struct die child = die_first_child(type);
	unsigned count = 0;

	while (die_is(&child) && count < NAMES_MAX && !is_full(writer)) {
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

/* Older compilers do not say of what type it is: int, unless a value says otherwise, which makes no difference. */
static bool enumeration_is_signed(const struct die *type)
{
	bool is_const = false;
	_cleanup_die_ struct die base = peel(die_reference(type, DW_AT_type), &is_const);
	uint64_t encoding = DW_ATE_signed;

	if (die_is(&base))
		die_number(&base, DW_AT_encoding, &encoding);
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

static int add_enumeration(struct writer *writer, const struct die *type, struct layout *layout)
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
		cut_back(writer, before);
		strbuf_add(writer->text, base);
	}
	return 0;
}

/* ------------------------------------------------------------------ structs */

static bool is_record(unsigned tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/* One that C could have, too. */
static bool is_plain_struct(const struct die *type)
{
	if (!is_record(die_tag(type)) || die_flag(type, DW_AT_declaration))
		return false;
	_cleanup_die_ struct die child = die_first_child(type);

	while (die_is(&child)) {
		unsigned tag = die_tag(&child);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inheritance)
			return false;
		if (!die_advance(&child))
			break;
	}
	return true;
}

/* C++: an object that must not be copied bit by bit is passed as a pointer to it. Not all compilers say so. */
static bool is_passed_by_reference(const struct die *type)
{
	uint64_t convention;

	return die_number(type, DW_AT_calling_convention, &convention) &&
	       convention == DW_CC_pass_by_reference;
}

static bool is_passed_as_in_c(const struct die *type)
{
	uint64_t convention;

	return die_number(type, DW_AT_calling_convention, &convention)
		       ? convention == DW_CC_pass_by_value
		       : is_plain_struct(type);
}

/* The members so far: what comes next begins at `end`. */
struct members {
	uint64_t end;
	unsigned align;
	unsigned count, shown;
	bool exact;
};

static void add_separator(struct writer *writer, struct members *members)
{
	strbuf_add(writer->text, members->count++ ? ", " : "");
}

/* Hidden bytes up to `offset`. */
static void add_gap(struct writer *writer, struct members *members, uint64_t offset)
{
	if (offset <= members->end)
		return;
	add_separator(writer, members);
	strbuf_printf(writer->text, "hide(array(uint8, %" PRIu64 "))", offset - members->end);
	members->end = offset;
}

static bool takes_part(const struct die *member)
{
	unsigned tag = die_tag(member);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !die_flag(member, DW_AT_external) && !die_flag(member, DW_AT_declaration);
}

/* Adds a member of the type that `text` is. */
static void add_shown(struct writer *writer, const struct die *member, const struct strbuf *text,
		      const struct layout *layout, uint64_t offset, struct members *members)
{
	const char *name = die_text(member, DW_AT_name);

	/* Less than that pads what was before anyway. */
	if (offset - members->end >= layout->align)
		add_gap(writer, members, offset);
	add_separator(writer, members);
	strbuf_add(writer->text, text->text);
	if (type_is_name(name))
		strbuf_printf(writer->text, " %s", name);
	members->end = offset + layout->size;
	members->shown++;
	members->exact &= layout->exact;
	if (layout->align > members->align)
		members->align = layout->align;
}

/* Adds a member, or leaves it to the gap in front of the next one. False: it cannot be at its place. */
static bool add_member(struct writer *writer, const struct die *member, struct members *members)
{
	struct strbuf text = {0};
	struct writer aside = {.text = &text, .word = writer->word, .depth = writer->depth};
	bool is_const = false, fits = true;
	uint64_t offset = 0;
	struct layout layout;

	if (!die_member_offset(member, &offset))
		return false; /* a virtual base */
	if (die_has(member, DW_AT_bit_size) || die_flag(member, DW_AT_artificial))
		return true;
	if (offset < members->end)
		return false;
	_cleanup_die_ struct die type = peel(die_reference(member, DW_AT_type), &is_const);

	if (add_object(&aside, &type, &layout) || !layout.size || !layout.align)
		members->exact = false;
	else if (offset % layout.align)
		fits = false;
	else
		add_shown(writer, member, &text, &layout, offset, members);
	strbuf_deinit(&text);
	return fits;
}

static uint64_t round_up(uint64_t value, unsigned align)
{
	return (value + align - 1) / align * align;
}

static int add_struct(struct writer *writer, const struct die *type, struct layout *layout)
{
	struct members members = {.align = 1, .exact = true};

	if (die_flag(type, DW_AT_declaration) ||
	    !die_number(type, DW_AT_byte_size, &layout->size) || !layout->size)
		return -ENOTSUP;
	_cleanup_die_ struct die child = die_first_child(type);

	strbuf_add(writer->text, "struct(");
	while (die_is(&child)) {
		if (members.count >= MEMBERS_MAX || is_full(writer)) {
			members.exact = false;
			break;
		}
		if (takes_part(&child) && !add_member(writer, &child, &members)) {
			members.exact = false;
			break;
		}
		if (!die_advance(&child))
			break;
	}
	if (members.end > layout->size)
		return -ENOTSUP;
	if (round_up(members.end, members.align) != layout->size)
		add_gap(writer, &members, layout->size);
	strbuf_add_char(writer->text, ')');
	layout->align = members.align;
	/* Classes of C++ may be passed in ways of their own, those without members not at all. */
	layout->exact = members.exact && members.shown && is_passed_as_in_c(type);
	return members.count && layout->size % members.align == 0 ? 0 : -ENOTSUP;
}

/* ------------------------------------------------------------------ arrays */

/* How many elements an array of one dimension has. */
static bool array_length(const struct die *type, uint64_t *length)
{
	_cleanup_die_ struct die child = die_first_child(type);
	unsigned dimensions = 0;
	bool known = false;

	while (die_is(&child)) {
		if (die_tag(&child) == DW_TAG_subrange_type) {
			dimensions++;
			known = die_number(&child, DW_AT_count, length);
			if (!known && die_number(&child, DW_AT_upper_bound, length)) {
				known = true;
				++*length;
			}
		}
		if (!die_advance(&child))
			break;
	}
	return known && dimensions == 1 && *length && *length <= ELEMENTS_MAX;
}

static int add_array(struct writer *writer, const struct die *type, struct layout *layout)
{
	bool is_const = false;
	_cleanup_die_ struct die element = peel(die_reference(type, DW_AT_type), &is_const);
	uint64_t length;

	if (!die_is(&element) || !array_length(type, &length))
		return -ENOTSUP;
	const bool is_text = is_char(&element);

	strbuf_add(writer->text, is_text ? "string(array(" : "array(");
	if (add_object(writer, &element, layout))
		return -ENOTSUP;
	strbuf_printf(writer->text, ", %" PRIu64 "%s", length, is_text ? "))" : ")");
	layout->size *= length;
	return 0;
}

/* ------------------------------------------------------------------ pointers */

static bool is_stream(const struct die *type)
{
	const char *name = die_text(type, DW_AT_name);

	return is_record(die_tag(type)) && name && !strcmp(name, "_IO_FILE");
}

static bool is_number(unsigned tag)
{
	return tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type;
}

/* What it points to, where that is worth while; false, with nothing added, where it is not. */
static bool add_target(struct writer *writer, const struct die *target, bool is_const)
{
	size_t before = writer->text->length;
	struct layout layout;

	if (writer->depth || !(is_plain_struct(target) || (is_const && is_number(die_tag(target)))))
		return false;
	writer->depth++;
	int error = add_object(writer, target, &layout);

	writer->depth--;
	if (error || is_full(writer)) {
		cut_back(writer, before);
		return false;
	}
	strbuf_add_char(writer->text, '*');
	return true;
}

static int add_pointer(struct writer *writer, const struct die *type, struct layout *layout)
{
	bool is_const = false;
	_cleanup_die_ struct die target = peel(die_reference(type, DW_AT_type), &is_const);

	*layout = (struct layout){.size = writer->word, .align = writer->word, .exact = true};
	if (die_is(&target) && is_char(&target))
		strbuf_add(writer->text, "string");
	else if (die_is(&target) && is_stream(&target))
		strbuf_add(writer->text, "file");
	else if (die_is(&target) && die_tag(&target) == DW_TAG_subroutine_type)
		strbuf_add(writer->text, "funcptr");
	else if (!die_is(&target) || !add_target(writer, &target, is_const))
		strbuf_add(writer->text, "addr");
	return 0;
}

/* ------------------------------------------------------------------ all of them */

/* One level deeper: what is in another. */
static int add_nested(struct writer *writer, const struct die *type, struct layout *layout,
		      int (*add)(struct writer *, const struct die *, struct layout *))
{
	if (writer->depth >= NESTED_MAX)
		return -ENOTSUP;
	writer->depth++;
	int error = add(writer, type, layout);

	/* The language knows no alignment but the usual one, by which arguments find their places. */
	layout->exact &= !die_has(type, DW_AT_alignment);
	writer->depth--;
	return error;
}

/* A type without typedefs and qualifiers. On failure something may have been added. */
static int add_object(struct writer *writer, const struct die *type, struct layout *layout)
{
	*layout = (struct layout){0};
	if (!die_is(type) || is_full(writer))
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
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return add_nested(writer, type, layout, add_struct);
	case DW_TAG_array_type:
		/* A vector is passed by registers that an array never is in. */
		return die_has(type, DW_AT_GNU_vector)
			       ? -ENOTSUP
			       : add_nested(writer, type, layout, add_array);
	default:
		return -ENOTSUP;
	}
}

int type_add(struct strbuf *text, const struct die *owner, unsigned word, bool *by_reference)
{
	struct writer writer = {.text = text, .word = word};
	bool is_const = false;
	_cleanup_die_ struct die type = peel(die_reference(owner, DW_AT_type), &is_const);
	struct layout layout;

	*by_reference = false;
	if (!die_has(owner, DW_AT_type)) {
		strbuf_add(text, "void");
		return 0;
	}
	if (!die_is(&type))
		return -ENOTSUP;
	if (is_record(die_tag(&type)) && is_passed_by_reference(&type)) {
		*by_reference = true;
		strbuf_add(text, "addr");
		return 0;
	}
	int error = add_object(&writer, &type, &layout);

	return error || !layout.exact || is_full(&writer) ? -ENOTSUP : 0;
}
