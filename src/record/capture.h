/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture plans and their one executor. A plan is a prototype compiled for one ABI (proto/plan.h):
 * a list of operations, each making exactly one value of the record, or none if it has a condition
 * that does not hold (`choices`). capture.c is freestanding (no
 * libc, no allocation, no TLS): it is compiled into the tracer and, later, into the agent.
 *
 * An argument that is fetched on return ('+' in the .conf, and all that follow it) has its raw word
 * saved at entry, as the callee may overwrite registers and stack slots.
 */
#ifndef TRACER_RECORD_CAPTURE_H
#define TRACER_RECORD_CAPTURE_H

#include "base/memory.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the raw bits of an argument or result lie. */
enum capture_place {
	PLACE_GPR,    /* general register `index`, by hardware number */
	PLACE_XMM,    /* xmm register `index` */
	PLACE_STACK,  /* `offset` bytes from sp at entry */
	PLACE_ST0,    /* x87 top of stack: results only */
	PLACE_SAVED,  /* word `index` saved at entry */
	PLACE_PAIR,   /* low half in general register `index`, high half in `high`: results, and
			parameters of system calls */
	PLACE_PIECES, /* CAPTURE_INLINE: two words, in `index` and `high` (enum capture_piece) */
	PLACE_SCALARS /* CAPTURE_INLINE: `high` of the plan's scalars, from number `index` on */
};

/* A number or a pointer within an object, that has a register of its own. */
struct capture_scalar {
	uint8_t piece; /* enum capture_piece */
	uint8_t offset, size;
};

/* Where a word of an object in registers is. */
enum capture_piece {
	PIECE_GPR = 0,	  /* and the number of a general register */
	PIECE_XMM = 16,	  /* and that of an xmm register */
	PIECE_SAVED = 32, /* and the index of a word saved at entry */
	PIECE_ST0 = 64,	  /* the x87 top of stack, in 16 bytes; of an object of 32, st(1) as well */
	PIECE_NONE = 255  /* it is not known, or there is none */
};

enum capture_kind {
	CAPTURE_WORD,	/* integer of `size` bytes, sign-extended when `is_signed` */
	CAPTURE_FLOAT,	/* float, double or (size 10) long double; what comes from PLACE_ST0 makes
			   a value of size 10 whatever the C type is */
	CAPTURE_STRING, /* NUL-terminated, or of a length taken as `length_from` says */
	CAPTURE_FORMAT, /* printf format: the string (a VALUE_OBJECT where `is_wide`), then a value
			   for each conversion, then one with VALUE_FORMAT_END */
	CAPTURE_OBJECT, /* what a pointer points to, as part `part` describes it: VALUE_OBJECT and
			   what follows it */
	CAPTURE_INLINE	/* the same of an object that is itself at PLACE_STACK or in PLACE_PIECES */
};

/* What bounds a string or an array besides the plan's string_max or array_max. */
enum capture_length {
	LENGTH_NUL,	 /* the first NUL */
	LENGTH_CONSTANT, /* `length` bytes, or less when a NUL comes first */
	LENGTH_ARGUMENT, /* the value of parameter `length` (from 0), or of what that points to (see
			    `pointed`), in bytes; NULs are data. A negative value of a signed
			    parameter means LENGTH_NUL */
	LENGTH_RESULT,	 /* the return value; negative counts as 0; NULs are data */
	LENGTH_MEMBER,	 /* in parts: an integer in the object around it. Else as LENGTH_ARGUMENT */
	/*
	 * The product of two of the values above: `length` has them in its halves, parameters from
	 * 1, and 0 for the return value. Else as LENGTH_ARGUMENT
	 */
	LENGTH_PRODUCT
};

enum { CAPTURE_LOADS_MAX = 2 };

struct capture_op {
	uint8_t kind;  /* enum capture_kind */
	uint8_t place; /* enum capture_place */
	uint8_t index; /* PLACE_GPR, PLACE_XMM, PLACE_SAVED, PLACE_PAIR */
	uint8_t high;  /* PLACE_PAIR */
	uint8_t size;  /* bytes of the C object */
	bool is_signed;
	uint8_t argument;    /* copied to the value: VALUE_INDEX */
	uint8_t length_from; /* enum capture_length */
	uint32_t length;
	int32_t offset; /* PLACE_STACK */
	/* LENGTH_ARGUMENT, LENGTH_RESULT: NULs are no data, the first one ends it */
	bool zero_ends;
	bool result_ends; /* nor is what lies behind as many bytes as the result says */
	bool is_wide;	  /* CAPTURE_FORMAT: wprintf's */
	/* CAPTURE_OBJECT, CAPTURE_INLINE: index; CAPTURE_FORMAT: enum format_dialect */
	uint16_t part;
	/*
	 * Not 0: it makes a value only where one of these `choices` of the plan, from number
	 * `choice` on, has the value of parameter `selector`.
	 */
	uint16_t choices;
	uint16_t choice;
	uint8_t selector;
	/*
	 * CAPTURE_STRING: the value's word is not the text's address, but leads to it. path[0] is
	 * added to it; then, `loads` times, the word there is loaded and the next offset added.
	 * Where that leads nowhere it is as if the text could not be read.
	 */
	bool has_path;
	bool checks_text; /* nor is anything shown if bytes of it cannot be text */
	uint8_t loads;	  /* at most CAPTURE_LOADS_MAX */
	int32_t path[CAPTURE_LOADS_MAX + 1];
	/* Of plain operations, see capture_plain(): what their value begins with (capture_head());
	   and how far a word is shifted left, and right again, to be extended. */
	uint8_t unused_bits;
	uint64_t head;
};

/* Of a word in which `size` bytes count, 0: all. */
static inline unsigned capture_unused_bits(unsigned size)
{
	return size && size < sizeof(uint64_t) ? 64 - 8 * size : 0;
}

/* The eight bytes that a value begins with, without flags and without bytes behind it. */
static inline uint64_t capture_head(enum value_kind kind, unsigned argument, unsigned size)
{
	static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as records are");
	static_assert(offsetof(struct record_value, word) == sizeof(uint64_t), "all of it");
	return kind | (uint64_t)argument << 16 | (uint64_t)size << 32;
}

enum {
	CAPTURE_ARGS_MAX = 32,
	CAPTURE_SIGNED = 128,
	CAPTURE_DEPTH_MAX = 16,	   /* objects followed in one another */
	CAPTURE_OBJECT_MAX = 1024, /* bytes of a single object that are captured */
	WIDE_BYTES = 4		   /* of a wchar_t */
};

/* Values of a parameter, cut to 32 bits. */
struct capture_choice {
	uint32_t first, last;
};

/*
 * A part of an object that has a value of its own: a string, an object that is pointed to, or an
 * array in the object itself. Parts refer to parts by index, also in circles: a list's element to
 * the list's element.
 */
struct capture_part {
	uint8_t kind;	     /* CAPTURE_STRING, CAPTURE_OBJECT; CAPTURE_WORD: not followed */
	bool is_inline;	     /* it is at `offset` itself, not what the pointer there points to */
	uint8_t length_from; /* enum capture_length: bytes of a string, elements of an object */
	bool zero_ends;	  /* also before its length is reached; for objects: an element of zeros */
	bool result_ends; /* also where the result says, if that is less than its length */
	bool if_success;  /* that is, nothing if the result is negative, and else its length */
	bool in_bits;	  /* its length is one of bits, eight of which make an element */
	bool is_text;	  /* no more elements than string_max; else array_max */
	uint8_t member_size; /* LENGTH_MEMBER: that of the member */
	bool member_signed;
	/* not 0: no more elements than these, whatever string_max and array_max say */
	uint8_t elements_max;
	uint32_t length; /* LENGTH_CONSTANT, LENGTH_ARGUMENT; LENGTH_MEMBER: offset of the member */
	uint32_t offset; /* in an element of the object around it */
	uint32_t size;	 /* bytes of an element */
	uint16_t first, count; /* the parts of each element, in the order of their offsets */
};

/* The place of one parameter's raw word: what LENGTH_ARGUMENT and saving need. */
struct capture_location {
	uint8_t place; /* PLACE_GPR, PLACE_XMM, PLACE_STACK, PLACE_PAIR */
	uint8_t index;
	uint8_t size;
	bool is_signed;
	int32_t offset; /* PLACE_PAIR: the register of the high half */
};

struct capture_plan {
	const struct capture_op *entry; /* operations at entry, in order */
	const struct capture_op *exit;	/* operations at return: the result first */
	const struct capture_part *parts;
	const struct capture_choice *choices;
	const struct capture_scalar *scalars;
	uint16_t entry_count;
	uint16_t exit_count;
	uint16_t part_count;
	uint16_t choice_count;
	uint8_t arg_count;
	bool needs_saved; /* exit operations use saved words */
	bool needs_fp_entry;
	bool needs_fp_exit;
	bool saves_varargs; /* a format is captured at return: registers are saved for it */
	bool plain_entry;   /* all operations of that half are plain: see capture_plain() */
	bool plain_exit;
	uint32_t saved_mask; /* which parameters' words are saved at entry */
	uint32_t outputs;    /* which parameters are for what the callee fills */
	uint32_t string_max; /* -s: longest string captured, in bytes */
	uint32_t array_max;  /* -A: elements of an array captured, and objects in one another */
	/* Bytes of a half of a call that are for what pointers in objects lead to. */
	uint32_t followed_max;
	/*
	 * Of a parameter that points to an integer which is a length: the bytes of that, and
	 * CAPTURE_SIGNED; else 0.
	 */
	uint8_t pointed[CAPTURE_ARGS_MAX];
	/* Those of the parameters, then further words that are saved, second ones of objects. */
	struct capture_location args[CAPTURE_ARGS_MAX];

	/* Variable arguments follow the fixed ones: where the next of each class lies. */
	uint8_t word; /* bytes of a stack slot */
	uint8_t next_int, next_fp;
	int32_t first_stack;	   /* where stack arguments begin, from sp at entry */
	int32_t next_stack;	   /* where those of the parameters end and further ones follow */
	bool varargs;		   /* there is a CAPTURE_FORMAT */
	uint8_t int_args, fp_args; /* registers of each class in all */
	uint8_t int_arg[6];
	bool counts_vectors; /* of fp_args, the low byte of general register 0 tells how many */
};

/* The registers a plan reads. Pointers are the caller's. */
struct capture_frame {
	const uint64_t *gpr;	  /* 16, by hardware number */
	const uint8_t (*xmm)[16]; /* or NULL when the plan has no need */
	unsigned xmm_count;	  /* of these; 0: 8 */
	const uint8_t (*st)[16];  /* st(0) and, of results that have two, st(1); or NULL */
	uint64_t sp;		  /* address of the return address; read by capture_entry() only,
					the return half goes by what was saved */
	const struct memory_source *memory;
};

/* How many xmm registers there are in a frame that has them. */
static inline unsigned capture_xmm_count(const struct capture_frame *frame)
{
	return frame->xmm_count ? frame->xmm_count : 8;
}

/* What is kept from the entry of one pending call, when plan->needs_saved. */
struct capture_saved {
	uint64_t sp;
	uint64_t word[CAPTURE_ARGS_MAX]; /* those in plan->saved_mask */
	uint64_t int_arg[6];		 /* plan->saves_varargs: by position, not by register */
	uint64_t fp_arg[8];
	uint64_t vectors; /* how many of them there are */
};

/* A record under construction in the caller's buffer. */
struct capture_buffer {
	unsigned char *bytes; /* 8-aligned; begins with struct record */
	size_t capacity;
};

/*
 * Runs the entry half: appends the values behind the header that `buffer` begins with (kind, ids
 * and times already filled in by the caller, size = sizeof(struct record), value_count = 0) and
 * updates size and value_count. A value that does not fit is made with VALUE_TRUNCATED and fewer
 * bytes; one that does not fit at all ends the record. `saved` may be NULL unless
 * plan->needs_saved.
 */
void capture_entry(const struct capture_plan *plan, const struct capture_frame *frame,
		   struct capture_buffer *buffer, struct capture_saved *saved);

/*
 * Runs the return half in the same way; `frame` holds the registers at the return. `saved` may be
 * NULL unless plan->needs_saved.
 */
void capture_exit(const struct capture_plan *plan, const struct capture_frame *frame,
		  const struct capture_saved *saved, struct capture_buffer *buffer);

/*
 * The same of `count` of its operations, from number `first` on, behind what the buffer has: for
 * who runs some of them with other memory than the others.
 */
void capture_exit_some(const struct capture_plan *plan, unsigned first, unsigned count,
		       const struct capture_frame *frame, const struct capture_saved *saved,
		       struct capture_buffer *buffer);

#endif
