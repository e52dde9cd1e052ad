/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the plan compiler share: where things lie, and the parts of objects. */
#ifndef TRACER_PROTO_PLAN_PRIVATE_H
#define TRACER_PROTO_PLAN_PRIVATE_H

#include "base/vec.h"
#include "proto/plan.h"

/* ------------------------------------------------------------------ plan_parts.c */

/* More parts than this are not captured: objects that have them are shown as pointers. */
enum { PLAN_PARTS_MAX = 1024, PLAN_NO_PART = UINT16_MAX };

struct plan_parts {
	unsigned word;
	unsigned arg_count;
	struct vec parts; /* struct capture_part */
	struct vec known; /* structs whose parts are in there */
	bool overflow;
};

void plan_parts_init(struct plan_parts *parts, unsigned word, unsigned arg_count);
void plan_parts_deinit(struct plan_parts *parts);
/*
 * The part that stands for what a value of this type is or points to: a struct, a pointer with a
 * target. Its index, or PLAN_NO_PART when there would be too many.
 */
uint16_t plan_parts_add(struct plan_parts *parts, const struct type *type);
/* How long a string or an array of this type is; the length of LENGTH_ARGUMENT is sound. */
enum capture_length plan_length_of(const struct type *type, unsigned arg_count);

/* ------------------------------------------------------------------ plan_place.c */

/* Registers and stack given away so far. */
struct placement {
	const struct abi *abi;
	unsigned ints;
	unsigned fps;
	unsigned stack; /* offset of the next stack argument */
};

/* Where an object is: one place, or two words of 8 bytes in registers. */
enum { SCALARS_MAX = 16 };

struct object_place {
	struct capture_location location[2];
	struct capture_scalar scalars[SCALARS_MAX]; /* of Go: see plan_go.c */
	unsigned scalar_count;
	unsigned words; /* how many of them, of an object in registers */
	bool is_inline; /* a struct, not a word or a number in location[0] */
	bool in_memory; /* results: at the address that is in ax */
	bool in_st0;	/* results */
};

void plan_place_parameter(struct placement *placement, const struct type *type,
			  struct object_place *place);
/*
 * Of a result that is a struct. If it is in memory, its address is the first parameter: see
 * plan_place_hidden().
 */
void plan_place_result(const struct abi *abi, const struct type *type, struct object_place *place);
/* plan_go.c: the same of Go's; results are placed as parameters are. */
void plan_place_go(struct placement *placement, const struct type *type,
		   struct object_place *place);

/* The caller's pointer to the room for the result. */
void plan_place_hidden(struct placement *placement);

#endif
