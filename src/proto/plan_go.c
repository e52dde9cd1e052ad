/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the places of parameters and results of Go's compiler since Go 1.17
 * (cmd/compile/abi-internal.md in Go's sources).
 *
 * Each value is split into its numbers and pointers: a structure into its members, an array of one
 * element into that element, a string into a pointer and a length. An integer or a pointer takes
 * the next of 9 integer registers, a floating-point number the next of 15 xmm registers, in the low
 * bytes. If there are not enough registers for all of a value, or if it contains an array of
 * several elements, the whole value goes to the stack, aligned as in memory; the values behind it
 * can still use the registers. A value without a size takes no place. Results begin with the first
 * registers again.
 */
#include "proto/plan_go.h"

#include "proto/plan_private.h"

/* One value that is being placed. */
struct assignment {
	struct placement *placement;
	struct object_place *place;
	unsigned word;
};

/* Adds a scalar of `size` bytes, at `offset` of the object, that is in `piece`. */
static bool add_scalar(const struct assignment *assignment, unsigned piece, unsigned offset,
		       unsigned size)
{
	struct object_place *place = assignment->place;

	if (place->scalar_count == SCALARS_MAX || offset + size > UINT8_MAX)
		return false;
	place->scalars[place->scalar_count++] = (struct capture_scalar){
		.piece = (uint8_t)piece, .offset = (uint8_t)offset, .size = (uint8_t)size};
	return true;
}

static bool assign(const struct assignment *assignment, const struct type *type, unsigned offset)
{
	struct placement *placement = assignment->placement;
	const struct abi *abi = placement->abi;
	const unsigned size = type_size(type, assignment->word);
	bool fits = true;

	if (type->kind == TYPE_STRUCT) {
		for (uint32_t i = 0; i < type->count && fits; i++)
			fits = !type->members[i].bits && !type->is_union &&
			       assign(assignment, type->members[i].type,
				      offset + type->members[i].offset[assignment->word == 8]);
		return fits;
	}
	if (type->kind == TYPE_ARRAY)
		return !size || (size == type_storage(type->target, assignment->word) &&
				 assign(assignment, type->target, offset));
	if (size > assignment->word)
		return false;
	if (type->kind == TYPE_FLOAT)
		return placement->fps < abi->fp_args &&
		       add_scalar(assignment, PIECE_XMM + placement->fps++, offset, size);
	return placement->ints < abi->int_args &&
	       add_scalar(assignment, PIECE_GPR + abi->int_arg[placement->ints++], offset, size);
}

static void place_on_stack(struct placement *placement, const struct type *type,
			   struct object_place *place)
{
	const struct abi *abi = placement->abi;
	const unsigned align = type_align(type, abi->word) ? type_align(type, abi->word) : 1;
	const unsigned before = placement->stack - abi->stack_first;
	const unsigned offset = abi->stack_first + (before + align - 1) / align * align;

	place->scalar_count = 0;
	place->location[0].place = PLACE_STACK;
	place->location[0].offset = (int32_t)offset;
	placement->stack = offset + type_size(type, abi->word);
}

void plan_place_go(struct placement *placement, const struct type *type, struct object_place *place)
{
	const struct abi *abi = placement->abi;
	struct placement attempt = *placement;
	const struct assignment assignment = {&attempt, place, abi->word};

	place->is_inline = type->kind == TYPE_STRUCT || type->kind == TYPE_ARRAY;
	place->location[0] = (struct capture_location){
		.size = (uint8_t)type_size(type, abi->word),
		.is_signed = type->is_signed && type->kind == TYPE_INT,
	};
	if (!assign(&assignment, type, 0)) {
		place_on_stack(placement, type, place);
		return;
	}
	*placement = attempt;
	const unsigned piece = place->scalar_count ? place->scalars[0].piece : PIECE_GPR;

	place->location[0].place = piece >= PIECE_XMM ? PLACE_XMM : PLACE_GPR;
	place->location[0].index = (uint8_t)(piece >= PIECE_XMM ? piece - PIECE_XMM : piece);
}
