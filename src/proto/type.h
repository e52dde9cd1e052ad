/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of the .conf language. A type says what the C object is (kind, size, sign) and how it
 * is shown (lens). Types are immutable once made and owned by the prototypes library they were
 * parsed into; only a struct that was declared in advance gets its members later.
 *
 * A plan (proto/plan.h) and the renderer walk the same types and must come to the same
 * conclusions: which objects a value of the record stands for, and which are bytes of the one
 * around them. So these conclusions are drawn here, once.
 */
#ifndef TRACER_PROTO_TYPE_H
#define TRACER_PROTO_TYPE_H

#include <stdbool.h>
#include <stdint.h>

enum type_kind {
	TYPE_VOID,
	TYPE_INT,     /* char, short, int, long, long long and their unsigned forms */
	TYPE_FLOAT,   /* float, double, long double */
	TYPE_POINTER, /* addr, file; T* with a target */
	TYPE_STRING,  /* pointer to characters; length as below */
	TYPE_FORMAT,  /* printf format: consumes the variable arguments */
	TYPE_STRUCT,
	TYPE_ARRAY /* elements of type `target`, length as below */
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
	LENS_CHAR,    /* 'a'; of more than one byte, a wide character */
	LENS_OCT,
	LENS_BIN,
	LENS_HEX,      /* of TYPE_FLOAT: as %a of printf(3) */
	LENS_GUESS,    /* decimal near zero, else hexadecimal: unknown functions */
	LENS_BOOL,     /* false, true */
	LENS_BITVEC,   /* the numbers of the bits that are set; of any object as a row of bytes */
	LENS_ENUM,     /* by name: `names`; of TYPE_POINTER: or else as LENS_FUNCTION */
	LENS_FUNCTION, /* TYPE_POINTER: the name of the function that it points to */
	LENS_BITSET,   /* bits and fields that are or-ed, by name: `names` */
	LENS_STATUS,   /* what wait(2) says of a child */
	LENS_TEXT,     /* TYPE_ARRAY of integers: a string that is no pointer, or a wide one */
	LENS_ADDRESS   /* TYPE_ARRAY of bytes: a socket address */
};

/* The length of strings, in bytes, and of arrays, in elements. */
enum string_length {
	STRING_NUL,	 /* string; an array up to an element of zeros */
	STRING_CONSTANT, /* string[N] */
	/* string[argN]: `length` is N - 1; of a pointer to an integer, that counts */
	STRING_ARGUMENT,
	STRING_RESULT,	/* string[retval]; see also result_ends */
	STRING_ELEMENT, /* string[eltN], in a struct: `length` is N - 1 */
	/* string[argN*argM]: `length` is type_product(N, M), where 0 for N is the result */
	STRING_PRODUCT
};

/* Two factors that are parameters, from 1, or the result, 0; and each of them, 0 or 1. */
static inline uint32_t type_product(uint32_t first, uint32_t second)
{
	return first | second << 16;
}

static inline uint32_t type_factor(uint32_t product, unsigned which)
{
	return product >> 16 * which & 0xffff;
}

struct type_member {
	const char *name; /* NULL: it has none */
	const struct type *type;
	uint32_t offset
		[2];  /* bytes from the beginning, where pointers have 4 and where they have 8 */
	uint8_t bits; /* of a bit-field: so many of its type's; 0: it is none */
	uint8_t shift[2]; /* of a bit-field: its lowest bit in the byte at `offset`, as there */
};

struct type_name {
	const char *name;
	int64_t value;
	uint64_t field; /* LENS_BITSET: the bits that hold the value */
};

struct type {
	uint8_t kind;  /* enum type_kind */
	uint8_t width; /* enum type_width, TYPE_INT and TYPE_FLOAT */
	bool is_signed;
	/*
	 * enum type_lens; of a TYPE_STRUCT, that of the numbers in it, or that it leads to, that
	 * have none themselves
	 */
	uint8_t lens;
	uint8_t length_from; /* enum string_length, TYPE_STRING and TYPE_ARRAY */
	bool zero_ends;	  /* zero(…): a NUL, or an element of zeros, ends it before its length */
	bool result_ends; /* retval(…): the result ends it before its length */
	bool if_success; /* success: there is nothing if the result is negative; with result_ends */
	bool in_bits;	 /* TYPE_ARRAY: its length counts bits, which fill bytes */
	bool is_hidden;	 /* not shown, and not captured */
	bool is_complex; /* TYPE_STRUCT: two numbers, which are passed in a way of their own */
	bool is_wide;	 /* TYPE_STRUCT: an integer of 16 bytes; TYPE_FORMAT: of wprintf(3) */
	uint8_t dialect; /* TYPE_FORMAT: enum format_dialect */
	bool is_defined; /* TYPE_STRUCT: its members are known */
	bool is_union;	 /* TYPE_STRUCT: all members at its beginning; the first one is shown */
	bool is_partial; /* TYPE_STRUCT: there is more in it than its members */
	bool is_bare;	 /* TYPE_STRUCT: shown as its members, without braces and names */
	bool follows;	 /* TYPE_STRUCT: has a member that points to something that is shown */
	bool rest_in_octal; /* LENS_BITSET: bits without a name are shown so, else in hexadecimal */
	bool needs_result;  /* a length in it is the result */
	uint8_t levels;	    /* how deep other types are nested in it */
	uint32_t arguments; /* bits of the parameters that are lengths in it */
	uint32_t length;
	uint32_t size[2]; /* TYPE_STRUCT, TYPE_ARRAY: bytes, pointers having 4 or 8; 0: not known */
	uint8_t align[2]; /* TYPE_STRUCT: of the object */
	uint32_t count;	  /* of members, or names */
	const struct type
		*target; /* TYPE_POINTER: what it points to, NULL: not shown; TYPE_ARRAY */
	const struct type_member *members; /* TYPE_STRUCT */
	const struct type_name *names;	   /* LENS_ENUM, LENS_BITSET */
};

/*
 * Bytes of a socket address that are looked at, of those it is said to have (struct
 * sockaddr_storage).
 */
enum { TYPE_ADDRESS_MAX = 128 };
/* Elements of an array with LENS_BITVEC whose number is not in the type: one thing, not many. */
enum { TYPE_VECTOR_MAX = 128 };

/* Objects are not larger than that: offsets and sizes do not overflow. */
enum { TYPE_SIZE_MAX = 1 << 28 };

/*
 * Bytes of an object of this type (of a long double: those that carry the value) where a pointer
 * has `word` bytes. TYPE_VOID, structs without members, arrays whose length is not a number: 0.
 */
unsigned type_size(const struct type *type, unsigned word);

/*
 * The same with what pads it behind its end, as it lies in memory, and its alignment: of the
 * System V psABIs of x86_64 (words of 8 bytes), and of i386, where no object is aligned to more
 * than 4.
 */
unsigned type_storage(const struct type *type, unsigned word);
unsigned type_align(const struct type *type, unsigned word);

/*
 * Whether an object of this type within another has a value of its own in the record: what it
 * points to, or elements whose number is not in the type.
 */
bool type_is_apart(const struct type *type);
/* Whether values follow one of an object of this type: it, or something within it, is apart. */
bool type_follows(const struct type *type);

/*
 * A number, or a pointer that is shown as one, with a lens put on it. A floating-point number has
 * no other form for most of them, and is shown as ever.
 */
struct type type_with_lens(const struct type *type, enum type_lens lens);
/* Whether it is a number that a lens around it counts for, having none itself. */
bool type_takes_lens(const struct type *type);

/*
 * How many of a struct's members are shown, and captured. The others only say how it is laid out
 * and passed.
 */
uint32_t type_shown_members(const struct type *type);

/*
 * Lays out a struct whose members have their types and bits: offsets, size, alignment, and what
 * follows from them. Bit-fields lie as the psABIs say: from low bits to high ones, each in a unit
 * of its type.
 */
void type_lay_out(struct type *type, struct type_member *members, uint32_t count);
/* The same for an array or a pointer that has its target and, if it has one, its length. */
void type_complete(struct type *type);

#endif
