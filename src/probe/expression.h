/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expressions of --if, --by, --sum and --template: C's syntax and precedence, without
 * assignments.
 *
 *	numbers		10 0x1f 1.5 'a', with units: 10ms 250us 4k 2M
 *	texts		"SELECT"; TEXT =~ "EXTENDED REGULAR EXPRESSION", !~
 *	operators	?: || && | ^ & == != =~ !~ < <= > >= << >> + - * / % ! ~ ( )
 *	names		arg1 …, parameters' names, result errno duration function module caller pid
 *			tid comm time depth line file stack
 *	members		arg1->member, arg1->member.member, arg1[3]
 *	functions	log2(x) bucket(x, width) len(s) prefix(s, n) fingerprint(s[, dialect])
 *
 * An expression is parsed once (here), checked against the prototype of each function that it is
 * used for (expression_fit.h), and evaluated for each call (expression_run.h).
 */
#ifndef TRACER_PROBE_EXPRESSION_H
#define TRACER_PROBE_EXPRESSION_H

#include "base/vec.h"
#include "probe/expression_value.h"

#include <regex.h>

enum expression_kind {
	EXPRESSION_CONSTANT, /* `value`, whose text the node owns */
	EXPRESSION_NAME,     /* `name`, and for NAME_ARGUMENT the steps behind it */
	EXPRESSION_ONE,	     /* `op` of parts[0] */
	EXPRESSION_TWO,	     /* parts[0] `op` parts[1] */
	EXPRESSION_CHOICE,   /* parts[0] ? parts[1] : parts[2] */
	EXPRESSION_FUNCTION  /* `function` of the parts */
};

enum expression_name {
	NAME_ARGUMENT, /* `number` from 1, or `text` if it is 0: a parameter's name */
	NAME_RESULT,   /* with steps, too */
	NAME_ERRNO,    /* of a system call */
	NAME_DURATION,
	NAME_FUNCTION,
	NAME_MODULE,
	NAME_CALLER,
	NAME_PID,
	NAME_TID,
	NAME_COMM,
	NAME_TIME,
	NAME_DEPTH,
	NAME_LINE,
	NAME_FILE,
	NAME_STACK,
	EXPRESSION_NAMES
};

enum expression_function {
	FUNCTION_LOG2,
	FUNCTION_BUCKET,
	FUNCTION_LEN,
	FUNCTION_PREFIX,
	FUNCTION_FINGERPRINT,
	EXPRESSION_FUNCTIONS
};

enum { EXPRESSION_PARTS = 3 };

/* A step from an object to one in it, or from a pointer to what it leads to. */
struct expression_step {
	char *member; /* owned; NULL: the element `index` */
	uint64_t index;
	bool is_arrow; /* of a pointer */
};

struct expression {
	enum expression_kind kind;
	size_t column; /* where it begins, from 1 */
	enum expression_operator op;
	enum expression_name name;
	enum expression_function function;
	unsigned number;
	char *text;	  /* owned: of a constant, or a parameter's name; or NULL */
	struct vec steps; /* struct expression_step */
	struct expression_value value;
	regex_t *regex; /* OPERATOR_MATCHES: of parts[1] */
	struct expression *parts[EXPRESSION_PARTS];
	unsigned part_count;
};

/* Where and why an expression is wrong. */
struct expression_error {
	size_t column; /* from 1 */
	char *message; /* owned by whoever gets it */
};

/*
 * Parses an expression. Returns NULL on a mistake, and stores it in *error. expression_free() frees
 * the result.
 */
struct expression *expression_parse(const char *text, struct expression_error *error);
/*
 * Parses several, with commas in between, and stores them in *list, of struct expression *, which
 * is empty before. Returns false on a mistake; the list is empty then. expression_list_free() frees
 * them.
 */
bool expression_parse_list(const char *text, struct vec *list, struct expression_error *error);
void expression_free(struct expression *expression); /* NULL is allowed */
void expression_list_free(struct vec *list);

/* Returns the word that stands for a name. */
const char *expression_name_text(enum expression_name name);
/* Returns true if the expression, or a part of it, has this name. */
bool expression_has_name(const struct expression *expression, enum expression_name name);
/*
 * Returns true if a value that is used as text may be one of the call's: such a text has to be
 * captured as a whole. `is_shown`: the value of the whole expression is used as text.
 */
bool expression_wants_text(const struct expression *expression, bool is_shown);
/* Returns true if its value is known when the call is made. */
bool expression_is_of_entry(const struct expression *expression);

#endif
