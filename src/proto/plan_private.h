/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the plan compiler share: places of values, and the parts of objects. */
#ifndef TRACER_PROTO_PLAN_PRIVATE_H
#define TRACER_PROTO_PLAN_PRIVATE_H

#include "base/vec.h"
#include "proto/plan.h"

/* ------------------------------------------------------------------ plan_parts.c */

/* Objects that would need more parts are captured as pointers. */
enum { PLAN_PARTS_MAX = 1024, PLAN_NO_PART = UINT16_MAX };

struct plan_parts {
	unsigned word;
	unsigned arg_count;
	struct vec parts; /* struct capture_part */
	struct vec known; /* structs whose parts are in `parts` */
	bool overflow;
};

/*
 * Returns how the length of a string or an array is known. A LENGTH_ARGUMENT refers to one of
 * `arg_count` parameters.
 */
enum capture_length plan_length_of(const struct type *type, unsigned arg_count);

/* ------------------------------------------------------------------ plan_place.c */

/* Registers and stack that are used up. */
struct placement {
	const struct abi *abi;
	unsigned ints;
	unsigned fps;
	unsigned stack; /* offset of the next stack argument */
};

/* The scalars of an object, for Go. */
enum { SCALARS_MAX = 16 };

struct object_place {
	struct capture_location location[2];
	struct capture_scalar scalars[SCALARS_MAX]; /* for Go: see plan_go.c */
	unsigned scalar_count;
	unsigned words; /* for an object in registers: how many of `location` are used */
	bool is_inline; /* a struct or an array by value, not a word or a number in location[0] */
	bool in_memory; /* results: at the address in ax */
	bool in_st0;	/* results: in st(0) */
};

#endif
