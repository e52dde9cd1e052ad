/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where a parameter is at the first instruction of its function, by its location expression
 * or location list. dwarf_call.c explains what the places mean.
 */
#include "dwarf/dwarf_place.h"

#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_private.h"

/* ------------------------------------------------------------------ expressions */

/* Reads a frame offset (SLEB128). Offsets that no frame has become INT32_MIN. */
static int64_t take_signed(struct bytes *bytes)
{
	const uint8_t *start = bytes->at;
	const size_t left = bytes->left;
	const uint64_t value = take_leb(bytes);
	const size_t length = left - bytes->left;
	const bool is_negative = length && start[length - 1] & 0x40;
	const int64_t offset = (int64_t)(is_negative && 7 * length < 64
						 ? value | UINT64_MAX << 7 * length
						 : value);

	return offset < INT32_MIN || offset > INT32_MAX ? INT32_MIN : offset;
}

/*
 * The register that an expression names, or NO_REGISTER; the first register of an object in
 * several.
 */
static int register_of(struct bytes expression)
{
	const uint64_t operation = take(&expression, 1);
	int number = NO_REGISTER;

	if (operation >= DW_OP_reg0 && operation <= DW_OP_reg31)
		number = (int)(operation - DW_OP_reg0);
	return !expression.left || take(&expression, 1) == DW_OP_piece ? number : NO_REGISTER;
}

/*
 * If the expression is the value that a register had at the entry of the function: that register;
 * else NO_REGISTER.
 */
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

/* Returns true if an expression begins with a place in a frame. */
static bool is_in_frame(struct bytes expression, const struct beginning *beginning)
{
	const uint64_t operation = take(&expression, 1);
	const int number = (int)(operation - DW_OP_breg0);

	return operation == DW_OP_fbreg ||
	       (operation >= DW_OP_breg0 && operation <= DW_OP_breg31 &&
		(number == beginning->stack_pointer || number == beginning->frame_pointer));
}

/* The register whose name or value an expression begins with, or NO_REGISTER. */
static int first_register_of(struct bytes expression, const struct beginning *beginning)
{
	const uint64_t operation = take(&expression, 1);

	if (operation >= DW_OP_reg0 && operation <= DW_OP_reg31)
		return (int)(operation - DW_OP_reg0);
	return operation >= DW_OP_breg0 && operation <= DW_OP_breg31 &&
			       !is_in_frame(expression, beginning)
		       ? (int)(operation - DW_OP_breg0)
		       : NO_REGISTER;
}

/*
 * For frame offsets from the call-frame address: the frame that an expression is in, or
 * NO_REGISTER.
 */
static int frame_of(struct bytes expression)
{
	if (take(&expression, 1) != DW_OP_fbreg || !expression.left)
		return NO_REGISTER;
	const uint8_t *end = expression.at + expression.left;

	take_leb(&expression);
	/* Bit 6 of the last byte is the sign. */
	return expression.left ? NO_REGISTER : end[-1] & 0x40 ? OWN_FRAME : CALLERS_FRAME;
}

/* Takes the next `length` bytes as an expression of their own. */
static struct bytes take_expression(struct bytes *left, uint64_t length)
{
	const struct bytes expression = {left->at, length};

	if (!length)
		return expression;
	if (length > left->left) {
		left->left = 0;
		return (struct bytes){left->at, 0};
	}
	left->at += length;
	left->left -= length;
	return expression;
}

/*
 * Skips the operands of an operation; `word` is the size of an address. Returns false if the
 * operation is unknown.
 */
static bool skip_operands(struct bytes *expression, uint64_t operation, unsigned word)
{
	static const uint8_t sizes[] = {1, 1, 2, 2,
					4, 4, 8, 8}; /* DW_OP_const1u to DW_OP_const8s */
	const bool has_block = operation == DW_OP_implicit_value ||
			       operation == DW_OP_entry_value || operation == DW_OP_GNU_entry_value;

	if (has_block || operation == DW_OP_bregx || operation == DW_OP_regval_type) {
		const uint64_t length = take_leb(expression);

		if (has_block)
			take_expression(expression, length);
		else
			take_leb(expression);
	} else if (operation >= DW_OP_const1u && operation <= DW_OP_const8s) {
		take(expression, sizes[operation - DW_OP_const1u]);
	} else if ((operation >= DW_OP_breg0 && operation <= DW_OP_breg31) ||
		   operation == DW_OP_constu || operation == DW_OP_consts ||
		   operation == DW_OP_plus_uconst || operation == DW_OP_regx ||
		   operation == DW_OP_fbreg || operation == DW_OP_addrx ||
		   operation == DW_OP_convert || operation == DW_OP_reinterpret) {
		take_leb(expression);
	} else if (operation == DW_OP_addr) {
		take(expression, word);
	} else if (operation == DW_OP_pick || operation == DW_OP_deref_size) {
		take(expression, 1);
	} else {
		/* These have no operands. Compilers use no other operations for parameters. */
		return (operation >= DW_OP_dup && operation <= DW_OP_xor) ||
		       (operation >= DW_OP_eq && operation <= DW_OP_reg31) ||
		       operation == DW_OP_deref || operation == DW_OP_call_frame_cfa ||
		       operation == DW_OP_stack_value;
	}
	return true;
}

/* Returns true if an operation reads something that the caller has set up. */
static bool is_of_caller(uint64_t operation)
{
	return (operation >= DW_OP_reg0 && operation <= DW_OP_breg31) || operation == DW_OP_regx ||
	       operation == DW_OP_bregx || operation == DW_OP_regval_type ||
	       operation == DW_OP_fbreg || operation == DW_OP_call_frame_cfa ||
	       operation == DW_OP_entry_value || operation == DW_OP_GNU_entry_value;
}

/*
 * A bit for each of the first bytes of an object that has a location. Bytes that the expression
 * declares constant, or omits, need not be passed. Returns ALL_BYTES if the expression is not
 * understood.
 */
static uint16_t bytes_of(struct bytes expression, unsigned word)
{
	uint16_t bytes = 0;
	uint64_t at = 0;
	bool is_there = false;

	while (expression.left) {
		const uint64_t operation = take(&expression, 1);

		if (operation == DW_OP_piece) {
			const uint64_t end = at + (take_leb(&expression) & UINT16_MAX);

			for (; at < end; at++)
				if (is_there && at < PASSED_IN_REGISTERS)
					bytes |= (uint16_t)(1U << at);
			is_there = false;
			continue;
		}
		is_there |= is_of_caller(operation);
		if (!skip_operands(&expression, operation, word))
			return ALL_BYTES;
	}
	/* There are no pieces, or the last part is no piece. */
	return is_there ? ALL_BYTES : bytes;
}

/*
 * Finds the place in a frame that the object has. Returns false if the pieces are not adjacent in
 * one frame, or if the expression computes the address of something in the frame.
 */
static bool read_frame(struct bytes expression, const struct beginning *beginning,
		       struct call_place *place)
{
	int64_t at = 0;
	bool is_address = false;

	while (expression.left) {
		const bool is_there = is_in_frame(expression, beginning);
		const uint64_t operation = take(&expression, 1);

		if (is_there) {
			const int base = operation == DW_OP_fbreg ? beginning->frame_pointer
								  : (int)(operation - DW_OP_breg0);
			const int64_t offset = take_signed(&expression) - at;

			if (place->base != NO_REGISTER &&
			    (place->base != base || place->offset != offset))
				return false;
			place->base = base;
			place->offset = offset;
		} else if (operation == DW_OP_piece) {
			at += (int64_t)(take_leb(&expression) & UINT16_MAX);
		} else if (!skip_operands(&expression, operation, beginning->word)) {
			break;
		}
		is_address = is_there || (is_address && operation != DW_OP_deref &&
					  operation != DW_OP_deref_size);
		if (is_address && operation == DW_OP_stack_value)
			return false;
	}
	return true;
}

/* Reads an expression whose frame offset counts from the call-frame address. */
static void read_callers(struct bytes expression, struct call_place *place)
{
	const int frame = frame_of(expression);

	if (frame != NO_REGISTER)
		place->number = frame;
	if (frame != CALLERS_FRAME)
		return;
	take(&expression, 1);
	place->base = CALLERS_END;
	place->offset = take_signed(&expression);
}

/* Reads an expression that holds at the first instruction. */
static void read_place(struct bytes expression, const struct beginning *beginning,
		       struct call_place *place)
{
	if (!beginning->drops) {
		place->number = register_of(expression);
		return;
	}
	place->number = first_register_of(expression, beginning);
	place->bytes = bytes_of(expression, beginning->word);
	if (!place->bytes || !read_frame(expression, beginning, place))
		place->number = NOT_PASSED;
}

/* ------------------------------------------------------------------ lists of places */

/* A location list that is being read. */
struct place_list {
	const struct die *owner;
	const struct beginning *beginning;
	struct bytes left;
	uint64_t base;	    /* what the next offsets count from */
	struct bytes first; /* the first expression with a range that is not empty */
};

/*
 * Reads the expression of a list that holds first. A place in a frame that holds before the
 * function has stored anything is the place where the caller put the parameter.
 */
static void read_listed(struct bytes expression, const struct beginning *beginning,
			struct call_place *place)
{
	read_place(expression, beginning, place);
	place->is_listed = true;
	/* A place in the function's own frame holds only later. */
	if (beginning->counts_from_caller && frame_of(expression) == CALLERS_FRAME)
		read_callers(expression, place);
	if (beginning->drops && place->number == NO_REGISTER && place->base != NO_REGISTER)
		place->number = CALLERS_FRAME;
}

/* Returns true if this entry of the list decides; *place is then filled. */
static bool takes_entry(struct place_list *list, const uint64_t range[2], struct bytes expression,
			struct call_place *place)
{
	const struct beginning *beginning = list->beginning;

	if (range[0] <= beginning->address && beginning->address < range[1]) {
		read_listed(expression, beginning, place);
		return true;
	}
	if (!list->first.at && range[0] < range[1])
		list->first = expression;
	place->number = beginning->is_of_clang ? entry_register_of(expression) : NO_REGISTER;
	return place->number != NO_REGISTER;
}

/* Reads .debug_loc (DWARF 2 to 4): pairs of offsets from a base, up to a pair of zeros. */
static bool find_in_old(struct place_list *list, struct call_place *place)
{
	const struct dwarf_file *file = list->owner->object->file;
	const unsigned size = file->reader->word;
	const uint64_t new_base = size == 4 ? UINT32_MAX : UINT64_MAX;

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
				place))
			return true;
	}
	return false;
}

/* Reads the range of an entry in .debug_loclists (DWARF 5); false at the end of the list. */
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

static bool find_in_new(struct place_list *list, struct call_place *place)
{
	const struct dwarf_file *file = list->owner->object->file;
	uint64_t range[2];

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
				place))
			return true;
	}
	return false;
}

static void find_in_list(const struct die *parameter, Dwarf_Attribute attribute,
			 const struct beginning *beginning, struct call_place *place)
{
	const struct unit_code *code = &beginning->code;
	struct dwarf_file *file = parameter->object->file;
	struct place_list list = {.owner = parameter, .beginning = beginning, .base = code->base};
	const bool is_new = die_version(parameter) >= 5;
	const char *section = is_new ? ".debug_loclists" : ".debug_loc";
	uint64_t offset = 0;
	unsigned form;

	if (!die_section_offset(parameter, attribute, &form, &offset))
		return;
	if (form == DW_FORM_loclistx) {
		/*
		 * The unit's part of the section has a table of offsets, counted from that table.
		 */
		struct bytes entry = section_bytes(file, section,
						   code->places + offset * code->offset_size);

		offset = code->places + take(&entry, code->offset_size);
	}
	list.left = section_bytes(file, section, offset);
	if (is_new ? find_in_new(&list, place) : find_in_old(&list, place))
		return;
	if (beginning->drops && is_in_frame(list.first, beginning))
		read_listed(list.first, beginning, place);
	else if (beginning->drops)
		place->number = NOT_PASSED;
}

/* ------------------------------------------------------------------ parameters */

void place_find(const struct die *parameter, const struct beginning *beginning,
		struct call_place *place)
{
	Dwarf_Attribute attribute = die_attribute(parameter, DW_AT_location);
	struct bytes expression;

	*place =
		(struct call_place){.number = NO_REGISTER, .bytes = ALL_BYTES, .base = NO_REGISTER};
	if (!attribute) {
		place->number = beginning->drops ? NOT_PASSED : NO_REGISTER;
		return;
	}
	if (!die_block(parameter, attribute, &expression))
		find_in_list(parameter, attribute, beginning, place);
	else if (beginning->counts_from_caller && frame_of(expression) != NO_REGISTER)
		read_callers(expression, place);
	else if (beginning->follows_variables)
		read_place(expression, beginning, place);
	dwarf_dealloc_attribute(attribute);
}
