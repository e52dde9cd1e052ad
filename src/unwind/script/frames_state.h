/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the parser of frame descriptions share. */
#ifndef TRACER_UNWIND_SCRIPT_FRAMES_STATE_H
#define TRACER_UNWIND_SCRIPT_FRAMES_STATE_H

#include "unwind/script/frames_code.h"
#include "unwind/script/frames_lexer.h"
#include "unwind/script/frames_parser.h"

/* What a name stands for: a number, a symbol's address, a computed value, a variable, a formula. */
struct frames_name {
	char *name; /* owned */
	size_t length;
	struct script_operand operand;
	struct frames_lexer formula; /* where the text of a formula begins; `at` NULL: it is none */
	bool is_computed;	     /* not known before the setup program ran */
	bool is_local;		     /* valid until the end of the walk */
};

struct frames_parser {
	struct frames_lexer lexer;
	const char *path;			/* of the file that `lexer` reads */
	const struct frames_source *source;	/* imports and errors */
	struct script_description *description; /* being made */
	struct vec names;			/* struct frames_name */
	struct script_code code;		/* the program that is being written */
	struct script_code setup;		/* computes values; written bit by bit */
	struct script_code when;		/* likewise: all conditions */
	bool in_walk, in_clause, in_when;
	unsigned depth; /* of expressions and blocks */
	unsigned imports;
	struct vec texts; /* char *, owned: of imported files; formulas are read in them later */
	bool is_part;	  /* the file is for import only */
	bool failed;	  /* a mistake was reported; nothing more is read */
};

enum { FRAMES_DEPTH_MAX = 32, FRAMES_NAMES_MAX = 512 };

#endif
