/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of the .conf language. A type says what the C object is (kind, size, sign) and how it
 * is shown (lens). Types are immutable once made and owned by the prototypes library they were
 * parsed into.
 */
#ifndef TRACER_PROTO_TYPE_H
#define TRACER_PROTO_TYPE_H

#include <stdbool.h>
#include <stdint.h>

enum type_kind {
	TYPE_VOID,
	TYPE_INT,     /* char, short, int, long, long long and their unsigned forms */
	TYPE_FLOAT,   /* float, double, long double */
	TYPE_POINTER, /* addr, file */
	TYPE_STRING,  /* pointer to characters; length as below */
	TYPE_FORMAT   /* printf format: consumes the variable arguments */
};

/* The width of a TYPE_INT is a C type, not a number: long differs between the ABIs. */
enum type_width {
	WIDTH_CHAR,
	WIDTH_SHORT,
	WIDTH_INT,
	WIDTH_LONG,
	WIDTH_LONG_LONG,
	WIDTH_FLOAT,
	WIDTH_DOUBLE,
	WIDTH_LONG_DOUBLE /* x87 extended: 10 bytes that count */
};

enum type_lens {
	LENS_DEFAULT, /* decimal; pointers in hexadecimal, NULL as nil */
	LENS_CHAR,    /* 'a' */
	LENS_OCT,
	LENS_HEX,
	LENS_GUESS /* decimal near zero, else hexadecimal: unknown functions */
};

enum string_length {
	STRING_NUL,	 /* string */
	STRING_CONSTANT, /* string[N] */
	STRING_ARGUMENT, /* string[argN]: `length` is N - 1 */
	STRING_RESULT	 /* string[retval] */
};

struct type {
	uint8_t kind;  /* enum type_kind */
	uint8_t width; /* enum type_width, TYPE_INT and TYPE_FLOAT */
	bool is_signed;
	uint8_t lens;	     /* enum type_lens */
	uint8_t length_from; /* enum string_length, TYPE_STRING */
	bool zero_ends;	     /* string[zero(…)]: a NUL ends it before its length is reached */
	uint32_t length;
};

/*
 * Bytes of an object of this type (of a long double: those that carry the value) where a pointer has `word`
 * bytes. TYPE_VOID: 0.
 */
unsigned type_size(const struct type *type, unsigned word);

#endif
