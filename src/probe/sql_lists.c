/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds lists of values and rows while the shape of a statement is written.
 *
 * Nothing is looked up in advance. The tokens are written as they come, and when a parenthesis
 * closes it is known whether all of its elements were values; then the shape is cut back to the
 * opening, and "?+" is written there. So each byte is written once and taken back at most once.
 *
 *	(1, 'a', NULL)		a list, since each element is a literal or a constant, and one is a
 *				literal: (?+)
 *	(NULL), f(TRUE)		no list: NULL, TRUE and FALSE stay
 *	(a, 1), (1 + 2)		no list: (a,?), (?+?)
 *	('1'::int, '2'::int)	a list of one type: (?::int+). Lists of other types are others.
 *	('1'::int, '2'::text)	no list
 *	ARRAY[1,2], [1,2]	lists; but the subscript [1] is none
 *
 * A row is a group behind VALUES, or at the beginning of another group, or behind the comma that
 * follows a row; ROW may be in front. "f(1), (1)" are no rows, since f is in front of the first
 * group. A row that has the shape of the row in front is taken back, with its comma, if there is a
 * literal in it. If both are lists (one may have constants only), the list stays.
 *
 * Rows and typed elements are compared by their bytes. That stays linear: two equal rows become
 * one, and a byte is compared again at most once for each group around it that is known.
 *
 * A group is 150 bytes, and there may be as many as bytes in the text. So the innermost 64 are
 * known, in a ring; when an inner group ends, and the place of the one around it was needed
 * meanwhile, that one is not folded. No program writes such statements, other than to see what
 * happens.
 */
#include "probe/sql_lists.h"

#include "probe/sql_literals.h"

#include <string.h>

void sql_lists_init(struct sql_lists *lists, char *shape)
{
	lists->shape = shape;
	lists->length = 0;
	lists->level = 0;
	for (size_t i = 0; i < SQL_GROUPS; i++)
		lists->groups[i] = (struct sql_group){.level = 0};
}

static bool is_known(const struct sql_lists *lists, size_t level)
{
	return lists->groups[level % SQL_GROUPS].level == level;
}

/* Returns the current group. One that was forgotten comes back as a group that is no list. */
static struct sql_group *current(struct sql_lists *lists)
{
	struct sql_group *group = &lists->groups[lists->level % SQL_GROUPS];

	if (!is_known(lists, lists->level))
		*group = (struct sql_group){.level = lists->level, .state = SQL_ELEMENT_OTHER};
	return group;
}

struct sql_mark sql_lists_mark(struct sql_lists *lists)
{
	const struct sql_group *group = current(lists);

	return (struct sql_mark){
		.length = lists->length, .state = group->state, .rows = group->rows};
}

void sql_lists_take_back(struct sql_lists *lists, const struct sql_mark *mark)
{
	struct sql_group *group = current(lists);

	lists->length = mark->length;
	group->state = mark->state;
	group->rows = mark->rows;
}

static void add(struct sql_lists *lists, const char *text, size_t length)
{
	memcpy(lists->shape + lists->length, text, length);
	lists->length += length;
}

/* A hint is written as it is, with one blank for each run of white space. */
static void add_hint(struct sql_lists *lists, const struct sql_token *token)
{
	bool was_blank = false;

	for (size_t i = 0; i < token->length; i++) {
		char c = token->text[i];
		bool blank = sql_is_blank(c);

		if (!blank || !was_blank)
			lists->shape[lists->length++] = blank ? ' ' : c;
		was_blank = blank;
	}
}

static enum sql_element behind_literal(enum sql_element state)
{
	switch (state) {
	case SQL_ELEMENT_EMPTY:
		return SQL_ELEMENT_VALUE;
	case SQL_ELEMENT_TYPE:
		return SQL_ELEMENT_TYPED;
	default:
		return SQL_ELEMENT_OTHER;
	}
}

static enum sql_element behind_name(enum sql_element state, unsigned meaning)
{
	switch (state) {
	case SQL_ELEMENT_EMPTY:
		if (meaning & SQL_WORD_CONSTANT)
			return SQL_ELEMENT_CONSTANT;
		return meaning & SQL_WORD_TYPE ? SQL_ELEMENT_TYPE : SQL_ELEMENT_OTHER;
	case SQL_ELEMENT_CAST:
		return SQL_ELEMENT_TYPED;
	case SQL_ELEMENT_TYPED:
		return meaning & SQL_WORD_TYPE_REST ? SQL_ELEMENT_TYPED : SQL_ELEMENT_OTHER;
	default:
		return SQL_ELEMENT_OTHER;
	}
}

/* Returns what the element is behind the token, which is no comma and no parenthesis. */
static enum sql_element behind(enum sql_element state, const struct sql_token *token)
{
	bool has_value = state == SQL_ELEMENT_VALUE || state == SQL_ELEMENT_TYPED;

	if (sql_is_literal(token))
		return behind_literal(state);
	switch (token->kind) {
	case SQL_NAME:
		return behind_name(state, token->meaning);
	case SQL_QUOTED_NAME:
		return state == SQL_ELEMENT_CAST ? SQL_ELEMENT_TYPED : SQL_ELEMENT_OTHER;
	case SQL_CAST:
		return has_value ? SQL_ELEMENT_CAST : SQL_ELEMENT_OTHER;
	case SQL_DOT:
		return state == SQL_ELEMENT_TYPED ? SQL_ELEMENT_CAST : SQL_ELEMENT_OTHER;
	case SQL_OPERATOR:
		return has_value && token->length == 1 && *token->text == '+' ? SQL_ELEMENT_FOLDED
									      : SQL_ELEMENT_OTHER;
	default:
		return SQL_ELEMENT_OTHER;
	}
}

/* Returns true if two ranges of the shape are equal. */
static bool are_equal(const struct sql_lists *lists, size_t left, size_t left_end, size_t right,
		      size_t right_end)
{
	return left_end - left == right_end - right &&
	       !memcmp(lists->shape + left, lists->shape + right, right_end - right);
}

/* Notes that the element at the end of the shape has ended. */
static void end_element(struct sql_lists *lists, struct sql_group *group)
{
	size_t first = group->start + 1;

	group->is_folded = group->state == SQL_ELEMENT_FOLDED && !group->count;
	group->is_typed |= group->state == SQL_ELEMENT_TYPED;
	if (group->state != SQL_ELEMENT_VALUE && group->state != SQL_ELEMENT_CONSTANT &&
	    group->state != SQL_ELEMENT_TYPED && !group->is_folded)
		group->is_list = false;
	if (!group->count)
		group->first_end = lists->length;
	else if (group->is_list && group->is_typed &&
		 !are_equal(lists, first, group->first_end, group->element, lists->length))
		group->is_list = false;
	group->count++;
}

static void write_comma(struct sql_lists *lists)
{
	struct sql_group *group = current(lists);

	end_element(lists, group);
	if (group->is_folded) /* (?+, 1) is an addition that was not finished */
		group->is_list = false;
	add(lists, ",", 1);
	group->element = lists->length;
	group->state = SQL_ELEMENT_EMPTY;
	group->rows = group->rows == SQL_ROWS_BEHIND ? SQL_ROWS_COMMA : SQL_ROWS_NONE;
}

static bool is_word(const struct sql_token *token, enum sql_word meaning)
{
	return token->kind == SQL_NAME && token->meaning & meaning;
}

/* Returns true if a first row can begin behind the token. */
static bool begins_rows(const struct sql_token *last)
{
	return last->kind == SQL_OPEN || is_word(last, SQL_WORD_ROWS);
}

static void write_open(struct sql_lists *lists, const struct sql_token *token,
		       const struct sql_token *last)
{
	struct sql_group *parent = current(lists);
	bool behind_word = is_word(last, SQL_WORD_ROW) && parent->has_row_word;
	struct sql_group group = {
		.level = lists->level + 1,
		.start = lists->length,
		.opening = *token->text,
		.is_array = *token->text == '[' &&
			    (is_word(last, SQL_WORD_ARRAY) ||
			     (parent->is_array && parent->state == SQL_ELEMENT_EMPTY)),
		.element = lists->length + 1,
		.first_end = lists->length + 1,
		.is_list = true,
		.is_row = behind_word || parent->rows == SQL_ROWS_COMMA || begins_rows(last),
		.follows_row = parent->rows == SQL_ROWS_COMMA,
		.row = behind_word ? parent->row_word : lists->length,
	};

	if (parent->state != SQL_ELEMENT_TYPED) /* ?::numeric(10,2) is still a value */
		parent->state = SQL_ELEMENT_OTHER;
	add(lists, token->text, 1);
	lists->level++;
	lists->groups[lists->level % SQL_GROUPS] = group;
}

/* Writes the end of a list in the place of its elements. */
static void fold(struct sql_lists *lists, struct sql_group *group)
{
	if (group->is_typed) {
		lists->length = group->first_end;
	} else {
		lists->length = group->start + 1;
		add(lists, "?", 1);
	}
	add(lists, "+", 1);
	group->is_folded = true;
}

/* Takes the row that has just been written back if it is like the row in front. */
static void fold_row(struct sql_lists *lists, struct sql_group *parent, const struct sql_group *row)
{
	bool are_lists = row->is_list && parent->last_row_is_list && !row->is_typed;
	size_t prefix = row->start - row->row; /* ROW */

	if (row->follows_row &&
	    are_equal(lists, parent->last_row, parent->last_row_end, row->row, lists->length)) {
		if (row->has_value || are_lists)
			lists->length = parent->last_row_end;
	} else if (row->follows_row && are_lists) {
		memmove(lists->shape + parent->last_row, lists->shape + row->row, prefix);
		lists->length = parent->last_row + prefix;
		add(lists, "(?+)", 4);
	} else {
		parent->last_row = row->row;
		parent->last_row_is_list = row->is_list && !row->is_typed;
	}
	parent->last_row_end = lists->length;
	parent->rows = SQL_ROWS_BEHIND;
}

static void write_close(struct sql_lists *lists, const struct sql_token *token)
{
	struct sql_group group = *current(lists);
	struct sql_group *parent;

	end_element(lists, &group);
	group.is_list &= group.opening == (*token->text == ')' ? '(' : '[');
	if (group.is_list && group.has_value && !group.is_folded &&
	    (group.opening == '(' || group.is_array || group.count > 1))
		fold(lists, &group);
	add(lists, token->text, 1);
	if (!lists->level)
		return;
	lists->level--;
	parent = current(lists);
	parent->has_value |= group.has_value;
	if (group.is_row)
		fold_row(lists, parent, &group);
	else
		parent->rows = SQL_ROWS_NONE;
}

static void write_other(struct sql_lists *lists, const struct sql_token *token,
			const struct sql_token *last)
{
	struct sql_group *group = current(lists);
	bool is_typed;

	group->has_row_word = is_word(token, SQL_WORD_ROW) &&
			      (group->rows == SQL_ROWS_COMMA || begins_rows(last));
	group->row_word = lists->length;
	if (!group->has_row_word)
		group->rows = SQL_ROWS_NONE;
	is_typed = group->state == SQL_ELEMENT_TYPED;
	group->state = behind(group->state, token);
	group->is_typed |= is_typed && group->state == SQL_ELEMENT_FOLDED;
	group->has_value |= sql_is_literal(token);
	if (sql_is_literal(token))
		add(lists, "?", 1);
	else if (token->kind == SQL_HINT)
		add_hint(lists, token);
	else
		add(lists, token->text, token->length);
}

void sql_lists_write(struct sql_lists *lists, const struct sql_token *token,
		     const struct sql_token *last)
{
	switch (token->kind) {
	case SQL_COMMA:
		write_comma(lists);
		break;
	case SQL_OPEN:
		write_open(lists, token, last);
		break;
	case SQL_CLOSE:
		write_close(lists, token);
		break;
	default:
		write_other(lists, token, last);
		break;
	}
}

/* Folds the group at the end of a cut text if it has been a list so far, of one element or more. */
static void cut_list(struct sql_lists *lists)
{
	struct sql_group *group = current(lists);
	size_t length = lists->length - group->element;

	if (!lists->level || !group->is_list || !group->has_value || !group->count)
		return;
	if (group->is_typed &&
	    (length > group->first_end - group->start - 1 ||
	     memcmp(lists->shape + group->element, lists->shape + group->start + 1, length) != 0))
		return;
	if (group->is_typed || group->state == SQL_ELEMENT_EMPTY ||
	    group->state == SQL_ELEMENT_VALUE || group->state == SQL_ELEMENT_CONSTANT)
		fold(lists, group);
}

/* Takes the row at the end of a cut text back if the row in front begins like it. */
static bool cut_row(struct sql_lists *lists, const struct sql_group *row,
		    const struct sql_group *parent)
{
	size_t length = lists->length - row->row;

	if (!row->is_row || !row->follows_row || length > parent->last_row_end - parent->last_row ||
	    memcmp(lists->shape + row->row, lists->shape + parent->last_row, length) != 0)
		return false;
	lists->length = parent->last_row_end;
	return true;
}

/* Takes back the outermost row at the end of a cut text that begins like the row in front. */
static bool cut_rows(struct sql_lists *lists)
{
	size_t level = lists->level < SQL_GROUPS ? 1 : lists->level - SQL_GROUPS + 2;

	if (current(lists)->rows == SQL_ROWS_COMMA) {
		lists->length = current(lists)->last_row_end;
		return true;
	}
	for (; level <= lists->level; level++)
		if (is_known(lists, level) && is_known(lists, level - 1) &&
		    cut_row(lists, &lists->groups[level % SQL_GROUPS],
			    &lists->groups[(level - 1) % SQL_GROUPS]))
			return true;
	return false;
}

void sql_lists_cut(struct sql_lists *lists)
{
	if (cut_rows(lists))
		return;
	cut_list(lists);
	cut_rows(lists);
}
