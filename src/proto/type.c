/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proto/type.h"

static unsigned width_size(enum type_width width, unsigned word)
{
	switch (width) {
	case WIDTH_CHAR:
		return 1;
	case WIDTH_SHORT:
		return 2;
	case WIDTH_INT:
	case WIDTH_FLOAT:
		return 4;
	case WIDTH_LONG:
		return word;
	case WIDTH_LONG_LONG:
	case WIDTH_DOUBLE:
		return 8;
	case WIDTH_LONG_DOUBLE:
		return 10;
	}
	return word;
}

unsigned type_size(const struct type *type, unsigned word)
{
	switch ((enum type_kind)type->kind) {
	case TYPE_VOID:
		return 0;
	case TYPE_INT:
	case TYPE_FLOAT:
		return width_size((enum type_width)type->width, word);
	case TYPE_POINTER:
	case TYPE_STRING:
	case TYPE_FORMAT:
		break;
	}
	return word;
}
