/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the prototype of a function of Go from its entry.
 *
 * Parameters and results are both DW_TAG_formal_parameter, in their order; results have
 * DW_AT_variable_parameter. Types that only Go has are structures: a string is a pointer and a
 * length, a slice is a pointer, a length and a capacity, an interface is two pointers.
 * DW_AT_go_kind (numbers of reflect.Kind) tells which one an entry is. They are written as bare()
 * structures: the trace shows the text, or the elements. Maps, channels and functions are pointers.
 *
 * Parameters without a name, or with the name `_`, have no entry but take up registers. So each
 * parameter must be in the register at the first instruction where the convention passes it
 * (proto/plan_go.c). If it is in a later register, hidden parameters are written for the registers
 * in between. If a parameter has no register at all, the prototype is rejected. With -N (no
 * optimisation) the compiler stores parameters first and records only the place in memory, so there
 * a parameter without a register is accepted. Results cannot be checked in this way.
 *
 * A function in assembler has an entry without children, whatever it takes. A compiled function
 * without parameters, results and variables has such an entry, too. Both are rejected.
 *
 * Source: cmd/internal/dwarf of Go 1.19, cmd/compile/abi-internal.md.
 */
#include "dwarf/dwarf_go.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_place.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_struct.h"
#include "dwarf/dwarf_type.h"

#include <errno.h>
#include <string.h>

enum { GO_KIND = 0x2900, KIND_UINTPTR = 12, KIND_SLICE = 23, KIND_STRING = 24 };
enum { INTEGERS = 9, FLOATS = 15, FIRST_FLOAT = 17 /* xmm0 */, X86_64_RSP = 7 };
enum { DEPTH_MAX = 4, MEMBERS_MAX = 24, ARRAY_MAX = 1 << 16, EIGHT = 8 };

/* DWARF register numbers, in the order in which the convention takes the registers. */
static const uint8_t integers[INTEGERS] = {0, 3, 2, 5, 4, 8, 9, 10, 11};

/* The registers that an object needs. */
struct needs {
	unsigned integers, floats;
	bool is_memory; /* it is passed in memory, however many registers are left */
	bool begins_with_float;
};

struct go_writer {
	struct strbuf *text;
	unsigned depth;
};

/* Results: 0; NOTHING: the type has no size, and no text was added; or -ENOTSUP. */
enum { NOTHING = 1 };

static int add_type(struct go_writer *writer, const struct die *owner, struct needs *needs);

static void insert(struct strbuf *text, size_t place, const char *inserted)
{
	_cleanup_free_ char *tail = xstrdup(text->text + place);

	text->length = place;
	strbuf_add(text, inserted);
	strbuf_add(text, tail);
}

static void need(struct needs *needs, unsigned words, bool is_float)
{
	needs->begins_with_float |= is_float && !needs->integers && !needs->floats;
	needs->integers += is_float ? 0 : words;
	needs->floats += is_float ? words : 0;
}

static int add_base(struct go_writer *writer, const struct die *type, struct needs *needs)
{
	uint64_t encoding = 0, size = 0, kind = 0;

	die_number(type, DW_AT_encoding, &encoding);
	die_number(type, DW_AT_byte_size, &size);
	die_number(type, GO_KIND, &kind);
	if (!size || size > 2 * EIGHT || (size & (size - 1)))
		return -ENOTSUP;
	switch (encoding) {
	case DW_ATE_boolean:
		strbuf_add(writer->text, "bool");
		break;
	case DW_ATE_float:
		strbuf_add(writer->text, size == EIGHT ? "double" : "float");
		break;
	case DW_ATE_complex_float:
		strbuf_add(writer->text, size == EIGHT ? "float _Complex" : "double _Complex");
		break;
	default:
		strbuf_printf(writer->text, kind == KIND_UINTPTR ? "hex(%sint%u)" : "%sint%u",
			      encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? ""
											  : "u",
			      (unsigned)size * EIGHT);
	}
	const bool is_float = encoding == DW_ATE_float || encoding == DW_ATE_complex_float;

	if (!is_float && size > EIGHT)
		return -ENOTSUP;
	need(needs, encoding == DW_ATE_complex_float ? 2 : 1, is_float);
	return 0;
}

static struct die find_member(const struct die *type, const char *name)
{
	struct die child = die_first_child(type);

	while (die_is(&child)) {
		const char *its = die_text(&child, DW_AT_name);

		if (die_tag(&child) == DW_TAG_member && its && !strcmp(its, name))
			return child;
		if (!die_advance(&child))
			break;
	}
	return (struct die){0};
}

/* Returns true for a byte: slices of bytes are shown as text. */
static bool is_byte(const struct die *type)
{
	uint64_t encoding = 0, size = 0;

	return die_tag(type) == DW_TAG_base_type && die_number(type, DW_AT_encoding, &encoding) &&
	       die_number(type, DW_AT_byte_size, &size) && size == 1 &&
	       (encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char);
}

/* The type of a slice's data pointer, peeled. */
static struct die element_of(const struct die *slice)
{
	bool is_const;
	_cleanup_die_ struct die array = find_member(slice, "array");

	if (!die_is(&array))
		return (struct die){0};
	return type_peel(die_reference(&array, DW_AT_type), &is_const);
}

static int add_slice(struct go_writer *writer, const struct die *type, struct needs *needs)
{
	struct strbuf *text = writer->text;
	const size_t before = text->length;
	struct needs of_element = {0};
	bool is_const;
	_cleanup_die_ struct die pointer = element_of(type);
	_cleanup_die_ struct die element =
		die_is(&pointer) ? type_peel(die_reference(&pointer, DW_AT_type), &is_const)
				 : (struct die){0};

	need(needs, 3, false);
	strbuf_add(text, "bare(struct(");
	if (die_is(&element) && is_byte(&element)) {
		strbuf_add(text, "string[elt2]");
	} else {
		strbuf_add(text, "array(");
		writer->depth++;
		if (!die_is(&element) || add_type(writer, &pointer, &of_element)) {
			text->length = before;
			strbuf_add(text, "bare(struct(addr");
		} else {
			strbuf_add(text, ", elt2)*");
		}
		writer->depth--;
	}
	strbuf_add(text, ", hide(long), hide(long)))");
	return 0;
}

static int add_member(struct go_writer *writer, const struct die *member, struct needs *needs,
		      unsigned *count)
{
	const char *name = die_text(member, DW_AT_name);
	const size_t before = writer->text->length;

	if (*count)
		strbuf_add(writer->text, ", ");
	int error = add_type(writer, member, needs);

	if (error == NOTHING) {
		writer->text->length = before;
		return 0;
	}
	if (type_is_name(name))
		strbuf_printf(writer->text, " %s", name);
	return ++*count > MEMBERS_MAX ? -ENOTSUP : error;
}

static int add_members(struct go_writer *writer, const struct die *type, struct needs *needs)
{
	_cleanup_die_ struct die child = die_first_child(type);
	unsigned count = 0;
	int error = 0;

	strbuf_add(writer->text, "struct(");
	while (die_is(&child) && !error) {
		if (die_tag(&child) == DW_TAG_member)
			error = add_member(writer, &child, needs, &count);
		if (!die_advance(&child))
			break;
	}
	strbuf_add(writer->text, ")");
	return error ? error : count ? 0 : NOTHING;
}

static int add_struct(struct go_writer *writer, const struct die *type, struct needs *needs)
{
	const char *name = die_text(type, DW_AT_name);
	uint64_t kind = 0;

	die_number(type, GO_KIND, &kind);
	if (kind == KIND_STRING || (name && !strcmp(name, "string"))) {
		strbuf_add(writer->text, "bare(struct(string[elt2], hide(long)))");
		need(needs, 2, false);
		return 0;
	}
	if (kind == KIND_SLICE)
		return add_slice(writer, type, needs);
	if (name && (!strcmp(name, "runtime.iface") || !strcmp(name, "runtime.eface"))) {
		strbuf_add(writer->text, "bare(struct(hide(addr), addr))");
		need(needs, 2, false);
		return 0;
	}
	return add_members(writer, type, needs);
}

static int add_array(struct go_writer *writer, const struct die *type, struct needs *needs)
{
	struct needs of_element = {0};
	uint64_t length;

	if (!type_array_length(type, &length) || length > ARRAY_MAX)
		return -ENOTSUP;
	if (!length)
		return NOTHING;
	strbuf_add(writer->text, "array(");
	int error = add_type(writer, type, length == 1 ? needs : &of_element);

	needs->is_memory |= length > 1;
	strbuf_printf(writer->text, ", %u)", (unsigned)length);
	return error;
}

static int add_peeled(struct go_writer *writer, const struct die *type, struct needs *needs)
{
	switch (die_tag(type)) {
	case DW_TAG_base_type:
		return add_base(writer, type, needs);
	case DW_TAG_structure_type:
		return add_struct(writer, type, needs);
	case DW_TAG_array_type:
		return add_array(writer, type, needs);
	case DW_TAG_pointer_type:
	case DW_TAG_subroutine_type:
		strbuf_add(writer->text, "addr");
		need(needs, 1, false);
		return 0;
	default:
		return -ENOTSUP;
	}
}

/* Writes the type that DW_AT_type of `owner` refers to. */
static int add_type(struct go_writer *writer, const struct die *owner, struct needs *needs)
{
	const size_t before = writer->text->length;
	bool is_const;
	_cleanup_die_ struct die type = type_peel(die_reference(owner, DW_AT_type), &is_const);

	if (!die_is(&type) || writer->depth > DEPTH_MAX || before > DWARF_TEXT_MAX)
		return -ENOTSUP;
	writer->depth++;
	int error = add_peeled(writer, &type, needs);

	writer->depth--;
	if (error)
		writer->text->length = before;
	return error;
}

/* ------------------------------------------------------------------ functions */

/* A function while its prototype is written. */
struct go_function {
	struct go_writer writer;
	struct beginning beginning;
	bool stores_first; /* -N: parameters are stored before their first location */
	unsigned integers, floats;
	unsigned count; /* of parameters written */
	struct strbuf results;
	size_t first_result; /* where the type of the first result ends in `results` */
	unsigned result_count;
};

static const struct die *owner_of(const struct die *parameter, const struct die *origin)
{
	return die_is(origin) ? origin : parameter;
}

/*
 * Writes a hidden parameter at `place` for a register of an unnamed parameter. Returns false if no
 * register, or no parameter, is left.
 */
static bool pass_over(struct go_function *function, bool is_float, size_t place)
{
	static const char *const fillers[] = {"hide(long), ", "hide(double), "};

	if (is_float ? function->floats >= FLOATS : function->integers >= INTEGERS)
		return false;
	function->integers += !is_float;
	function->floats += is_float;
	function->count++;
	insert(function->writer.text, place, fillers[is_float]);
	return function->count < PARAMETERS_MAX;
}

/* Uses up the registers of a parameter whose text begins at `begin`. Returns 0 or -EPROTOTYPE. */
static int take_registers(struct go_function *function, const struct die *parameter,
			  const struct needs *needs, size_t begin)
{
	const bool is_float = needs->begins_with_float;
	struct call_place place;

	place_find(parameter, &function->beginning, &place);
	while (!needs->is_memory && function->integers + needs->integers <= INTEGERS &&
	       function->floats + needs->floats <= FLOATS) {
		const int expected = is_float ? FIRST_FLOAT + (int)function->floats
					      : integers[function->integers];

		if (place.number == expected || (place.number < 0 && function->stores_first)) {
			function->integers += needs->integers;
			function->floats += needs->floats;
			return 0;
		}
		if (place.number < 0 || !pass_over(function, is_float, begin))
			return -EPROTOTYPE;
	}
	/* There are not enough registers: the parameter is on the stack. */
	return place.number < 0 ? 0 : -EPROTOTYPE;
}

static int add_parameter(struct go_function *function, const struct die *parameter,
			 const struct die *owner)
{
	struct strbuf *text = function->writer.text;
	const char *name = die_text(owner, DW_AT_name);
	const size_t before = text->length;
	struct needs needs = {0};

	if (function->count)
		strbuf_add(text, ", ");
	const size_t begin = text->length;
	int error = add_type(&function->writer, owner, &needs);

	if (error == NOTHING) {
		text->length = before;
		return 0;
	}
	/* In a parameter list, array() would mean a pointer to an array. */
	if (!error && !strncmp(text->text + begin, "array(", strlen("array("))) {
		insert(text, begin, "struct(");
		strbuf_add(text, ")");
	}
	if (!error)
		error = take_registers(function, parameter, &needs, begin);
	if (!error && type_is_name(name))
		strbuf_printf(text, " %s", name);
	return ++function->count > PARAMETERS_MAX ? -ENOTSUP : error;
}

static int add_result(struct go_function *function, const struct die *owner)
{
	struct go_writer writer = {.text = &function->results};
	const char *name = die_text(owner, DW_AT_name);
	struct needs needs = {0};
	const size_t before = writer.text->length;

	if (function->result_count)
		strbuf_add(writer.text, ", ");
	int error = add_type(&writer, owner, &needs);

	if (error == NOTHING) {
		writer.text->length = before;
		return 0;
	}
	function->result_count++;
	function->first_result = function->result_count == 1 ? writer.text->length
							     : function->first_result;
	if (!error && type_is_name(name))
		strbuf_printf(writer.text, " %s", name);
	return error;
}

static int add_child(struct go_function *function, const struct die *child)
{
	_cleanup_die_ struct die origin =
		die_last_origin(die_reference(child, DW_AT_abstract_origin));
	const struct die *owner = owner_of(child, &origin);

	return die_flag(owner, DW_AT_variable_parameter) ? add_result(function, owner)
							 : add_parameter(function, child, owner);
}

/* Writes one result as its type, and several as a structure of them. */
static void put_results(const struct go_function *function, struct strbuf *text)
{
	const char *results = function->results.text;

	if (!function->result_count)
		strbuf_add(text, "void");
	else if (function->result_count == 1 && strncmp(results, "array(", strlen("array(")) != 0)
		strbuf_add_bytes(text, results, function->first_result);
	else
		strbuf_printf(text, "struct(%s)", results);
}

int go_describe(const struct die *function, const struct die *unit, uint64_t address,
		struct strbuf *text)
{
	const char *producer = die_text(unit, DW_AT_producer);
	struct strbuf parameters = {0};
	struct go_function go = {.writer = {.text = &parameters},
				 .beginning = {.address = address,
					       .word = EIGHT,
					       .counts_from_caller = true,
					       .follows_variables = true,
					       .stack_pointer = X86_64_RSP,
					       .frame_pointer = NO_REGISTER},
				 .stores_first = producer && strstr(producer, "-N")};
	_cleanup_die_ struct die child = die_first_child(function);
	int error = die_is(&child) ? 0 : -EPROTOTYPE;

	ranges_learn(unit, &go.beginning.code);
	while (die_is(&child) && !error) {
		if (die_tag(&child) == DW_TAG_formal_parameter)
			error = add_child(&go, &child);
		if (!die_advance(&child))
			break;
	}
	if (!error) {
		put_results(&go, text);
		strbuf_printf(text, " %s(%s);", DWARF_GO_NAME,
			      parameters.text ? parameters.text : "");
	}
	strbuf_deinit(&parameters);
	strbuf_deinit(&go.results);
	return error;
}
