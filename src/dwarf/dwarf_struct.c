/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes structs, unions and arrays of the debug information as types of .conf files.
 *
 * The layout of a struct in a .conf file follows from its members, as in C. In debug information
 * each member has an offset. So while the members are written, place() computes the offset that
 * proto/type.c will give to the next one. In front of a member that is further behind, hidden bytes
 * are written, or hidden bits where bit-fields begin or end within a byte. A member that cannot get
 * its offset (in packed structs), or whose type cannot be written, becomes a part of the gap before
 * the next member; the struct then ends in "...", which the trace shows.
 *
 * Behind a pointer it makes no difference that some members are there for their size only. But the
 * registers of a struct that is passed by value depend on its members, so `exact` says whether
 * these are the true ones.
 *
 * An object of an empty C++ class has one byte, which other members may overlap: normal for bases,
 * for members if they are marked [[no_unique_address]]. They show nothing and do not decide on
 * registers, so they are left out without "...".
 *
 * The string classes of libstdc++ are written as text, as the insides of a std::string are of no
 * use in a trace.
 *
 * All members of a union are written, as all decide on the registers; the trace shows the first.
 * The first need not be the active one, so pointers to structs in a union are written as addresses.
 * Pointers in members with reserved names are, too, as in the containers of the C++ library: such
 * members are internal, and some of them point behind the end of an array.
 */
#include "dwarf/dwarf_struct.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_type.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	MEMBERS_MAX = 24, /* members that are written */
	ELEMENTS_MAX = 1 << 20,
	DIMENSIONS_MAX = 4,
	/* bytes of the largest class with functions that is shown behind a pointer */
	CLASS_MAX = 64,
	OBJECT_MAX = 1 << 28 /* bytes, so that bits can be counted */
};

bool type_is_record(unsigned tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool type_is_shown(const struct die *type)
{
	uint64_t size = 0;
	bool is_class = false;

	/* DW_AT_containing_type names the class that has the virtual table. */
	if (!type_is_record(die_tag(type)) || die_flag(type, DW_AT_declaration) ||
	    die_has(type, DW_AT_containing_type))
		return false;
	_cleanup_die_ struct die child = die_first_child(type);

	while (die_is(&child)) {
		const unsigned tag = die_tag(&child);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inheritance) {
			is_class = true;
			if (die_is_virtual(&child))
				return false;
		}
		if (!die_advance(&child))
			break;
	}
	return !is_class || (die_number(type, DW_AT_byte_size, &size) && size <= CLASS_MAX);
}

bool type_has_part(const struct die *child)
{
	unsigned tag = die_tag(child);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !die_flag(child, DW_AT_external) && !die_flag(child, DW_AT_declaration);
}

/* ------------------------------------------------------------------ members */

/* The members so far. */
struct members {
	uint64_t size; /* of the whole struct, in bits */
	uint64_t end;  /* where the last member ends, in bits */
	bool is_union;
	unsigned align;
	unsigned count, shown;
	bool exact, is_aligned;
	bool is_partial; /* a member was left out */
	bool has_data;	 /* a member holds data */
	unsigned vain;	 /* members without data */
};

/* One member. */
struct member {
	uint64_t at;   /* its first bit */
	uint64_t bits; /* width of a bit-field, else 0 */
	struct type_layout layout;
};

static void add_separator(struct type_writer *writer, struct members *members)
{
	strbuf_add(writer->text, members->count++ ? ", " : "");
}

/* Adds hidden bits. */
static void add_padding(struct type_writer *writer, struct members *members, uint64_t bits)
{
	if (!bits)
		return;
	add_separator(writer, members);
	strbuf_printf(writer->text, "hide(uint8):%" PRIu64, bits);
	members->end += bits;
}

/* Adds hidden bytes and bits up to the bit `to`. */
static void add_gap(struct type_writer *writer, struct members *members, uint64_t to)
{
	uint64_t left = to > members->end ? to - members->end : 0;
	uint64_t first = -members->end & 7;

	add_padding(writer, members, first < left ? first : left);
	left = to > members->end ? to - members->end : 0;
	if (left >= 8) {
		add_separator(writer, members);
		strbuf_printf(writer->text, "hide(array(uint8, %" PRIu64 "))", left / 8);
		members->end += left / 8 * 8;
		members->exact = false;
	}
	add_padding(writer, members, left % 8);
}

/* The bit at which the member would begin behind the last one. */
static uint64_t place(const struct members *members, const struct member *member)
{
	const uint64_t align = 8ULL * member->layout.align;
	const uint64_t end = members->is_union ? 0 : members->end;

	if (member->bits && end % align + member->bits <= 8 * member->layout.size)
		return end;
	return (end + align - 1) / align * align;
}

/* Returns true if the member gets its offset, perhaps behind a gap that is added. */
static bool reach(struct type_writer *writer, struct members *members, const struct member *member)
{
	const uint64_t align = 8ULL * member->layout.align;
	const uint64_t bits = member->bits ? member->bits : 8 * member->layout.size;

	if (members->size % align || member->at > members->size ||
	    bits > members->size - member->at)
		return false;
	if (place(members, member) == member->at)
		return true;
	/* Checked first, so that no gap is added in vain. */
	if (members->is_union || member->at < members->end ||
	    (member->bits ? member->at % align + bits > 8 * member->layout.size
			  : member->at % align))
		return false;
	add_gap(writer, members, member->at);
	return true;
}

/* Adds a member whose type is in `text`. */
static void add_shown(struct type_writer *writer, const struct die *die, const struct strbuf *text,
		      const struct member *member, struct members *members)
{
	const char *name = die_text(die, DW_AT_name);

	add_separator(writer, members);
	strbuf_add(writer->text, text->text);
	if (type_is_name(name))
		strbuf_printf(writer->text, " %s", name);
	if (member->bits)
		strbuf_printf(writer->text, ":%" PRIu64, member->bits);
	const uint64_t end = member->at + (member->bits ? member->bits : 8 * member->layout.size);

	if (end > members->end)
		members->end = end;
	members->shown++;
	members->exact &= member->layout.exact;
	if (member->layout.align > members->align)
		members->align = member->layout.align;
}

/* Finds the offset of a member, and the width of a bit-field; false if they are not known. */
static bool find_place(const struct die *die, struct member *member)
{
	uint64_t offset = 0;

	if (die_has(die, DW_AT_bit_size))
		return member->layout.size <= sizeof(uint64_t) &&
		       die_number(die, DW_AT_bit_size, &member->bits) && member->bits &&
		       member->bits <= 8 * member->layout.size &&
		       die_bit_offset(die, member->bits, member->layout.size, &member->at);
	if (!die_member_offset(die, &offset) || offset > OBJECT_MAX)
		return false; /* a virtual base */
	member->at = 8 * offset;
	return true;
}

static void leave_out(struct members *members)
{
	members->has_data = true;
	members->is_partial = true;
	members->exact = false;
}

/* Returns true for a name that C reserves for the compiler and its libraries. */
static bool is_reserved(const char *name)
{
	return name && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

/* Adds a member, or leaves it to the gap before the next one. */
static void add_member(struct type_writer *writer, const struct die *die, struct members *members)
{
	struct strbuf text = {0};
	struct type_writer aside = {.text = &text,
				    .word = writer->word,
				    .depth = writer->depth,
				    .is_closed = writer->is_closed || members->is_union ||
						 is_reserved(die_text(die, DW_AT_name))};
	struct member member = {0};
	bool is_const = false, is_text;
	_cleanup_die_ struct die type = type_peel_text(die_reference(die, DW_AT_type), &is_const,
						       &is_text);

	members->is_aligned |= die_has(die, DW_AT_alignment);
	int error = type_add_object(&aside, &type, &member.layout);
	const char *wide = !error && !die_has(die, DW_AT_bit_size)
				   ? type_wide_character(die, &type, is_text)
				   : NULL;

	if (wide) {
		strbuf_clear(&text);
		strbuf_add(&text, wide);
	}
	const bool is_vain = !error && member.layout.is_vain;

	members->has_data |= !is_vain;
	members->vain += is_vain;
	if (!error && member.layout.size && !is_vain && find_place(die, &member) &&
	    reach(writer, members, &member))
		add_shown(writer, die, &text, &member, members);
	else if (error || (member.layout.size && !is_vain))
		leave_out(members);
	members->is_aligned |= member.layout.is_aligned;
	strbuf_deinit(&text);
}

static void add_members(struct type_writer *writer, const struct die *type, struct members *members)
{
	_cleanup_die_ struct die child = die_first_child(type);

	while (die_is(&child)) {
		if (members->count >= MEMBERS_MAX || type_is_full(writer)) {
			leave_out(members);
			break;
		}
		/* Members that the compiler adds are left out without "...". */
		if (type_has_part(&child) && die_flag(&child, DW_AT_artificial)) {
			members->exact = false;
			members->has_data = true;
		} else if (type_has_part(&child))
			add_member(writer, &child, members);
		if (!die_advance(&child))
			break;
	}
}

/* Adds a gap at the end, so that the struct has its size. */
static void add_end(struct type_writer *writer, struct members *members)
{
	const uint64_t align = 8ULL * members->align;

	if ((members->end + align - 1) / align * align == members->size)
		return;
	if (members->is_union)
		members->end = 0;
	add_gap(writer, members, members->size);
}

/* ------------------------------------------------------------------ texts of C++ */

/* Classes of libstdc++ that hold text. They are recognised by their names, members and sizes. */
static const struct text_class {
	const char *name;
	const char *members[2];
	const char *text; /* as a type of the .conf language */
	unsigned local;	  /* bytes of the buffer for short text inside of the object */
} text_classes[] = {
	{"basic_string<char,",
	 {"_M_dataplus", "_M_string_length"},
	 "string[elt2], hide(ulong)",
	 16},
	{"basic_string<wchar_t,",
	 {"_M_dataplus", "_M_string_length"},
	 "string(array(int, elt2)*), hide(ulong)",
	 16},
	{"basic_string_view<char,", {"_M_len", "_M_str"}, "hide(ulong), string[elt1]", 0},
	{"basic_string_view<wchar_t,",
	 {"_M_len", "_M_str"},
	 "hide(ulong), string(array(int, elt1)*)",
	 0},
};

static bool has_member_at(const struct die *type, const char *name, uint64_t expected)
{
	_cleanup_die_ struct die child = die_first_child(type);
	bool found = false;

	while (die_is(&child) && !found) {
		uint64_t offset;
		const char *its = die_tag(&child) == DW_TAG_member ? die_text(&child, DW_AT_name)
								   : NULL;

		found = its && !strcmp(its, name) && die_member_offset(&child, &offset) &&
			offset == expected;
		if (!die_advance(&child))
			break;
	}
	return found;
}

static bool is_text_class(const struct die *type, const struct text_class *class, unsigned word,
			  uint64_t size)
{
	const char *name = die_text(type, DW_AT_name);

	return name && !strncmp(name, class->name, strlen(class->name)) &&
	       size == 2 * word + class->local && has_member_at(type, class->members[0], 0) &&
	       has_member_at(type, class->members[1], word);
}

/* Writes a class that holds text. False, with nothing added: the class is none of these. */
static bool add_text_class(struct type_writer *writer, const struct die *type,
			   struct type_layout *layout)
{
	for (size_t i = 0; i < sizeof text_classes / sizeof *text_classes; i++) {
		const struct text_class *class = &text_classes[i];

		if (!is_text_class(type, class, writer->word, layout->size))
			continue;
		strbuf_printf(writer->text, "struct(%s", class->text);
		if (class->local)
			strbuf_printf(writer->text, ", hide(array(uint8, %u))", class->local);
		strbuf_add_char(writer->text, ')');
		layout->align = writer->word;
		layout->exact = true;
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------ structs */

int type_add_struct(struct type_writer *writer, const struct die *type, struct type_layout *layout)
{
	struct members members = {.align = 1, .exact = true};

	members.is_union = die_tag(type) == DW_TAG_union_type;
	if (die_flag(type, DW_AT_declaration) ||
	    !die_number(type, DW_AT_byte_size, &layout->size) || layout->size > OBJECT_MAX)
		return -ENOTSUP;
	if (add_text_class(writer, type, layout))
		return 0;
	members.size = 8 * layout->size;
	strbuf_add(writer->text, members.is_union ? "union(" : "struct(");
	add_members(writer, type, &members);
	add_end(writer, &members);
	/* The trace marks that a union has other members than the first, so it needs no "...". */
	if (members.is_partial && !(members.is_union && members.count > 1)) {
		add_separator(writer, &members);
		strbuf_add(writer->text, "...");
	}
	strbuf_add_char(writer->text, ')');
	layout->align = members.align;
	layout->is_aligned = members.is_aligned;
	/* A struct of more than a byte without members has unnamed bit-fields, which are data. */
	layout->is_vain = !members.has_data && (members.vain || layout->size <= 1);
	/* An empty struct of C has no bytes; one of C++ has a byte that is not passed. */
	layout->exact = members.exact && (members.shown || !layout->size);
	return 0;
}

/* ------------------------------------------------------------------ arrays */

/*
 * Finds the number of elements in each dimension, the outermost first. Returns the number of
 * dimensions; 0 if they are not known, or if there are too many elements.
 */
static unsigned find_dimensions(const struct die *type, uint64_t lengths[DIMENSIONS_MAX])
{
	_cleanup_die_ struct die child = die_first_child(type);
	unsigned count = 0;
	uint64_t all = 1;

	while (die_is(&child)) {
		uint64_t length = 0;

		if (die_tag(&child) == DW_TAG_subrange_type) {
			if (!die_number(&child, DW_AT_count, &length) &&
			    die_number(&child, DW_AT_upper_bound, &length))
				length++;
			if (!length || length > ELEMENTS_MAX / all || count == DIMENSIONS_MAX)
				return 0;
			all *= length;
			lengths[count++] = length;
		}
		if (!die_advance(&child))
			break;
	}
	return count;
}

bool type_array_length(const struct die *type, uint64_t *length)
{
	uint64_t lengths[DIMENSIONS_MAX];
	unsigned dimensions = find_dimensions(type, lengths);

	*length = 1;
	for (unsigned i = 0; i < dimensions; i++)
		*length *= lengths[i];
	return dimensions != 0;
}

int type_add_array(struct type_writer *writer, const struct die *type, struct type_layout *layout)
{
	bool is_const = false, is_text;
	_cleanup_die_ struct die element = type_peel_text(die_reference(type, DW_AT_type),
							  &is_const, &is_text);
	uint64_t lengths[DIMENSIONS_MAX];
	unsigned left = find_dimensions(type, lengths);

	if (!die_is(&element) || !left)
		return -ENOTSUP;

	for (unsigned i = 0; i < left; i++)
		strbuf_add(writer->text, is_text && i + 1 == left ? "string(array(" : "array(");
	if (type_add_object(writer, &element, layout) || !layout->size)
		return -ENOTSUP;
	for (unsigned i = left; i--;) {
		strbuf_printf(writer->text, ", %" PRIu64 "%s", lengths[i],
			      is_text && i + 1 == left ? "))" : ")");
		layout->size *= lengths[i];
	}
	return layout->size <= OBJECT_MAX ? 0 : -ENOTSUP;
}
