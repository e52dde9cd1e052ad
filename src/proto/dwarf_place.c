/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a parameter is when its function begins: what its expressions and lists of places say of
 * the first instruction. What that means is known in dwarf_call.c.
 */
#include "proto/dwarf_private.h"

/* ------------------------------------------------------------------ expressions */

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

/* ------------------------------------------------------------------ parameters */

int place_find_register(const struct die *parameter, const struct beginning *beginning)
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
