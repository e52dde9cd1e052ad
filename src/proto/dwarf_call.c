/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a function takes its parameters where the ABI has them.
 *
 * Compilers need not keep to the ABI where they know all callers: parameters of static functions
 * are passed in registers on i386, clang drops those that nobody looks at, so that others move up,
 * and with link-time optimisation that goes for most functions. There are attributes for other
 * conventions, too (regparm, ms_abi), which clang tells of (DW_AT_calling_convention) and gcc does
 * not. A prototype would show wrong values then, which is worse than none.
 *
 * But debuggers have to find parameters from the first instruction on. So each parameter says where
 * it is (DW_AT_location): by an expression that holds for the whole function, or by a list of
 * expressions with the ranges of code where they hold, of which the one at the first instruction
 * matters. Where that names a register in which any convention passes parameters, and it is not the
 * one where this ABI has this parameter, the function is called in another way.
 *
 * clang says more. Where it has moved a parameter away from its register before it tells of a
 * place, it may tell later that the value is what a register held when the function was entered,
 * and does so for parameters only that nothing was assigned to. And it does not rename functions
 * as gcc does of which it has changed the parameters: what it knows to be a constant, what nobody
 * looks at, and pointers of which it passes instead what they point to, have no place any more, or
 * are not mentioned. Other functions may have such parameters, too (`number = 5;` is enough), but
 * theirs are passed. Static ones are known by their entries; those that only link-time
 * optimisation could change by their symbols, which are local then, as are those of hidden
 * functions.
 *
 * gcc without optimisation stores them first, and that place it tells of. On x86_64 a function of
 * ms_abi stores what came in registers in the frame of its caller, where others find only what came
 * on the stack. On i386, where all is on the stack, an int that is in the function's own frame came
 * in a register (fastcall, regparm); smaller ones and pointers are copied for other reasons.
 *
 * Everything else says nothing. What is in memory may have been stored there by the function, or
 * be where it came. A parameter without a place may be passed and not looked at. Other registers
 * are those that a function saves to use them as its own. And an expression for the whole function
 * is about the time after its beginning where gcc does not follow variables: it then names the
 * registers that `register` variables have.
 *
 * On i386 the ABI has no parameters in registers. On x86_64 the one that a parameter is in depends
 * on those before, so these are followed up to the first that is neither an integer, a pointer, a
 * floating-point number of up to 8 bytes, nor a structure of these.
 */
#include "proto/dwarf_private.h"

#include "base/cleanup.h"

#include <string.h>

enum { NO_REGISTER = -1, NOT_PASSED = -2, CALLERS_FRAME = -3, OWN_FRAME = -4, EIGHT = 8 };

/* ------------------------------------------------------------------ registers */

/* By their numbers in DWARF (the psABIs have tables of them). */
enum {
	I386_EAX = 0,
	I386_EDX = 2, /* ecx is between them */
	I386_XMM0 = 21,
	X86_64_XMM0 = 17,
	XMM_COUNT = 8
};

/* Where x86_64 passes integers: di, si, dx, cx, r8, r9. Those of ms_abi are among them. */
static const int x86_64_integers[] = {5, 4, 1, 2, 8, 9};

enum { X86_64_INTEGERS = sizeof x86_64_integers / sizeof *x86_64_integers };

/* Whether some convention passes parameters there. */
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

/* The register that an expression is; of an object in several, the first. */
static int register_of(struct bytes expression)
{
	const uint64_t operation = take(&expression, 1);
	int number = NO_REGISTER;

	if (operation >= DW_OP_reg0 && operation <= DW_OP_reg31)
		number = (int)(operation - DW_OP_reg0);
	return !expression.left || take(&expression, 1) == DW_OP_piece ? number : NO_REGISTER;
}

/* The register that an expression is the value of when the function was entered. */
static int entry_register_of(struct bytes expression)
{
	const uint64_t operation = take(&expression, 1);
	const uint64_t length = take_leb(&expression);
	struct bytes value = {expression.at, 1};

	return (operation == DW_OP_entry_value || operation == DW_OP_GNU_entry_value) &&
			       length == 1 && expression.left == 2 &&
			       expression.at[1] == DW_OP_stack_value
		       ? register_of(value)
		       : NO_REGISTER;
}

/* In whose frame an expression is, for a function that counts from the end of its caller's. */
static int frame_of(struct bytes expression)
{
	const uint8_t *end = expression.at + expression.left;

	if (take(&expression, 1) != DW_OP_fbreg || !expression.left)
		return NO_REGISTER;
	take_leb(&expression);
	/* The sign. */
	return expression.left ? NO_REGISTER : end[-1] & 0x40 ? OWN_FRAME : CALLERS_FRAME;
}

/* ------------------------------------------------------------------ lists of places */

/* What has to be known of a function to find its parameters. */
struct beginning {
	struct unit_code code;
	uint64_t address;
	bool is_of_clang;
	bool drops;		 /* what has no place is not passed */
	bool counts_from_caller; /* gcc: offsets in the frame are from what the caller has in it */
	bool follows_variables; /* what is said of the whole function holds at its beginning, too */
};

/* A list, and what it is read for. */
struct place_list {
	const struct die *owner;
	struct bytes left;
	uint64_t base;	  /* of the offsets that come */
	uint64_t address; /* of the first instruction */
	bool is_of_clang;
};

/* The expression behind a range, which a number of bytes is in front of. */
static struct bytes take_expression(struct bytes *left, uint64_t length)
{
	struct bytes expression = {left->at, length};

	if (length > left->left) {
		left->left = 0;
		return (struct bytes){NULL, 0};
	}
	left->at += length;
	left->left -= length;
	return expression;
}

/* Whether that is the entry that matters; *number is the register of which it tells. */
static bool takes_entry(const struct place_list *list, const uint64_t range[2],
			struct bytes expression, int *number)
{
	const bool is_first = range[0] <= list->address && list->address < range[1];

	*number = is_first	      ? register_of(expression)
		  : list->is_of_clang ? entry_register_of(expression)
				      : NO_REGISTER;
	return is_first || *number != NO_REGISTER;
}

/* In .debug_loc (DWARF 2 to 4): pairs of offsets from a base, up to one of zeros. */
static int find_in_old(struct place_list *list)
{
	const struct dwarf_file *file = list->owner->object->file;
	const unsigned size = file->reader->word;
	const uint64_t new_base = size == 4 ? UINT32_MAX : UINT64_MAX;
	int number;

	while (list->left.left >= 2 * size && may_step(file)) {
		const uint64_t start = take(&list->left, size);
		const uint64_t end = take(&list->left, size);
		const uint64_t range[2] = {list->base + start, list->base + end};

		if (!start && !end)
			break;
		if (start == new_base) {
			list->base = end;
			continue;
		}
		if (takes_entry(list, range, take_expression(&list->left, take(&list->left, 2)),
				&number))
			return number;
	}
	return NO_REGISTER;
}

/* The range of an entry in .debug_loclists (DWARF 5); false where no more can be read. */
static bool take_range(struct place_list *list, uint64_t kind, uint64_t range[2])
{
	const unsigned size = list->owner->object->file->reader->word;
	struct bytes *left = &list->left;

	switch (kind) {
	case DW_LLE_startx_endx:
		range[0] = die_indexed_address(list->owner, take_leb(left));
		range[1] = die_indexed_address(list->owner, take_leb(left));
		return true;
	case DW_LLE_startx_length:
		range[0] = die_indexed_address(list->owner, take_leb(left));
		range[1] = range[0] + take_leb(left);
		return true;
	case DW_LLE_offset_pair:
		range[0] = list->base + take_leb(left);
		range[1] = list->base + take_leb(left);
		return true;
	case DW_LLE_start_end:
		range[0] = take(left, size);
		range[1] = take(left, size);
		return true;
	case DW_LLE_start_length:
		range[0] = take(left, size);
		range[1] = range[0] + take_leb(left);
		return true;
	case DW_LLE_default_location:
		range[0] = range[1] = 0;
		return true;
	default: /* DW_LLE_end_of_list */
		return false;
	}
}

static int find_in_new(struct place_list *list)
{
	const struct dwarf_file *file = list->owner->object->file;
	uint64_t range[2];
	int number;

	while (list->left.left && may_step(file)) {
		const uint64_t kind = take(&list->left, 1);

		if (kind == DW_LLE_base_addressx) {
			list->base = die_indexed_address(list->owner, take_leb(&list->left));
			continue;
		}
		if (kind == DW_LLE_base_address) {
			list->base = take(&list->left, file->reader->word);
			continue;
		}
		if (!take_range(list, kind, range))
			break;
		if (takes_entry(list, range, take_expression(&list->left, take_leb(&list->left)),
				&number))
			return number;
	}
	return NO_REGISTER;
}

static int find_in_list(const struct die *parameter, Dwarf_Attribute attribute,
			const struct beginning *beginning)
{
	const struct unit_code *code = &beginning->code;
	struct dwarf_file *file = parameter->object->file;
	struct place_list list = {.owner = parameter,
				  .base = code->base,
				  .address = beginning->address,
				  .is_of_clang = beginning->is_of_clang};
	const bool is_new = die_version(parameter) >= 5;
	const char *section = is_new ? ".debug_loclists" : ".debug_loc";
	uint64_t offset = 0;
	unsigned form;

	if (!die_section_offset(parameter, attribute, &form, &offset))
		return NO_REGISTER;
	if (form == DW_FORM_loclistx) {
		/* As with ranges. */
		struct bytes entry = section_bytes(file, section,
						   code->places + offset * code->offset_size);

		offset = code->places + take(&entry, code->offset_size);
	}
	list.left = section_bytes(file, section, offset);
	return is_new ? find_in_new(&list) : find_in_old(&list);
}

/* ------------------------------------------------------------------ places of a function */

/*
 * clang does as far as it names registers at all; gcc when it optimises, of which its command line
 * tells, if that was recorded.
 */
static bool follows_variables(const char *producer)
{
	const char *level = NULL;

	if (strstr(producer, "clang"))
		return true;
	for (const char *at = producer; (at = strstr(at, " -O")); at += 3)
		level = at + 3;
	return level && *level != '0' && !strstr(producer, "-fno-var-tracking");
}

/* Whether nobody else can call a function, by its entry or that of which it is an instance. */
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

static int find_register(const struct die *parameter, const struct beginning *beginning)
{
	Dwarf_Attribute attribute = die_attribute(parameter, DW_AT_location);
	struct bytes expression;
	int number = NO_REGISTER;

	if (!attribute)
		return beginning->drops ? NOT_PASSED : NO_REGISTER;
	if (!die_block(parameter, attribute, &expression))
		number = find_in_list(parameter, attribute, beginning);
	else if (beginning->counts_from_caller && frame_of(expression) != NO_REGISTER)
		number = frame_of(expression);
	else if (beginning->follows_variables)
		number = register_of(expression);
	dwarf_dealloc_attribute(attribute);
	return number;
}

static bool counts_from_caller(const struct die *function)
{
	Dwarf_Attribute attribute = die_attribute(function, DW_AT_frame_base);
	struct bytes base;
	const bool is = attribute && die_block(function, attribute, &base) && base.left == 1 &&
			*base.at == DW_OP_call_frame_cfa;

	if (attribute)
		dwarf_dealloc_attribute(attribute);
	return is;
}

/* The parameter of which this is an instance, where its function is one. */
static uint64_t origin_of(const struct die *parameter)
{
	_cleanup_die_ struct die origin =
		die_last_origin(die_reference(parameter, DW_AT_abstract_origin));

	return die_offset(die_is(&origin) ? &origin : parameter);
}

/* Those of a function, or of a parameter pack of it. */
static void add_places(struct call_places *places, const struct die *owner, bool is_pack,
		       const struct beginning *beginning)
{
	_cleanup_die_ struct die child = die_first_child(owner);

	while (die_is(&child) && places->count < PARAMETERS_MAX) {
		const unsigned tag = die_tag(&child);
		const int number = tag == DW_TAG_formal_parameter ? find_register(&child, beginning)
								  : NO_REGISTER;

		if (tag == DW_TAG_GNU_formal_parameter_pack && !is_pack)
			add_places(places, &child, true, beginning);
		if (tag == DW_TAG_formal_parameter)
			places->items[places->count++] = (struct call_place){origin_of(&child),
									     number};
		if (!die_advance(&child))
			break;
	}
}

void call_find_places(const struct die *function, uint64_t address, bool is_local,
		      struct call_places *places)
{
	struct beginning beginning = {.address = address};
	_cleanup_die_ struct die unit = die_unit(function);

	*places = (struct call_places){.word = function->object->file->reader->word};
	if (!die_is(&unit))
		return;
	const char *producer = die_text(&unit, DW_AT_producer);

	ranges_learn(&unit, &beginning.code);
	beginning.is_of_clang = producer && strstr(producer, "clang");
	beginning.counts_from_caller = !beginning.is_of_clang && counts_from_caller(function);
	beginning.drops = beginning.is_of_clang && (is_local || is_static(function));
	beginning.follows_variables = producer && follows_variables(producer);
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
	/* Who is called keeps more registers than usual. */
	case DW_CC_LLVM_PreserveMost:
	case DW_CC_LLVM_PreserveAll:
		return true;
	case DW_CC_GNU_BORLAND_stdcall: /* who is called takes the parameters from the stack */
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

	places->integers += by_reference;
	if (by_reference || !die_is(&type) || places->word != EIGHT)
		return;
	const unsigned tag = die_tag(&type);

	if (!type_is_record(tag)) {
		places->is_over |= tag == DW_TAG_array_type;
		return;
	}
	struct type_registers registers;

	if (die_number(&type, DW_AT_byte_size, &size) && size > PASSED_IN_REGISTERS)
		places->integers++; /* where it shall go */
	else
		places->is_over |= !type_find_registers(&type, &registers);
}

static int take_integer(struct call_places *places)
{
	return places->integers < X86_64_INTEGERS ? x86_64_integers[places->integers++]
						  : NO_REGISTER;
}

/*
 * Of an object in several registers, the first. If there are too few, all of it is on the stack.
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

/* Where x86_64 has the next parameter: its register, or NO_REGISTER for the stack. */
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

/* Whether a place is one that this ABI would not have the parameter in. */
static bool is_elsewhere(const struct call_places *places, int number, int expected,
			 const struct die *owner)
{
	switch (number) {
	case NOT_PASSED:
		return true;
	case CALLERS_FRAME:
		return expected != NO_REGISTER && !places->is_over;
	case OWN_FRAME:
		return places->word != EIGHT && is_int(owner);
	default:
		return number != expected && !places->is_over && passes_parameters(places, number);
	}
}

bool call_add_parameter(struct call_places *places, const struct die *parameter,
			const struct die *owner, bool by_reference)
{
	const int expected = expected_register(places, owner, by_reference);
	const uint64_t offset = die_offset(parameter);
	bool is_there = false;

	for (unsigned i = 0; i < places->count; i++) {
		const struct call_place *place = &places->items[i];

		if (place->parameter != offset)
			continue;
		is_there = true;
		if (is_elsewhere(places, place->number, expected, owner))
			return false;
	}
	return is_there || !places->is_complete;
}
