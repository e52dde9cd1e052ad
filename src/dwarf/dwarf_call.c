/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether a function takes its parameters where the ABI has them.
 *
 * A compiler need not follow the ABI where it knows all callers. On i386, gcc passes parameters of
 * static functions in registers. clang drops parameters that are not used, so that the others move
 * up. With link-time optimisation this applies to most functions. There are also attributes for
 * other conventions (regparm, ms_abi), which clang records (DW_AT_calling_convention) and gcc does
 * not. A prototype by the ABI would then show wrong values, which is worse than no prototype.
 *
 * Debuggers have to find parameters from the first instruction on. So each parameter has a location
 * (DW_AT_location): an expression that holds for the whole function, or a list of expressions with
 * the ranges of code where they hold. The expression that holds at the first instruction decides.
 * If it names a register in which any convention passes parameters, and the ABI has this parameter
 * elsewhere, then the function is called in another way.
 *
 * clang records more. If it has moved a parameter out of its register before the first location, a
 * later location may be the value that a register had at entry (DW_OP_entry_value). clang writes
 * that only for parameters that are never assigned to. Unlike gcc, clang does not rename a function
 * whose parameters it has changed. Such parameters are constants, unused ones, and pointers
 * replaced by what they point to. They have no location, or no entry; or the location is the
 * constant, or for an object in several registers only the parts that are passed; or the location
 * begins later, after an assignment. So a parameter without a location at the first instruction is
 * not known to be passed. Other functions may have such parameters, too (`number = 5;` is enough),
 * but there they are passed. Static functions are known by their entries. Functions that only
 * link-time optimisation could change are known by their local symbols; hidden functions have local
 * symbols as well.
 *
 * gcc without optimisation stores parameters first, and records the place where they are stored. On
 * x86_64 an ms_abi function stores register parameters in the frame of its caller, where the System
 * V ABI has only stack parameters. On i386, where all parameters are on the stack, an int in the
 * function's own frame came in a register (fastcall, regparm); smaller types and pointers are
 * copied to the frame for other reasons. With optimisation gcc passes parameters of static
 * functions in registers, too; for these functions no parameter in the own frame is accepted.
 *
 * All other locations prove nothing. A parameter in memory may have been stored there by the
 * function, or have come there. A parameter without a location may be passed and not used. Other
 * registers are callee-saved ones that the function uses as its own. And where gcc does not track
 * variables, an expression for the whole function is about the time after the prologue; it then
 * names the registers of `register` variables.
 *
 * On i386 the ABI passes no parameters in registers, but other conventions use other places on the
 * stack: clang aligns doubles to 8 there, and both compilers may pass the address of the result in
 * a register. So stack locations are compared with the sizes of the parameters. On x86_64 the
 * register of a parameter depends on the parameters before it. So these are followed up to the
 * first one that is neither an integer, a pointer, a floating-point number of up to 8 bytes, nor a
 * structure of these.
 */
#include "dwarf/dwarf_call.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_passing.h"
#include "dwarf/dwarf_place.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_struct.h"
#include "dwarf/dwarf_type.h"

#include <string.h>

enum { EIGHT = 8, LONG_DOUBLE_SIZE = 12 /* on i386 */ };

/* ------------------------------------------------------------------ registers */

/* DWARF register numbers (the psABIs have tables of them). */
enum {
	I386_EAX = 0,
	I386_EDX = 2, /* ecx is 1 */
	I386_ESP = 4,
	I386_EBP = 5,
	I386_XMM0 = 21,
	X86_64_RSP = 7,
	X86_64_XMM0 = 17,
	XMM_COUNT = 8
};

/* Where x86_64 passes integers: di, si, dx, cx, r8, r9. The registers of ms_abi are among them. */
static const int x86_64_integers[] = {5, 4, 1, 2, 8, 9};

enum { X86_64_INTEGERS = sizeof x86_64_integers / sizeof *x86_64_integers };

/* Returns true if any convention passes parameters in that register. */
static bool passes_parameters(const struct call_places *places, int number)
{
	if (places->word != EIGHT)
		return (number >= I386_EAX && number <= I386_EDX) ||
		       (number >= I386_XMM0 && number < I386_XMM0 + XMM_COUNT);
	for (unsigned i = 0; i < X86_64_INTEGERS; i++)
		if (number == x86_64_integers[i])
			return true;
	return number >= X86_64_XMM0 && number < X86_64_XMM0 + XMM_COUNT;
}

/* ------------------------------------------------------------------ places of a function */

/* Returns true if the code was optimised: assumed for clang, by the recorded options for gcc. */
static bool optimises(const char *producer)
{
	const char *level = NULL;

	if (strstr(producer, "clang"))
		return true;
	for (const char *at = producer; (at = strstr(at, " -O")); at += 3)
		level = at + 3;
	return level && *level != '0';
}

/*
 * Returns true if the compiler tracks variables: clang does wherever it names registers, gcc does
 * when it optimises.
 */
static bool follows_variables(const char *producer)
{
	return optimises(producer) && !strstr(producer, "-fno-var-tracking");
}

/* Like optimises(), and also true for gcc if its options were not recorded. */
static bool may_optimise(const char *producer)
{
	return optimises(producer) || !strstr(producer, " -");
}

/* Returns true if a function, or what it is an instance of, is not external. */
static bool is_static(const struct die *function)
{
	bool is_external = die_flag(function, DW_AT_external);
	struct die die = {0};

	for (unsigned i = 0; !is_external && i < ORIGINS_MAX; i++) {
		struct die next = die_told_by(i ? &die : function);

		die_drop(&die);
		die = next;
		if (!die_is(&die))
			break;
		is_external = die_flag(&die, DW_AT_external);
	}
	die_drop(&die);
	return !is_external;
}

/*
 * Returns the operation that frame offsets of a function count from, or 0. DWARF before version 3
 * has no operation for the call-frame address; there gcc writes a location list, which is taken for
 * that address.
 */
static uint8_t frame_base_of(const struct die *function)
{
	Dwarf_Attribute attribute = die_attribute(function, DW_AT_frame_base);
	struct bytes base;
	uint8_t operation = 0;

	if (!attribute)
		return 0;
	if (!die_block(function, attribute, &base))
		operation = DW_OP_call_frame_cfa;
	else if (base.left == 1)
		operation = *base.at;
	dwarf_dealloc_attribute(attribute);
	return operation;
}

/*
 * Returns the offset of the parameter that this one is an instance of, or of the parameter itself.
 */
static uint64_t origin_of(const struct die *parameter)
{
	_cleanup_die_ struct die origin =
		die_last_origin(die_reference(parameter, DW_AT_abstract_origin));

	return die_offset(die_is(&origin) ? &origin : parameter);
}

/* Adds the locations of the parameters of a function, or of a parameter pack. */
static void add_places(struct call_places *places, const struct die *owner, bool is_pack,
		       const struct beginning *beginning)
{
	_cleanup_die_ struct die child = die_first_child(owner);

	while (die_is(&child) && places->count < PARAMETERS_MAX) {
		const unsigned tag = die_tag(&child);

		if (tag == DW_TAG_GNU_formal_parameter_pack && !is_pack)
			add_places(places, &child, true, beginning);
		if (tag == DW_TAG_formal_parameter) {
			struct call_place *place = &places->items[places->count++];

			place_find(&child, beginning, place);
			place->parameter = origin_of(&child);
		}
		if (!die_advance(&child))
			break;
	}
}

void call_find_places(const struct die *function, uint64_t address, bool is_local,
		      struct call_places *places)
{
	const unsigned word = function->object->file->reader->word;
	const uint8_t base = frame_base_of(function);
	struct beginning beginning = {.address = address,
				      .word = word,
				      .stack_pointer = word == EIGHT ? X86_64_RSP : I386_ESP,
				      .frame_pointer = NO_REGISTER};
	_cleanup_die_ struct die unit = die_unit(function);

	*places = (struct call_places){.word = word};
	if (!die_is(&unit))
		return;
	const char *producer = die_text(&unit, DW_AT_producer);

	ranges_learn(&unit, &beginning.code);
	beginning.is_of_clang = producer && strstr(producer, "clang");
	beginning.counts_from_caller = !beginning.is_of_clang && base == DW_OP_call_frame_cfa;
	if (base >= DW_OP_reg0 && base <= DW_OP_reg31)
		beginning.frame_pointer = base - DW_OP_reg0;
	beginning.follows_variables = producer && follows_variables(producer);
	places->is_own = producer && may_optimise(producer) && (is_local || is_static(function));
	beginning.drops = beginning.is_of_clang && places->is_own;
	add_places(places, function, false, &beginning);
	places->is_complete = beginning.drops && places->count < PARAMETERS_MAX;
}

/* ------------------------------------------------------------------ what the ABI says */

bool call_is_of_c(const struct die *function, unsigned word)
{
	uint64_t convention = DW_CC_normal;

	die_number(function, DW_AT_calling_convention, &convention);
	switch (convention) {
	case DW_CC_normal:
	/* The callee saves more registers than usual. */
	case DW_CC_LLVM_PreserveMost:
	case DW_CC_LLVM_PreserveAll:
		return true;
	case DW_CC_GNU_BORLAND_stdcall: /* the callee pops the parameters */
		return word != EIGHT;
	case DW_CC_LLVM_X86_64SysV:
		return word == EIGHT;
	default:
		return false;
	}
}

void call_add_result(struct call_places *places, const struct die *owner, bool by_reference)
{
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(owner, DW_AT_type), &is_const);
	uint64_t size = 0;

	/* Complex numbers of more than two floats are returned in memory on i386, too. */
	if (die_is(&type))
		die_number(&type, DW_AT_byte_size, &size);
	places->integers += by_reference;
	places->has_hidden = by_reference || size > LONG_DOUBLE_SIZE ||
			     (die_is(&type) && type_is_record(die_tag(&type)));
	places->stack = places->has_hidden ? places->word : 0;
	/*
	 * The prototype has a hidden parameter for the address, whose place no location confirms.
	 */
	places->is_doubtful = by_reference;
	if (by_reference || !die_is(&type) || places->word != EIGHT)
		return;
	const unsigned tag = die_tag(&type);

	if (!type_is_record(tag)) {
		places->is_over |= tag == DW_TAG_array_type;
		return;
	}
	struct type_registers registers;

	if (size > PASSED_IN_REGISTERS)
		places->integers++; /* the address of the result */
	else
		places->is_over |= !type_find_registers(&type, &registers);
}

static int take_integer(struct call_places *places)
{
	return places->integers < X86_64_INTEGERS ? x86_64_integers[places->integers++]
						  : NO_REGISTER;
}

/*
 * Returns the first register of an object, or NO_REGISTER. If too few registers are left, all of
 * the object is on the stack.
 */
static int take_record(struct call_places *places, const struct die *type)
{
	struct type_registers needed;

	if (!type_find_registers(type, &needed)) {
		places->is_over = true;
		return NO_REGISTER;
	}
	if (!(needed.integers + needed.floats) ||
	    places->integers + needed.integers > X86_64_INTEGERS ||
	    places->floats + needed.floats > XMM_COUNT)
		return NO_REGISTER;
	const int first = needed.begins_with_float ? X86_64_XMM0 + (int)places->floats
						   : x86_64_integers[places->integers];

	places->integers += needed.integers;
	places->floats += needed.floats;
	return first;
}

/* Returns where x86_64 passes the next parameter: its register, or NO_REGISTER for the stack. */
static int take_place(struct call_places *places, const struct die *type)
{
	const unsigned tag = die_is(type) ? die_tag(type) : 0;
	uint64_t encoding = 0, size = EIGHT;

	if (type_is_record(tag))
		return take_record(places, type);
	switch (tag) {
	case DW_TAG_base_type:
		die_number(type, DW_AT_encoding, &encoding);
		die_number(type, DW_AT_byte_size, &size);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:
	case DW_TAG_enumeration_type:
		break;
	default:
		places->is_over = true;
	}
	places->is_over |= size > EIGHT || encoding == DW_ATE_complex_float;
	if (encoding != DW_ATE_float)
		return take_integer(places);
	return places->floats < XMM_COUNT ? X86_64_XMM0 + (int)places->floats++ : NO_REGISTER;
}

static int expected_register(struct call_places *places, const struct die *owner, bool by_reference)
{
	bool is_const = false;

	if (places->word != EIGHT)
		return NO_REGISTER;
	if (by_reference)
		return take_integer(places);
	_cleanup_die_ struct die type = type_peel(die_reference(owner, DW_AT_type), &is_const);

	return take_place(places, &type);
}

static bool is_int(const struct die *owner)
{
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(owner, DW_AT_type), &is_const);
	uint64_t encoding = 0, size = 0;

	return die_is(&type) && die_number(&type, DW_AT_encoding, &encoding) &&
	       die_number(&type, DW_AT_byte_size, &size) && size == 4 &&
	       (encoding == DW_ATE_signed || encoding == DW_ATE_unsigned);
}

/* Returns true if the ABI would not pass the parameter in the place `number`. */
static bool is_elsewhere(const struct call_places *places, int number, int expected,
			 const struct die *owner)
{
	switch (number) {
	case NOT_PASSED:
		return true;
	case CALLERS_FRAME:
		return expected != NO_REGISTER && !places->is_over;
	case OWN_FRAME:
		return places->word != EIGHT && (places->is_own || is_int(owner));
	default:
		return number != expected && !places->is_over && passes_parameters(places, number);
	}
}

/*
 * Returns true if the only location is a part of the parameter in a variable of the function. The
 * parameter is then a constant that the compiler knows, as it could see all calls.
 */
static bool is_made_up(const struct call_places *places, const struct call_place *place,
		       const struct die *owner)
{
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(owner, DW_AT_type), &is_const);
	uint64_t size = 0;

	return places->is_own && place->base != NO_REGISTER && !place->is_listed &&
	       place->bytes != ALL_BYTES && die_is(&type) && !type_is_record(die_tag(&type)) &&
	       die_number(&type, DW_AT_byte_size, &size) && size <= EIGHT &&
	       place->bytes != (1U << size) - 1;
}

/*
 * Returns true if each word of an object that takes several registers has a location. An object in
 * memory is always passed as a whole.
 */
static bool is_whole(const struct call_places *places, const struct call_place *place,
		     const struct die *owner)
{
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(owner, DW_AT_type), &is_const);
	uint64_t size = 0;

	if (place->bytes == ALL_BYTES || !die_is(&type) ||
	    !die_number(&type, DW_AT_byte_size, &size) || size > PASSED_IN_REGISTERS)
		return true;
	for (uint64_t at = 0; at < size; at += places->word)
		if (!(place->bytes >> at & ((1U << places->word) - 1)))
			return false;
	return true;
}

/* Returns the bytes that a parameter takes on the stack of i386; negative if that is not known. */
static int64_t size_on_stack(const struct call_places *places, const struct die *owner,
			     bool by_reference)
{
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(owner, DW_AT_type), &is_const);
	uint64_t size = places->word, encoding = 0;

	if (!by_reference && !die_is(&type))
		return -1;
	if (!by_reference && !die_number(&type, DW_AT_byte_size, &size)) {
		const unsigned tag = die_tag(&type);

		if (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
		    tag != DW_TAG_rvalue_reference_type && tag != DW_TAG_unspecified_type)
			return -1;
	}
	if (!by_reference && places->promotes && size < EIGHT &&
	    die_number(&type, DW_AT_encoding, &encoding) && encoding == DW_ATE_float)
		size = EIGHT;
	if (size > INT32_MAX)
		return -1;
	return (int64_t)((size + places->word - 1) / places->word * places->word);
}

static bool is_record(const struct die *owner)
{
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(owner, DW_AT_type), &is_const);

	return die_is(&type) && type_is_record(die_tag(&type));
}

/*
 * Returns true if a parameter of i386 is on the stack where the ABI has it. gcc records the offset
 * from the call-frame address. An offset that clang counts from the frame pointer is 8 larger. For
 * offsets that clang counts from the stack pointer, the distance to the caller's frame is not
 * recorded, so it must be equal for all parameters. A small structure alone proves nothing: it may
 * be a copy of what came in registers. For numbers that are copied, clang records the register
 * first.
 */
static bool is_in_place(struct call_places *places, const struct call_place *place,
			const struct die *owner, int64_t size)
{
	const int64_t expected = places->stack;

	if (expected < 0)
		return !places->is_complete;
	if (place->base == CALLERS_END)
		return place->offset == expected;
	if (place->base == I386_EBP) {
		places->is_doubtful &= place->offset < EIGHT;
		return place->offset < EIGHT ? !is_int(owner) : place->offset - EIGHT == expected;
	}
	if (place->base != I386_ESP)
		return true;
	const bool is_sure = place->is_listed || size > PASSED_IN_REGISTERS || !is_record(owner);

	places->is_doubtful = !is_sure && (places->is_doubtful || !places->is_shifted);
	if (places->has_hidden || (places->is_shifted && places->shift != place->offset - expected))
		return false;
	places->is_shifted = true;
	places->shift = place->offset - expected;
	return true;
}

bool call_is_known(const struct call_places *places)
{
	return places->word == EIGHT || !places->is_complete || !places->is_doubtful;
}

bool call_add_parameter(struct call_places *places, const struct die *parameter,
			const struct die *owner, bool by_reference)
{
	const int expected = expected_register(places, owner, by_reference);
	const int64_t size = size_on_stack(places, owner, by_reference);
	const uint64_t offset = die_offset(parameter);
	bool is_there = false;

	for (unsigned i = 0; i < places->count; i++) {
		const struct call_place *place = &places->items[i];

		if (place->parameter != offset)
			continue;
		is_there = true;
		if (is_elsewhere(places, place->number, expected, owner) ||
		    (!by_reference &&
		     (!is_whole(places, place, owner) || is_made_up(places, place, owner))))
			return false;
		if (places->word != EIGHT && !is_in_place(places, place, owner, size))
			return false;
	}
	places->stack = size < 0 || places->stack < 0 ? -1 : places->stack + size;
	return is_there || !places->is_complete;
}
