/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flags of types and parameters in trace files. Their values are part of the format. */
#ifndef TRACER_PROTO_TYPE_FLAGS_H
#define TRACER_PROTO_TYPE_FLAGS_H

#include "proto/type.h"

enum { PARAMETER_ON_RETURN = 1, PARAMETER_IS_FILLED = 2, PARAMETER_HAS_PATH = 4 };

enum type_flag {
	TYPE_IS_SIGNED = 1,
	TYPE_ZERO_ENDS = 1 << 1,
	TYPE_RESULT_ENDS = 1 << 2,
	TYPE_IF_SUCCESS = 1 << 3,
	TYPE_IN_BITS = 1 << 4,
	TYPE_IS_HIDDEN = 1 << 5,
	TYPE_IS_COMPLEX = 1 << 6,
	TYPE_IS_WIDE = 1 << 7,
	TYPE_IS_DEFINED = 1 << 8,
	TYPE_IS_UNION = 1 << 9,
	TYPE_IS_PARTIAL = 1 << 10,
	TYPE_IS_BARE = 1 << 11,
	TYPE_FOLLOWS = 1 << 12,
	TYPE_REST_IN_OCTAL = 1 << 13,
	TYPE_FLAGS = (1 << 14) - 1
};

static inline unsigned type_flags(const struct type *type)
{
	return (type->is_signed ? TYPE_IS_SIGNED : 0U) | (type->zero_ends ? TYPE_ZERO_ENDS : 0U) |
	       (type->result_ends ? TYPE_RESULT_ENDS : 0U) |
	       (type->if_success ? TYPE_IF_SUCCESS : 0U) | (type->in_bits ? TYPE_IN_BITS : 0U) |
	       (type->is_hidden ? TYPE_IS_HIDDEN : 0U) | (type->is_complex ? TYPE_IS_COMPLEX : 0U) |
	       (type->is_wide ? TYPE_IS_WIDE : 0U) | (type->is_defined ? TYPE_IS_DEFINED : 0U) |
	       (type->is_union ? TYPE_IS_UNION : 0U) | (type->is_partial ? TYPE_IS_PARTIAL : 0U) |
	       (type->is_bare ? TYPE_IS_BARE : 0U) | (type->follows ? TYPE_FOLLOWS : 0U) |
	       (type->rest_in_octal ? TYPE_REST_IN_OCTAL : 0U);
}

static inline void type_set_flags(struct type *type, unsigned flags)
{
	type->is_signed = flags & TYPE_IS_SIGNED;
	type->zero_ends = flags & TYPE_ZERO_ENDS;
	type->result_ends = flags & TYPE_RESULT_ENDS;
	type->if_success = flags & TYPE_IF_SUCCESS;
	type->in_bits = flags & TYPE_IN_BITS;
	type->is_hidden = flags & TYPE_IS_HIDDEN;
	type->is_complex = flags & TYPE_IS_COMPLEX;
	type->is_wide = flags & TYPE_IS_WIDE;
	type->is_defined = flags & TYPE_IS_DEFINED;
	type->is_union = flags & TYPE_IS_UNION;
	type->is_partial = flags & TYPE_IS_PARTIAL;
	type->is_bare = flags & TYPE_IS_BARE;
	type->follows = flags & TYPE_FOLLOWS;
	type->rest_in_octal = flags & TYPE_REST_IN_OCTAL;
}

#endif
