/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame description, as the parser makes it of a .frames file (tracer.frames(5)): how one version
 * of one virtual machine (VM) is recognised in a process, and how the frames of its threads are
 * found and named. Immutable once parsed.
 */
#ifndef TRACER_UNWIND_SCRIPT_DESCRIPTION_H
#define TRACER_UNWIND_SCRIPT_DESCRIPTION_H

#include "base/vec.h"
#include "unwind/script/decoders.h"
#include "unwind/script/program.h"

#include <stdbool.h>

/* A register that is set once for a process. */
enum script_value_kind {
	SCRIPT_VALUE_ADDRESS,	 /* of a symbol */
	SCRIPT_VALUE_TLS_MODULE, /* of a thread-local symbol: see symbols.h */
	SCRIPT_VALUE_TLS_OFFSET,
	SCRIPT_VALUE_HAS,	    /* 1 if the module defines the symbol, else 0 */
	SCRIPT_VALUE_SIZE,	    /* of the symbol, 0 if it is not defined */
	SCRIPT_VALUE_TLS_OF_MODULE, /* of the thread-local variable that a function reads */
	SCRIPT_VALUE_TLS_OF_OFFSET,
	SCRIPT_VALUE_COMPUTED /* by the `setup` program, as the result of the value's number */
};

struct script_value {
	enum script_value_kind kind;
	char *symbol; /* owned; NULL: computed */
};

enum { SCRIPT_VALUES_MAX = SCRIPT_LOCALS - SCRIPT_VALUES, SCRIPT_ARGUMENTS_MAX = 16 };

/* A part of a name or line: what a decoder makes of some numbers, or fixed text. */
struct script_part {
	const struct script_decoder *decoder; /* NULL: literal */
	char *literal;			      /* owned */
	unsigned first; /* the results first … first + count - 1 are the decoder's arguments */
	unsigned count;
};

/* Results that a clause can have: its condition, and the arguments of its parts. */
enum { SCRIPT_CLAUSE_RESULTS = 48 };

/* How a file, function or line is found. Of several clauses the first whose condition holds. */
struct script_clause {
	struct script_program *program; /* owned; result 0 is the condition */
	struct vec parts;		/* struct script_part */
};

struct script_description {
	char *path;	    /* of the file, for messages; this and the next four are owned */
	char *language;	    /* "Python" */
	char *version;	    /* "3.11" */
	char *module;	    /* the VM is the module that defines this symbol */
	struct vec values;  /* struct script_value; registers SCRIPT_VALUES … */
	struct vec natives; /* char *, owned: C functions that run script frames */
	struct vec files, functions, lines; /* struct script_clause */
	/* Owned. NULL: the description has none. */
	struct script_program *when;  /* result 0: whether the version is this one */
	struct script_program *setup; /* computes values */
	struct script_program *tell;  /* results: the parts of a version number */
	unsigned tell_count;
	struct script_program *walk;
	/* Result 0: an address in the C function that runs a frame. For functions without names. */
	struct script_program *inside;
};

struct script_description *script_description_create(const char *path);
void script_description_destroy(struct script_description *description); /* NULL is allowed */

#endif
