/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the tokens of a statement's shape, and folds lists of values and rows: see
 * fingerprint.h.
 */
#ifndef TRACER_PROBE_SQL_LISTS_H
#define TRACER_PROBE_SQL_LISTS_H

#include "probe/sql_lexer.h"

enum {
	SQL_GROUPS = 64 /* parentheses within parentheses, of which the innermost are known */
};

/* What an element of a list has been so far. */
enum sql_element {
	SQL_ELEMENT_EMPTY,
	SQL_ELEMENT_TYPE,     /* DATE */
	SQL_ELEMENT_VALUE,    /* ? */
	SQL_ELEMENT_CONSTANT, /* NULL */
	SQL_ELEMENT_CAST,     /* ?:: */
	SQL_ELEMENT_TYPED,    /* DATE ?, ?::int */
	SQL_ELEMENT_FOLDED,   /* ?+, ?::int+: the text is a shape */
	SQL_ELEMENT_OTHER     /* nothing that can be in a list of values */
};

/* Whether the elements of a group are rows, as far as it goes. */
enum sql_rows {
	SQL_ROWS_NONE,
	SQL_ROWS_BEHIND, /* the last token is the end of a row */
	SQL_ROWS_COMMA	 /* the last token is the comma behind a row, or ROW behind that */
};

/*
 * What is in a pair of parentheses or brackets, or outside of all. Places are offsets in the
 * shape.
 */
struct sql_group {
	size_t level; /* how many groups are around it */
	size_t start; /* its opening */
	char opening;
	bool is_array; /* ARRAY[…], or such a list in it */

	/* The elements, and the one that is being written. */
	size_t element; /* where it starts */
	enum sql_element state;
	size_t count;	  /* of the elements that have ended */
	size_t first_end; /* of the first element */
	bool is_list;	  /* all elements that have ended are values */
	bool is_typed;	  /* with types, which have to be equal */
	bool is_folded;	  /* it has its '+' */
	bool has_value;	  /* there is a '?' in it, however deep */

	/* The group as a row among rows. */
	bool is_row;
	bool follows_row;
	size_t row; /* where the row starts: ROW or the opening */

	/* The rows among its elements. */
	enum sql_rows rows;
	bool has_row_word; /* the last token is ROW where a row can begin */
	size_t row_word;   /* where that is */
	size_t last_row;
	size_t last_row_end;
	bool last_row_is_list;
};

struct sql_lists {
	char *shape; /* the caller's, with the room that fingerprint_room() tells */
	size_t length;
	size_t level;			     /* of the current group */
	struct sql_group groups[SQL_GROUPS]; /* that of a level at its remainder */
};

void sql_lists_init(struct sql_lists *lists, char *shape);

/* Writes a token at the end of the shape. `last` is the token in front of it. */
void sql_lists_write(struct sql_lists *lists, const struct sql_token *token,
		     const struct sql_token *last);

/*
 * A place in the shape that can be gone back to, as long as no comma and no parenthesis is behind
 * it.
 */
struct sql_mark {
	size_t length;
	enum sql_element state;
	enum sql_rows rows;
};

struct sql_mark sql_lists_mark(struct sql_lists *lists);
void sql_lists_take_back(struct sql_lists *lists, const struct sql_mark *mark);

/*
 * Folds what ends with a cut text: of a list that goes on, and of rows, the rest makes no
 * difference.
 */
void sql_lists_cut(struct sql_lists *lists);

#endif
