/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of the .conf language. A type says what the C object is (kind, size, sign) and how it is
 * shown (lens). Types do not change once they are made. They are owned by the prototypes library
 * they were parsed into. Only a struct that was declared in advance gets its members later.
 *
 * A plan (proto/plan.h) and the renderer walk the same types and must agree on them: which objects
 * have a value of their own in the record, and which are bytes of the object around them. So the
 * functions below decide that for both.
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
	TYPE_STRING,  /* pointer to characters; `length` applies */
	TYPE_FORMAT,  /* printf format: reads the variable arguments */
	TYPE_STRUCT,
	TYPE_ARRAY /* elements of type `target`; `length` applies */
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
	WIDTH_LONG_DOUBLE /* x87 extended: 10 significant bytes */
};

enum type_lens {
	LENS_DEFAULT, /* decimal; pointers in hexadecimal, NULL as nil */
	LENS_CHAR,    /* 'a'; of more than one byte, a wide character */
	LENS_OCT,
	LENS_BIN,
	LENS_HEX,      /* TYPE_FLOAT: like %a of printf(3) */
	LENS_GUESS,    /* decimal near zero, else hexadecimal: unknown functions */
	LENS_BOOL,     /* false, true */
	LENS_BITVEC,   /* the numbers of the set bits; any object is taken as a row of bytes */
	LENS_ENUM,     /* by name: `names`; TYPE_POINTER without a name: like LENS_FUNCTION */
	LENS_FUNCTION, /* TYPE_POINTER: the name of the function that it points to */
	LENS_BITSET,   /* or-ed bits and bit-fields, by name: `names` */
	LENS_STATUS,   /* a child's status from wait(2) */
	LENS_TEXT,     /* TYPE_ARRAY of integers: text, wide or inside of an object */
	LENS_ADDRESS   /* TYPE_ARRAY of bytes: a socket address */
};

/* The length of strings, in bytes, and of arrays, in elements. */
enum string_length {
	STRING_NUL,	 /* string; an array up to an element of zeros */
	STRING_CONSTANT, /* string[N] */
	/*
	 * string[argN]: `length` is N - 1. If that parameter is a pointer to an integer, the
	 * integer is the length.
	 */
	STRING_ARGUMENT,
	STRING_RESULT,	/* string[retval]; see also result_ends */
	STRING_ELEMENT, /* string[eltN], in a struct: `length` is N - 1 */
	/* string[argN*argM]: `length` is type_product(N, M), where 0 for N is the result */
	STRING_PRODUCT
};

/*
 * Packs two factors: parameters, from 1, or the result, 0. type_factor() returns the first (0) or
 * second (1).
 */
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
	uint32_t offset[2]; /* bytes from the beginning, with pointers of 4 bytes and of 8 bytes */
	uint8_t bits;	    /* bit-field: its width; 0: not a bit-field */
	/* bit-field: its lowest bit in the byte at `offset`, for pointers of 4 and 8 */
	uint8_t shift[2];
};

struct type_name {
	const char *name;
	int64_t value;
	uint64_t field; /* LENS_BITSET: the bits that hold the value */
};

struct type {
	uint8_t kind;  /* enum type_kind */
	uint8_t width; /* enum type_width, for TYPE_INT and TYPE_FLOAT */
	bool is_signed;
	/*
	 * enum type_lens. The lens of a TYPE_STRUCT applies to numbers in it, or behind its
	 * pointers, that have no lens of their own.
	 */
	uint8_t lens;
	uint8_t length_from; /* enum string_length, for TYPE_STRING and TYPE_ARRAY */
	bool zero_ends; /* zero(…): a NUL, or an element of zeros, may end it before its length */
	bool result_ends; /* retval(…): the result may end it before its length */
	bool if_success;  /* success: empty if the result is negative; set with result_ends */
	bool in_bits;	  /* TYPE_ARRAY: its length counts bits; bytes are captured */
	bool is_hidden;	  /* neither shown nor captured */
	bool is_complex;  /* TYPE_STRUCT: two numbers, which have passing rules of their own */
	bool is_wide;	  /* TYPE_STRUCT: an integer of 16 bytes; TYPE_FORMAT: of wprintf(3) */
	uint8_t dialect;  /* TYPE_FORMAT: enum format_dialect */
	bool is_defined;  /* TYPE_STRUCT: its members are known */
	bool is_union;	  /* TYPE_STRUCT: all members are at its beginning; the first is shown */
	bool is_partial;  /* TYPE_STRUCT: there is more in it than its members */
	bool is_bare;	  /* TYPE_STRUCT: shown as its members, without braces and names */
	bool follows;	  /* TYPE_STRUCT: a value in the record follows it: see type_follows() */
	/* LENS_BITSET: bits without a name are shown in octal, else in hexadecimal */
	bool rest_in_octal;
	bool needs_result;  /* a length in it is the result */
	uint8_t levels;	    /* the depth of types nested in it */
	uint32_t arguments; /* a bit for each parameter that is a length in it */
	uint32_t length;
	/* TYPE_STRUCT, TYPE_ARRAY: in bytes, with pointers of 4 and 8; 0: not known */
	uint32_t size[2];
	uint8_t align[2];	   /* TYPE_STRUCT: of the object */
	uint32_t count;		   /* of members, or of names */
	const struct type *target; /* TYPE_POINTER: NULL: not shown; TYPE_ARRAY: the element */
	const struct type_member *members; /* TYPE_STRUCT */
	const struct type_name *names;	   /* LENS_ENUM, LENS_BITSET */
};

/* Bytes of a socket address that are captured at most (struct sockaddr_storage). */
enum { TYPE_ADDRESS_MAX = 128 };
/*
 * Elements captured at most of an array with LENS_BITVEC whose length is not in the type: it is
 * shown as one thing.
 */
enum { TYPE_VECTOR_MAX = 128 };

/* The largest size of an object, so that offsets and sizes do not overflow. */
enum { TYPE_SIZE_MAX = 1 << 28 };

/*
 * Returns the bytes of an object of this type (of a long double: its significant bytes) where a
 * pointer has `word` bytes. Returns 0 for TYPE_VOID, structs without members, and arrays of unknown
 * length.
 */
unsigned type_size(const struct type *type, unsigned word);

/*
 * Return the size with padding at the end, as in an array, and the alignment: by the System V
 * psABIs of x86_64 (words of 8 bytes), and of i386, where no object is aligned to more than 4.
 */
unsigned type_storage(const struct type *type, unsigned word);
unsigned type_align(const struct type *type, unsigned word);

/*
 * Returns true if an object of this type within another has a value of its own in the record: the
 * target of a pointer, or elements whose number is not in the type.
 */
bool type_is_apart(const struct type *type);
/*
 * Returns true if values follow that of an object of this type: it, or something in it, is apart.
 */
bool type_follows(const struct type *type);

/*
 * Returns a number, or a pointer shown as one, with a lens. Most lenses do not apply to a
 * floating-point number, which is then shown without one.
 */
struct type type_with_lens(const struct type *type, enum type_lens lens);
/* Returns true for a number without a lens of its own, to which a lens around it applies. */
bool type_takes_lens(const struct type *type);

/*
 * Returns how many of a struct's members are shown and captured. The others determine only its
 * layout and how it is passed.
 */
uint32_t type_shown_members(const struct type *type);

/*
 * Lays out a struct whose members have their types and bits: computes offsets, size, alignment, and
 * the other derived fields. Bit-fields lie as the psABIs say: from low bits to high ones, each in a
 * unit of its type.
 */
void type_lay_out(struct type *type, struct type_member *members, uint32_t count);
/* Computes the derived fields of an array, a pointer or a string that has its target and length. */
void type_complete(struct type *type);

#endif
