/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture plans and their executor. A plan is a prototype compiled for one ABI (proto/plan.h): a
 * list of operations, each of which makes exactly one value of the record; an operation with
 * `choices` makes none if they do not match. The executor is freestanding (no libc, no allocation,
 * no TLS), as it is compiled into the tracer and into the agent.
 *
 * For an argument that is fetched at return ('+' in the .conf file, and all arguments behind it)
 * the raw word is saved at entry, as the callee may overwrite registers and stack words.
 */
#ifndef TRACER_RECORD_CAPTURE_H
#define TRACER_RECORD_CAPTURE_H

#include "base/memory.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the raw bits of an argument or a result are. */
enum capture_place {
	PLACE_GPR,   /* general register `index`, by hardware number */
	PLACE_XMM,   /* xmm register `index` */
	PLACE_STACK, /* stack, `offset` bytes from sp at entry */
	PLACE_ST0,   /* x87 top of stack: results only */
	PLACE_SAVED, /* word `index` of those saved at entry */
	/*
	 * Low half in general register `index`, high half in `high`: results, and parameters of
	 * system calls.
	 */
	PLACE_PAIR,
	PLACE_PIECES, /* CAPTURE_INLINE: two words, at `index` and `high` (enum capture_piece) */
	PLACE_SCALARS /* CAPTURE_INLINE: `high` of the plan's scalars, from number `index` on */
};

/* A number or a pointer in an object that is passed in a register of its own. */
struct capture_scalar {
	uint8_t piece; /* enum capture_piece */
	uint8_t offset, size;
};

/* Where a word of an object in registers is. */
enum capture_piece {
	PIECE_GPR = 0,	  /* plus the number of a general register */
	PIECE_XMM = 16,	  /* plus the number of an xmm register */
	PIECE_SAVED = 32, /* plus the index of a word saved at entry */
	/* st(0), 16 bytes of the object; for an object of 32 bytes, st(1) as well. */
	PIECE_ST0 = 64,
	PIECE_NONE = 255 /* not known, or no such word */
};

enum capture_kind {
	CAPTURE_WORD, /* integer of `size` bytes, sign-extended when `is_signed` */
	/*
	 * float, double or (size 10) long double; a value from PLACE_ST0 has size 10 whatever its C
	 * type is.
	 */
	CAPTURE_FLOAT,
	CAPTURE_STRING, /* up to a NUL, or with a length as `length_from` says */
	/*
	 * Printf format: the string (a VALUE_OBJECT if `is_wide`), a value for each argument, and
	 * one with VALUE_FORMAT_END.
	 */
	CAPTURE_FORMAT,
	/*
	 * The object that a pointer points to, described by part `part`: a VALUE_OBJECT and the
	 * values of its parts.
	 */
	CAPTURE_OBJECT,
	/* Like CAPTURE_OBJECT, for an object that is itself on the stack or in registers. */
	CAPTURE_INLINE
};

/* What limits a string or an array, besides the plan's string_max or array_max. */
enum capture_length {
	LENGTH_NUL,	 /* the first NUL */
	LENGTH_CONSTANT, /* `length` bytes, or fewer if a NUL comes first */
	/*
	 * The value of parameter `length` (from 0), or of the integer it points to (see `pointed`),
	 * in bytes; NULs are data. A negative value of a signed parameter means LENGTH_NUL.
	 */
	LENGTH_ARGUMENT,
	LENGTH_RESULT, /* the return value; a negative one counts as 0; NULs are data */
	/* In parts: an integer member of the enclosing object. Else as LENGTH_ARGUMENT. */
	LENGTH_MEMBER,
	/*
	 * The product of two values. The halves of `length` are parameter numbers from 1, or 0 for
	 * the return value. Else as LENGTH_ARGUMENT.
	 */
	LENGTH_PRODUCT
};

enum { CAPTURE_LOADS_MAX = 2 };

struct capture_op {
	uint8_t kind;  /* enum capture_kind */
	uint8_t place; /* enum capture_place */
	uint8_t index; /* PLACE_GPR, PLACE_XMM, PLACE_SAVED, PLACE_PAIR */
	uint8_t high;  /* PLACE_PAIR */
	uint8_t size;  /* size of the C object */
	bool is_signed;
	uint8_t argument;    /* copied to the value: VALUE_INDEX */
	uint8_t length_from; /* enum capture_length */
	uint32_t length;
	int32_t offset; /* PLACE_STACK */
	/* LENGTH_ARGUMENT, LENGTH_RESULT: the first NUL ends the string; NULs are not data. */
	bool zero_ends;
	bool result_ends; /* the string has no more bytes than the return value says */
	bool is_wide;	  /* CAPTURE_FORMAT: format of wide characters (wprintf) */
	/* CAPTURE_OBJECT, CAPTURE_INLINE: index in `parts`; CAPTURE_FORMAT: enum format_dialect. */
	uint16_t part;
	/*
	 * If not 0: the operation makes a value only if parameter `selector` has one of the values
	 * in the `choices` entries of the plan that begin at number `choice`.
	 */
	uint16_t choices;
	uint16_t choice;
	uint8_t selector;
	/*
	 * CAPTURE_STRING: the value's word is not the address of the text, but leads to it. path[0]
	 * is added to the word; then, `loads` times, the word at that address is loaded, and the
	 * next offset added. If that leads to no address, the value is as if the text could not be
	 * read.
	 */
	bool has_path;
	bool checks_text; /* has_path: show no text if some bytes cannot be text */
	uint8_t loads;	  /* at most CAPTURE_LOADS_MAX */
	int32_t path[CAPTURE_LOADS_MAX + 1];
	/*
	 * For plain operations, see capture_plain(): the first eight bytes of the value
	 * (capture_head()), and how far a word is shifted left and right again to extend it.
	 */
	uint8_t unused_bits;
	uint64_t head;
};

/* Returns the number of bits of a word that a value of `size` bytes does not use (size 0: none). */
static inline unsigned capture_unused_bits(unsigned size)
{
	return size && size < sizeof(uint64_t) ? 64 - 8 * size : 0;
}

/* Returns the first eight bytes of a value without flags and without bytes behind it. */
static inline uint64_t capture_head(enum value_kind kind, unsigned argument, unsigned size)
{
	static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as records are");
	static_assert(offsetof(struct record_value, word) == sizeof(uint64_t), "all of it");
	return kind | (uint64_t)argument << 16 | (uint64_t)size << 32;
}

enum {
	CAPTURE_ARGS_MAX = 32,
	CAPTURE_SIGNED = 128,
	CAPTURE_DEPTH_MAX = 16,	   /* nesting of objects that pointers lead to */
	CAPTURE_OBJECT_MAX = 1024, /* bytes of one object that are captured */
	WIDE_BYTES = 4		   /* size of a wchar_t */
};

/* A range of values of a parameter, compared as 32 bits. */
struct capture_choice {
	uint32_t first, last;
};

/*
 * A part of an object that has a value of its own: a string, an object that a pointer leads to, or
 * an array in the object itself. Parts refer to parts by index, possibly in circles: the element of
 * a linked list to itself.
 */
struct capture_part {
	/* CAPTURE_STRING, CAPTURE_OBJECT; CAPTURE_WORD: a pointer that is not followed. */
	uint8_t kind;
	bool is_inline;	     /* the part is at `offset` itself; else a pointer to it is there */
	uint8_t length_from; /* enum capture_length: bytes of a string, elements of an object */
	bool zero_ends;	     /* a NUL ends it before its length; for objects: an element of zeros */
	bool result_ends; /* it ends where the return value says, if that is less than its length */
	bool if_success;  /* empty if the return value is negative, else as long as `length` says */
	bool in_bits;	  /* the length counts bits; eight bits are an element */
	bool is_text;	  /* limited by string_max instead of array_max */
	uint8_t member_size; /* LENGTH_MEMBER: size of the member */
	bool member_signed;
	/* If not 0: the limit of elements, instead of string_max or array_max. */
	uint8_t elements_max;
	uint32_t length; /* LENGTH_CONSTANT, LENGTH_ARGUMENT; LENGTH_MEMBER: offset of the member */
	uint32_t offset; /* in an element of the enclosing object */
	uint32_t size;	 /* size of an element */
	uint16_t first, count; /* the parts of each element, sorted by offset */
};

/* Where the raw word of a parameter is: for LENGTH_ARGUMENT, and for saving it at entry. */
struct capture_location {
	uint8_t place; /* PLACE_GPR, PLACE_XMM, PLACE_STACK, PLACE_PAIR */
	uint8_t index;
	uint8_t size;
	bool is_signed;
	int32_t offset; /* PLACE_PAIR: the register of the high half; PLACE_STACK: offset from sp */
};

struct condition_op;

struct capture_plan {
	const struct capture_op *entry; /* operations at entry, in order */
	const struct capture_op *exit;	/* operations at return: the result first */
	const struct capture_part *parts;
	const struct capture_choice *choices;
	const struct capture_scalar *scalars;
	/* What has to hold for a record to be made (record/condition.h). */
	const struct condition_op *condition;
	/*
	 * --sample: a record is made if a random number is below that (record/sampling.h); 0: it
	 * always is.
	 */
	uint64_t chosen_below;
	uint16_t condition_count; /* 0: a record is always made */
	uint16_t entry_count;
	uint16_t exit_count;
	uint16_t part_count;
	uint16_t choice_count;
	uint8_t arg_count;
	bool needs_saved; /* exit operations use words saved at entry */
	bool needs_fp_entry;
	bool needs_fp_exit;
	/* A format is captured at return: argument registers are saved at entry. */
	bool saves_varargs;
	bool plain_entry; /* all entry operations are plain: see capture_plain() */
	bool plain_exit;
	uint32_t saved_mask; /* bit per parameter: its word is saved at entry */
	uint32_t outputs;    /* bit per parameter: it is filled in by the callee */
	uint32_t string_max; /* -s: longest string to capture, in bytes */
	/* -A: most elements of an array to capture, and deepest nesting of objects. */
	uint32_t array_max;
	/* Limit of the bytes, per half of a call, that pointers in objects lead to. */
	uint32_t followed_max;
	/*
	 * For a parameter that points to an integer which is a length: the size of the integer,
	 * with CAPTURE_SIGNED; else 0.
	 */
	uint8_t pointed[CAPTURE_ARGS_MAX];
	/*
	 * Places of the parameters, followed by those of other words to be saved: the second words
	 * of objects.
	 */
	struct capture_location args[CAPTURE_ARGS_MAX];

	/* Variable arguments follow the fixed ones: where the next one of each class is. */
	uint8_t word; /* size of a stack word */
	uint8_t next_int, next_fp;
	int32_t first_stack; /* where stack arguments begin, from sp at entry */
	/* Where the fixed stack arguments end and variable ones follow, from sp at entry. */
	int32_t next_stack;
	bool varargs;		   /* there is a CAPTURE_FORMAT */
	uint8_t int_args, fp_args; /* number of argument registers of each class */
	uint8_t int_arg[6];
	/* The low byte of general register 0 tells how many of fp_args are used. */
	bool counts_vectors;
};

/* The registers that a plan reads. The pointers are the caller's. */
struct capture_frame {
	const uint64_t *gpr;	  /* 16, by hardware number */
	const uint8_t (*xmm)[16]; /* NULL: the plan does not need them */
	unsigned xmm_count;	  /* number of xmm registers; 0: 8 */
	const uint8_t (*st)[16];  /* st(0) and, for results in two registers, st(1); or NULL */
	/*
	 * Address of the return address; only capture_entry() uses it, the return half uses the
	 * saved sp.
	 */
	uint64_t sp;
	const struct memory_source *memory;
};

/* Returns the number of xmm registers in a frame. */
static inline unsigned capture_xmm_count(const struct capture_frame *frame)
{
	return frame->xmm_count ? frame->xmm_count : 8;
}

/* What is saved at the entry of a pending call if plan->needs_saved. */
struct capture_saved {
	uint64_t sp;
	uint64_t word[CAPTURE_ARGS_MAX]; /* the words in plan->saved_mask */
	uint64_t int_arg[6];		 /* plan->saves_varargs: argument registers, by position */
	uint64_t fp_arg[8];
	uint64_t vectors; /* number of valid words in fp_arg */
};

/* A record under construction in the caller's buffer. */
struct capture_buffer {
	unsigned char *bytes; /* 8-aligned; begins with struct record */
	size_t capacity;
};

/*
 * Runs the entry half. `buffer` begins with a header that the caller has filled in (kind, ids,
 * times, size = sizeof(struct record), value_count = 0). Appends the values and updates size and
 * value_count. A value that does not fit gets VALUE_TRUNCATED and fewer bytes; if even its header
 * does not fit, the record ends. `saved` may be NULL unless plan->needs_saved.
 */
void capture_entry(const struct capture_plan *plan, const struct capture_frame *frame,
		   struct capture_buffer *buffer, struct capture_saved *saved);

/*
 * Runs the return half, like capture_entry(); `frame` has the registers at the return. `saved` may
 * be NULL; if plan->needs_saved, because the entry was not seen, there is no value then but a
 * result that is a number.
 */
void capture_exit(const struct capture_plan *plan, const struct capture_frame *frame,
		  const struct capture_saved *saved, struct capture_buffer *buffer);

/*
 * Runs `count` operations of the return half, from number `first` on, and appends their values. For
 * callers that run some operations with another memory source than the others.
 */
void capture_exit_some(const struct capture_plan *plan, unsigned first, unsigned count,
		       const struct capture_frame *frame, const struct capture_saved *saved,
		       struct capture_buffer *buffer);

#endif
